"""Test CCG parsing as a system: train, interrupt, save, load and use a model as in the other systems."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from ccg_corpus import derivations, head_leaf, write_auto
from test_files_models import check_mutants

import treebound
from treebound.cli import application
from treebound.core.errors import InputError
from treebound.support.settings import SettingError
from treebound.systems.ccg.chain import Lattice
from treebound.systems.ccg.charts import Charts, sentence_of
from treebound.systems.ccg.gold import UnreachableError, gold_chart
from treebound.systems.ccg.grammar import Grammar
from treebound.systems.ccg.settings import REVERSE, Settings
from treebound.systems.ccg.system import CCG
from treebound.systems.ccg.training import Task, with_gold
from treebound.systems.ccg.words import words_of
from treebound.systems.registry import system_of
from treebound.systems.training import recipe
from treebound.treebanks.ccg.columns import derivation_of, derivations_of, heads_of, steps_of
from treebound.treebanks.ccg.dependencies import dependencies
from treebound.treebanks.ccg.derivation import from_text, licence, to_text
from treebound.treebanks.ccg.derivation import read as read_auto
from treebound.treebanks.document import read

SIZES = {"chart_bits": 14, "tag_bits": 14, "tag_iterations": 30, "iterations": 30}
SMALL = ["--system", "ccg", *(part for name, n in SIZES.items() for part in (f"--{name.replace('_', '-')}", n))]


def call(*arguments: object) -> None:
    """Run the command line in this process."""
    typer.main.get_command(application()).main([str(a) for a in arguments], standalone_mode=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with derivations and a model with default settings except for its size."""
    path = tmp_path_factory.mktemp("ccg")
    write_auto(path / "train.auto", 1, 200)
    write_auto(path / "dev.auto", 2, 120)
    call("train", path / "train.auto", path / "dev.auto", "-o", path / "model.npz", *SMALL)
    return path


def test_columns_lose_nothing(folder: Path) -> None:
    entries = list(read_auto(folder / "train.auto"))
    document = read(folder / "train.auto")
    restored = derivations_of(document.treebank)
    assert [to_text(d) for d in restored] == [to_text(entry.derivation) for entry in entries]
    assert [[node.rule for node in d.nodes()] for d in restored] == [
        [node.rule for node in entry.derivation.nodes()] for entry in entries
    ]
    document.write(folder / "written.conllu")
    reread = read(folder / "written.conllu").treebank
    assert [to_text(d) for d in derivations_of(reread)] == [to_text(entry.derivation) for entry in entries]
    for derivation in derivations(5, 20):
        leaves = derivation.leaves()
        assert heads_of(derivation).count(0) == 1
        assert leaves[heads_of(derivation).index(0)] is head_leaf(derivation)
        assert len(steps_of(derivation)) == len(leaves)


@pytest.mark.parametrize(
    ("steps", "message"),
    [(["S<", "_"], "combines constituents"), (["_", "_"], "leave 2 constituents"), (["_", "S((<"], "not a category")],
)
def test_columns_that_are_no_derivation(steps: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        derivation_of([("a", "t", "NP", steps[0]), ("b", "t", "NP", steps[1])])


@pytest.mark.parametrize("options", [[], ["--rules", "all"], ["--beams", ",".join(REVERSE)]])
def test_train_parse_and_evaluate(
    options: list, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, out, gold = tmp_path / "model.npz", tmp_path / "out.conllu", folder / "dev.auto"
    call("train", folder / "train.auto", gold, "-o", model, *SMALL, *options)
    messages = capsys.readouterr().err
    assert isinstance(system_of(model), CCG)
    call("parse", model, gold, "-o", out, "--derivations", tmp_path / "out.auto")
    derived = list(read_auto(tmp_path / "out.auto"))
    dev, written = read(gold).treebank, read(out).treebank
    parser = treebound.load(model)
    parses = parser.parse(dev)
    assert "dev LF" in messages
    right = words = 0
    for i, parse in enumerate(parses):
        assert parse.heads.tolist() == written.heads(i).tolist()
        assert parser.label_names(parse) == written[i].strings("deprel")
        (derivation,) = parse.record.derivations
        assert parse.status == "heuristic"
        assert (derived[i].name, to_text(derived[i].derivation)) == (str(i + 1), to_text(derivation))
        assert [leaf.word for leaf in derivation.leaves()] == dev[i].strings("form")
        for node in derivation.nodes():
            if node.children:
                assert licence(tuple(child.category for child in node.children), node.category)
        right += sum(a == b for a, b in zip(parser.label_names(parse), dev[i].strings("deprel"), strict=True))
        words += len(derivation.leaves())
    assert right / words > 0.95
    assert f"ST {100 * right / words:.2f}" in messages


def test_the_number_of_workers_does_not_change_the_parses(folder: Path) -> None:
    for rules in ("seen", "all"):
        dev = read(folder / "dev.auto").treebank
        model = CCG().train(Settings(rules=rules, **SIZES), read(folder / "train.auto").treebank, dev)
        parser = CCG().parser(model)
        serial, parallel = (parser.parse(dev, workers=workers) for workers in (1, 2))
        assert [to_text(p.record.derivations[0]) for p in serial] == [
            to_text(p.record.derivations[0]) for p in parallel
        ]
        assert [p.value for p in serial] == [p.value for p in parallel]


def test_a_saved_model_is_unchanged_and_finished_models_are_not_retrained(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    CCG().load(folder / "model.npz").save(tmp_path / "saved.npz")
    assert (tmp_path / "saved.npz").read_bytes() == (folder / "model.npz").read_bytes()
    files = {name: str(folder / f"{name}.auto") for name in ("train", "dev")}
    (tmp_path / "list.yaml").write_text(json.dumps({"models": {"a": {"system": "ccg", **SIZES, **files}}}))
    for _ in range(2):
        call("train-many", tmp_path / "list.yaml", "-o", tmp_path)
    assert (tmp_path / "a.npz").read_bytes() == (folder / "model.npz").read_bytes()
    assert "finished earlier" in capsys.readouterr().err


class Killed(Exception):
    """Raised to interrupt a training run in place of a signal."""


def test_interrupted_training_resumes(folder: Path, tmp_path: Path) -> None:
    """Interrupt training of the supertagger, then of the parser; the resumed model must equal an uninterrupted one."""
    train = read(folder / "train.auto").treebank
    settings, checkpoint = Settings(**SIZES, tag_l2=0.001, l2=0.001, training_folds=2), tmp_path / "kept.npz"

    def killing(part: str, partial_state: Path) -> Any:
        def progress(items: Iterable, what: str) -> Iterable:
            if what.startswith(f"{part}, evaluation") and partial_state.exists():
                raise Killed
            return items

        return progress

    whole = CCG().train(settings, train, train)
    for part, partial_state in (("supertagger", checkpoint.with_name("kept.npz.tags")), ("parser", checkpoint)):
        with pytest.raises(Killed):
            CCG().train(settings, train, train, checkpoint=checkpoint, progress=killing(part, partial_state))
    seen: list[str] = []
    resumed = CCG().train(
        settings, train, train, checkpoint=checkpoint, progress=lambda items, what: seen.append(what) or items
    )
    assert not any("supertagger" in what for what in seen)
    assert list(tmp_path.iterdir()) == []
    resumed.save(tmp_path / "resumed")
    whole.save(tmp_path / "whole")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()


def test_training_lowers_the_objective_and_its_gradient_is_right(folder: Path) -> None:
    train = read(folder / "train.auto").treebank.select(np.arange(20))
    settings = Settings(chart_bits=12, tag_bits=12, tag_iterations=3, iterations=3)
    model = CCG().train(settings, train, train)
    words, gold = words_of(train, "xpos"), derivations_of(train)
    task = Task.prepare(settings, model.made_grammar(), model.tagger, words, gold, None)
    assert len(task.sentences) == 20
    captured: dict[str, Any] = {}

    def capture(objective: Any, size: int, *options: Any) -> Any:
        captured["objective"], captured["size"] = objective, size
        return np.zeros(size), []

    import treebound.systems.ccg.training as module

    original, module.fit = module.fit, capture
    try:
        task.fit(settings, None, None)
    finally:
        module.fit = original
    rng = np.random.default_rng(1)
    w = 0.3 * rng.standard_normal(captured["size"])
    value, gradient = captured["objective"](w)
    assert value > 0  # the gold derivations have a probability below 1
    for i in rng.integers(0, captured["size"], 10):
        sides = []
        for sign in (1, -1):
            moved = w.copy()
            moved[i] += sign * 1e-4
            sides.append(captured["objective"](moved)[0])
        assert gradient[i] == pytest.approx((sides[0] - sides[1]) / 2e-4, abs=1e-4)
    records = [record["objective"] for record in model.history if record["part"] == "parser"]
    assert records[-1] < captured["objective"](np.zeros(captured["size"]))[0]


def test_gold_derivations_are_in_their_charts_or_refused() -> None:
    examples = derivations(3, 30)
    lexical = sorted({str(leaf.category) for d in examples for leaf in d.leaves()})
    grammar = Grammar.read_off(examples, lexical)
    from treebound.systems.ccg.words import words_of_strings

    for d in examples:
        words = words_of_strings([[(leaf.word, leaf.tag) for leaf in d.leaves()]])
        tags = [grammar.number[str(leaf.category)] for leaf in d.leaves()]
        choices = with_gold(Lattice(np.zeros(len(tags) + 1, np.int32), np.empty(0, np.int32)), tags)
        sentence = sentence_of(words, 0, choices)
        chart = gold_chart(grammar, sentence, d)
        packed = Charts(grammar, np.zeros(16), 10_000).chart(sentence)
        assert packed is not None
        items = {tuple(row) for row in zip(packed.chart.category, packed.chart.head, packed.chart.state, strict=True)}
        assert {tuple(row) for row in zip(chart.category, chart.head, chart.state, strict=True)} <= items
    # composition is not in normal form if application has the same effect
    text = "(<T S 0 2> (<T S/NP 0 2> (<L S/S t t a S/S>) (<L S/NP t t b S/NP>) ) (<L NP t t c NP>) )"
    d = from_text(text)
    grammar = Grammar.read_off([d], ["NP", "S/NP", "S/S"])
    words = words_of_strings([[("a", "t"), ("b", "t"), ("c", "t")]])
    sentence = sentence_of(words, 0, Lattice(np.arange(4, dtype=np.int32), np.array([2, 1, 0], np.int32)))
    with pytest.raises(UnreachableError, match="not in normal form"):
        gold_chart(grammar, sentence, d)


def sentence(*rows: tuple[str, str]) -> str:
    words = (f"{i}\t{form}\t_\t{tag}\t{tag}\t_\t_\t_\t_\t_\n" for i, (form, tag) in enumerate(rows, 1))
    return "".join(words) + "\n"


def test_unusual_input_is_parsed(folder: Path, tmp_path: Path) -> None:
    """Parse an empty file, one word, and unseen words and tags.

    A sentence without a derivation or a chart is parsed into fragments.
    """
    source, out = tmp_path / "given.conllu", tmp_path / "out.conllu"
    for text, count in (("", 0), (sentence(("the", "DT")), 1), (sentence(*[("never", "seen")] * 40) * 2, 2)):
        source.write_text(text)
        call("parse", folder / "model.npz", source, "-o", out, "--derivations", tmp_path / "out.auto")
        derived = list(read_auto(tmp_path / "out.auto"))
        parsed = read(out).treebank if count else []
        assert sum(len(entry.derivation.leaves()) for entry in derived) == sum(s.n for s in parsed)
        assert len(parsed) == count
        for i in range(count):
            assert (parsed.heads(i) == 0).sum() == 1
            assert len(parsed.heads(i)) > 1
    assert "treebound_status = limit" in out.read_text()
    assert derived[-1].name.startswith("2.")
    assert "NUMPARSE=0" in (tmp_path / "out.auto").read_text()
    dev = read(folder / "dev.auto").treebank
    for limit in (1, 30):
        parses = treebound.load(folder / "model.npz", limit=limit).parse(dev)
        failed = [p for p in parses if p.status == "limit"]
        assert failed
        for parse, words in zip(parses, dev, strict=True):
            leaves = [leaf.word for d in parse.record.derivations for leaf in d.leaves()]
            assert leaves == words.strings("form")
            assert parse.record.parsed == (len(parse.record.derivations) == 1) or words.n == 1
            assert parse.record.edges <= limit


def test_options_and_settings_are_checked(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no option 'k'"):
        treebound.load(folder / "model.npz", k=3)
    with pytest.raises(InputError, match=r"'0\.1' is no attempt; write beta:k"):
        treebound.load(folder / "model.npz", beams=("0.1",))
    for options, message in (
        ({"rules": "some"}, "rules: unknown value 'some'; choose from seen, all"),
        ({"beams": "2:20"}, "beams: '2:20' is out of range"),
        ({"beams": ""}, "beams: no attempt"),
        ({"limit": 0}, "limit: Input should be greater than or equal to 1"),
    ):
        with pytest.raises(SettingError, match=message):
            recipe({"system": "ccg", **options})
    with pytest.raises(InputError, match="no option 'k'"):
        call("parse", folder / "model.npz", folder / "dev.auto", "--k", 5)
    plain = tmp_path / "plain.conllu"
    plain.write_text("1\ta\t_\tX\tX\t_\t0\troot\t_\t_\n2\tb\t_\tX\tX\t_\t1\tdep\t_\t_\n\n")
    with pytest.raises(InputError, match=r"no CCG derivations \(sentence 1: the steps leave 2 constituents"):
        call("train", plain, plain, "-o", tmp_path / "m.npz", *SMALL)
    broken = tmp_path / "broken.auto"
    broken.write_text("ID=a PARSER=GOLD NUMPARSE=1\n(<T S 0 2> (<L NP t t a NP>) )\n")
    with pytest.raises(InputError, match=r"broken.auto:2: "):
        call("train", broken, broken, "-o", tmp_path / "m.npz", *SMALL)
    assert [s.line for s in read(broken, strict=False).skipped] == [2]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_mutants_are_refused_or_parse_alike(folder: Path, tmp_path: Path) -> None:
    train = read(folder / "train.auto").treebank.select(np.arange(30))
    settings = Settings(chart_bits=8, tag_bits=8, iterations=3, tag_iterations=3)
    originals = tmp_path / "given"
    originals.mkdir()
    CCG().train(settings, train, train).save(originals / "ccg.original")
    (originals / "input.conllu").write_text(sentence(("the", "DT"), ("dog", "NN"), ("sleeps", "VBZ"), (".", ".")) * 3)
    check_mutants(originals, tmp_path, 1, 150, ("ccg",))


def test_the_tables_of_beams(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from studies.auli_lopez_2011.ccg import measure
    from studies.auli_lopez_2011.ccg.settings import CCG, CCGParser
    from studies.common import params

    loaded = params.load()
    monkeypatch.chdir(tmp_path)
    name, settings = "synthetic", CCG(derivations=("a",), parsers={"synthetic": CCGParser(corpus="a")})
    for split in ("dev", "test"):
        target = tmp_path / "data" / "ccg-parsers" / name / f"{split}.auto"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((folder / "dev.auto").read_bytes())
    (tmp_path / "results" / "models" / "ccg").mkdir(parents=True)
    (tmp_path / "results" / "models" / "ccg" / f"{name}.npz").write_bytes((folder / "model.npz").read_bytes())
    measure.run(loaded.changed(settings), name)
    metrics = json.loads((tmp_path / "results" / "metrics" / "ccg" / f"{name}.json").read_text())
    orders, oracle, beams = metrics["orders"], metrics["oracle"], metrics["beams"]
    assert orders["dev"] == orders["test"]
    assert list(orders["dev"]) == ["AST", "reverse"]
    assert all(row["coverage"] == 100 and sum(row["levels"]) == 120 for row in orders["dev"].values())
    assert orders["dev"]["AST"]["categories"] <= orders["dev"]["reverse"]["categories"]
    for order in ("AST", "reverse"):
        worst, best = (oracle[f"{order} {which}"]["LF"] for which in ("worst", "best"))
        assert worst <= orders["dev"][order]["LF"] <= best
    assert oracle["reverse worst"]["LF"] < orders["dev"]["reverse"]["LF"] - 5
    assert oracle["gold categories"]["LF"] > 99
    scores, categories = [row["score"] for row in beams], [row["categories"] for row in beams]
    assert [row["beam"] for row in beams] == list(settings.beams)
    assert categories == sorted(categories)
    assert all(b >= a - 1e-9 for a, b in pairwise(scores))  # a wider chart contains the narrower one
    assert all(90 < row["LF"] <= row["oracle"] for row in beams)
    speed = json.loads((tmp_path / "results" / "metrics" / "timing" / "ccg" / f"{name}.json").read_text())
    seconds = speed.pop("seconds")
    assert min(rate for split_rates in speed.values() for rate in split_rates.values()) > 0
    for split, orders in seconds.items():
        for order, parts in orders.items():
            assert len(parts) == 12  # ten sentences each
            assert speed[split][order] == pytest.approx(120 / sum(parts), rel=1e-3)


def test_the_oracle_returns_the_gold_derivation_if_a_chart_contains_it(folder: Path) -> None:
    """Check that the oracle returns the gold derivation, and its score.

    The score must equal the number of nodes and dependencies that the derivation shares with the gold derivation.
    """
    from treebound.systems.ccg.oracle import shared

    model, dev = CCG().load(folder / "model.npz"), read(folder / "dev.auto").treebank.select(np.arange(25))
    gold, words = derivations_of(dev), words_of(dev, "xpos")
    charts = Charts(model.made_grammar(), np.zeros(1 << 12), 1_000_000)
    for s, derivation in enumerate(gold):
        tags = [model.tagger.number[str(leaf.category)] for leaf in derivation.leaves()]
        every = np.tile(np.arange(len(model.tagger.categories), dtype=np.int32), len(tags))
        choices = Lattice(np.arange(len(tags) + 1, dtype=np.int32) * len(model.tagger.categories), every)
        packed = charts.chart(sentence_of(words, s, choices))
        assert packed is not None
        packed.chart.graph.weight[:] = shared(packed, derivation)
        value, _, edge = packed.best()
        oracle_derivation = packed.derivation(edge, words.strings[words.offsets[s] : words.offsets[s + 1]])
        assert to_text(oracle_derivation) == to_text(derivation)
        linked = {frozenset((d.head, d.filler)) for d in dependencies(derivation)}
        steps = [node for node in derivation.nodes() if len(node.children) == 2]
        position = {id(leaf): i for i, leaf in enumerate(derivation.leaves())}
        pairs = [frozenset(position[id(head_leaf(child))] for child in node.children) for node in steps]
        assert value == len(list(derivation.nodes())) + sum(pair in linked for pair in pairs)
