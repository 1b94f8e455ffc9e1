"""Test hard constraints: their rows against the definitions on all small labelled trees, their settings and errors."""

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


def all_variables(words: Words, single_root: bool = True) -> Variables:
    """Return the variables of all arcs with all labels."""
    n, k = words.n, len(NAMES)
    head, mod = all_arcs(n)
    inner = Problem(n, head, mod, np.zeros(len(head)), single_root=single_root)
    label = np.tile(np.arange(k, dtype=np.int32), (len(head), 1))
    return Variables.of(LabelledProblem(inner, label, np.zeros(label.shape), NAMES), words)


def selection(heads, labels) -> Selection:
    ids = [-1] + [NAMES.index(label) for label in labels[1:]]
    return Selection(np.array(heads, np.int32), np.array(ids, np.int32))


def labelled(words: Words, name: str):
    """Yield labelled trees: all trees with all labellings for up to four words, with some labellings for more.

    For one-head and no-cycles, all choices of heads are yielded, including those that are no trees.
    """
    rng = np.random.default_rng(words.n)
    if name in ("one-head", "no-cycles"):
        word_numbers = range(1, words.n + 1)
        for heads in product(*([h for h in range(words.n + 1) if h != m] for m in word_numbers)):
            yield [-1, *heads], ["", *rng.choice(NAMES, words.n)]
    elif words.n <= 4:
        yield from oracle.labelled_trees(words.n, NAMES)
    else:
        for heads in oracle.trees(words.n, "non-projective").tolist():
            for _ in range(6):
                yield heads, ["", *rng.choice(NAMES, words.n, p=[0.6, 0.2, 0.2])]


def test_every_family_is_tested():
    assert {*CASES, "ud"} == set(CONSTRAINTS)  # test_ud_rules.py tests the rules of `ud`


@pytest.mark.parametrize(
    "every", [4, pytest.param(1, marks=pytest.mark.long)]
)  # labels vary fastest, in steps of three
@pytest.mark.parametrize(
    ("name", "settings", "definition"), EVERY, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(EVERY)]
)
def test_rows_agree_with_the_definition(name, settings, definition, every):
    """Check that a labelled tree breaks a row of the integer program if and only if it breaks the definition.

    The constraint's `violated` returns rows that this tree breaks and that all allowed trees satisfy.
    """
    constraint, keeps = CONSTRAINTS[name](**settings), definition(settings)
    seen = {True: 0, False: 0}
    for text in SENTENCES:
        words = Words.of(*zip(*text, strict=True))
        variables = all_variables(words)
        allowed, rows = [], {}
        start = constraint.start(variables)
        for heads, labels in islice(labelled(words, name), None, None, every):
            selected = selection(heads, labels)
            chosen = variables.chosen(selected)
            lazy = constraint.violated(variables, selected)
            is_allowed = keeps(words, heads, labels)
            seen[is_allowed] += 1
            assert is_allowed == (not lazy and all(row.holds(chosen) for row in start)), (heads, labels)
            assert is_allowed == (not broken([constraint], variables, selected))
            assert not any(row.holds(chosen) for row in lazy), (heads, labels)
            if is_allowed:
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
        broken_rows = broken([constraint], all_variables(words, single_root), selection(heads, ["", "su", "su"]))
        assert bool(broken_rows) == single_root


def test_cycles():
    assert cycles(np.array([-1, 2, 3, 1, 1, 6, 5, 0])) == [[1, 2, 3], [5, 6]]
    assert cycles(np.array([-1, 0, 1, 2])) == []


def test_cuts_imply_cycles():
    """Check that every fractional point that satisfies the cut row of a cycle also satisfies its cycle row.

    The variables of the heads of each word sum to 1.
    """
    words = Words.of(["a"] * 4, ["x"] * 4)
    variables = all_variables(words)
    rng = np.random.default_rng(2)
    heads = selection([-1, 2, 1, 0, 3], ["", "su", "su", "su", "su"])
    (cycle,), (cut,) = (NoCycles(form).violated(variables, heads) for form in ("cycle", "cut"))
    satisfied = 0
    for _ in range(2000):
        x = rng.random(len(variables)) ** 4
        for m in range(1, 5):
            x[variables.mod == m] /= x[variables.mod == m].sum()
        if cut.holds(x):
            satisfied += 1
            assert cycle.holds(x)
    assert satisfied


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
