"""What every registered decoder owes: each is here as soon as it is registered, with its default options.

`VARIANTS` adds options worth holding to the same contract, and how many random problems each case gets.
"""

from __future__ import annotations

import copy
import dataclasses
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from oracles.score import best
from strategies import FAMILIES, KINDS, build_problem, problems, random_problem, rescored

from treebound.core.errors import TreeboundError, UnsupportedError
from treebound.core.problem import PartTable, Problem
from treebound.core.protocols import Decoder
from treebound.decoders import DECODERS
from treebound.evaluation.certificates import check_parse

BACKBONES = (None, "eisner", "carreras", "grandparent-sibling")
VARIANTS: dict[str, list[tuple[dict, int]]] = {
    "ilp": [({"space": space}, 120) for space in ("projective", "non-projective")],
    "stated-ilp": [
        ({}, 100),
        ({"space": "projective"}, 100),
        ({"formulation": "multi-commodity"}, 100),
    ],
    "incremental-ilp": [
        ({}, 120),
        ({"space": "projective"}, 80),
        ({"start": "none", "relaxation": "never"}, 40),
        ({"formulation": "single-commodity", "start": "none"}, 40),
        ({"formulation": "multi-commodity", "start": "none"}, 40),
        ({"relaxation": "only", "start": "none"}, 40),
        ({"relaxation": "only", "space": "projective"}, 40),
        ({"relaxation": "only", "start": "none", "formulation": "single-commodity"}, 40),
    ],
    "branch-and-bound": [
        ({"config": config, "backbone": backbone}, 3000) for config in ("tuned", "published") for backbone in BACKBONES
    ],
}
CASES = [(name, options, size) for name in DECODERS for options, size in VARIANTS.get(name, [({}, 2000)])]


def _id(value: object) -> str | None:
    if isinstance(value, dict):
        return ",".join(f"{v}" for v in value.values()) or "default"
    return None


every_decoder = pytest.mark.parametrize(("name", "options"), [c[:2] for c in CASES], ids=_id)


@cache
def _made(name: str, options: tuple) -> Decoder:
    return DECODERS[name](**dict(options))


def make(name: str, options: dict) -> Decoder:
    return _made(name, tuple(options.items()))


def families(decoder: Decoder) -> list[str]:
    return [f for f in FAMILIES if f in decoder.supports]


def draw(decoder: Decoder, seed: int, **fixed) -> Problem:
    """A problem that the decoder supports: n <= 7, any scores, roots, forbidden arcs and parts, or infeasible.

    Smaller where trees are many, or where every part is a column of a general solver.
    """
    rng = np.random.default_rng(seed)
    share = 0.3 if decoder.name == "incremental-ilp" else 0.7  # each part is a column that is solved for repeatedly
    some = [f for f in families(decoder) if rng.random() < share]
    max_n = (
        5
        if decoder.space == "non-projective" or decoder.name in ("ilp", "incremental-ilp")
        else 7
        if seed % 8 == 0
        else 6
    )
    return random_problem(rng, some, max_n=max_n, space=decoder.space, **fixed)


def slack(problem: Problem, value: float) -> float:
    return 0.0 if problem.unit else 1e-9 * max(1.0, abs(value))


def check_against_enumeration(decoder: Decoder, problem: Problem, note: str) -> None:
    value, winners = best(problem, decoder.space)
    parse = decoder.decode(problem)
    assert check_parse(problem, parse, space=decoder.space) == [], note
    if value == -np.inf:
        assert parse.value == -np.inf, note
        # a decoder that proves nothing of its own may find no tree and not know that there is none
        if decoder.exact or parse.status != "limit":
            assert parse.status == "infeasible", note
            assert parse.bound == -np.inf, note
        return
    assert parse.status != "infeasible", note
    # -inf may be reported by a decoder without a tree within its limits; these have none.
    assert parse.value <= value + slack(problem, value), note
    assert parse.bound >= value - slack(problem, value), note
    if decoder.exact:
        assert parse.status == "optimal", note
        assert parse.value == pytest.approx(value, abs=slack(problem, value), rel=0), note
        assert any((parse.heads == heads).all() for heads in winners), note


@pytest.mark.parametrize(("name", "options", "size"), CASES, ids=_id)
def test_random_problems_against_enumeration(name, options, size):
    decoder = make(name, options)
    infeasible = 0
    for seed in range(size):
        problem = draw(decoder, seed)
        check_against_enumeration(decoder, problem, f"random_problem of seed {seed}")
        infeasible += best(problem, decoder.space)[0] == -np.inf
    assert 0 < infeasible < size / 2  # the draw is what it should be


@every_decoder
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("integer", [True, False], ids=["integer", "real"])
def test_every_kind_of_scores(name, options, kind, integer):
    decoder = make(name, options)
    for seed in range(10):
        problem = draw(decoder, seed, kind=kind, integer=integer, feasible=True)
        check_against_enumeration(decoder, problem, f"{kind}, seed {seed}")


@every_decoder
def test_only_zeros(name, options):
    """Every tree is optimal, and a decoder must say so at once."""
    decoder = make(name, options)
    for n in range(1, 6):
        problem = build_problem(n, np.random.default_rng(n), families(decoder))
        problem = rescored(problem, 0.0, **dict.fromkeys(problem.parts, 0.0))
        check_against_enumeration(decoder, problem, f"n = {n}")


@every_decoder
def test_is_a_decoder(name, options):
    decoder = make(name, options)
    assert isinstance(decoder, Decoder)
    assert decoder.name == name
    assert decoder.space in ("projective", "non-projective")
    assert "arc" in decoder.supports
    assert any(c.isdigit() for c in decoder.cite)


@every_decoder
def test_refuses_by_name_what_it_does_not_support(name, options):
    decoder = make(name, options)
    for family in [f for f in FAMILIES if f not in decoder.supports]:
        problem = build_problem(3, np.random.default_rng(0), (family,))
        with pytest.raises(UnsupportedError, match=family):
            decoder.decode(problem)
    problem = build_problem(3, np.random.default_rng(0), ())
    unheard = PartTable("unheard-of", np.array([[0, 1]], np.int32), np.zeros(1))
    with pytest.raises(UnsupportedError, match="unheard-of"):
        decoder.decode(dataclasses.replace(problem, parts={"unheard-of": unheard}))


@every_decoder
def test_is_deterministic_and_leaves_the_problem_alone(name, options):
    decoder, other = make(name, options), DECODERS[name](**options)
    for seed in range(0, 80, 4):
        problem = draw(decoder, seed, kind="tied")
        before = copy.deepcopy(problem)
        first, again, fresh = decoder.decode(problem), decoder.decode(problem), other.decode(problem)
        for parse in (again, fresh):
            assert parse.heads.tolist() == first.heads.tolist()
            assert (parse.value, parse.bound, parse.status, parse.work) == (
                first.value,
                first.bound,
                first.status,
                first.work,
            )
        assert problem.arc.tolist() == before.arc.tolist()
        for family, table in problem.parts.items():
            assert table.score.tolist() == before.parts[family].score.tolist()


@every_decoder
def test_infeasible_problems_are_called_so(name, options):
    """No arc into a word; no root; a forbidden only arc; a forbidden only pair."""
    decoder = make(name, options)
    rng = np.random.default_rng(0)

    def status(allowed: np.ndarray, change=None) -> str:
        problem = build_problem(3, rng, families(decoder), allowed=allowed)
        if change is not None:
            problem = change(problem)
        assert best(problem, decoder.space)[0] == -np.inf
        parse = decoder.decode(problem)
        assert not parse.heads[1:].any()
        return parse.status

    full = np.ones((4, 4), bool)
    no_head, no_root, chain = full.copy(), full.copy(), np.eye(4, k=1, dtype=bool)
    no_head[:, 2] = False
    no_root[0] = False
    assert status(no_head) == "infeasible"
    assert status(no_root) == "infeasible"
    assert status(chain, lambda p: rescored(p, np.where(np.arange(p.arcs) == 1, -np.inf, p.arc))) == "infeasible"
    for family in ("grandchild", "adjacent-sibling", "outermost-grandchild"):
        if family in decoder.supports:
            assert status(chain, lambda p, f=family: rescored(p, **{f: -np.inf})) == "infeasible"
    assert status(full, lambda p: rescored(p, -np.inf)) == "infeasible"


@every_decoder
@settings(max_examples=25, deadline=None, derandomize=True)
@given(problem=problems(max_n=5, integer=True, feasible=True))
def test_a_constant_for_all_heads_of_a_word_changes_nothing_else(name, options, problem):
    """Every tree takes exactly one arc into each word, so its score moves by the sum of the constants."""
    decoder = make(name, options)
    problem = dataclasses.replace(problem, parts={f: t for f, t in problem.parts.items() if f in decoder.supports})
    constant = np.arange(problem.n + 1) * 1000.0
    moved = dataclasses.replace(problem, arc=problem.arc + constant[problem.mod])
    one, two = decoder.decode(problem), decoder.decode(moved)
    if decoder.exact:
        assert two.value == one.value + constant.sum()
        assert (one.status, two.status) == ("optimal", "optimal")


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(TreeboundError, match="branch-and-bound"):
        DECODERS["eisner-carreras"]


@pytest.mark.parametrize("backbone", BACKBONES[1:])
@pytest.mark.parametrize("config", ["tuned", "published"])
def test_limits_are_kept_and_never_called_optimal_without_proof(config, backbone):
    limited = 0
    for seed in range(300):
        whole = make("branch-and-bound", {"config": config, "backbone": backbone})
        short = make("branch-and-bound", {"config": config, "backbone": backbone, "max_dp_calls": 2})
        problem = draw(whole, seed, kind="mixed", integer=True, feasible=True)
        value, _ = best(problem)
        parse = short.decode(problem)
        assert check_parse(problem, parse) == []
        assert parse.value <= value <= parse.bound
        assert parse.status in ("optimal", "limit")
        assert parse.status == "limit" or parse.value == value
        limited += parse.status == "limit"
    assert limited > 10
