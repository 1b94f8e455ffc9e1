"""Hard constraints: rows against the definitions, on all small labelled trees; settings files; what they refuse."""

from __future__ import annotations

import re
from functools import partial
from itertools import islice, product

import numpy as np
import pytest
from oracles import constraints as oracle

from treebound.constraints import CONSTRAINTS, corpora, load, parse
from treebound.constraints.no_cycles import NoCycles, cycles
from treebound.constraints.rows import Selection, Variables, Words, broken
from treebound.core.errors import InputError, TreeboundError
from treebound.core.labelled import LabelledProblem
from treebound.core.problem import Problem
from treebound.kernels.features.updates import all_arcs

NAMES = ("cnj", "su", "det")
COORDINATION = {"forms": ["en"], "classes": ["vg"], "label": "cnj"}
CASES = {
    "unique-labels": [({"labels": ["su", "cnj"]}, lambda s: partial(oracle.unique_labels, unique=s["labels"]))],
    "symmetric-coordination": [
        (COORDINATION | {"when": when}, lambda s: partial(oracle.symmetric_coordination, **s))
        for when in ("coordinating", "always")
    ],
    "asymmetric-coordination": [
        (COORDINATION | {"when": when}, lambda s: partial(oracle.asymmetric_coordination, **s))
        for when in ("coordinating", "always")
    ],
    "coordination-commas": [
        (COORDINATION, lambda s: partial(oracle.coordination_commas, **s)),
        ({"forms": ["en"], "separators": [",", ";"]}, lambda s: partial(oracle.coordination_commas, **s)),
    ],
    "argument-compatibility": [
        ({"label": "cnj", "compatible": [["noun", "num"]]}, lambda s: partial(oracle.argument_compatibility, **s)),
        (
            {"label": "cnj", "compatible": [], "wildcard": ["en"], "head": "conjunction"},
            lambda s: partial(oracle.argument_compatibility, **s),
        ),
        (
            {"label": "cnj", "compatible": [["noun", "num"]], "head": "argument"},
            lambda s: partial(oracle.argument_compatibility, **s),
        ),
    ],
    "selective-projectivity": [
        ({"labels": ["cnj", "det"]}, lambda s: partial(oracle.selective_projectivity, which=s["labels"])),
        (
            {"labels": ["cnj", "det"], "exempt": {"cnj": ["verb"]}},
            lambda s: partial(oracle.selective_projectivity, which=s["labels"], exempt=s["exempt"]),
        ),
        ({"labels": "all"}, lambda s: partial(oracle.selective_projectivity, which="all")),
    ],
    "argument-side": [({"left": ["det"], "right": ["cnj"]}, lambda s: partial(oracle.argument_side, **s))],
    "one-head": [({}, lambda s: oracle.one_head)],
    "no-cycles": [({"form": form}, lambda s: oracle.no_cycles) for form in ("cycle", "cut", "both")],
}
EVERY = [(name, *case) for name, cases in CASES.items() for case in cases]
SENTENCES = [
    [("appels", "noun"), (",", "punct"), ("peren", "noun"), ("en", "vg"), ("vijf", "num")],
    [("en", "vg"), ("lopen", "verb"), ("Jan", "noun"), ("en", "vg")],
    [("en", "vg"), ("Jan", "noun"), ("vijf", "num")],
    [("zien", "verb"), ("Jan", "noun"), ("En", "vg"), ("vijf", "num")],
    [("en", "adv"), ("snel", "adj"), (",", "punct"), ("en", "vg")],
    [("Jan", "noun"), ("Piet", "noun"), ("vijf", "num"), ("en", "vg"), ("snel", "adj")],
]


def everything(words: Words, single_root: bool = True) -> Variables:
    """All arcs with all labels."""
    n, k = words.n, len(NAMES)
    head, mod = all_arcs(n)
    inner = Problem(n, head, mod, np.zeros(len(head)), single_root=single_root)
    label = np.tile(np.arange(k, dtype=np.int32), (len(head), 1))
    return Variables.of(LabelledProblem(inner, label, np.zeros(label.shape), NAMES), words)


def selection(heads, labels) -> Selection:
    ids = [-1] + [NAMES.index(label) for label in labels[1:]]
    return Selection(np.array(heads, np.int32), np.array(ids, np.int32))


def labelled(words: Words, name: str):
    """Labelled trees: all of them up to four words, some labellings of all trees over five; for T1 and T2 all heads."""
    rng = np.random.default_rng(words.n)
    if name in ("one-head", "no-cycles"):
        words_ = range(1, words.n + 1)
        for heads in product(*([h for h in range(words.n + 1) if h != m] for m in words_)):
            yield [-1, *heads], ["", *rng.choice(NAMES, words.n)]
    elif words.n <= 4:
        yield from oracle.labelled_trees(words.n, NAMES)
    else:
        for heads in oracle.trees(words.n, "non-projective").tolist():
            for _ in range(6):
                yield heads, ["", *rng.choice(NAMES, words.n, p=[0.6, 0.2, 0.2])]


def test_every_family_is_tested():
    assert {*CASES, "ud"} == set(CONSTRAINTS)  # the rules of `ud` have tests of their own: test_ud_rules.py


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.long)])  # labels vary fastest, by threes
@pytest.mark.parametrize(
    ("name", "settings", "definition"), EVERY, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(EVERY)]
)
def test_rows_say_what_the_definition_says(name, settings, definition, every):
    """A selection breaks a row if and only if it breaks the definition; rows found are broken by it and kept by all
    selections that the definition allows."""
    constraint, keeps = CONSTRAINTS[name](**settings), definition(settings)
    seen = {True: 0, False: 0}
    for text in SENTENCES:
        words = Words.of(*zip(*text, strict=True))
        variables = everything(words)
        allowed, rows = [], {}
        start = constraint.start(variables)
        for heads, labels in islice(labelled(words, name), None, None, every):
            chosen_ = selection(heads, labels)
            chosen = variables.chosen(chosen_)
            lazy = constraint.violated(variables, chosen_)
            fine = keeps(words, heads, labels)
            seen[fine] += 1
            assert fine == (not lazy and all(row.holds(chosen) for row in start)), (heads, labels)
            assert fine == (not broken([constraint], variables, chosen_))
            assert not any(row.holds(chosen) for row in lazy), (heads, labels)
            if fine:
                allowed.append(chosen)
            for row in lazy:
                assert row.family == constraint.name
                rows[row.columns.tobytes(), row.lower, row.upper] = row
        table = np.array(allowed, float)
        for row in rows.values():
            value = table[:, row.columns] @ row.coefficients
            assert ((row.lower <= value) & (value <= row.upper)).all()
    assert seen[True]
    assert seen[False] or name == "one-head"


def test_several_roots():
    words = Words.of(["a", "b"], ["noun", "noun"])
    (constraint, heads) = CONSTRAINTS["one-head"](), [-1, 0, 0]
    for single_root in (True, False):
        found = broken([constraint], everything(words, single_root), selection(heads, ["", "su", "su"]))
        assert bool(found) == single_root


def test_cycles():
    assert cycles(np.array([-1, 2, 3, 1, 1, 6, 5, 0])) == [[1, 2, 3], [5, 6]]
    assert cycles(np.array([-1, 0, 1, 2])) == []


def test_cuts_imply_cycles():
    """Under one head a word, every fractional point that keeps the cut of a cycle keeps its cycle row."""
    words = Words.of(["a"] * 4, ["x"] * 4)
    variables = everything(words)
    rng = np.random.default_rng(2)
    heads = selection([-1, 2, 1, 0, 3], ["", "su", "su", "su", "su"])
    (cycle,), (cut,) = (NoCycles(form).violated(variables, heads) for form in ("cycle", "cut"))
    kept = 0
    for _ in range(2000):
        x = rng.random(len(variables)) ** 4
        for m in range(1, 5):
            x[variables.mod == m] /= x[variables.mod == m].sum()
        if cut.holds(x):
            kept += 1
            assert cycle.holds(x)
    assert kept


@pytest.mark.parametrize("corpus", corpora())
def test_settings_of_every_corpus(corpus):
    names = [constraint.name for constraint in load(corpus)]
    assert names[:2] == ["one-head", "no-cycles"]
    assert len(names) == len(set(names))
    assert "unique-labels" in names
    assert {"argument-compatibility", "argument-side", "selective-projectivity"} & set(names)
    for constraint in load(corpus):
        assert constraint.code
        assert constraint.start.__doc__
        assert constraint.violated.__doc__


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[unique", "not TOML"),
        ("[uniqe-labels]\nlabels = []", "unknown constraint 'uniqe-labels'; choose from one-head"),
        ("[unique-labels]\nlabel = []", "unique-labels: .*unexpected keyword"),
        ("[symmetric-coordination]\nforms = ['en']\nwhen = 'never'", "unknown when 'never'"),
        ("[argument-compatibility]\nlabel = 'cnj'\ncompatible = []\nhead = 'last'", "unknown head 'last'"),
        ("[no-cycles]\nform = 'star'", "unknown form 'star'"),
    ],
)
def test_bad_settings_are_one_line(text, message):
    with pytest.raises(InputError, match=message) as caught:
        parse(text, "mine.toml")
    assert "\n" not in str(caught.value)
    assert re.match(r"mine\.toml:(\d+:)? ", str(caught.value))


def test_unknown_corpus():
    with pytest.raises(TreeboundError, match=r"no constraints for corpus 'xx'; choose from .*nl_alpino"):
        load("xx")


def test_words_must_fit():
    problem = Problem(1, np.zeros(1, np.int32), np.ones(1, np.int32), np.zeros(1))
    with pytest.raises(ValueError, match="2 words for a problem of 1"):
        Variables.of(
            LabelledProblem(problem, np.zeros((1, 1), np.int32), np.zeros((1, 1)), ("_",)), Words.of("ab", "xy")
        )
