"""The contract table: every registered decoder with every set of its options, times every family that it scores.

A decoder or a family is in the table as soon as it is registered. `OPTIONS` names sets of options other than the
default, `BUDGET` which decoders are too slow for problems of all shapes in every run.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from oracles.score import best
from strategies import KINDS, random_problem, rescored

from treebound.checker.certificates import check_parse
from treebound.core.problem import Problem
from treebound.core.protocols import Decoder
from treebound.core.registry import Registry
from treebound.decoders import DECODERS
from treebound.decoders.exact.branch_and_bound.decoder import BACKBONES
from treebound.factors import FAMILIES

SPACES = ("projective", "non-projective")
#: head stars: never; once the root has taken its steps, which small problems rarely need; nearly at once, and branch
STARS: tuple[dict[str, Any], ...] = ({"stars": 0}, {"stars": 20}, {"stars": 20, "root_steps": 1, "node_steps": 1})
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "branch-and-bound": [
        {"space": b.space, "backbone": name, **stars} for (name, b), stars in product(BACKBONES.items(), STARS)
    ]
    + [{"space": space} for space in SPACES]
    + [{"config": "published", "backbone": name} for name, b in BACKBONES.items() if b.space == "projective"],
    "ilp": [{"space": space} for space in SPACES],
    "greedy": [{"space": space} for space in SPACES],
    "gibbs": [{"space": space} for space in SPACES],
    "backbone-only": [{"space": space} for space in SPACES],
    "rerank": [{"space": space, "k": 3} for space in SPACES],
    "capped": [{"space": space, "calls": calls} for space in SPACES for calls in (1, 10)],
    "linear-relaxation": [{"space": space} for space in SPACES],
    "ad3": [{"space": space, "iterations": 30} for space in SPACES],
    "dual-decomposition": [{"space": space} for space in SPACES],
    "belief-propagation": [{"space": space} for space in SPACES],
    "beam": [{"width": 2}, {}],
    "stated-ilp": [{}, {"space": "projective"}, {"formulation": "multi-commodity"}],
    "incremental-ilp": [
        {},
        {"space": "projective"},
        {"start": "none", "relaxation": "never"},
        {"formulation": "single-commodity", "start": "none"},
        {"formulation": "multi-commodity", "start": "none"},
        {"relaxation": "only", "start": "none"},
        {"relaxation": "only", "space": "projective"},
        {"relaxation": "only", "start": "none", "formulation": "single-commodity"},
    ],
}
#: shapes of problems in a round of a cell, where that is not all: these decoders make columns for a general solver,
#: or have a chart and buffers made in Python for every problem
BUDGET = {"ilp": 4, "stated-ilp": 4, "incremental-ilp": 3, "gibbs": 6, "random-walk": 6, "linear-relaxation": 4}
BUDGET |= {"dual-decomposition": 6, "ad3": 3, "belief-propagation": 6}
#: what every cell is tried on: kinds of scores, -inf among them; one root or several; the family alone or in company
SHAPES = tuple(product((*KINDS, "forbidden"), (True, False), (True, False)))
K = 3  #: trees of a k-best list


@cache
def _made(build: Any, options: tuple[tuple[str, Any], ...]) -> Decoder:
    return build(**dict(options))


@dataclass(frozen=True)
class Cell:
    """A decoder with options, and a family that it scores."""

    decoder: Decoder
    options: tuple[tuple[str, Any], ...]
    family: str

    def __str__(self) -> str:
        return "-".join([self.decoder.name, *(f"{value}" for _, value in self.options), self.family])


def makers(decoders: Registry[Any] = DECODERS) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every registered decoder with every set of options."""
    for name in decoders:
        yield from ((name, options) for options in OPTIONS.get(name, [{}]))


def make(name: str, options: dict[str, Any], decoders: Registry[Any] = DECODERS) -> Decoder:
    """The decoder, made once."""
    return _made(decoders[name], tuple(options.items()))


def families(decoder: Decoder, registered: Iterable[str] = FAMILIES) -> list[str]:
    """The families with parts that it scores, in the order of their registry."""
    return [f for f in registered if f in decoder.supports and f != "arc"]


def cells(decoders: Registry[Any] = DECODERS, registered: Iterable[str] = FAMILIES) -> Iterator[Cell]:
    """The table."""
    for name, options in makers(decoders):
        decoder = make(name, options, decoders)
        for family in ("arc", *families(decoder, registered)):
            yield Cell(decoder, tuple(options.items()), family)


def without(problem: Problem, family: str) -> Problem:
    """The problem without the scores of a family."""
    return replace(problem, parts={f: t for f, t in problem.parts.items() if f != family})


def has_to_say(family: str, problem: Problem, space: str) -> bool:
    """Whether whoever leaves the family out is found out."""
    return best(problem, space)[0] != best(without(problem, family), space)[0]


def problems(cell: Cell, rounds: int = 0) -> Iterator[tuple[str, Problem]]:
    """(what it is, a problem that the decoder supports, as large as can be enumerated and with parts of the family).

    The family decides about the best tree of the first one, and weighs more than others in every other one.
    rounds  how often all shapes are drawn, or twice as many as `BUDGET` says; 0: once, or as it says, in every run
    """
    decoder = cell.decoder
    rng = np.random.default_rng([zlib.crc32(str(cell).encode()), rounds])
    budget = BUDGET.get(decoder.name)
    if budget and rounds:
        budget *= 2
    shapes = [SHAPES[i] for _ in range(rounds or 1) for i in rng.permutation(len(SHAPES))[:budget]]
    largest = 6 if decoder.space == "projective" and decoder.name not in BUDGET else 5
    for i, (kind, single_root, alone) in enumerate(shapes):
        company = [f for f in families(decoder) if f != cell.family and not alone and rng.random() < 0.4]
        some = company if cell.family == "arc" else [cell.family, *company]
        forbidden = 0.15 if kind == "forbidden" else 0.0
        while True:
            problem = random_problem(
                rng, some, min_n=2, max_n=largest, space=decoder.space, single_root=single_root,
                kind=str(rng.choice(KINDS)) if forbidden else kind, forbidden=forbidden,
            )  # fmt: skip
            if cell.family == "arc":
                break
            score = problem.parts[cell.family].score
            if i % 2 == 0:
                problem = rescored(problem, **{cell.family: 8.0 * score})
            if has_to_say(cell.family, problem, decoder.space) if i == 0 else len(score):
                break
        yield f"{cell}, round of {rounds}, problem {i}: {kind}, {single_root=}, {alone=}", problem


def slack(problem: Problem, value: float) -> float:
    """How far a value may be from the true one."""
    return 0.0 if problem.unit else 1e-9 * max(1.0, abs(value))


def check_against_enumeration(decoder: Decoder, problem: Problem, note: str) -> None:
    """All that a parse claims, against all trees."""
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
        assert abs(parse.value - value) <= slack(problem, value), note
        assert any((parse.heads == heads).all() for heads in winners), note
