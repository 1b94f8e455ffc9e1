"""The stage of the joint model: its columns are those of the parser, its optimum bounds them, and it goes on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from ccg_corpus import write_auto
from test_ccg_system import call

import treebound
from studies.auli_lopez_2011.ccg.measure import ORDERS
from studies.auli_lopez_2011.ccg.settings import CCG, CCGParser
from studies.auli_lopez_2011.ccg_integration import measure
from studies.auli_lopez_2011.ccg_integration.settings import CCGIntegration
from studies.common import params
from treebound.core.errors import InputError
from treebound.systems.ccg.evaluation import evaluate
from treebound.systems.ccg.study import Outcome, Study, difference, scores
from treebound.treebanks.ccg.columns import derivations_of
from treebound.treebanks.document import read

PARAMS = Path(__file__).parent.parent / "params.yaml"
NAME = "made-up"
BEAMS = ("0.01:20", "0:1000")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the stages before leave it, with a small model."""
    path = tmp_path_factory.mktemp("study")
    data, model = path / "data" / "ccg-parsers" / NAME, path / "results" / "models" / "ccg" / f"{NAME}.npz"
    for target in (data, model.parent):
        target.mkdir(parents=True)
    for seed, (split, count) in enumerate((("train", 60), ("dev", 25), ("test", 12)), 1):
        write_auto(data / f"{split}.auto", seed, count)
    sizes = {"chart_bits": 12, "tag_bits": 12, "tag_iterations": 5, "iterations": 5}
    options = [part for name, n in sizes.items() for part in (f"--{name.replace('_', '-')}", n)]
    call("train", data / "train.auto", data / "dev.auto", "-o", model, "--system", "ccg", *options)
    return path


def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[dict, dict]:
    """(metrics, speed) of the stage."""
    loaded = params.load(PARAMS)
    parser = CCGParser(corpus="a")
    settings = CCG(derivations=("a",), parsers={NAME: parser}, beams=BEAMS)
    joint = CCGIntegration(iterations=(1, 3), most=60)
    monkeypatch.chdir(folder)
    measure.run(loaded.changed(settings).changed(joint), NAME)
    metrics = folder / "results" / "metrics"
    parts = metrics / "ccg-integration", metrics / "timing" / "ccg-integration"
    found, timed = (json.loads((part / f"{NAME}.json").read_text()) for part in parts)
    return found, timed


def test_the_tables(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, timed = run(folder, monkeypatch)
    columns = {(row["split"], row["order"], row["decoder"], row["iterations"]): row for row in found["columns"]}
    assert len(columns) == 2 * 2 * 6
    test, model = read(folder / "data" / "ccg-parsers" / NAME / "test.auto").treebank, folder / "results/models/ccg"
    gold = derivations_of(test)
    for order, beams in ORDERS.items():
        for decoder, k in (("parser", 0), ("bp", 1), ("bp", 3), ("dd", 1), ("dd", 3), ("exact", 0)):
            name = "none" if decoder == "parser" else decoder
            parses = treebound.load(model / f"{NAME}.npz", beams=beams, integrate=name, iterations=k).parse(test)
            row = columns["test", order, decoder, k]
            wanted = evaluate(gold, [parse.record for parse in parses]).summary()
            assert {key: row[key] for key in wanted} == pytest.approx(wanted)
            assert row["proved"] == row["parsed"] == 12
    assert all(row["less"] == 0 for row in found["columns"] if row["decoder"] == "exact")
    assert sum(row["less"] for row in found["columns"]) > 0
    assert all(columns[s, o, "dd", 3]["less"] <= columns[s, o, "dd", 1]["less"] for s, o, *_ in columns)
    for order in ORDERS:
        settled = [r["settled"] for r in found["curves"] if (r["order"], r["decoder"]) == (order, "dd")]
        assert settled == sorted(settled)
        assert settled[-1] > 80
        curve = {(r["decoder"], r["iterations"]): r["LF"] for r in found["curves"] if r["order"] == order}
        assert curve["dd", 3] == columns["dev", order, "dd", 3]["LF"]
        assert curve["bp", 60] is None
    assert sum(row["sentences"] for row in found["lengths"]) == 2 * (25 + 12)
    assert [(row["beam"], row["decoder"]) for row in found["beams"]] == [
        (beam, name) for beam in BEAMS for name in ("bp", "dd", "exact")
    ]
    gains = {(row["a"], row["b"]): row for row in found["differences"] if row["split"] == "test"}
    assert len(gains) == 2 * 15 + 6
    for order in ORDERS:
        row = gains[f"{order} exact", f"{order} parser"]
        gain = columns["test", order, "exact", 0]["LF"] - columns["test", order, "parser", 0]["LF"]
        assert row["value"] == pytest.approx(gain)
        assert row["low"] <= row["value"] <= row["high"]
        assert row["sentences"] == 12
    exact = [row["score"] for row in found["beams"] if row["decoder"] == "exact"]
    assert exact == sorted(exact)  # a wider chart holds the narrower one
    assert len(timed["lengths"]) == len(found["lengths"])
    assert all(row["per_second"] > 0 for row in timed["columns"])


def test_a_run_that_was_killed_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, _ = run(folder, monkeypatch)
    studied: list[int] = []
    original, most = Study._best, [45]

    def counted(self: Study, *rest: object) -> object:
        if len(studied) == most[0]:
            raise KeyboardInterrupt
        studied.append(1)
        return original(self, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Study, "_best", counted)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    with pytest.raises(KeyboardInterrupt):
        run(folder, monkeypatch)
    kept = sorted((folder / "build" / "checkpoints" / f"ccg-integration.{NAME}").iterdir())
    kept[0].write_text("[[1, 2")
    most[0] = -1
    found, _ = run(folder, monkeypatch)
    assert found == before
    assert len(studied) <= 2 * (25 + 12) + 2 * 25 + 2 * measure.PART
    assert not kept[0].parent.exists()


def test_the_interval_of_a_difference_is_that_of_resampled_sentences() -> None:
    rng = np.random.default_rng(1)
    counts = rng.integers(1, 20, (2, 300, 1)) + np.array([0, 5, 5])
    a, b = ([Outcome(0.0, (*row, *[0] * 6)) for row in some.tolist()] for some in counts)
    value, low, high, _ = difference(a, b)
    drawn = [rng.integers(0, 300, 300) for _ in range(400)]
    resampled = [difference([a[i] for i in some], [b[i] for i in some])[0] for some in drawn]
    assert value == pytest.approx(scores(a, 300).labelled.f - scores(b, 300).labelled.f)
    assert (high - low) / 2 == pytest.approx(1.96 * np.std(resampled), rel=0.2)


def test_what_is_not_there_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = params.load(PARAMS)
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match="no parser 'none'"):
        measure.run(loaded, "none")
    with pytest.raises(ValueError, match="most: 10 is less"):
        CCGIntegration(iterations=(1, 25), most=10)
