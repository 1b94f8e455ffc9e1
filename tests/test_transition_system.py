"""Transition-based parsing as a system: it is trained, interrupted, saved, loaded and used like other systems."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
import typer
from mutants import ModelFile
from synthetic import inflected_conllu

import treebound
from treebound.cli import application
from treebound.core.errors import InputError, ModelError, TreeboundError
from treebound.learning.survey import describe
from treebound.metrics.attachment import evaluate
from treebound.support.settings import SettingError
from treebound.systems.registry import system_of
from treebound.systems.training import recipe
from treebound.systems.transition.configuration import SYSTEMS
from treebound.systems.transition.feature_models import load_models
from treebound.systems.transition.settings import Settings
from treebound.systems.transition.system import Parser, Transition
from treebound.treebanks.document import read

SMALL = ["--system", "transition", "--bits", 12, "--epochs", 2]


def call(*arguments: object) -> None:
    """Run the command line in this process."""
    typer.main.get_command(application()).main([str(a) for a in arguments], standalone_mode=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with treebanks and a model with default settings except for its size."""
    path = tmp_path_factory.mktemp("transition")
    (path / "train.conllu").write_text(inflected_conllu(150, 1))
    (path / "dev.conllu").write_text(inflected_conllu(120, 2))
    call("train", path / "train.conllu", path / "dev.conllu", "-o", path / "model.npz", *SMALL)
    return path


def trees(model: Path, treebank: Path, **options: Any) -> list[tuple[list[int], float, list[str]]]:
    parser = treebound.load(model, **options)
    parses = parser.parse(read(treebank).treebank)
    return [(p.heads.tolist(), p.value, parser.label_names(p)) for p in parses]


def test_the_settings_list_all_transition_systems() -> None:
    assert get_args(get_type_hints(Settings)["transitions"]) == tuple(SYSTEMS)


@pytest.mark.parametrize(
    "options",
    [
        ["--learning", "static", "--features", "F5"],
        ["--learning", "dynamic", "--transitions", "arc-hybrid"],
        ["--learning", "beam", "--beam", 4, "--update", "early"],
        ["--learning", "static", "--transitions", "swap", "--features", "F6"],
    ],
)
def test_train_parse_and_evaluate(
    options: list, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, out, gold = tmp_path / "model.npz", tmp_path / "out.conllu", folder / "dev.conllu"
    call("train", folder / "train.conllu", gold, "-o", model, *SMALL, *options)
    messages = capsys.readouterr().err
    call("parse", model, gold, "-o", out)
    parsed, dev = read(out).treebank, read(gold).treebank
    assert trees(model, gold) == [
        (parsed.heads(i).tolist(), value, parsed[i].strings("deprel"))
        for i, (_, value, _) in enumerate(trees(model, gold))
    ]
    describe(read(folder / "train.conllu").treebank, dev)
    scores = evaluate(dev, [parsed.heads(i) for i in range(len(parsed))], [s.strings("deprel") for s in parsed]).summary
    assert f"dev UAS {scores['uas']:.2f}, LAS {scores['las']:.2f}" in messages
    assert scores["uas"] > 70
    assert out.read_text().count("# treebound_status = heuristic") == len(dev)
    call("evaluate", gold, out)


def test_any_number_of_workers_gives_the_same_trees(folder: Path, tmp_path: Path) -> None:
    dev = folder / "dev.conllu"
    for workers in (1, 2):
        call("parse", folder / "model.npz", dev, "-o", tmp_path / f"{workers}.conllu", "--workers", workers)
    assert (tmp_path / "1.conllu").read_bytes() == (tmp_path / "2.conllu").read_bytes()
    parser, treebank = treebound.load(folder / "model.npz"), read(dev).treebank
    single, parallel = (parser.parse(treebank, workers=workers) for workers in (1, 2))
    whole = parser.model.parse(treebank)
    for a, b, c in zip(single, parallel, whole, strict=True):
        assert a.heads.tolist() == b.heads.tolist() == c.heads.tolist()
        assert a.labels.tolist() == b.labels.tolist() == c.labels.tolist()
        assert a.value == b.value == c.value


def test_train_many_writes_the_same_file_and_leaves_finished_models(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {name: str(folder / f"{name}.conllu") for name in ("train", "dev")}
    (tmp_path / "list.yaml").write_text(
        json.dumps({"models": {"a": {"system": "transition", "bits": 12, "epochs": 2, **files}}})
    )
    for _ in range(2):
        call("train-many", tmp_path / "list.yaml", "-o", tmp_path)
    assert (tmp_path / "a.npz").read_bytes() == (folder / "model.npz").read_bytes()
    assert "finished earlier" in capsys.readouterr().err
    assert isinstance(system_of(tmp_path / "a.npz"), Transition)


class Killed(Exception):
    """Exception that simulates a kill signal."""


@pytest.mark.parametrize("options", [{}, {"learning": "static"}, {"learning": "beam", "beam": 3}])
def test_interrupted_training_resumes(options: dict[str, Any], folder: Path, tmp_path: Path) -> None:
    """Interrupt training after the first epoch of three and in the middle of the second.

    The resumed training writes the same file as one uninterrupted run.
    """
    train, dev = (read(folder / f"{name}.conllu").treebank for name in ("train", "dev"))
    settings, system, checkpoint_path = Settings(epochs=3, bits=12, **options), Transition(), tmp_path / "kept.npz"
    started: list[str] = []

    def killing(items: Iterable, what: str) -> Iterable:
        started.append(what)
        for item in items:
            yield item
            if len(started) == 2:
                raise Killed

    with pytest.raises(Killed):
        system.train(settings, train, dev, checkpoint=checkpoint_path, progress=killing)
    assert checkpoint_path.exists()
    epochs: list[str] = []
    resumed = system.train(
        settings, train, dev, checkpoint=checkpoint_path, progress=lambda items, what: epochs.append(what) or items
    )
    assert [what.split(" (")[0] for what in epochs] == ["epoch 2/3", "epoch 3/3"]
    assert not checkpoint_path.exists()
    resumed.save(tmp_path / "resumed")
    system.train(settings, train, dev).save(tmp_path / "whole")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_beam_is_chosen_when_parsing_too(folder: Path, tmp_path: Path) -> None:
    dev = folder / "dev.conllu"
    greedy, wide = trees(folder / "model.npz", dev, beam=1), trees(folder / "model.npz", dev, beam=16)
    assert greedy == trees(folder / "model.npz", dev)
    assert np.mean([b[1] >= a[1] for a, b in zip(greedy, wide, strict=True)]) > 0.9
    assert greedy != wide
    call("parse", folder / "model.npz", dev, "-o", tmp_path / "out.conllu", "--beam", 16)
    parsed = read(tmp_path / "out.conllu").treebank
    assert [parsed.heads(i).tolist() for i in range(len(parsed))] == [heads for heads, _, _ in wide]
    for beam in (0, -1, 5000):
        with pytest.raises(InputError, match="a beam of"):
            treebound.load(folder / "model.npz", beam=beam)
    with pytest.raises(InputError, match="no option 'k'"):
        call("parse", folder / "model.npz", dev, "--k", 5)
    with pytest.raises(InputError, match="only graph-based models"):
        call("parse", folder / "model.npz", dev, "--margins")


def test_a_user_feature_model(folder: Path, tmp_path: Path) -> None:
    own, model = tmp_path / "own.toml", tmp_path / "model.npz"
    own.write_text('[a]\ncells = """\np s0 ours\n"""\n[b]\nextends = "a"\ncells = """\np t0 ours\nw t0 ours\n"""\n')
    call("train", folder / "train.conllu", folder / "dev.conllu", "-o", model, *SMALL, "--features", own)
    own.unlink()
    parser = treebound.load(model)
    assert isinstance(parser, Parser)
    assert parser.model.features.cells == ("p s0", "p t0", "w t0")
    assert parser.reads == ("upos",)
    own.write_text('[a]\ncells = """\nq s0 ours\n"""\n')
    with pytest.raises(InputError, match=r"own.toml:3: .*unknown function 'q'"):
        call("train", folder / "train.conllu", folder / "dev.conllu", "-o", model, *SMALL, "--features", own)
    with pytest.raises(InputError, match=r"own.toml: .*other"):
        call("train", folder / "train.conllu", folder / "dev.conllu", "-o", own, *SMALL, "--features", own)
    with pytest.raises(InputError, match="features: no feature model 'F7'; name a file, or one of F1, F2"):
        call("train", folder / "train.conllu", folder / "dev.conllu", "-o", model, *SMALL, "--features", "F7")


def without_columns(text: str, *numbers: int) -> str:
    """Return CoNLL-U with _ in the given columns (from 1)."""
    rows = [line.split("\t") for line in text.splitlines()]
    return "".join(
        "\t".join("_" if i in numbers and len(row) > 1 else value for i, value in enumerate(row, 1)) + "\n"
        for row in rows
    )


@pytest.mark.parametrize(
    ("bare", "options", "reads", "functions"),
    [
        ((), [], ("upos", "lemma", "feats"), "mf"),
        ((6,), [], ("upos", "lemma"), "m"),
        ((3,), [], ("upos", "feats"), "f"),
        ((3, 6), [], ("upos",), ""),
        ((), ["--attributes", "none"], ("upos",), ""),
        ((), ["--attributes", "suffix"], ("upos",), ""),
        ((), ["--attributes", "suffix,feats"], ("upos", "feats"), "f"),
        ((), ["--features", "zhang-nivre-coarse"], ("upos",), ""),
    ],
)
def test_the_survey_or_an_option_chooses_the_attributes(
    bare: tuple[int, ...], options: list, reads: tuple[str, ...], functions: str, folder: Path, tmp_path: Path
) -> None:
    files = [tmp_path / "train.conllu", tmp_path / "dev.conllu"]
    for path in files:
        path.write_text(without_columns((folder / path.name).read_text(), *bare))
    call("train", *files, "-o", tmp_path / "model.npz", *SMALL, *options)
    model = treebound.load(tmp_path / "model.npz").model
    assert model.reads == reads
    assert {cell[0] for cell in model.features.cells if cell[0] in "mf"} == set(functions)
    assert "suffix" not in model.meta["attributes"] or options != ["--attributes", "none"]
    if not functions:
        assert model.features == load_models()["zhang-nivre-coarse"]
    model.save(tmp_path / "saved.npz")
    assert (tmp_path / "saved.npz").read_bytes() == (tmp_path / "model.npz").read_bytes()


def test_features_tell_heads_of_an_inflected_language(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dev, accuracies = read(folder / "dev.conllu").treebank, {}
    describe(read(folder / "train.conllu").treebank, dev)
    for name, options in (("rich", []), ("poor", ["--attributes", "none"])):
        call("train", folder / "train.conllu", folder / "dev.conllu", "-o", tmp_path / name, *SMALL, *options)
        accuracies[name] = evaluate(
            dev, [np.array(heads) for heads, _, _ in trees(tmp_path / name, folder / "dev.conllu")]
        )
    assert accuracies["rich"].summary["uas"] > accuracies["poor"].summary["uas"] + 2
    capsys.readouterr()
    empty = tmp_path / "empty.conllu"
    empty.write_text(without_columns((folder / "dev.conllu").read_text(), 6))
    call("parse", tmp_path / "rich", empty, "-o", tmp_path / "out.conllu")
    assert "feats empty, but the model reads it" in capsys.readouterr().err
    call("parse", tmp_path / "poor", empty, "-o", tmp_path / "out.conllu")
    assert capsys.readouterr().err == ""


def test_files_from_before_morphological_features_are_read(folder: Path, tmp_path: Path) -> None:
    """Older files have vocabularies of four columns. So do new files whose cells read no morphological features."""
    files, model = (folder / "train.conllu", folder / "dev.conllu"), tmp_path / "model.npz"
    call("train", *files, "-o", model, *SMALL, "--features", "F6")
    file, before = ModelFile(model.read_bytes()), trees(model, files[1])
    assert len(file.header["strings"]) == 4
    file.header["strings"].append([])
    model.write_bytes(file.written())
    assert trees(model, files[1]) == before
    rich = ModelFile((folder / "model.npz").read_bytes())
    assert [bool(strings) for strings in rich.header["strings"]] == [True] * 5
    rich.header["strings"].pop()
    model.write_bytes(rich.written())
    with pytest.raises(ModelError, match="a cell reads a column that has no vocabulary"):
        treebound.load(model)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"transitions": "left-corner"}, "transitions: unknown value 'left-corner'; choose from arc-eager"),
        ({"learning": "mira"}, "learning: unknown value 'mira'; choose from static, dynamic, beam, svm"),
        ({"beam": 0}, "beam: Input should be greater than or equal to 1"),
        ({"explore": 2}, "explore: Input should be less than or equal to 1"),
        ({"families": "sibling"}, "families: unknown key"),
    ],
)
def test_settings_are_checked(values: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        recipe({"system": "transition", **values})


def test_impossible_training_is_refused_in_one_line(folder: Path, tmp_path: Path) -> None:
    files, model = (folder / "train.conllu", folder / "dev.conllu"), tmp_path / "model.npz"
    with pytest.raises(TreeboundError, match="arc-standard has no dynamic oracle; use arc-eager or arc-hybrid"):
        call("train", *files, "-o", model, *SMALL, "--transitions", "arc-standard")
    blank = tmp_path / "blank.conllu"
    blank.write_text("1\ta\t_\tX\tX\t_\t0\t_\t_\t_\n\n")
    with pytest.raises(InputError, match="not every word has a label"):
        call("train", blank, blank, "-o", model, *SMALL)


def sentence(*rows: tuple[str, str]) -> str:
    words = (f"{i}\t{form}\t_\t{tag}\t{tag}\t_\t_\t_\t_\t_\n" for i, (form, tag) in enumerate(rows, 1))
    return "".join(words) + "\n"


def test_any_input_is_parsed(folder: Path, tmp_path: Path) -> None:
    """Empty input, one word, 500 words, and unknown words and tags are parsed."""
    source, out = tmp_path / "given.conllu", tmp_path / "out.conllu"
    for text, count in (
        ("", 0),
        (sentence(("one", "N")), 1),
        (sentence(*[("never", "seen")] * 500) + sentence(("a", "_"), ("b", "_")), 2),
    ):
        source.write_text(text)
        for beam in (1, 8):
            parses = treebound.load(folder / "model.npz", beam=beam).parse(read(source, annotated=False).treebank)
            assert len(parses) == count
        call("parse", folder / "model.npz", source, "-o", out)
        parsed = read(out).treebank if count else []
        assert len(parsed) == count
        for i in range(count):
            heads = parsed.heads(i)
            for m in range(1, len(heads)):  # the result is a tree: every word reaches the root
                steps = 0
                while m > 0:
                    m, steps = heads[m], steps + 1
                    assert steps <= len(heads)
