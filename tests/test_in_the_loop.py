"""Test training with an approximate decoder in the loop: the stage on a synthetic treebank, its table and remark."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import synthetic_results
from synthetic import synthetic_treebank

from studies.across.approximations.contestants import CONTESTANTS, EXACT
from studies.across.in_the_loop import measure as stage_module
from studies.across.in_the_loop import remarks, tables
from studies.across.in_the_loop.measure import TRAINERS, how
from studies.across.in_the_loop.settings import InTheLoop
from studies.common import params as parameters
from studies.common.params import Params
from studies.qian_liu_2013.steps.settings import Step, Steps
from studies.site.collect import Results
from studies.site.outcomes import outcomes
from studies.site.show import NOTHING, Table
from treebound.core.errors import InputError
from treebound.core.parse import Parse
from treebound.core.protocols import Decoder
from treebound.core.treebank import Treebank
from treebound.decoders import DECODERS
from treebound.learning.pruner import Pruner
from treebound.metrics.attachment import evaluate
from treebound.systems.graph import trainer as trainer_module
from treebound.systems.graph.candidates import pruner_for
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train
from treebound.treebanks import storage

REPOSITORY = Path(__file__).parents[1]
SMALL = {"epochs": 2, "bits": 14, "label_bits": 14, "k": 5}
FAMILIES = ("adjacent-sibling", "outermost-grandchild", "grandchild", "sibling")
SPEC = Settings(families=FAMILIES, threshold=0.0, pruner_bits=12, pruner_epochs=1, max_dp_calls=1, **SMALL)


def settings(corpora: tuple[str, ...]) -> Params:
    """Return the project's parameters with small models."""
    loaded = parameters.load(REPOSITORY / "params.yaml")
    small = dataclasses.replace(loaded.train, **SMALL)
    steps = Steps("carreras+grandchild+sibling", {"base": Step(), "other": Step(epochs=1)}, corpora)
    pruner = dataclasses.replace(loaded.pruner, bits=12, epochs=1)
    return dataclasses.replace(loaded, corpora=(*loaded.corpora, *corpora), train=small, pruner=pruner).changed(steps)


# --- training


@pytest.fixture(scope="module")
def training_data() -> tuple[Treebank, Treebank, Pruner]:
    examples, dev = synthetic_treebank(40, 1, max_words=9), synthetic_treebank(12, 2, max_words=9)
    return examples, dev, pruner_for(SPEC, examples)


def test_training_with_the_default_decoder_is_the_default_training(
    training_data: tuple[Treebank, Treebank, Pruner],
) -> None:
    default, looped = train(SPEC, *training_data), train(SPEC, *training_data, decoder=how("exact", SPEC))
    assert looped.history == default.history
    assert sum(epoch["capped"] for epoch in looped.history) > 0, "the limit of training must apply"
    assert np.array_equal(looped.weights, default.weights)
    assert looped.unit == default.unit


def test_another_decoder_learns_other_weights_and_selects_its_own_epoch(training_data) -> None:
    dev = training_data[1]
    default, looped = train(SPEC, *training_data), train(SPEC, *training_data, decoder=how("beam-1"))
    assert not np.array_equal(looped.weights, default.weights)
    assert sum(epoch["dp_calls"] for epoch in looped.history) < sum(epoch["dp_calls"] for epoch in default.history)
    parses = Parser(looped, "beam", width=1).parse(dev)
    labels = [looped.label_names(parse) for parse in parses]
    scores = evaluate(dev, [parse.heads for parse in parses], labels).summary
    assert max(epoch["dev_las"] for epoch in looped.history) == scores["las"]


def test_a_killed_training_run_resumes(training_data, tmp_path: Path) -> None:
    class Killed(Exception):
        pass

    def die(items, what):
        if what.startswith("epoch 2"):
            raise Killed
        return items

    path = tmp_path / "checkpoint.npz"
    with pytest.raises(Killed):
        train(SPEC, *training_data, decoder=how("backbone-only"), checkpoint=path, progress=die)
    whole = train(SPEC, *training_data, decoder=how("backbone-only"))
    with_beam = train(SPEC, *training_data, decoder=how("beam-1"), checkpoint=tmp_path / "other.npz")
    assert not np.array_equal(with_beam.weights, whole.weights)
    resumed = train(SPEC, *training_data, decoder=how("backbone-only"), checkpoint=path)
    assert resumed.history == whole.history
    assert np.array_equal(resumed.weights, whole.weights)
    assert not path.exists()


def test_every_trainer_is_a_decoder_and_a_stage() -> None:
    assert TRAINERS["exact"] == EXACT
    assert set(TRAINERS.values()) <= set(CONTESTANTS)
    for trainer in TRAINERS:
        decoder, options = how(trainer, SPEC)
        assert isinstance(DECODERS[decoder](**options), Decoder)
        assert DECODERS[decoder](**options).space == "projective"
    assert how("exact") == ("branch-and-bound", {}), "dev must be parsed without a limit"
    assert parameters.load(REPOSITORY / "params.yaml").section(InTheLoop).trainers == tuple(TRAINERS)


def test_a_sentence_without_a_tree_is_no_example(training_data, monkeypatch: pytest.MonkeyPatch) -> None:
    class Lost:
        def decode(self, problem):
            return Parse(np.zeros(problem.n + 1, np.int32), -np.inf, np.inf, "limit")

    monkeypatch.setattr(trainer_module, "DECODERS", {"beam": lambda **options: Lost()})
    model = train(SPEC, *training_data, decoder=how("beam-1"))
    assert [(epoch["updates"], epoch["dp_calls"]) for epoch in model.history] == [(0, 0), (0, 0)]


# --- the stage


def test_the_stage_scores_each_decoder_on_dev(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainers = ("exact", "backbone-only", "beam-1")
    monkeypatch.chdir(tmp_path)
    for split, sentences, seed in (("train", 30, 1), ("dev", 12, 2)):
        path = tmp_path / "data/converted/synthetic" / f"{split}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        storage.save(synthetic_treebank(sentences, seed, max_words=9), path)
        path.with_suffix(".conllu").write_text(split)
    (tmp_path / "data/tagged/synthetic").mkdir(parents=True)
    (tmp_path / "data/tagged/synthetic/tags.json").write_text('{"tags": "gold"}')
    params = settings(("synthetic",)).changed(InTheLoop(trainers, train=25))
    for trainer in trainers:
        stage_module.run(params, "synthetic", trainer)
    with pytest.raises(InputError, match=r"no trainer 'beam'.*choose from exact, capped-1"):
        stage_module.run(params, "synthetic", "beam")
    folder = tmp_path / "results/metrics/in-the-loop/synthetic"
    written = {trainer: json.loads((folder / f"{trainer}.json").read_text()) for trainer in trainers}
    assert {trained["training_sentences"] for trained in written.values()} == {25}
    metrics = {trainer: trained["parsed"] for trainer, trained in written.items()}
    assert {name: list(by_decoder) for name, by_decoder in metrics.items()} == {
        "exact": ["backbone-only", "beam-1", "exact"],
        "backbone-only": ["backbone-only", "exact"],
        "beam-1": ["beam-1", "exact"],
    }
    for by_decoder in metrics.values():
        assert (
            by_decoder["exact"]["best"],
            by_decoder["exact"]["certified"],
            by_decoder["exact"]["search_errors"],
        ) == (12, 12, 0)
        for score in by_decoder.values():
            marks = "".join(score["right"])
            assert len(marks) == score["scored_words"]
            assert score["uas"] == pytest.approx(100 * sum(m in "hl" for m in marks) / len(marks))
            assert 0 <= score["search_errors"] <= 12 - score["best"] <= 12
    assert metrics["exact"]["beam-1"]["best"] < 12
    assert not list((tmp_path / "build/checkpoints").iterdir())


# --- table and remark


def results(folder: Path, corpora: tuple[str, ...] = ("synthetic",)) -> Results:
    for corpus in corpora:
        lengths = np.full(60, 10)
        for trainer, data in synthetic_results.in_the_loop(np.random.default_rng(1), lengths).items():
            path = folder / "metrics/in-the-loop" / corpus / f"{trainer}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(data))
    return Results("this run", folder, settings(corpora))


def test_the_remark_states_whether_learning_repairs_search_errors(tmp_path: Path) -> None:
    run_results = [results(tmp_path)]
    table, tests = tables.trainings(run_results), tables.contrasts(run_results)
    assert list(table.index.get_level_values(1)) == list(TRAINERS.values())
    row = table.loc[("synthetic, this run", "beam, 8")]
    assert row["trained with it", "UAS"] > row["trained exactly", "UAS"] + 20
    assert row["trained exactly", "best tree, %"] == pytest.approx(60.0)
    assert row["trained with it, parsed exactly", "UAS"] == pytest.approx(70, abs=6)
    contrast = tests.loc[("synthetic, this run", "parsed with it", "beam, 8")]
    gain = row["trained with it", "UAS"] - row["trained exactly", "UAS"]
    assert contrast["difference"] == pytest.approx(gain)
    assert contrast["p"] < 0.05
    assert len(tests) == 3 * (len(TRAINERS) - 1)
    remark = str(remarks.repaired(table, tests, tables.sizes(run_results)))
    assert (
        "On synthetic, this run, the learner repairs errors of the search: 9 of 9 approximate decoders parse" in remark
    )
    assert "Compared with training and parsing exactly, the best decoder is " in remark
    size = tables.sizes(run_results)["synthetic, this run"]
    assert f"The models were trained on {size:,} sentences of synthetic, this run." in remark
    counted = outcomes(tests, ["place", "contrast"]).xs("synthetic, this run")
    assert counted.loc["parsed exactly", ["tests", "not significant", "significantly better"]].tolist() == [
        *(9, 0),
        NOTHING,
    ]
    assert counted.loc["parsed with it", "significantly worse"] == NOTHING
    swapped = tests.assign(difference=-tests["difference"])
    assert "the learner suffers from errors of the search" in str(
        remarks.repaired(table, swapped, tables.sizes(run_results))
    )
    assert "neither repairs" in str(remarks.repaired(table, tests.assign(p=1.0), tables.sizes(run_results)))
    assert "</table>" in Table(table, "x")._repr_html_()
    assert tables.trainings(run_results, ["nowhere"]).empty


def test_tables_without_such_training_runs(tmp_path: Path) -> None:
    nothing = [results(tmp_path, ()), dataclasses.replace(results(tmp_path, ()), params=settings(("synthetic",)))]
    table, tests = tables.trainings(nothing), tables.contrasts(nothing)
    assert len(table) == len(tests) == 0
    assert "pipeline.run in-the-loop`" in str(remarks.repaired(table, tests, tables.sizes(nothing)))
    assert "no run has results for this table" in Table(table, "x")._repr_html_()
    assert "no run has results for this table" in Table(tests, "x")._repr_html_()
