"""Deriving constraints from trees, and the folds and tables of the cross-validation."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from synthetic import synthetic_treebank

from treebound.constraints import parse
from treebound.core.dtypes import INDEX
from treebound.core.vocabulary import Vocabulary
from treebound.experiments import cross_validation, derive_constraints


def made_up():
    """200 sentences of four words; `obj` occurs twice under one head in half of them, `conj` is right of its head."""
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


def test_rules_are_kept_that_hold():
    found = derive_constraints.derive(made_up())
    assert found["unique-labels"]["labels"] == ["conj", "nsubj", "root"]
    assert found["unique-labels"]["held"]["nsubj"] == (200, 200)
    assert found["argument-side"]["right"] == ["conj"]
    assert found["argument-compatibility"]["compatible"] == [["NOUN", "NUM"]]
    text = derive_constraints.toml("mine", found)
    assert '"nsubj", # 200 / 200' in text
    assert [c.name for c in parse(text)][2:] == list(found)


def test_folds_are_every_tenth_sentence():
    whole = synthetic_treebank(100, seed=3)
    number = np.arange(100)
    train, test = whole.select(number[number % 10 > 1]), whole.select(number[number % 10 == 0])
    seen = []
    for fold in cross_validation.FOLDS:
        rest, held_out = cross_validation.divide(train, test, fold)
        assert len(rest) == 80
        assert [s.strings("form") for s in held_out] == [whole[i].strings("form") for i in range(fold, 100, 10)]
        assert sorted(map(str, (s.heads for s in rest))) == sorted(
            str(whole[i].heads) for i in range(100) if i % 10 not in (1, fold)
        )
        seen += [str(s.strings("form")) for s in held_out]
    assert len(seen) == 90


def test_joining_renumbers_strings():
    a, b = synthetic_treebank(5, seed=4), synthetic_treebank(5, seed=5)
    both = cross_validation.joined(a, b)
    for column in a.columns:
        assert both.strings(column) == a.strings(column) + b.strings(column)
    assert both.head.tolist() == [*a.head.tolist(), *b.head.tolist()]
    assert both.lengths.tolist() == [*a.lengths.tolist(), *b.lengths.tolist()]


def test_summary_makes_the_tables(tmp_path):
    """Two sentences: 4 words, then 12; the constraints repair one word of the second."""
    rows = {
        "baseline": [[0, 4, 4, 4, 0.001, 0.0, 0, "optimal"], [1, 12, 11, 10, 0.001, 0.0, 0, "optimal"]],
        "constraints": [[0, 4, 4, 4, 0.001, 0.0, 0, "optimal"], [1, 12, 12, 11, 130.0, 100.0, 25, "limit"]],
    }
    path = tmp_path / "0.json"
    path.write_text(json.dumps({"rows": rows}))
    tables = cross_validation.summary([path])["systems"]
    assert tables["baseline"]["UAC"] == pytest.approx(100 * 15 / 16)
    assert tables["baseline"]["LAC"] == pytest.approx(100 * 14 / 16)
    assert tables["constraints"]["UC"] == 100.0
    assert tables["constraints"]["LC"] == 50.0
    assert tables["constraints"]["sign"] == {"better": 1, "worse": 0, "p": 1.0}
    assert tables["constraints"]["under_20_iterations"] == 50.0
    assert tables["constraints"]["status"] == {"limit": 1, "optimal": 1}
    short, long = tables["constraints"]["by_length"]
    assert (short["longer_than"], short["mean_iterations"]) == (0, 0.0)
    assert (long["over_120_s"], long["mean_first_seconds"]) == (1, 100.0)
