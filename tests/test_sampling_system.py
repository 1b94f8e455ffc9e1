"""Parsing by sampling as a system: it is trained, interrupted, saved, loaded and used like the other systems."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from oracles.trees import trees
from synthetic import inflected_conllu

import treebound
from treebound.cli import application
from treebound.core.errors import InputError, ModelError
from treebound.core.treebank import Treebank
from treebound.kernels.arcs.numbering import arcs_of_tree
from treebound.learning.pruner import train_pruner
from treebound.learning.survey import describe
from treebound.learning.updates import Mira
from treebound.metrics.attachment import evaluate
from treebound.support.settings import SettingError
from treebound.systems.registry import system_of
from treebound.systems.sampling.parser import Parser
from treebound.systems.sampling.rerank import best_of_list
from treebound.systems.sampling.sentence import Labelled, Sentence, scored
from treebound.systems.sampling.settings import Settings
from treebound.systems.sampling.system import SamplingSystem
from treebound.systems.sampling.training import Training
from treebound.systems.training import recipe
from treebound.treebanks.document import read
from treebound.treebanks.projectivise import projectivise

SMALL = {"bits": 14, "epochs": 2, "families": "adjacent-sibling,grandchild", "restarts": 3, "sweeps": 1}
OPTIONS = [x for name, value in SMALL.items() for x in (f"--{name}", value)]


def call(*arguments: object) -> None:
    """Run the command line in this process."""
    typer.main.get_command(application()).main([str(a) for a in arguments], standalone_mode=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with treebanks and a small model."""
    path = tmp_path_factory.mktemp("sampling")
    (path / "train.conllu").write_text(inflected_conllu(120, 1))
    (path / "dev.conllu").write_text(inflected_conllu(50, 2))
    files = path / "train.conllu", path / "dev.conllu"
    call("train", *files, "-o", path / "model.npz", "--system", "sampling", *OPTIONS)
    return path


def read_both(folder: Path) -> tuple[Treebank, Treebank]:
    train, dev = (read(folder / f"{name}.conllu").treebank for name in ("train", "dev"))
    describe(train, dev)
    return train, dev


def settings(**more: Any) -> Settings:
    return Settings(**{**SMALL, "families": ("adjacent-sibling", "grandchild"), **more})  # type: ignore[arg-type]


def test_train_parse_and_evaluate(folder: Path, tmp_path: Path) -> None:
    out, gold = tmp_path / "out.conllu", folder / "dev.conllu"
    call("parse", folder / "model.npz", gold, "-o", out)
    parsed, (_, dev) = read(out).treebank, read_both(folder)
    parser = treebound.load(folder / "model.npz")
    assert isinstance(parser, Parser)
    parses = parser.parse(dev)
    assert [parsed.heads(i).tolist() for i in range(len(parsed))] == [p.heads.tolist() for p in parses]
    names = [parser.label_names(p) for p in parses]
    assert parsed.strings("deprel") == [name for sentence in names for name in sentence]
    summary = evaluate(dev, [p.heads for p in parses], names).summary
    assert summary["uas"] > 70
    assert summary["las"] > 0.8 * summary["uas"], "labels are learnt"
    assert out.read_text().count("# treebound_status = heuristic") == len(dev)
    scores = parser.scores_of_trees(dev.with_heads(np.concatenate([p.heads[1:] for p in parses])))
    assert scores == [p.value for p in parses]
    right = np.array(parser.scores_of_trees(dev))
    assert np.isfinite(right).sum() > 30
    assert np.mean([parse.value >= score for parse, score in zip(parses, right, strict=True)]) > 0.95
    call("evaluate", gold, out)


def test_trees_that_no_search_meets_score_nothing(folder: Path) -> None:
    _, dev = read_both(folder)
    parser = treebound.load(folder / "model.npz")
    i = int(np.argmax(dev.lengths >= 4))
    made, chain = everything(parser, dev, i), np.arange(-1, dev.lengths[i], dtype=np.int32)
    assert np.isfinite(made.score(chain))
    crossing, two_roots = chain.copy(), chain.copy()
    crossing[[1, 2, 3, 4]] = 0, 4, 1, 1  # 4 -> 2 and 1 -> 3
    two_roots[2] = 0
    assert made.score(crossing) == made.score(two_roots) == -np.inf
    parser.scoring = parser.scoring._replace(projective=False, single_root=False)
    free = everything(parser, dev, i)
    assert np.isfinite(free.score(crossing))
    assert np.isfinite(free.score(two_roots))


def test_any_number_of_workers_gives_the_same_trees(folder: Path, tmp_path: Path) -> None:
    for workers in (1, 2):
        call("parse", folder / "model.npz", folder / "dev.conllu", "-o", tmp_path / f"{workers}", "--workers", workers)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_more_runs_find_no_worse_trees(folder: Path) -> None:
    _, dev = read_both(folder)
    values = []
    for restarts in (1, 4, 12):
        parser = treebound.load(folder / "model.npz", restarts=restarts, patience=12)
        values.append([p.value for p in parser.parse(dev)])
    assert all(a <= b <= c for a, b, c in zip(*values, strict=True))


def everything(parser: Parser, dev: Treebank, i: int, right: Labelled | None = None) -> Sentence:
    """Return sentence i with all heads as candidates of all words."""
    rows, tag = parser.table(dev).sentence(i)
    allowed = ~np.eye(len(tag), dtype=bool)
    allowed[:, 0] = False
    made = scored(parser.scoring, rows, tag, allowed, right)
    assert made is not None
    return made


def test_reranking_finds_the_best_of_its_list(folder: Path) -> None:
    """Longer lists give trees that are no worse, and the list of all trees contains the best tree."""
    _, dev = read_both(folder)
    values = []
    for k in (1, 5, 20):
        parser = treebound.load(folder / "model.npz", rerank=k)
        parses = parser.parse(dev)
        values.append([p.value for p in parses])
        assert max(p.work["trees"] for p in parses) == k
        assert parser.scores_of_trees(dev.with_heads(np.concatenate([p.heads[1:] for p in parses]))) == values[-1]
    assert all(a <= b <= c for a, b, c in zip(*values, strict=True))
    short = [i for i in range(len(dev)) if 3 <= dev.lengths[i] <= 5]
    assert short
    drawn = np.random.default_rng(1).integers(-(2**15), 2**15, len(parser.scoring.reals))
    parser.scoring, better = parser.scoring._replace(reals=drawn.astype(np.float32)), 0
    for i in short:
        made, n = everything(parser, dev, i), int(dev.lengths[i])
        best = max(made.score(heads) for heads in trees(n))
        assert best_of_list(made, "projective", 1000)[::2] == (best, len(trees(n)))
        better += best > best_of_list(made, "projective", 1)[0]
    assert better, "global features choose other trees than local factors"


def test_train_many_writes_the_same_file_and_leaves_finished_models(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {name: str(folder / f"{name}.conllu") for name in ("train", "dev")}
    (tmp_path / "list.yaml").write_text(json.dumps({"models": {"a": {"system": "sampling", **SMALL, **files}}}))
    for _ in range(2):
        call("train-many", tmp_path / "list.yaml", "-o", tmp_path)
    assert (tmp_path / "a.npz").read_bytes() == (folder / "model.npz").read_bytes()
    assert "finished earlier" in capsys.readouterr().err
    assert isinstance(system_of(tmp_path / "a.npz"), SamplingSystem)


class Killed(Exception):
    """Exception that simulates a kill signal."""


def test_interrupted_training_resumes(folder: Path, tmp_path: Path) -> None:
    """Interrupt training in the second epoch of two, when the chains of the first epoch exist.

    The resumed training writes the same file as one uninterrupted run.
    """
    (train, dev), system, checkpoint_path = read_both(folder), SamplingSystem(), tmp_path / "kept.npz"

    def killing(items: Iterable, what: str) -> Iterable:
        for i, item in enumerate(items):
            if what.startswith("epoch 2") and i == 10:
                raise Killed
            yield item

    with pytest.raises(Killed):
        system.train(settings(), train, dev, checkpoint=checkpoint_path, progress=killing)
    assert checkpoint_path.exists()
    messages: list[str] = []
    resumed = system.train(
        settings(), train, dev, checkpoint=checkpoint_path, progress=lambda items, what: messages.append(what) or items
    )
    assert not any(what.startswith("epoch 1") for what in messages)
    assert not checkpoint_path.exists()
    resumed.save(tmp_path / "resumed")
    system.train(settings(), train, dev).save(tmp_path / "whole")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()


def test_in_training_right_arcs_have_right_labels_and_wrong_ones_cost(folder: Path) -> None:
    _, dev = read_both(folder)
    parser, i = treebound.load(folder / "model.npz"), int(np.argmax(dev.lengths >= 4))
    gold, n = projectivise(dev.heads(i))[0], int(dev.lengths[i])
    labels = np.arange(n, dtype=np.int32) % len(parser.names)
    free, made = (everything(parser, dev, i, right) for right in (None, (gold, labels)))
    assert made.labels is not None
    assert free.labels is not None
    arcs, competing = (arcs_of_tree(made.scores.arc_index, heads) for heads in (gold, np.arange(-1, n)))
    assert (made.labels[arcs] == labels).all()
    assert (made.labels != free.labels).any()
    wrong = np.ones(made.problem.arcs, bool)
    wrong[arcs] = False
    assert (made.problem.arc[wrong] == free.problem.arc[wrong]).all()
    assert (made.labels[wrong] == free.labels[wrong]).all()
    assert (made.problem.arc <= free.problem.arc).all(), "no label scores more than the best one"
    before = made.lay(arcs), made.lay(competing)
    made.ask(arcs, 3.0)
    assert (made.lay(arcs), made.lay(competing)) == (before[0], before[1] + 3 * wrong[competing].sum())


def test_trees_alone_as_published(folder: Path, tmp_path: Path) -> None:
    train, dev = read_both(folder)
    model = SamplingSystem().train(settings(labels="none", violator="sample"), train, dev)
    assert max(record["dev_uas"] for record in model.history) > 60
    parser = SamplingSystem().parser(model)
    parse = parser.parse(dev)[0]
    assert parse.labels is None
    assert parser.label_names(parse) == ["_"] * (len(parse.heads) - 1)
    rows = [line.split("\t") for line in (folder / "dev.conllu").read_text().splitlines()]
    without = ["\t".join([*row[:7], "_", *row[8:]]) if len(row) == 10 else row[0] for row in rows]
    (tmp_path / "without.conllu").write_text("\n".join(without) + "\n")
    bare = read(tmp_path / "without.conllu").treebank
    describe(bare, dev)
    with pytest.raises(InputError, match="not every word has a label"):
        SamplingSystem().train(settings(), bare, dev)


@pytest.mark.parametrize("constraints", ["neighbour", "gold"])
def test_either_constraint_alone_learns_by_its_own_steps(constraints: str, folder: Path) -> None:
    train, dev = read_both(folder)
    model = SamplingSystem().train(settings(constraints=constraints, global_features=()), train, dev)
    opposite = {"neighbour": "gold", "gold": "neighbour"}[constraints]
    assert all(record[constraints] > 0 and record[opposite] == 0 for record in model.history)
    assert max(record["dev_uas"] for record in model.history) > 60


def sample_rank(train: Treebank, **more: Any) -> Training:
    """Return an object that trains as in Figure 4 of the paper, before its first epoch."""
    own = {"schedule": "sample", "violator": "sample", "labels": "none", "space": "non-projective", "cost": 1.0}
    spec = settings(**{**own, "samples": 6, **more})
    return Training(spec, train, train_pruner(train, epochs=1, bits=14, seed=1))


@pytest.mark.parametrize("proposal", ["gibbs", "random-walk"])
@pytest.mark.parametrize("constraints", ["both", "neighbour", "gold"])
def test_every_update_of_figure_4_repairs_a_violated_constraint(
    constraints: str, proposal: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every update is counted and changes the weights. A sample gives at most one update of each kind.

    The averaged weights are the mean over updates.
    """
    steps: list[tuple[float, float]] = []
    size = Mira.size

    def watched(self: Mira, margin: float, norm: float, cost: float) -> float:
        steps.append((margin, cost))
        return size(self, margin, norm, cost)

    train = read_both(folder)[0].select(np.arange(20))
    task = sample_rank(train, constraints=constraints, proposal=proposal)
    after = [task.learner.weights.copy()]
    update = task._update

    def watched_update(*arguments: Any) -> None:
        update(*arguments)
        after.append(task.learner.weights.copy())

    monkeypatch.setattr(Mira, "size", watched)
    monkeypatch.setattr(task, "_update", watched_update)
    records = [task.learn(np.arange(len(train)), lambda items: items) for _ in range(2)]
    assert len(steps) == sum(record["neighbour"] + record["gold"] for record in records) == task.learner.examples - 1
    assert all(margin < cost + 1e-4 for margin, cost in steps)
    for kind in ("neighbour", "gold"):
        assert all((record[kind] > 0) == (constraints in ("both", kind)) for record in records)
        assert all(record[kind] <= 6 * len(train) for record in records)
    weights, unit = task.result()
    assert np.allclose(weights / unit, np.mean(after, axis=0), atol=1e-5)


def test_the_published_schedule_learns_and_resumes_after_an_interruption(folder: Path, tmp_path: Path) -> None:
    train, dev = read_both(folder)
    how = {"labels": "none", "violator": "sample", "schedule": "sample", "space": "non-projective", "samples": 10}
    spec = settings(**how, proposal="random-walk", search="random-walk", cost=1.0, epochs=3)
    models = [SamplingSystem().train(spec, train, dev)]
    assert max(record["dev_uas"] for record in models[0].history) > 70

    def interrupted(items: Iterable[Any], what: str) -> Iterable[Any]:
        if what == "dev, epoch 2/3":
            raise KeyboardInterrupt
        return items

    with pytest.raises(KeyboardInterrupt):
        SamplingSystem().train(spec, train, dev, checkpoint=tmp_path / "state", progress=interrupted)
    models.append(SamplingSystem().train(spec, train, dev, checkpoint=tmp_path / "state"))
    assert np.array_equal(models[0].weights, models[1].weights)


def test_trees_may_cross(folder: Path) -> None:
    train, dev = read_both(folder)
    model = SamplingSystem().train(settings(space="non-projective", search="random-walk", epochs=1), train, dev)
    parses = SamplingSystem().parser(model).parse(dev)
    assert evaluate(dev, [p.heads for p in parses]).summary["uas"] > 60
    for parse in parses:
        assert np.count_nonzero(parse.heads == 0) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"families": "sibling,uncle"}, "families: unknown factor family 'uncle'"),
        ({"global_features": "span"}, "global_features: unknown global feature 'span'; choose from right-branch"),
        ({"global_features": "valency,valency"}, "global_features: an item is named twice"),
        ({"constraints": "none"}, "constraints: unknown value 'none'; choose from both, neighbour, gold"),
        ({"search": "random-walk"}, "search: random walks build trees with crossing arcs"),
        ({"labels": "both"}, "labels: unknown value 'both'; choose from joint, none"),
        ({"violator": "best"}, "violator: unknown value 'best'; choose from climb, sample"),
        ({"schedule": "epoch"}, "schedule: unknown value 'epoch'; choose from visit, sample"),
        ({"schedule": "sample"}, "schedule: this schedule compares the gold tree with samples"),
        (
            {"proposal": "random-walk", "space": "non-projective"},
            "proposal: random walks build trees with crossing arcs",
        ),
        ({"beam": 3}, "beam: unknown key"),
    ],
)
def test_settings_are_checked(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        recipe({"system": "sampling", **changes})


def test_options_of_parsing_are_checked(folder: Path) -> None:
    for options, message in (
        ({"search": "tabu"}, "unknown search 'tabu'"),
        ({"search": "random-walk"}, "random walks need a model"),
        ({"restarts": 0}, "at least 1"),
        ({"rerank": 0}, "at least 1"),
        ({"beam": 3}, "no option 'beam'"),
    ):
        with pytest.raises(InputError, match=message):
            treebound.load(folder / "model.npz", **options)


def test_a_file_that_was_changed_is_refused(folder: Path, tmp_path: Path) -> None:
    """Truncated files and files with another header or with arrays of another size are refused."""
    whole = (folder / "model.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    with zipfile.ZipFile(folder / "model.npz") as z:
        members = {name: z.read(name) for name in z.namelist()}
    header = json.loads(members["header"])
    header["spec"]["bits"] = 15
    with zipfile.ZipFile(tmp_path / "bits.npz", "w") as z:
        for name, content in (members | {"header": json.dumps(header).encode()}).items():
            if name != "digest":
                z.writestr(name, content)
    header["templates"]["arc"] = ["h.form"]
    with zipfile.ZipFile(tmp_path / "templates.npz", "w") as z:
        for name, content in (members | {"header": json.dumps(header).encode()}).items():
            z.writestr(name, content)
    for name in ("cut", "bits", "templates"):
        with pytest.raises(ModelError):
            treebound.load(tmp_path / f"{name}.npz")


def test_any_input_is_parsed(folder: Path, tmp_path: Path) -> None:
    """Empty input, one word and 120 unknown words are parsed."""
    for count in (0, 1, 120):
        rows = (f"{i}\tnever\t_\tseen\tseen\t_\t_\t_\t_\t_\n" for i in range(1, count + 1))
        (tmp_path / "given.conllu").write_text("".join(rows) + "\n" * (count > 0))
        parses = treebound.load(folder / "model.npz").parse(read(tmp_path / "given.conllu", annotated=False).treebank)
        assert [len(p.heads) - 1 for p in parses] == [count] * (count > 0)
