"""Quadratic kernels and memory-based learning as learners of the system: files, resumed training, refusals."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from mutants import ModelFile
from synthetic import synthetic_treebank
from test_transition_training import MODELS, uas

import treebound.systems.transition.quadratic_svm as svm
from treebound.core.errors import InputError, ModelError, TreeboundError, UnsupportedError
from treebound.systems.transition.feature_models import FeatureModel
from treebound.systems.transition.model import TransitionModel
from treebound.systems.transition.settings import Settings
from treebound.systems.transition.system import Parser, Transition
from treebound.systems.transition.training import train_model

TRAIN, DEV = synthetic_treebank(300, seed=1), synthetic_treebank(60, seed=2)
QUADRATIC, MEMORY = Settings(learning="quadratic", features="F5"), Settings(learning="memory", features="F5")
PACKAGE = {"quadratic": "libsvm", "memory": "timblapi"}


@pytest.fixture(scope="module", params=[QUADRATIC, MEMORY], ids=lambda settings: settings.learning)
def model(request: pytest.FixtureRequest) -> TransitionModel:
    if find_spec(PACKAGE[request.param.learning]) is None:
        pytest.skip("not installed: make classifiers")
    return train_model(request.param, MODELS["F5"], TRAIN)


def test_it_learns_and_its_file_restores_it(model: TransitionModel, tmp_path: Path) -> None:
    assert uas(model, DEV) > 80
    model.save(tmp_path / "model")
    loaded = TransitionModel.load(tmp_path / "model")
    loaded.save(tmp_path / "again")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "again").read_bytes()
    first, second = model.parse(DEV), Parser(loaded).parse(DEV, workers=2)
    for before, after in zip(first, second, strict=True):
        assert before.heads.tolist() == after.heads.tolist()
        assert before.labels.tolist() == after.labels.tolist()
        assert np.isnan(before.value)
        assert np.isnan(after.value)
    assert loaded.parse(DEV.select(np.arange(0))) == []
    assert "dev UAS" in Transition().report(loaded, DEV)


def test_a_beam_needs_a_linear_model(model: TransitionModel) -> None:
    with pytest.raises(UnsupportedError, match="a beam needs the scores"):
        model.parse(DEV, 4)
    with pytest.raises(UnsupportedError, match=f"--learning {model.spec.learning} cannot parse with a beam"):
        train_model(replace(model.spec, beam=4), MODELS["F5"], TRAIN)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("pool", lambda a: a + 99),
        ("pool", lambda a: a[None]),
        ("pool", lambda a: a[:-1]),
        ("pool", lambda a: a[::-1]),
        ("pool", lambda a: a[:, :0]),
        ("classes", lambda a: a[::-1]),
        ("classes", lambda a: a + 1000),
        ("counts", lambda a: a + 1),
        ("vectors", lambda a: a[:-1]),
        ("rho", lambda a: a * np.nan),
        ("answers", lambda a: a - 1000),
        ("answers", lambda a: a[:-1]),
        ("instances", lambda a: a[:, 1:]),
    ],
)
def test_damaged_files_are_refused(model: TransitionModel, tmp_path: Path, name: str, change: object) -> None:
    arrays = dict(model.other.arrays)
    if name not in arrays:
        pytest.skip("of the other learner")
    changed = arrays | {name: np.ascontiguousarray(change(arrays[name]))}
    model.save(tmp_path / "model")
    file = ModelFile((tmp_path / "model").read_bytes())
    file.arrays = changed
    (tmp_path / "bad").write_bytes(file.written())
    with pytest.raises(ModelError, match=r"bad: .*; train it again"):
        TransitionModel.load(tmp_path / "bad")


def test_a_header_of_other_sizes_is_refused(model: TransitionModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    for key, value in (("pools", []), ("pools", [[0, 0]]), ("pools", [[2, 10**6]]), ("instances", 0)):
        file = ModelFile((tmp_path / "model").read_bytes())
        if key not in file.header:
            continue
        file.header[key] = value
        (tmp_path / "bad").write_bytes(file.written())
        with pytest.raises(ModelError, match="damaged"):
            TransitionModel.load(tmp_path / "bad")


@pytest.mark.skipif(find_spec("libsvm") is None, reason="LIBSVM is not installed")
def test_transition_and_label_may_be_one_decision(tmp_path: Path) -> None:
    few = TRAIN.select(np.arange(60))
    combined = train_model(replace(QUADRATIC, prediction="combined"), MODELS["F5"], few)
    assert len(combined.other.branching) == 0
    combined.save(tmp_path / "model")
    loaded = TransitionModel.load(tmp_path / "model")
    for before, after in zip(combined.parse(DEV), loaded.parse(DEV), strict=True):
        assert before.heads.tolist() == after.heads.tolist()
    file = ModelFile((tmp_path / "model").read_bytes())
    file.header["spec"]["prediction"] = "branching"
    (tmp_path / "bad").write_bytes(file.written())
    with pytest.raises(ModelError, match="the number of rows is not the number of decisions"):
        TransitionModel.load(tmp_path / "bad")


@pytest.mark.skipif(find_spec("libsvm") is None, reason="LIBSVM is not installed")
def test_interrupted_training_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svm, "SAVED", -1.0)
    checkpoint_path, seen = tmp_path / "kept", []

    class Killed(Exception):
        """Exception that simulates a kill signal."""

    def killing(items: Iterable, what: str) -> Iterable:
        for i, item in enumerate(items):
            if i == 2:
                raise Killed
            yield item

    few = replace(QUADRATIC, tolerance=1.0)
    with pytest.raises(Killed):
        train_model(few, MODELS["F5"], TRAIN, checkpoint=checkpoint_path, progress=killing)
    assert checkpoint_path.exists()
    counting = lambda items, what: [seen.append(1) or item for item in items]  # noqa: E731
    train_model(few, MODELS["F5"], TRAIN, checkpoint=checkpoint_path, progress=counting).save(tmp_path / "resumed")
    assert not checkpoint_path.exists()
    resumed, seen[:] = len(seen), []
    train_model(few, MODELS["F5"], TRAIN, progress=counting).save(tmp_path / "whole")
    assert resumed == len(seen) - 2 > 0
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()
    checkpoint_path.write_bytes(b"something else")
    train_model(few, MODELS["F5"], TRAIN, checkpoint=checkpoint_path).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "whole").read_bytes()


def test_cells_that_agree_fit_into_a_byte() -> None:
    assert svm.split_of(FeatureModel(("w t0", "p t0") * 127, (), ())) == 1
    with pytest.raises(InputError, match="256 cells"):
        svm.split_of(FeatureModel(("w t0", "p t0") * 128, (), ()))


@pytest.mark.parametrize("settings", [QUADRATIC, MEMORY])
def test_a_missing_package_is_named(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, PACKAGE[settings.learning], None)
    with pytest.raises(TreeboundError, match=r"is not installed; run: pip install 'treebound\[classifiers\]'"):
        train_model(settings, MODELS["F5"], TRAIN.select(np.arange(20)))


def test_features_without_the_next_tag_are_refused() -> None:
    with pytest.raises(InputError, match="a quadratic kernel needs the tag of the next word; add the cell p t0"):
        train_model(QUADRATIC, FeatureModel(("w s0", "w t0")), TRAIN)
