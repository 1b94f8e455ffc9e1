"""Test the stage of the joint CCG model.

Its columns agree with the parser, no column exceeds the proved optimum, and an interrupted run resumes.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from ccg_corpus import write_auto
from test_ccg_system import call

import treebound
from studies.auli_lopez_2011.ccg.measure import ORDERS, timed
from studies.auli_lopez_2011.ccg.settings import CCG, CCGParser
from studies.auli_lopez_2011.ccg_integration import measure
from studies.auli_lopez_2011.ccg_integration.settings import CCGIntegration
from studies.common import params
from treebound.core.errors import InputError
from treebound.systems.ccg.evaluation import evaluate
from treebound.systems.ccg.model import CCGModel
from treebound.systems.ccg.study import OUTPUTS, Outcome, Study, difference, scores
from treebound.treebanks.ccg.columns import derivations_of
from treebound.treebanks.document import read

PARAMS = Path(__file__).parent.parent / "params.yaml"
NAME = "synthetic"
BEAMS = ("0.01:20", "0:1000")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of the earlier stages and a small model."""
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


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, cores: int = 1) -> tuple[dict, dict]:
    """Run the stage in `folder` with as many processes as `cores`, and return (metrics, times).

    One process is the default, because every further process would load all compiled functions, for each of the six
    sets of sentences and beams.
    """
    loaded = params.load(PARAMS)
    parser = CCGParser(corpus="a")
    settings = CCG(derivations=("a",), parsers={NAME: parser}, beams=BEAMS)
    joint = CCGIntegration(iterations=(1, 3), most=60)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(measure, "cores", lambda: cores)
    measure.run(loaded.changed(settings).changed(joint), NAME)
    metrics = folder / "results" / "metrics"
    parts = metrics / "ccg-integration", metrics / "timing" / "ccg-integration"
    result, timed = (json.loads((part / f"{NAME}.json").read_text()) for part in parts)
    return result, timed


@pytest.fixture(scope="module")
def ran(folder: Path) -> tuple[dict, dict]:
    """Return (metrics, times) of a run that nothing interrupts."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        return run(folder, monkeypatch)


def test_the_tables(folder: Path, ran: tuple[dict, dict]) -> None:
    metrics, timed = ran
    every = {(row["split"], row["order"], measure.column_of(row)): row for row in metrics["columns"]}
    assert len(every) == 2 * 2 * 8 * len(OUTPUTS)
    columns = {(s, o, c.decoder, c.iterations): row for (s, o, c), row in every.items() if c.usual}
    assert len(columns) == 2 * 2 * 8
    test, model = read(folder / "data" / "ccg-parsers" / NAME / "test.auto").treebank, folder / "results/models/ccg"
    gold = derivations_of(test)
    for order, beams in ORDERS.items():
        for decoder, k in (
            ("parser", 0),
            *((d, k) for d in ("bp", "dd", "dd-published") for k in (1, 3)),
            ("exact", 0),
        ):
            name = "none" if decoder == "parser" else decoder.removesuffix("-published")
            options = {"step": "published"} if decoder.endswith("published") else {}
            parses = treebound.load(model / f"{NAME}.npz", beams=beams, integrate=name, iterations=k, **options).parse(
                test
            )
            row = columns["test", order, decoder, k]
            expected = evaluate(gold, [parse.record for parse in parses]).summary()
            assert {key: row[key] for key in expected} == pytest.approx(expected)
            assert row["proved"] == row["parsed"] == 12
    assert all(row["less"] == 0 for (_, _, column), row in every.items() if column[::2] == ("exact", "viterbi"))
    assert sum(row["less"] for (_, _, column), row in every.items() if column[::2] == ("exact", "least-risk")) > 0
    for order in ORDERS:  # the first multipliers are 0
        alone, first = (
            {key: every["dev", order, measure.Column(*column)][key] for key in ("LF", "UF", "ST", "less", "lost")}
            for column in (("parser", 0, "least-risk"), ("dd", 1, "least-risk"))
        )
        assert alone == first
    assert all(columns[s, o, "dd", 3]["less"] <= columns[s, o, "dd", 1]["less"] for s, o, *_ in columns)
    for order in ORDERS:
        settled = [r["settled"] for r in metrics["curves"] if (r["order"], r["decoder"]) == (order, "dd")]
        assert settled == sorted(settled)
        assert settled[-1] > 80
        curve = {(r["decoder"], r["iterations"]): r["LF"] for r in metrics["curves"] if r["order"] == order}
        assert curve["dd", 3] == columns["dev", order, "dd", 3]["LF"]
        assert curve["bp", 60] is None
    assert sum(row["sentences"] for row in metrics["lengths"]) == 2 * (25 + 12)
    assert [(row["beam"], row["decoder"]) for row in metrics["beams"]] == [
        (beam, name) for beam in BEAMS for name in ("bp", "dd", "exact")
    ]
    gains = {(row["a"], row["b"]): row for row in metrics["differences"] if row["split"] == "test"}
    assert len(gains) == len({*gains})
    of_order = (
        2 * (8 * 7 // 2) + 8 + 2 * 6
    )  # pairs with the same output rule, pairs of output rules, and BP against the others as in the paper
    assert len(gains) == 2 * of_order + 16
    for order in ORDERS:
        row = gains[f"{order} exact", f"{order} parser"]
        gain = columns["test", order, "exact", 0]["LF"] - columns["test", order, "parser", 0]["LF"]
        assert row["value"] == pytest.approx(gain)
        assert row["low"] <= row["value"] <= row["high"]
        assert row["sentences"] == 12
    exact = [row["score"] for row in metrics["beams"] if row["decoder"] == "exact"]
    assert exact == sorted(exact)  # a wider chart holds the narrower one
    assert len(timed["lengths"]) == len(metrics["lengths"])
    assert len(timed["columns"]) == 2 * 8
    for row in timed["columns"]:
        assert len(row["seconds"]) == 3  # 25 sentences, 10 at a time
        assert row["per_second"] == pytest.approx(25 / sum(row["seconds"]))
    for order in ORDERS:
        for decoder in ("bp", "dd", "dd-published"):
            settled_iterations = metrics["settled"][order][decoder]
            (last,) = (
                row["settled"]
                for row in metrics["curves"]
                if (row["order"], row["decoder"], row["iterations"]) == (order, decoder, 60)
            )
            assert last == pytest.approx(100 * sum(k > 0 for k in settled_iterations) / len(settled_iterations))
        counts = metrics["counts"]["test"][order]
        assert len(counts["sentences"]) == columns["test", order, "bp", 3]["parsed"]
        right, predicted, gold = np.sum(counts["bp 3"], axis=0)
        assert 200 * right / (predicted + gold) == pytest.approx(columns["test", order, "bp", 3]["LF"])


def test_parts_of_sentences_are_timed_in_turn(folder: Path) -> None:
    treebank = read(folder / "data" / "ccg-parsers" / NAME / "dev.auto").treebank
    path = folder / "results" / "models" / "ccg" / f"{NAME}.npz"
    for order, (parses_in_parts, seconds) in timed(CCGModel.load(path), treebank).items():
        parses = treebound.load(path, beams=ORDERS[order]).parse(treebank)
        assert [parse_in_parts.value for parse_in_parts in parses_in_parts] == [parse.value for parse in parses]
        assert len(seconds) == 3
        assert min(seconds) > 0


def test_the_number_of_processes_changes_no_result(
    folder: Path, ran: tuple[dict, dict], monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics, _ = run(folder, monkeypatch, cores=2)
    assert metrics == ran[0]


def test_a_killed_run_resumes(folder: Path, ran: tuple[dict, dict], monkeypatch: pytest.MonkeyPatch) -> None:
    studied: list[int] = []
    original, most = Study._best, [45]

    def counted(self: Study, *arguments: object) -> object:
        if len(studied) == most[0]:
            raise KeyboardInterrupt
        studied.append(1)
        return original(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Study, "_best", counted)
    with pytest.raises(KeyboardInterrupt):
        run(folder, monkeypatch)
    checkpoints = sorted((folder / "build" / "checkpoints" / f"ccg-integration.{NAME}").iterdir())
    checkpoints[0].write_text("[[1, 2")
    most[0] = -1
    resumed, _ = run(folder, monkeypatch)
    assert resumed == ran[0]
    assert len(studied) <= 2 * (25 + 12) + 2 * 25 + 2 * measure.PART
    assert not checkpoints[0].parent.exists()


def test_the_interval_of_a_difference_agrees_with_resampling() -> None:
    rng = np.random.default_rng(1)
    counts = rng.integers(1, 20, (2, 300, 1)) + np.array([0, 5, 5])
    a, b = ([Outcome(0.0, (*row, *[0] * 6)) for row in rows.tolist()] for rows in counts)
    value, low, high, _ = difference(a, b)
    drawn = [rng.integers(0, 300, 300) for _ in range(400)]
    resampled = [difference([a[i] for i in rows], [b[i] for i in rows])[0] for rows in drawn]
    assert value == pytest.approx(scores(a, 300).labelled.f - scores(b, 300).labelled.f)
    assert (high - low) / 2 == pytest.approx(1.96 * np.std(resampled), rel=0.2)


def test_an_unknown_parser_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = params.load(PARAMS)
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match="no parser 'none'"):
        measure.run(loaded, "none")
    with pytest.raises(ValueError, match="most: 10 is less"):
        CCGIntegration(iterations=(1, 25), most=10)
