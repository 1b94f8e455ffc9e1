"""Sets of validity rules, the treebanks they apply to, and their rows in an integer program."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from oracles.trees import trees
from ud_validator import Case, broken, column

from treebound.constraints import parse as parse_constraints
from treebound.constraints.rows import Selection, Variables, Words
from treebound.constraints.rows import broken as broken_rows
from treebound.constraints.ud import RULES, STRUCTURE, covered, load, not_applied, rule_sets
from treebound.constraints.ud.as_rows import UniversalDependencies
from treebound.constraints.ud.rule_sets import parse
from treebound.core.errors import InputError
from treebound.core.labelled import LabelledProblem
from treebound.core.problem import Problem
from treebound.kernels.features.updates import all_arcs


def test_the_sets_are_the_errors_and_the_warnings() -> None:
    assert rule_sets() == ["ud", "ud-warnings"]
    assert load("ud").ids == tuple(name for name in RULES if RULES[name].severity == "error")
    assert load("ud-warnings").ids == tuple(RULES)
    assert not set(RULES) & set(STRUCTURE)
    assert all(RULES[name].id == name and RULES[name].level in (2, 3) for name in RULES)


def test_a_user_set(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('drop = ["leaf-det"]\nbase = "ud-warnings"\n', encoding="utf-8")
    mine = load(path)
    assert mine.name == "mine"
    assert mine.ids == tuple(name for name in RULES if name != "leaf-det")
    assert mine.without(["leaf-cc"]).ids == tuple(name for name in RULES if name not in ("leaf-det", "leaf-cc"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rules = [", "mine.toml:1: not TOML"),
        ("# rules\nrule = []", "mine.toml:2: unknown key 'rule'; valid keys are base, drop, rules"),
        ("", "mine.toml: has neither a list `rules` nor `drop`; give a list `rules`, or a list `drop`"),
        ('base = "ud"', "mine.toml: has neither a list `rules` nor `drop`"),
        ("drop = []\nrules = []", "mine.toml: has both lists `rules` and `drop`"),
        ("\ndrop = 'leaf-det'", "mine.toml:2: drop is not a list of strings"),
        ("rules = [\n'leaf-det',\n'leaf-dat']", "mine.toml:3: unknown rule 'leaf-dat'; choose from invalid-deprel"),
        ("rules = [\n'non-tree']", "mine.toml:2: every tree keeps non-tree; remove it"),
        ("drop = ['orphan-parent']", "mine.toml:1: unknown rule 'orphan-parent'"),
        ("drop = []\nbase = 'xx'", "mine.toml:2: unknown base 'xx'; choose from ud, ud-warnings"),
        ("rules = []\nbase = 'ud'", "mine.toml:2: base has no effect"),
    ],
)
def test_bad_sets_are_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text, "mine.toml")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_an_unknown_set() -> None:
    with pytest.raises(InputError, match="no set of validity rules 'xx'; choose from ud, ud-warnings, or name"):
        load("xx")
    with pytest.raises(InputError, match=r"mine\.toml: no such file of validity rules"):
        load("mine.toml")
    with pytest.raises(InputError, match="ud has no rule 'orphan-parent'; choose from"):
        load("ud").without(["orphan-parent"])


def test_rules_that_need_unknown_columns_are_not_applied() -> None:
    """Rules that need an unknown column are not applied.

    Each of them is violated if the column is known and empty, and never if it is unknown.
    """
    rules = load("ud-warnings").rules
    words = Words.of(["a"] * 3, ["X"] * 3)
    full = words.with_empty_columns()
    assert not_applied(rules, full) == []
    assert set(not_applied(rules, words)) == {name for name in RULES if RULES[name].needs}
    assert "too-many-subjects" in not_applied(rules, words)
    case = Case((0, 1, 1), ("det", "nsubj", "nsubj"), (column("VERB", lemma=False),) * 3)
    tree = case.tree(("det", "nsubj"))
    assert {"too-many-subjects", "rel-upos-det", "leaf-det"} <= broken(rules, tree)
    bare = Words.of(["a"] * 3, ["VERB"] * 3)
    assert broken(rules, type(tree)(bare, tree.heads, tree.labels, tree.names)) == {"0-is-not-root"}


def test_foreign_tags_and_labels_are_reported() -> None:
    rules = parse('rules = ["rel-upos-det", "leaf-punct", "too-many-subjects"]')
    everything = ("feats", "misc", "lemma")
    fine = covered(rules, ["NOUN"], ["nsubj:pass"], everything)
    assert fine.complete
    assert str(fine) == "all validity rules can be applied"
    assert covered(rules, ["NN"], ["nsubj"], everything).rules == ("rel-upos-det",)
    assert covered(rules, ["NOUN"], ["SBJ"], everything).rules == rules.ids
    assert covered(rules, ["NOUN"], ["nsubj"], ["feats"]).rules == ("too-many-subjects",)
    several = covered(rules, ["A", "B", "C", "D"], ["SBJ"], ["feats"])
    assert str(several) == (
        "4 tags that are not universal (A, B, C, ...), 1 label that is not universal (SBJ), no column MISC: "
        "cannot apply rel-upos-det, too-many-subjects, leaf-punct"
    )
    assert "3 tags that are not universal (A, B, C):" in str(covered(rules, ["A", "B", "C"], ["nsubj"], everything))


#: labels, and the columns of the words of one sentence
PROGRAMS = [
    (("nsubj", "obl", "cop"), [column("NOUN"), column("VERB"), column("PRON")]),
    (
        ("goeswith", "punct", "advmod"),
        [column("X", lemma=False), column("NOUN", misc="SpaceAfter=No"), column("PUNCT")],
    ),
    (("det", "root", "fixed"), [column("DET"), column("PROPN"), column("ADP", "ExtPos=ADV")]),
    (("punct", "dep"), [column("PUNCT")] * 4),
]
PAIRS = ["too-many-subjects", "leaf-det", "fixed-gap", "goeswith-nospace", "rel-upos-fixed", "orphan-parent"]


def program(names: tuple[str, ...], words: Words) -> Variables:
    """Return the variables of all arcs with all labels."""
    head, mod = all_arcs(words.n)
    label = np.tile(np.arange(len(names), dtype=np.int32), (len(head), 1))
    inner = Problem(words.n, head, mod, np.zeros(len(head)))
    return Variables.of(LabelledProblem(inner, label, np.zeros(label.shape), names), words)


@pytest.mark.parametrize(("names", "columns"), PROGRAMS)
@pytest.mark.parametrize("rules", ["ud", "ud-warnings"])
def test_exactly_the_valid_trees_satisfy_the_rows(names, columns, rules) -> None:
    """A tree violates a row if it violates a rule.

    Valid trees satisfy all rows, even the rows for selections with cycles.
    """
    constraint, rule_set, n = UniversalDependencies(rules), load(rules), len(columns)
    generator, rows, valid, count = random.Random(1), {}, [], 0
    tree_heads = set(map(tuple, trees(n, "non-projective")[:, 1:].tolist()))
    for heads in product(*([h for h in range(n + 1) if h != m] for m in range(1, n + 1))):
        for labels in generator.sample([*product(range(len(names)), repeat=n)], 8):
            case = Case(heads, tuple(names[i] for i in labels), tuple(columns))
            if not count:
                variables = program(names, case.words)
            count += 1
            selection = Selection(np.array([-1, *heads], np.int32), np.array([-1, *labels], np.int32))
            chosen, lazy = variables.chosen(selection), constraint.violated(variables, selection)
            assert not any(row.holds(chosen) for row in lazy)
            rows |= {(row.columns.tobytes(), row.upper): row for row in lazy}
            if heads in tree_heads:
                fine = not broken(rule_set.rules, case.tree(names))
                assert fine == (not broken_rows([constraint], variables, selection))
                valid += [chosen] if fine else []
    assert rows
    for row in [*rows.values(), *constraint.start(variables)]:
        assert all(row.holds(chosen) for chosen in valid)


def test_some_valid_trees_are_among_the_programs() -> None:
    """A valid tree satisfies all rows and an invalid tree breaks one, so the test of rows is not empty."""
    case = Case((2, 0, 2), ("nsubj", "root", "punct"), (column("NOUN"), column("VERB"), column("PUNCT")))
    names = ("nsubj", "root", "punct", "obj")
    variables = program(names, case.words)
    heads, labels = np.array([-1, *case.heads]), np.array([-1, *(names.index(label) for label in case.labels)])
    assert not broken_rows([UniversalDependencies()], variables, Selection(heads, labels))
    assert broken_rows([UniversalDependencies()], variables, Selection(np.array([-1, 2, 0, 1]), labels))


@pytest.mark.parametrize(("names", "columns"), PROGRAMS)
def test_forbidden_variables_are_the_ones_that_break_a_rule(names, columns) -> None:
    """Rules about one or two words: a tree is invalid if and only if it selects a forbidden variable or pair."""
    constraint = UniversalDependencies("ud-warnings", drop=[name for name in RULES if name not in PAIRS])
    words = Case((0,) * len(columns), (names[0],) * len(columns), tuple(columns)).words
    variables = program(names, words)
    forbidden = constraint.forbidden(variables)
    generator = random.Random(2)
    for heads in trees(len(columns), "non-projective")[:, 1:].tolist():
        for labels in generator.sample([*product(range(len(names)), repeat=len(columns))], 16):
            case = Case(tuple(heads), tuple(names[i] for i in labels), tuple(columns))
            chosen = variables.chosen(Selection(np.array([-1, *heads]), np.array([-1, *labels])))
            wrong = any(chosen[list(columns_)].all() for columns_ in forbidden)
            assert wrong == bool(broken(constraint.rule_set.rules, case.tree(names)))


def test_rules_about_more_words_are_not_forbidden_pairs() -> None:
    variables = program(("obl", "nsubj", "cop"), Words.of(["a"] * 3, ["NOUN"] * 3).with_empty_columns())
    assert UniversalDependencies().forbidden(variables) is None


def test_the_constraint_in_a_file() -> None:
    *_, constraint = parse_constraints('[ud]\nrules = "ud-warnings"\ndrop = ["leaf-det"]\nassume_empty = true')
    assert constraint.name == "ud"
    variables = program(("nsubj", "det"), Words.of(["a"] * 3, ["DET", "VERB", "NOUN"]))
    selection = Selection(np.array([-1, 2, 0, 2]), np.array([-1, 0, 0, 0]))
    assert len(constraint.violated(variables, selection)) == 1  # two subjects; MISC counts as empty
    assert not UniversalDependencies().violated(variables, selection)
    with pytest.raises(InputError, match="no set of validity rules"):
        parse_constraints('[ud]\nrules = "xx"')
