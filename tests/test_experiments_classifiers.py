"""Test the stages that compare classifiers and search their parameters, on a synthetic treebank."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from synthetic import synthetic_treebank

from studies.common import params, stage
from studies.common.params import Params
from studies.hall_2006.classifier_search.settings import ClassifierSearch
from studies.hall_2006.classifiers import measure as classifiers
from studies.hall_2006.classifiers import search as measure
from studies.hall_2006.classifiers import training
from studies.hall_2006.classifiers.settings import Classifiers
from treebound.core.errors import InputError
from treebound.systems.transition.settings import Settings
from treebound.treebanks import storage

PROJECT = Path(__file__).parents[1]
SMALL = Settings(learning="static", features="F1", epochs=1, bits=10)


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Params:
    """Return the parameters of the stages for a synthetic corpus, which is converted in a temporary folder."""
    for i, (split, count) in enumerate((("train", 57), ("dev", 21), ("test", 22))):
        path = tmp_path / stage.CONVERTED / "synthetic" / f"{split}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        storage.save(synthetic_treebank(count, seed=i), path)
    monkeypatch.chdir(tmp_path)
    learners = {"one": SMALL, "two": replace(SMALL, epochs=3), "memory": Settings(learning="memory")}
    compared = Classifiers(("synthetic",), {}, ("F1", "F5"), learners, (50,), repeats=2)
    grids = {"one": {"epochs": (1, 2, 3), "bits": (8, 12)}}
    searched = ClassifierSearch(("synthetic",), "F2", grids, 30)
    return params.load(PROJECT / "params.yaml").changed(compared).changed(searched)


def test_every_cell_is_measured_and_compared(configured: Params, capsys: pytest.CaptureFixture[str]) -> None:
    classifiers.run(configured, "synthetic")
    metrics = json.loads((stage.METRICS / "classifiers" / "synthetic.json").read_text())
    seconds = json.loads((stage.METRICS / "timing" / "classifiers" / "synthetic.json").read_text())
    names = [(row["features"], row["learner"], row["share"]) for row in metrics["rows"]]
    learners = ("one", "two", "memory")
    assert names == [
        *((f, name, 100) for f in ("F1", "F5") for name in learners),
        *(("F5", name, 50) for name in learners),
    ]
    assert [(row["features"], row["learner"], row["share"]) for row in seconds] == names
    installed = find_spec("timblapi") is not None
    for row in metrics["rows"]:
        if row["learner"] == "memory" and not installed:
            assert row["missing"] == "TiMBL"
        else:
            assert 20 < row["las"] <= row["uas"] < 100
    by_name = dict(zip(names, metrics["rows"], strict=True))
    assert by_name["F5", "two", 50]["trained_words"] < by_name["F5", "two", 100]["trained_words"]
    assert len(metrics["tests"]) == (2 * 3 + 3 if installed else 2 + 2)
    scored = (np.array(synthetic_treebank(22, seed=2).strings("upos")) != ".").sum()
    for test in metrics["tests"]:
        a, b = (by_name[(*reversed(test[side].split()), 100)] for side in "ab")
        assert test["scored"] == scored
        assert (test["only_a"] - test["only_b"]) / scored == pytest.approx((a["uas"] - b["uas"]) / 100)
        assert test["difference"] == pytest.approx(a["uas"] - b["uas"], abs=1e-6)
        assert test["low"] <= test["difference"] <= test["high"]
    # in every cell the searched learner has the parameters that were best on dev
    points = metrics["search"]["points"]
    best = max((point for point in points if point["share"] == 100), key=lambda point: point["las"])
    assert metrics["chosen"] == {"one": {"epochs": best["epochs"], "bits": best["bits"]}}
    assert metrics["search"]["dev"]["sentences"] == 21
    assert not any("cpu" in name for point in points for name in point), "times must be stored separately"
    timed = [row for row in seconds if row["features"] == "F5" and row["share"] == 100 and row["trainings"]]
    for row in timed:
        assert len(row["trainings"]) == 2
        assert row["train_cpu_s"] == pytest.approx(np.mean(row["trainings"]))
    assert all(len(row["trainings"] or [0]) == 1 for row in seconds if row not in timed)
    # finished cells are not repeated, and the result is the same
    before = (stage.METRICS / "classifiers" / "synthetic.json").read_bytes()
    checkpoints = sorted((stage.CHECKPOINTS / "classifiers").iterdir())
    checkpoints[0].write_text("damaged")
    changed = {path: path.stat().st_mtime_ns for path in checkpoints}
    classifiers.run(configured, "synthetic")
    assert (stage.METRICS / "classifiers" / "synthetic.json").read_bytes() == before
    assert [path for path in checkpoints if path.stat().st_mtime_ns != changed[path]] == [checkpoints[0]]
    assert f"({len(names)} of {len(names)})" in capsys.readouterr().err


def test_sections_are_every_tenth_sentence(configured: Params) -> None:
    seen = []
    for section in range(10):
        train, test = training.divided(configured, "synthetic", section)
        assert (len(train), len(test)) == (90, 10)
        seen += [tuple(test[i].strings("form")) for i in range(len(test))]
    whole = [synthetic_treebank(count, seed=i) for i, count in enumerate((57, 21, 22))]
    sentences = [tuple(treebank[i].strings("form")) for treebank in whole for i in range(len(treebank))]
    assert sorted(seen) == sorted(sentences)
    assert seen[:10] == sentences[::10]
    assert len(training.divided(configured, "synthetic", -1)[1]) == 22


def test_a_missing_package_is_recorded_and_stops_nothing(configured: Params, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "find_spec", lambda name: None)
    only = replace(configured.section(Classifiers), learners={"memory": Settings(learning="memory")}, shares=())
    classifiers.run(configured.changed(only), "synthetic")
    metrics = json.loads((stage.METRICS / "classifiers" / "synthetic.json").read_text())
    assert [row["missing"] for row in metrics["rows"]] == ["TiMBL", "TiMBL"]
    assert metrics["tests"] == []


def test_the_search_halves_and_keeps_every_point(configured: Params, capsys: pytest.CaptureFixture[str]) -> None:
    measure.run(configured, "synthetic")
    table = pd.read_csv(stage.METRICS / "classifier-search" / "synthetic.csv")
    assert table.groupby("round").size().tolist() == [6, 2, 1]
    assert table.groupby("round")["share"].first().tolist() == [30, 90, 100]
    for number in (1, 2):
        this_round, next_round = (table[table["round"] == n] for n in (number, number + 1))
        best = this_round.sort_values("las", ascending=False, kind="stable").head(len(next_round))
        assert set(zip(best["epochs"], best["bits"], strict=True)) == set(
            zip(next_round["epochs"], next_round["bits"], strict=True)
        )
    assert "chosen {'epochs'" in capsys.readouterr().err
    first = (stage.METRICS / "classifier-search" / "synthetic.csv").read_bytes()
    measure.run(configured, "synthetic")  # every point was stored with its seconds
    assert (stage.METRICS / "classifier-search" / "synthetic.csv").read_bytes() == first


def test_parameters_are_chosen_on_sentences_that_no_cell_parses(configured: Params) -> None:
    """Check that section 0 of ten is for tests, section 1 for choosing and sections 2 to 9 for training."""
    divided = configured.changed(replace(configured.section(Classifiers), sections={"synthetic": (0,)}))
    development = training.development(divided, "synthetic")
    train, dev = (training.divided(divided, "synthetic", section)[1] for section in (2, 1))
    assert [len(part) for part in development] == [80, 10]
    assert development[1].strings("form") == dev.strings("form")
    assert development[0][0].strings("form") == train[0].strings("form")
    tested = {tuple(s.strings("form")) for s in training.divided(divided, "synthetic", 0)[1]}
    assert not tested & {tuple(s.strings("form")) for treebank in development for s in treebank}
    assert [len(part) for part in training.development(configured, "synthetic")] == [57, 21]
    limited = configured.changed(replace(configured.section(ClassifierSearch), sentences=19, dev=7))
    sampled = measure.sample(limited, "synthetic")
    assert [len(part) for part in sampled] == [19, 7]
    assert sampled[0][1].strings("form") == training.development(configured, "synthetic")[0][3].strings("form"), (
        "evenly spaced"
    )


def test_the_last_round_uses_all_sentences() -> None:
    assert measure.rounds(48, 12) == [(48, 12), (16, 36), (6, 100)]
    assert measure.rounds(1, 100) == [(1, 100)]
    assert measure.rounds(2, 40) == [(2, 40), (1, 100)]


def test_unknown_parameters_are_named(configured: Params) -> None:
    with pytest.raises(InputError, match="no learner 'three'"):
        measure.settings_of(configured, "three", {})
    with pytest.raises(InputError, match="one has no such parameter: sigma"):
        measure.settings_of(configured, "one", {"sigma": 1})
    compared = configured.section(Classifiers)
    configured = replace(configured, treebanks=("synthetic",))
    with pytest.raises(ValueError, match="grids of classifier_search: three is missing in classifiers"):
        compared.check(configured.changed(ClassifierSearch(("synthetic",), grids={"three": {}})))
    with pytest.raises(ValueError, match="corpora of classifier_search: other is missing in classifiers"):
        compared.check(configured.changed(ClassifierSearch(("other",))))
    with pytest.raises(ValueError, match="sections: other is missing in corpora"):
        Classifiers(("synthetic",), {"other": (0,)})
