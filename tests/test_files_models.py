"""Test damaged and forged model and tagger files: each is refused with one line or behaves like the original."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from mutants import ModelFile, claims, model_mutants
from synthetic import synthetic_treebank

from treebound.core.errors import ModelError
from treebound.learning.pruner import Pruner, train_pruner
from treebound.systems.constrained.model import train_labelled
from treebound.systems.constrained.settings import Settings as LabelledSettings
from treebound.systems.graph.model import Model
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train
from treebound.systems.tagging.learn import train_tagger
from treebound.systems.tagging.tagger import Tagger
from treebound.systems.transition.feature_models import load_models
from treebound.systems.transition.settings import Settings as TransitionSettings
from treebound.systems.transition.training import train_model

TRAIN, DEV = synthetic_treebank(60, 1, 12), synthetic_treebank(5, 2, 10)
INPUT = "".join(
    "".join(
        f"{i}\t{word}\t{word}\t{tag}\t{tag}\t_\t_\t_\t_\t_\n"
        for i, (word, tag) in enumerate(zip(sentence.strings("form"), sentence.strings("upos"), strict=True), 1)
    )
    + "\n"
    for sentence in DEV
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with small models, a pruner and a tagger."""
    folder = tmp_path_factory.mktemp("models")
    pruner = train_pruner(TRAIN, epochs=1, bits=12)
    spec = Settings(("adjacent-sibling", "grandchild"), epochs=1, bits=12, labels="both", label_bits=12)
    train(spec, TRAIN, DEV, pruner).save(folder / "model.original")
    pruner.save(folder / "pruner.original")
    labelled = LabelledSettings(epochs=1, bits=6, constraints="en_ewt")
    train_labelled(labelled, TRAIN).save(folder / "constrained.original")
    transitions = TransitionSettings(epochs=1, bits=8, beam=2)
    train_model(transitions, load_models()["F6"], TRAIN).save(folder / "transition.original")
    train_tagger(TRAIN, epochs=1, bits=12).save(folder / "tagger.original")
    (folder / "input.conllu").write_text(INPUT)
    return folder


def refused(folder: Path, kind: str, file: ModelFile, **options: str) -> str:
    """Return the one-line message that refuses a forged file with a valid digest."""
    path = folder / f"{kind}.forged"
    path.write_bytes(file.written(**options))
    reader = {"model": Model, "pruner": Pruner, "tagger": Tagger}[kind]
    with pytest.raises(ModelError) as caught:
        reader.load(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


HEADERS = {
    "unit": [0, -1.0, None, "1", True, 1e300, float("nan"), float("inf"), 10**400],
    "spec.k": [-5, 0, 10**30, 1.5, "10", True],
    "spec.threshold": [-0.1, 1.0, 2, "0.1x"],
    "spec.pruner_folds": [-1, 1, 1.5, "2", True],
    "spec.bits": [-1, 0, 11, 29, 10**9, 12.5],
    "spec.families": ["sibling", ["cousin"], ["arc"], ["sibling", "sibling"], [3], None],
    "spec.learner": ["svm", 1],
    "spec.C": [0, -1, float("nan"), float("inf"), 1e300],
    "spec.cost": [-1, float("nan"), float("inf")],
    "spec.labels": ["none", "later"],
    "spec.space": ["planar", None],
    "spec.more": [1],
    "spec": [None, [], "x"],
    "meta": [None, [], "x", {}],
    "meta.tag": ["form", "lemma", "x", 3, None],
    "meta.coarse": ["form", "x", None],
    "meta.single_root": [1, "yes", None],
    "meta.attributes": [["colour"], "suffix", ["feats", "feats"], None],
    "meta.punctuation": [{}, {"column": "colour", "tags": []}, {"column": "upos", "tags": "PUNCT"}],
    "history": [None, {}, [3], ["x"], [{"epoch": []}], [{"epoch": float("nan")}]],
    "attributes": [None, ["colour"], ["form", "form"], "form"],
    "labels": [None, [], ["a", "a"], [1, 2], ["a\tb"], [""], ["a\nb"], "abc"],
    "patterns": [3, {}, {"name": "x", "digest": "y", "text": 3}],
    "more": [1],
    "key": [3, None],
    "templates": [None, {}, {"digest": "x", "lines": {}}],
    "version": [1, "2", "a\nb", None],
    "a\nb": [1],
    "kind": ["tagger", None],
    "format": ["zip", None],
}


@pytest.mark.parametrize("field", HEADERS)
def test_every_field_of_a_models_header_is_checked(field: str, folder: Path) -> None:
    *path, key = field.split(".")
    for value in HEADERS[field]:
        file = ModelFile((folder / "model.original").read_bytes())
        parent = file.header
        for step in path:
            parent = parent[step]
        parent[key] = value
        refused(folder, "model", file)


def test_a_model_file_without_a_threshold_is_parsed_without_one(folder: Path) -> None:
    file = ModelFile((folder / "model.original").read_bytes())
    assert file.header["spec"].pop("threshold") > 0
    assert file.header["spec"].pop("pruner_folds") > 0
    (folder / "model.older").write_bytes(file.written())
    spec = Model.load(folder / "model.older").spec
    assert (spec.threshold, spec.pruner_folds) == (0.0, 0)


TAGGER_HEADERS = {
    "column": ["form", "colour", None],
    "tags": [[], ["a"], None, [1, 2], ["a", "a"]],
    "templates": [None, [3], ["w.colour"], ["w+9.form"], ["w+-1.form"], ["t-2"]],
    "forms": [None, [], {"a": -1}, {"a": 10**6}, {"a": "0"}],
    "seen": [None, {"a": -1}, {"a": 10**6}],
    "lists": [None, [], [[]], [[-1]], [[99]], [[1, 0]], [["a"]]],
    "history": [None, [3]],
}


@pytest.mark.parametrize("key", TAGGER_HEADERS)
def test_every_field_of_a_taggers_header_is_checked(key: str, folder: Path) -> None:
    for value in TAGGER_HEADERS[key]:
        file = ModelFile((folder / "tagger.original").read_bytes())
        file.header[key] = value
        refused(folder, "tagger", file)


def test_arrays_must_have_the_type_and_shape_of_the_header(folder: Path) -> None:
    for kind, name in (("model", "weights"), ("model", "pruner"), ("pruner", "weights"), ("tagger", "weights")):
        whole = ModelFile((folder / f"{kind}.original").read_bytes()).arrays[name]
        not_finite = whole.astype(np.float32)
        not_finite[5] = np.nan
        for array in (
            np.zeros(3, np.float32),
            np.zeros(3, np.int32),
            np.zeros(0, whole.dtype),
            whole[:-1],
            whole.reshape(1, -1),
            whole.astype(np.float64),
            whole.astype(whole.dtype.newbyteorder(">")),
            not_finite,
        ):
            file = ModelFile((folder / f"{kind}.original").read_bytes())
            file.arrays[name] = array
            assert name in refused(folder, kind, file)


def test_a_member_must_be_unique_and_have_the_stated_length(folder: Path) -> None:
    content = (folder / "model.original").read_bytes()
    with pytest.warns(UserWarning, match="Duplicate name"):
        assert "twice" in refused(folder, "model", ModelFile(content), twice="weights.npy")
    altered = ModelFile(content)
    altered.arrays["more"] = np.zeros(3)
    assert "its arrays are not those" in refused(folder, "model", altered)
    del altered.arrays["more"], altered.arrays["pruner"]
    assert "its arrays are not those" in refused(folder, "model", altered)
    import io
    import zipfile

    file = ModelFile(content)
    for shape in ("(1099511627776,)", "(-1,)", "(268435456,)", "'x'"):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as z:
            z.writestr("header", file.members["header"])
            z.writestr("weights.npy", file.members["weights.npy"])
            z.writestr("pruner.npy", claims(file.arrays["pruner"], shape))
        (folder / "model.forged").write_bytes(out.getvalue())
        with pytest.raises(ModelError):
            Model.load(folder / "model.forged")


def test_files_that_were_changed_after_writing_are_refused(folder: Path) -> None:
    """Check files that are valid apart from the digest, with correct checksums of the zip."""
    file = ModelFile((folder / "model.original").read_bytes())
    file.header["spec"]["k"] = 9
    assert "changed after it was written" in refused(folder, "model", file, digest="old")
    file = ModelFile((folder / "model.original").read_bytes())
    file.arrays["weights"][7] += 1
    assert "changed after it was written" in refused(folder, "model", file, digest="old")


KINDS = ("model", "tagger", "constrained", "transition")


def check_mutants(folder: Path, target: Path, seed: int, count: int, kinds: tuple[str, ...] = KINDS) -> None:
    """Load `count` mutants of each kind of model in another process, and check the outcomes."""
    forged: dict[str, tuple[str, bool]] = {}
    for kind in kinds:
        content = (folder / f"{kind}.original").read_bytes()
        (target / f"{kind}.original").write_bytes(content)
        for change, mutant, may_differ in model_mutants(content, seed, count):
            name = f"{kind}-{len(forged)}.npz"
            (target / name).write_bytes(mutant)
            forged[name] = change, may_differ
    script = Path(__file__).with_name("load_mutants.py")
    result = subprocess.run(
        [sys.executable, str(script), str(target), str(folder / "input.conllu")], capture_output=True, text=True
    )
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.returncode == 0, f"crashed ({result.returncode}) at {forged.get(lines[-1][0])}: {result.stderr}"
    outcomes = {name: (outcome, reason) for name, outcome, reason in lines if outcome != "started"}
    assert outcomes.keys() == forged.keys()
    faults = []
    for name, (change, may_differ) in forged.items():
        outcome, reason = outcomes[name]
        if outcome == "internal" or (outcome == "other" and not may_differ) or "\n" in reason:
            faults.append(f"{name} ({change}): {outcome} {reason}")
    assert not faults, "\n".join(faults)
    assert Counter(outcome for outcome, _ in outcomes.values())["wrong"] > count * len(kinds) // 4, (
        "most mutants must be refused"
    )


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_mutants_are_refused_or_parse_alike(folder: Path, tmp_path: Path) -> None:
    check_mutants(folder, tmp_path, seed=1, count=200)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_mutants_are_refused_or_parse_alike(seed: int, folder: Path, tmp_path: Path) -> None:
    check_mutants(folder, tmp_path, seed, count=1000)
