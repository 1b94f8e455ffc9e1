"""Test the derivation of constraints from trees, and the folds and tables of the cross-validation."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from synthetic import synthetic_treebank

from studies.common import folds, params, stage
from studies.riedel_clarke_2006.constraints import analysis as constraint_analysis
from studies.riedel_clarke_2006.constraints import derive as derive_constraints
from studies.riedel_clarke_2006.constraints import measure as cross_validation
from studies.riedel_clarke_2006.constraints.settings import Constraints
from treebound.constraints import parse
from treebound.core.dtypes import INDEX
from treebound.core.labelled import best_variables
from treebound.core.vocabulary import Vocabulary
from treebound.decoders.exact.programs.incremental import chu_liu_edmonds
from treebound.features.tokens import TokenTable
from treebound.systems.constrained.model import train_labelled, words_of
from treebound.systems.constrained.settings import Settings
from treebound.treebanks import storage

PROJECT = Path(__file__).parents[1]


def objects_and_conjuncts():
    """Return 200 sentences of four words.

    In half of the sentences one head has two dependents labelled `obj`. Dependents labelled `conj` follow their head.
    """
    words = [
        (["Ann", "saw", "Bob", "Cid"], ["NOUN", "VERB", "NOUN", "NOUN"], [2, 0, 2, 2], ["nsubj", "root", "obj", "obj"]),
        (["Ann", "saw", "Bob", "Cid"], ["NOUN", "VERB", "NOUN", "NUM"], [2, 0, 2, 3], ["nsubj", "root", "obj", "conj"]),
    ]
    treebank = synthetic_treebank(1, seed=0)
    vocab = {name: Vocabulary() for name in treebank.vocab}
    columns: dict[str, list[int]] = {name: [] for name in vocab}
    heads: list[int] = []
    for i in range(200):
        forms, tags, head, labels = words[i % 2]
        for name, values in {"form": forms, "upos": tags, "xpos": tags, "deprel": labels}.items():
            columns[name] += [vocab[name].add(value) for value in values]
        for name in ("lemma", "feats"):
            columns[name] += [vocab[name].add("_")] * 4
        heads += head
    arrays = {name: np.array(ids, INDEX) for name, ids in columns.items()}
    offsets = np.arange(0, 801, 4)
    return dataclasses.replace(
        treebank, offsets=offsets, columns=arrays, vocab=vocab, head=np.array(heads, INDEX), meta={"single_root": True}
    )


def test_rules_that_hold_are_derived():
    rules = derive_constraints.derive(objects_and_conjuncts())
    assert rules["unique-labels"]["labels"] == ["conj", "nsubj", "root"]
    assert rules["unique-labels"]["held"]["nsubj"] == (200, 200)
    assert rules["argument-side"]["right"] == ["conj"]
    assert rules["argument-compatibility"]["compatible"] == [["NOUN", "NUM"]]
    text = derive_constraints.toml("mine", rules)
    assert '"nsubj", # 200 / 200' in text
    assert [c.name for c in parse(text)][2:] == list(rules)


def test_folds_are_every_tenth_sentence():
    whole = synthetic_treebank(100, seed=3)
    number = np.arange(100)
    train, test = whole.select(number[number % 10 > 1]), whole.select(number[number % 10 == 0])
    seen = []
    for fold in Constraints().folds:
        remaining, held_out = folds.divide(train, test, fold)
        assert len(remaining) == 80
        assert [s.strings("form") for s in held_out] == [whole[i].strings("form") for i in range(fold, 100, 10)]
        assert sorted(map(str, (s.heads for s in remaining))) == sorted(
            str(whole[i].heads) for i in range(100) if i % 10 not in (1, fold)
        )
        seen += [str(s.strings("form")) for s in held_out]
    assert len(seen) == 90


def test_joining_renumbers_strings():
    a, b = synthetic_treebank(5, seed=4), synthetic_treebank(5, seed=5)
    both = folds.joined(a, b)
    for column in a.columns:
        assert both.strings(column) == a.strings(column) + b.strings(column)
    assert both.head.tolist() == [*a.head.tolist(), *b.head.tolist()]
    assert both.lengths.tolist() == [*a.lengths.tolist(), *b.lengths.tolist()]


@pytest.fixture(scope="module")
def trained():
    """Return a trained model and its treebank."""
    treebank = objects_and_conjuncts()
    return train_labelled(Settings(epochs=1, bits=12), treebank), treebank


def test_systems_are_compared_word_by_word(trained):
    """Compare two systems with one mistake each: a wrong label of the first word, a wrong head of the second."""
    model, treebank = trained
    number = {name: i for i, name in enumerate(model.names)}

    def right(i):
        sentence = treebank[i]
        labels = np.array([-1, *(number[name] for name in sentence.strings("deprel"))])
        return sentence.heads.copy(), labels

    def wrong_label(problem, words):
        heads, labels = right(0 if words.word_class[4] == "NOUN" else 1)
        labels[1] = number["obj"]
        return cross_validation.Solved(heads, labels)

    def wrong_head(problem, words):
        heads, labels = right(0 if words.word_class[4] == "NOUN" else 1)
        heads[2] = 1
        return cross_validation.Solved(heads, labels, 0.5, 25, 7, "limit")

    data = cross_validation.compare(model, treebank.select(np.arange(2)), 2, {"one": wrong_label, "two": wrong_head})
    sums = cross_validation.summaries(data)
    assert list(sums) == ["one", "two"]
    first, second = sums["one"], sums["two"]
    assert (first["n"], first["heads"], first["labelled"]) == (8, 8, 6)
    assert (second["heads"], second["labelled"]) == (6, 6)
    assert (first["complete"], first["complete_labelled"], second["complete"]) == (2, 0, 0)
    assert (second["gained"], second["lost"], second["changed"]) == (2, 2, 4)
    assert (second["gained_heads"], second["lost_heads"]) == (0, 2)
    assert (second["better"], second["worse"]) == (0, 0)
    assert (second["iterations"], second["few_iterations"], second["rows"], second["first"]) == (50, 0, 14, 1.0)
    assert second["status"] == {"limit": 2}
    assert first["long"] == 0
    assert [part["longer_than"] for part in first["by_length"]] == [0]


def test_bins_of_lengths_are_closed_above():
    row = dict.fromkeys(cross_validation.SUMS, 0) | {"seconds": 1.0, "status": "optimal"}
    data = pd.DataFrame([row | {"n": n} for n in (1, 10, 11, 50, 51, 80)])
    sentences = {part["longer_than"]: part["sentences"] for part in cross_validation.summary(data)["by_length"]}
    assert sentences == {0: 2, 10: 1, 40: 1, 50: 2}


def test_if_no_tree_remains_the_baseline_parses(trained):
    """Check that a sentence gets the parse of the baseline if one variable per word leaves no tree."""
    model, treebank = trained
    constraints = parse('[unique-labels]\nlabels = ["nsubj", "obj", "root", "conj"]')
    system, table = cross_validation.program(constraints, q=1), TokenTable(treebank)
    seen = set()
    for i in range(2):
        problem, words = model.problem(table, i, 4), words_of(treebank[i])
        result, (tree, labels) = system(problem, words), chu_liu_edmonds(problem)
        seen.add(result.status)
        if result.status == "infeasible":
            assert result.heads.tolist() == tree.heads.tolist()
            assert result.labels.tolist() == labels.tolist()
        else:
            assert chu_liu_edmonds(best_variables(problem, 1))[0].status == "optimal"
    assert "infeasible" in seen


def test_broken_families_are_counted(trained):
    """Check the counts of trees that break a constraint. In half of the gold trees, a verb has two objects."""
    model, treebank = trained
    constraints = parse('[unique-labels]\nlabels = ["obj"]\n[selective-projectivity]\nlabels = "all"')[2:]
    rows = constraint_analysis.broken_by(model, treebank.select(np.arange(20)), constraints, 2)
    assert [row["family"] for row in rows] == ["unique-labels", "selective-projectivity"]
    assert [row["gold"] for row in rows] == [10, 0]
    assert rows[0]["both"] <= min(rows[0]["baseline"], 10)


def test_every_family_is_left_out_once_and_alone_once():
    names = constraint_analysis.families("nl_alpino")
    assert len(names) == 6
    systems = list(constraint_analysis.systems("nl_alpino"))
    assert systems == ["baseline", "constraints", *(f"without {n}" for n in names), *(f"only {n}" for n in names)]


def test_folds_trained_in_the_loop_must_be_listed():
    with pytest.raises(ValueError, match="looped: fold 2 is not listed"):
        Constraints(folds=(0, 3), looped=(0, 2))


def test_a_fold_writes_reading_features_and_the_loop(tmp_path, monkeypatch):
    """Check the stored results of folds of 100 sentences.

    Times of reading and features are positive. A fold with training in the loop has two trained systems.
    """
    monkeypatch.chdir(tmp_path)
    whole = objects_and_conjuncts().select(np.arange(100))
    number = np.arange(100)
    text = "".join(
        "".join(f"{i + 1}\t{w}\t_\t{t}\t{t}\t_\t{h}\t{d}\t_\t_\n" for i, (w, t, h, d) in enumerate(words)) + "\n"
        for s in whole
        for words in [zip(s.strings("form"), s.strings("upos"), s.heads[1:], s.strings("deprel"), strict=True)]
    )
    blocks = text.split("\n\n")[:-1]
    folder = stage.CONVERTED / "nl_alpino"
    folder.mkdir(parents=True)
    for split, chosen in (("train", number % 10 > 1), ("test", number % 10 == 0)):
        storage.save(whole.select(np.flatnonzero(chosen)), folder / f"{split}.npz")
        (folder / f"{split}.conllu").write_text("".join(blocks[i] + "\n\n" for i in np.flatnonzero(chosen)))
    report = {"meta": {"split": "every-tenth"}, "splits": {"train": {"dropped": {}}}}
    (folder / folds.REPORT).write_text(json.dumps(report))
    loaded = params.load(PROJECT / "params.yaml")
    settings = Constraints(("nl_alpino",), epochs=1, q=(2,), looped=(2,))
    for fold in ("0", "2"):
        cross_validation.run(loaded.changed(settings), "nl_alpino", fold)
    plain, looped = (
        json.loads((stage.METRICS / "constraints" / "nl_alpino" / f"{fold}.json").read_text()) for fold in (0, 2)
    )
    assert "in the loop" not in plain
    assert list(looped["in the loop"]) == ["baseline", "constraints"]
    for metrics in (plain, looped):
        assert metrics["reading_cpu_s"] > 0
        features = {system["features"] for system in metrics["systems"].values()}
        assert len(features) == 1, "all systems must share the time of the features"
        assert features.pop() > 0
    table = pd.read_csv(stage.PREDICTIONS / "nl_alpino" / "constraints.2.csv")
    assert table.groupby("training").size().to_dict() == {"baseline": 40, "constraints": 20}
