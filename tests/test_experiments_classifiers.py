"""The stages of the comparison of classifiers and of the search for their parameters, on a made-up treebank."""

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
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Params:
    """Parameters, in a folder that has a corpus `made-up`."""
    for i, (split, count) in enumerate((("train", 57), ("dev", 21), ("test", 22))):
        path = tmp_path / stage.CONVERTED / "made-up" / f"{split}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        storage.save(synthetic_treebank(count, seed=i), path)
    monkeypatch.chdir(tmp_path)
    learners = {"one": SMALL, "two": replace(SMALL, epochs=3), "memory": Settings(learning="memory")}
    compared = Classifiers(("made-up",), {}, ("F1", "F5"), learners, (50,), repeats=2)
    grids = {"one": {"epochs": (1, 2, 3), "bits": (8, 12)}}
    searched = ClassifierSearch(("made-up",), "F2", grids, 30)
    return params.load(PROJECT / "params.yaml").changed(compared).changed(searched)


def test_every_cell_is_measured_and_compared(given: Params, capsys: pytest.CaptureFixture[str]) -> None:
    classifiers.run(given, "made-up")
    found = json.loads((stage.METRICS / "classifiers" / "made-up.json").read_text())
    seconds = json.loads((stage.METRICS / "timing" / "classifiers" / "made-up.json").read_text())
    names = [(row["features"], row["learner"], row["share"]) for row in found["rows"]]
    of = ("one", "two", "memory")
    assert names == [*((f, name, 100) for f in ("F1", "F5") for name in of), *(("F5", name, 50) for name in of)]
    assert [(row["features"], row["learner"], row["share"]) for row in seconds] == names
    installed = find_spec("timblapi") is not None
    for row in found["rows"]:
        if row["learner"] == "memory" and not installed:
            assert row["missing"] == "TiMBL"
        else:
            assert 20 < row["las"] <= row["uas"] < 100
    by_name = dict(zip(names, found["rows"], strict=True))
    assert by_name["F5", "two", 50]["trained_words"] < by_name["F5", "two", 100]["trained_words"]
    assert len(found["tests"]) == (2 * 3 + 3 if installed else 2 + 2)
    scored = (np.array(synthetic_treebank(22, seed=2).strings("upos")) != ".").sum()
    for test in found["tests"]:
        a, b = (by_name[(*reversed(test[side].split()), 100)] for side in "ab")
        assert test["scored"] == scored
        assert (test["only_a"] - test["only_b"]) / scored == pytest.approx((a["uas"] - b["uas"]) / 100)
        assert test["difference"] == pytest.approx(a["uas"] - b["uas"], abs=1e-6)
        assert test["low"] <= test["difference"] <= test["high"]
    # the learner whose parameters were searched for has the ones that were best on dev, in every cell
    points = found["search"]["points"]
    best = max((point for point in points if point["share"] == 100), key=lambda point: point["las"])
    assert found["chosen"] == {"one": {"epochs": best["epochs"], "bits": best["bits"]}}
    assert found["search"]["dev"]["sentences"] == 21
    assert not any("cpu" in name for point in points for name in point), "times are kept elsewhere"
    timed = [row for row in seconds if row["features"] == "F5" and row["share"] == 100 and row["trainings"]]
    for row in timed:
        assert len(row["trainings"]) == 2
        assert row["train_cpu_s"] == pytest.approx(np.mean(row["trainings"]))
    assert all(len(row["trainings"] or [0]) == 1 for row in seconds if row not in timed)
    # what is done is not done again, and the result is the same
    before = (stage.METRICS / "classifiers" / "made-up.json").read_bytes()
    kept = sorted((stage.CHECKPOINTS / "classifiers").iterdir())
    kept[0].write_text("damaged")
    changed = {path: path.stat().st_mtime_ns for path in kept}
    classifiers.run(given, "made-up")
    assert (stage.METRICS / "classifiers" / "made-up.json").read_bytes() == before
    assert [path for path in kept if path.stat().st_mtime_ns != changed[path]] == [kept[0]]
    assert f"({len(names)} of {len(names)})" in capsys.readouterr().err


def test_sections_are_every_tenth_sentence(given: Params) -> None:
    seen = []
    for section in range(10):
        train, test = training.divided(given, "made-up", section)
        assert (len(train), len(test)) == (90, 10)
        seen += [tuple(test[i].strings("form")) for i in range(len(test))]
    whole = [synthetic_treebank(count, seed=i) for i, count in enumerate((57, 21, 22))]
    sentences = [tuple(treebank[i].strings("form")) for treebank in whole for i in range(len(treebank))]
    assert sorted(seen) == sorted(sentences)
    assert seen[:10] == sentences[::10]
    assert len(training.divided(given, "made-up", -1)[1]) == 22


def test_a_package_that_is_not_there_fails_nothing(given: Params, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "find_spec", lambda name: None)
    only = replace(given.section(Classifiers), learners={"memory": Settings(learning="memory")}, shares=())
    classifiers.run(given.changed(only), "made-up")
    found = json.loads((stage.METRICS / "classifiers" / "made-up.json").read_text())
    assert [row["missing"] for row in found["rows"]] == ["TiMBL", "TiMBL"]
    assert found["tests"] == []


def test_the_search_halves_and_keeps_every_point(given: Params, capsys: pytest.CaptureFixture[str]) -> None:
    measure.run(given, "made-up")
    table = pd.read_csv(stage.METRICS / "classifier-search" / "made-up.csv")
    assert table.groupby("round").size().tolist() == [6, 2, 1]
    assert table.groupby("round")["share"].first().tolist() == [30, 90, 100]
    for number in (1, 2):
        here, after = (table[table["round"] == n] for n in (number, number + 1))
        best = here.sort_values("las", ascending=False, kind="stable").head(len(after))
        assert set(zip(best["epochs"], best["bits"], strict=True)) == set(
            zip(after["epochs"], after["bits"], strict=True)
        )
    assert "chosen {'epochs'" in capsys.readouterr().err
    first = (stage.METRICS / "classifier-search" / "made-up.csv").read_bytes()
    measure.run(given, "made-up")  # every point was kept, seconds too
    assert (stage.METRICS / "classifier-search" / "made-up.csv").read_bytes() == first


def test_parameters_are_chosen_on_sentences_that_no_cell_parses(given: Params) -> None:
    """Section 0 of ten is parsed: section 1 is for choosing, and sections 2 to 9 are learnt from."""
    divided = given.changed(replace(given.section(Classifiers), sections={"made-up": (0,)}))
    own = training.development(divided, "made-up")
    train, dev = (training.divided(divided, "made-up", section)[1] for section in (2, 1))
    assert [len(one) for one in own] == [80, 10]
    assert own[1].strings("form") == dev.strings("form")
    assert own[0][0].strings("form") == train[0].strings("form")
    tested = {tuple(s.strings("form")) for s in training.divided(divided, "made-up", 0)[1]}
    assert not tested & {tuple(s.strings("form")) for treebank in own for s in treebank}
    assert [len(one) for one in training.development(given, "made-up")] == [57, 21]
    some = given.changed(replace(given.section(ClassifierSearch), sentences=19, dev=7))
    few = measure.sample(some, "made-up")
    assert [len(one) for one in few] == [19, 7]
    assert few[0][1].strings("form") == training.development(given, "made-up")[0][3].strings("form"), "evenly spaced"


def test_rounds_end_with_the_whole() -> None:
    assert measure.rounds(48, 12) == [(48, 12), (16, 36), (6, 100)]
    assert measure.rounds(1, 100) == [(1, 100)]
    assert measure.rounds(2, 40) == [(2, 40), (1, 100)]


def test_parameters_that_there_are_not_are_named(given: Params) -> None:
    with pytest.raises(InputError, match="no learner 'three'"):
        measure.settings_of(given, "three", {})
    with pytest.raises(InputError, match="one has no such parameter: sigma"):
        measure.settings_of(given, "one", {"sigma": 1})
    compared = given.section(Classifiers)
    given = replace(given, treebanks=("made-up",))
    with pytest.raises(ValueError, match="grids of classifier_search: three is missing in classifiers"):
        compared.check(given.changed(ClassifierSearch(("made-up",), grids={"three": {}})))
    with pytest.raises(ValueError, match="corpora of classifier_search: other is missing in classifiers"):
        compared.check(given.changed(ClassifierSearch(("other",))))
    with pytest.raises(ValueError, match="sections: other is missing in corpora"):
        Classifiers(("made-up",), {"other": (0,)})
