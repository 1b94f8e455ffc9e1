"""Test labelled decoding under hard constraints: enumeration, limits, conflicts, agreement of the formulations."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from oracles import constraints as oracle
from strategies import build_problem, draw

from treebound.checker.certificates import check_parse
from treebound.constraints import TREE, parse
from treebound.constraints.no_cycles import NoCycles
from treebound.constraints.one_head import OneHead
from treebound.constraints.rows import Selection, Variables, Words, broken, row
from treebound.core.dtypes import INDEX
from treebound.core.errors import UnsupportedError
from treebound.core.labelled import LabelledProblem, best_labels, best_variables, unlabelled
from treebound.core.problem import PartTable, Problem
from treebound.decoders.exact.programs.incremental import IncrementalProgram, chu_liu_edmonds
from treebound.decoders.exact.programs.live import LiveProgram
from treebound.decoders.exact.programs.stated import StatedProgram, installed

NAMES = ("cnj", "su", "det")
SETTINGS = """
[unique-labels]
labels = ["su"]
[symmetric-coordination]
forms = ["en"]
classes = ["vg"]
[asymmetric-coordination]
forms = ["zowel"]

[coordination-commas]
forms = ["en"]
[argument-compatibility]
label = "cnj"
compatible = [["noun", "num"]]
[selective-projectivity]
labels = ["cnj", "det"]
exempt = { cnj = ["verb"] }
"""
FORMS = ("en", "zowel", ",", "Jan", "lopen", "vijf")
CLASSES = {"en": "vg", "zowel": "vg", ",": "punct", "Jan": "noun", "lopen": "verb", "vijf": "num"}
OPTIONS = [
    {},
    {"start": "none"},
    {"start": "none", "relaxation": "never"},
    {"formulation": "single-commodity"},
    {"formulation": "multi-commodity", "start": "none", "relaxation": "never"},
]


ALWAYS = SETTINGS.replace('classes = ["vg"]', 'classes = ["vg"]\nwhen = "always"', 1)


def keeps(words: Words, when: str = "coordinating"):
    """Return a function (heads, labels) -> bool that checks the constraints of SETTINGS by their definitions.

    If `when` is "always", it checks the constraints of ALWAYS.
    """

    def check(heads, labels) -> bool:
        return (
            oracle.unique_labels(words, heads, labels, ["su"])
            and oracle.symmetric_coordination(words, heads, labels, ["en"], ["vg"], when=when)
            and oracle.asymmetric_coordination(words, heads, labels, ["zowel"])
            and oracle.coordination_commas(words, heads, labels, ["en"])
            and oracle.argument_compatibility(words, heads, labels, "cnj", [["noun", "num"]])
            and oracle.selective_projectivity(words, heads, labels, ["cnj", "det"], {"cnj": ["verb"]})
        )

    return check


def instance(seed: int, integer: bool = True) -> tuple[LabelledProblem, Words]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    problem = build_problem(n, rng, (), integer=integer)
    scores = draw(rng, problem.arcs * len(NAMES), str(rng.choice(["dense", "tied", "mixed"])), integer)
    scores = scores.reshape(-1, len(NAMES)) + 100.0 * (np.arange(len(NAMES)) == 0) * (
        seed % 2
    )  # many arcs with the label of conjuncts
    forms = rng.choice(FORMS, n)
    return best_labels(problem, scores, int(rng.integers(1, 4)), NAMES), Words.of(forms, [CLASSES[f] for f in forms])


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: ",".join(o.values()) or "default")
def test_best_labelled_tree_against_enumeration(options):
    decoders = {"coordinating": IncrementalProgram(parse(SETTINGS), **options)}
    decoders["always"] = IncrementalProgram(parse(ALWAYS), **options)
    binding = infeasible = 0
    for seed in range(60):
        problem, words = instance(seed)
        when = "always" if seed % 3 == 0 else "coordinating"
        value, winners = oracle.best(problem, keeps(words, when))
        labelled_parse = decoders[when].decode_labelled(problem, words)
        if value == -np.inf:
            infeasible += 1
            assert labelled_parse.status == "infeasible", seed
            continue
        assert labelled_parse.status == "optimal", seed
        assert labelled_parse.value == labelled_parse.bound == pytest.approx(value, rel=1e-12), seed
        labels = [problem.names[i] for i in labelled_parse.labels[1:]]
        assert (labelled_parse.heads[1:].tolist(), labels) in [(h[1:], list(names[1:])) for h, names in winners], seed
        free, _ = chu_liu_edmonds(problem)
        binding += free.value > value
        assert (
            labelled_parse.work["iterations"]
            == labelled_parse.work["lp"] + labelled_parse.work["mip"]
            == len(labelled_parse.record.solves)
        )
    assert binding > 10
    assert infeasible > 0


@pytest.mark.parametrize("solver", installed())
def test_the_stated_program_agrees(solver):
    stated, incremental = StatedProgram(parse(SETTINGS), solver=solver), IncrementalProgram(parse(SETTINGS))
    for seed in range(40):
        problem, words = instance(seed, integer=False)
        stated_parse, incremental_parse = (
            stated.decode_labelled(problem, words),
            incremental.decode_labelled(problem, words),
        )
        assert stated_parse.status == incremental_parse.status, seed
        assert stated_parse.value == pytest.approx(incremental_parse.value, rel=1e-7), seed


def longer(seed: int, n: int = 8, k: int = 3) -> tuple[LabelledProblem, Words]:
    rng = np.random.default_rng(seed)
    problem = build_problem(n, rng, (), integer=False)
    forms = rng.choice(FORMS, n)
    scores = rng.normal(size=(problem.arcs, len(NAMES))) + 2.0 * rng.random((problem.arcs, 1))
    return best_labels(problem, scores, k, NAMES), Words.of(forms, [CLASSES[f] for f in forms])


def test_formulations_and_cycle_forms_agree_on_longer_sentences():
    for seed in range(4):
        problem, words = longer(seed)
        parses = []
        for form, options in itertools.product(("cycle", "cut", "both"), OPTIONS[:3]):
            tree = (OneHead(), NoCycles(form))
            parses.append(IncrementalProgram(parse(SETTINGS, tree=tree), **options).decode_labelled(problem, words))
        parses.append(
            IncrementalProgram(parse(SETTINGS), formulation="single-commodity").decode_labelled(problem, words)
        )
        assert {labelled_parse.status for labelled_parse in parses} <= {"optimal"} or {p.status for p in parses} == {
            "infeasible"
        }
        assert (
            np.ptp([labelled_parse.value for labelled_parse in parses if labelled_parse.status == "optimal"] or [0])
            < 1e-6
        )
        for labelled_parse in parses:
            if labelled_parse.status == "optimal":
                selection = Selection(labelled_parse.heads, labelled_parse.labels)
                assert not broken(parse(SETTINGS), Variables.of(problem, words), selection)


def test_the_relaxation_alone_bounds_and_reports_integral_solutions():
    integral = 0
    for seed in range(20):
        problem, words = instance(seed)
        exact = IncrementalProgram(parse(SETTINGS)).decode_labelled(problem, words)
        relaxed = IncrementalProgram(parse(SETTINGS), relaxation="only", start="none").decode_labelled(problem, words)
        assert relaxed.work["mip"] == 0
        if exact.status == "infeasible":
            assert relaxed.status in ("infeasible", "limit")
            assert relaxed.labels is None
            continue
        assert relaxed.bound >= exact.value - 1e-6
        assert relaxed.value <= exact.value
        if relaxed.status == "optimal":
            integral += 1
            assert relaxed.value == exact.value
    assert integral > 5


def test_the_relaxation_alone_adds_the_rows_that_the_largest_variables_break():
    problem, words = longer(1)
    relaxed = IncrementalProgram(parse(SETTINGS), relaxation="only", start="none").decode_labelled(problem, words)
    assert relaxed.status == "optimal"
    assert relaxed.value == IncrementalProgram(parse(SETTINGS)).decode_labelled(problem, words).value


def test_a_limit_is_reported_and_falls_back_to_chu_liu_edmonds():
    limited = 0
    for seed in range(6):
        problem, words = longer(seed)
        best = IncrementalProgram(parse(SETTINGS)).decode_labelled(problem, words)
        for limit in ({"max_iterations": 1}, {"time_limit": 1e-9}):
            limited_parse = IncrementalProgram(parse(SETTINGS), start="none", **limit).decode_labelled(problem, words)
            if limited_parse.status == "limit":
                limited += 1
                assert limited_parse.record.fallback
                assert limited_parse.work["fallback"] == 1
                assert limited_parse.work["iterations"] == limit.get("max_iterations", 0)
                assert limited_parse.heads.tolist() == chu_liu_edmonds(problem)[0].heads.tolist()
                assert not limited_parse.certified
            assert limited_parse.bound >= best.value - 1e-9
    assert limited > 5


def test_families_in_conflict_are_named():
    """Check that an infeasible program names the families that exclude all trees.

    In the first program, the last word is a conjunction that must have a dependent on its right.
    """
    rng = np.random.default_rng(0)
    problem = best_labels(build_problem(2, rng, (), integer=False), rng.normal(size=(4, 3)), 3, NAMES)
    words = Words.of(["Jan", "en"], ["noun", "vg"])
    labelled_parse = IncrementalProgram(parse(ALWAYS)).decode_labelled(problem, words)
    assert labelled_parse.status == "infeasible"
    assert not labelled_parse.heads[1:].any()
    assert labelled_parse.labels is None
    assert labelled_parse.record.conflict == ("symmetric-coordination",)
    # two families that exclude all trees only together: unique label cnj, and zowel requires two arguments
    sides = "[unique-labels]\nlabels = ['cnj']\n[asymmetric-coordination]\nforms = ['zowel']\nwhen = 'always'"
    words = Words.of(["zowel", "Jan", "Piet"], ["vg", "noun", "noun"])
    problem = best_labels(build_problem(3, rng, (), integer=False), rng.normal(size=(9, 3)), 3, NAMES)
    labelled_parse = IncrementalProgram(parse(sides)).decode_labelled(problem, words)
    assert labelled_parse.status == "infeasible"
    assert labelled_parse.record.conflict == ("unique-labels", "asymmetric-coordination")


def test_forbidden_parts_that_leave_no_tree_are_named():
    """Check that forbidden parts are named as the cause if they leave no tree.

    The sentence has two words, and both pairs of arcs that form a tree are forbidden.
    """
    heads, mods = np.array([0, 0, 1, 2], INDEX), np.array([1, 2, 2, 1], INDEX)
    pairs = PartTable("grandchild", np.array([[0, 2], [1, 3]], INDEX), np.full(2, -np.inf))
    inner = Problem(2, heads, mods, np.zeros(4), {"grandchild": pairs})
    problem = unlabelled(inner)
    labelled_parse = IncrementalProgram().decode_labelled(problem, Words.of(["a", "b"], ["", ""]))
    assert (labelled_parse.status, labelled_parse.labels, labelled_parse.value) == ("infeasible", None, -np.inf)
    assert labelled_parse.record.conflict == ("one-head", "parts")  # a cycle has no root


def test_a_limit_with_parts_returns_no_forbidden_tree():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        problem = build_problem(5, rng, ("sibling", "grandchild"), kind="mixed")
        for space in ("projective", "non-projective"):
            labelled_parse = IncrementalProgram(space=space, max_iterations=1, relaxation="only").decode(problem)
            assert check_parse(problem, labelled_parse, space=space) == []


def test_the_published_loop_of_cycle_constraints():
    """Check that a program is solved again with a constraint on the cycle of two words that its first solution has."""
    problem = build_problem(2, np.random.default_rng(0), ())
    table = {(0, 1): 1.0, (0, 2): 0.0, (1, 2): 5.0, (2, 1): 5.0}
    scores = np.array([[table[h, m]] for h, m in zip(problem.head.tolist(), problem.mod.tolist(), strict=True)])
    labelled = LabelledProblem(problem, np.zeros(scores.shape, np.int32), scores, ("_",))
    words = Words.of(["a", "b"], ["x", "x"])
    tree = (OneHead(), NoCycles("cycle"))
    problem_several = LabelledProblem(
        build_problem(2, np.random.default_rng(0), (), single_root=False), labelled.label, scores, ("_",)
    )
    for case in (labelled, problem_several):
        labelled_parse = IncrementalProgram(tree, start="none", relaxation="never").decode_labelled(case, words)
        assert (labelled_parse.status, labelled_parse.value, labelled_parse.heads.tolist()) == (
            "optimal",
            6.0,
            [-1, 0, 1],
        )
    at_once = IncrementalProgram().decode_labelled(labelled, words)
    assert (at_once.work["iterations"], at_once.value) == (0, 6.0)
    assert at_once.record.first == 0.0


def test_only_the_q_best_variables():
    problem, words = longer(1)
    values = []
    for q in (2, 5, 10, 20, 1000):
        fewer = best_variables(problem, q)
        remaining = (fewer.label >= 0).sum()
        assert remaining == 8 * min(q, 8 * 3)
        labelled_parse = IncrementalProgram(TREE).decode_labelled(fewer, words)
        values.append(labelled_parse.value)
    assert values == sorted(values)
    assert values[-1] == IncrementalProgram(TREE).decode_labelled(problem, words).value


def test_unknown_options_are_refused():
    for options in ({"start": "greedy"}, {"relaxation": "always"}, {"formulation": "cuts"}, {"space": "planar"}):
        with pytest.raises(UnsupportedError, match="choose from"):
            IncrementalProgram(**options)
    with pytest.raises(UnsupportedError, match="solver 'GUROBI' is not installed; choose from HIGHS"):
        StatedProgram(solver="GUROBI")


def test_an_integer_program_does_not_start_from_a_fractional_solution(tmp_path: Path) -> None:
    """HiGHS would complete the integral part of the solution by a search with a time limit of its own."""
    program = LiveProgram(np.ones(4), binary=4)
    program.add([row("odd cycle", pair, -np.inf, 1) for pair in ([0, 1], [1, 2], [0, 2])])
    assert program.solve(integral=False).values == pytest.approx([0.5, 0.5, 0.5, 1])
    for option, value in (("output_flag", True), ("log_to_console", False), ("log_file", str(tmp_path / "log"))):
        program.highs.setOptionValue(option, value)
    solution = program.solve(integral=True, seconds=60)
    assert (solution.status, solution.bound, sorted(solution.values)) == ("optimal", 2, [0, 0, 1, 1])
    log = (tmp_path / "log").read_text()
    assert "Optimal" in log
    assert "Attempting to find feasible solution" not in log
