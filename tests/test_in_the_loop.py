"""Training with an approximate decoder in the loop: the stage on a made-up treebank, table and remark."""

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
from studies.site.show import Table
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
    """The project's parameters with small models."""
    loaded = parameters.load(REPOSITORY / "params.yaml")
    small = dataclasses.replace(loaded.train, **SMALL)
    steps = Steps("carreras+grandchild+sibling", {"base": Step(), "other": Step(epochs=1)}, corpora)
    pruner = dataclasses.replace(loaded.pruner, bits=12, epochs=1)
    return dataclasses.replace(loaded, corpora=(*loaded.corpora, *corpora), train=small, pruner=pruner).changed(steps)


# --- training


@pytest.fixture(scope="module")
def given() -> tuple[Treebank, Treebank, Pruner]:
    examples, dev = synthetic_treebank(40, 1, max_words=9), synthetic_treebank(12, 2, max_words=9)
    return examples, dev, pruner_for(SPEC, examples)


def test_with_the_usual_decoder_it_is_the_usual_training(given: tuple[Treebank, Treebank, Pruner]) -> None:
    usual, ours = train(SPEC, *given), train(SPEC, *given, decoder=how("exact", SPEC))
    assert ours.history == usual.history
    assert sum(epoch["capped"] for epoch in ours.history) > 0, "the limit of training counts"
    assert np.array_equal(ours.weights, usual.weights)
    assert ours.unit == usual.unit


def test_another_decoder_learns_other_weights_and_chooses_the_epoch_itself(given) -> None:
    dev = given[1]
    usual, ours = train(SPEC, *given), train(SPEC, *given, decoder=how("beam-1"))
    assert not np.array_equal(ours.weights, usual.weights)
    assert sum(epoch["dp_calls"] for epoch in ours.history) < sum(epoch["dp_calls"] for epoch in usual.history)
    parses = Parser(ours, "beam", width=1).parse(dev)
    labels = [ours.label_names(parse) for parse in parses]
    found = evaluate(dev, [parse.heads for parse in parses], labels).summary
    assert max(epoch["dev_las"] for epoch in ours.history) == found["las"]


def test_a_killed_training_goes_on(given, tmp_path: Path) -> None:
    class Killed(Exception):
        pass

    def die(items, what):
        if what.startswith("epoch 2"):
            raise Killed
        return items

    path = tmp_path / "checkpoint.npz"
    with pytest.raises(Killed):
        train(SPEC, *given, decoder=how("backbone-only"), checkpoint=path, progress=die)
    whole = train(SPEC, *given, decoder=how("backbone-only"))
    other = train(SPEC, *given, decoder=how("beam-1"), checkpoint=tmp_path / "other.npz")
    assert not np.array_equal(other.weights, whole.weights)
    again = train(SPEC, *given, decoder=how("backbone-only"), checkpoint=path)
    assert again.history == whole.history
    assert np.array_equal(again.weights, whole.weights)
    assert not path.exists()


def test_every_trainer_is_a_decoder_and_a_stage() -> None:
    assert TRAINERS["exact"] == EXACT
    assert set(TRAINERS.values()) <= set(CONTESTANTS)
    for trainer in TRAINERS:
        decoder, options = how(trainer, SPEC)
        assert isinstance(DECODERS[decoder](**options), Decoder)
        assert DECODERS[decoder](**options).space == "projective"
    assert how("exact") == ("branch-and-bound", {}), "dev is parsed without a limit"
    assert parameters.load(REPOSITORY / "params.yaml").section(InTheLoop).trainers == tuple(TRAINERS)


def test_no_tree_is_no_example(given, monkeypatch: pytest.MonkeyPatch) -> None:
    class Lost:
        def decode(self, problem):
            return Parse(np.zeros(problem.n + 1, np.int32), -np.inf, np.inf, "limit")

    monkeypatch.setattr(trainer_module, "DECODERS", {"beam": lambda **options: Lost()})
    model = train(SPEC, *given, decoder=how("beam-1"))
    assert [(epoch["updates"], epoch["dp_calls"]) for epoch in model.history] == [(0, 0), (0, 0)]


# --- the stage


def test_the_stage_says_what_each_decoder_makes_of_dev(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = ("exact", "backbone-only", "beam-1")
    monkeypatch.chdir(tmp_path)
    for split, sentences, seed in (("train", 30, 1), ("dev", 12, 2)):
        path = tmp_path / "data/converted/made_up" / f"{split}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        storage.save(synthetic_treebank(sentences, seed, max_words=9), path)
        path.with_suffix(".conllu").write_text(split)
    (tmp_path / "data/tagged/made_up").mkdir(parents=True)
    (tmp_path / "data/tagged/made_up/tags.json").write_text('{"tags": "gold"}')
    params = settings(("made_up",)).changed(InTheLoop(few))
    for trainer in few:
        stage_module.run(params, "made_up", trainer)
    with pytest.raises(InputError, match=r"no trainer 'beam'.*choose from exact, capped-1"):
        stage_module.run(params, "made_up", "beam")
    folder = tmp_path / "results/metrics/in-the-loop/made_up"
    found = {trainer: json.loads((folder / f"{trainer}.json").read_text())["parsed"] for trainer in few}
    assert {name: list(of) for name, of in found.items()} == {
        "exact": ["backbone-only", "beam-1", "exact"],
        "backbone-only": ["backbone-only", "exact"],
        "beam-1": ["beam-1", "exact"],
    }
    for of in found.values():
        assert (of["exact"]["best"], of["exact"]["certified"], of["exact"]["search_errors"]) == (12, 12, 0)
        for score in of.values():
            marks = "".join(score["right"])
            assert len(marks) == score["scored_words"]
            assert score["uas"] == pytest.approx(100 * sum(m in "hl" for m in marks) / len(marks))
            assert 0 <= score["search_errors"] <= 12 - score["best"] <= 12
    assert found["exact"]["beam-1"]["best"] < 12
    assert not list((tmp_path / "build/checkpoints").iterdir())


# --- table and remark


def results(folder: Path, corpora: tuple[str, ...] = ("made_up",)) -> Results:
    for corpus in corpora:
        lengths = np.full(60, 10)
        for trainer, data in synthetic_results.in_the_loop(np.random.default_rng(1), lengths).items():
            path = folder / "metrics/in-the-loop" / corpus / f"{trainer}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(data))
    return Results("this run", folder, settings(corpora))


def test_the_remark_says_whether_learning_repairs(tmp_path: Path) -> None:
    found = [results(tmp_path)]
    table, tests = tables.trainings(found), tables.contrasts(found)
    assert list(table.index.get_level_values(1)) == list(TRAINERS.values())
    row = table.loc[("made_up, this run", "beam, 8")]
    assert row["trained with it", "UAS"] > row["trained exactly", "UAS"] + 20
    assert row["trained exactly", "best tree, %"] == pytest.approx(60.0)
    assert row["trained with it, parsed exactly", "UAS"] == pytest.approx(70, abs=6)
    contrast = tests.loc[("made_up, this run", "parsed with it", "beam, 8")]
    gain = row["trained with it", "UAS"] - row["trained exactly", "UAS"]
    assert contrast["difference"] == pytest.approx(gain)
    assert contrast["p"] < 0.05
    assert len(tests) == 3 * (len(TRAINERS) - 1)
    said = str(remarks.repaired(table, tests))
    assert "On made_up, this run the learner repairs errors of the search: of 9 approximate decoders 9 parse" in said
    assert "9 of these models are significantly worse than the one trained exactly, 0 better" in said
    swapped = tests.assign(difference=-tests["difference"])
    assert "the learner suffers from errors of the search" in str(remarks.repaired(table, swapped))
    assert "neither repairs" in str(remarks.repaired(table, tests.assign(p=1.0)))
    assert "</table>" in Table(table, "x")._repr_html_()
    assert tables.trainings(found, ["nowhere"]).empty


def test_without_any_such_training(tmp_path: Path) -> None:
    nothing = [results(tmp_path, ()), dataclasses.replace(results(tmp_path, ()), params=settings(("made_up",)))]
    table, tests = tables.trainings(nothing), tables.contrasts(nothing)
    assert len(table) == len(tests) == 0
    assert "pipeline.run in-the-loop`" in str(remarks.repaired(table, tests))
    assert "no run has results for this table" in Table(table, "x")._repr_html_()
    assert "no run has results for this table" in Table(tests, "x")._repr_html_()
