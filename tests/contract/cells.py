"""The contract table: every registered decoder, with every set of its options and every family that it scores.

A decoder or family is in the table as soon as it is registered. `OPTIONS` lists sets of options besides the default.
`BUDGET` lists decoders that are too slow for problems of all shapes in every run.
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
#: options for head stars: no head stars; head stars after all steps at the root, which small problems rarely need; head
#: stars nearly at once, and then branching
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
#: number of problem shapes in one round of a cell, if not all: these decoders build the columns of a general solver, or
#: allocate a chart and buffers in Python for every problem
BUDGET = {"ilp": 4, "stated-ilp": 4, "incremental-ilp": 3, "gibbs": 6, "random-walk": 6, "linear-relaxation": 4}
BUDGET |= {"dual-decomposition": 6, "ad3": 3, "belief-propagation": 6}
#: problem shapes of every cell: (kind of scores, single root, family without other families)
SHAPES = tuple(product((*KINDS, "forbidden"), (True, False), (True, False)))
K = 3  #: number of trees in a k-best list


@cache
def _build_once(build: Any, options: tuple[tuple[str, Any], ...]) -> Decoder:
    return build(**dict(options))


@dataclass(frozen=True)
class Cell:
    """A cell of the table: a decoder with options, and a family that it scores."""

    decoder: Decoder
    options: tuple[tuple[str, Any], ...]
    family: str

    def __str__(self) -> str:
        return "-".join([self.decoder.name, *(f"{value}" for _, value in self.options), self.family])


def makers(decoders: Registry[Any] = DECODERS) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of every registered decoder with every set of its options."""
    for name in decoders:
        yield from ((name, options) for options in OPTIONS.get(name, [{}]))


def make(name: str, options: dict[str, Any], decoders: Registry[Any] = DECODERS) -> Decoder:
    """Return the decoder with these options, built at the first call and reused afterwards."""
    return _build_once(decoders[name], tuple(options.items()))


def families(decoder: Decoder, registered: Iterable[str] = FAMILIES) -> list[str]:
    """Return the families besides arcs that the decoder scores, in the order of the registry."""
    return [f for f in registered if f in decoder.supports and f != "arc"]


def cells(decoders: Registry[Any] = DECODERS, registered: Iterable[str] = FAMILIES) -> Iterator[Cell]:
    """Yield all cells of the table."""
    for name, options in makers(decoders):
        decoder = make(name, options, decoders)
        for family in ("arc", *families(decoder, registered)):
            yield Cell(decoder, tuple(options.items()), family)


def without(problem: Problem, family: str) -> Problem:
    """Return the problem without the scores of a family."""
    return replace(problem, parts={f: t for f, t in problem.parts.items() if f != family})


def changes_best_score(family: str, problem: Problem, space: str) -> bool:
    """Return whether the best score changes if the family is left out."""
    return best(problem, space)[0] != best(without(problem, family), space)[0]


def problems(cell: Cell, rounds: int = 0) -> Iterator[tuple[str, Problem]]:
    """Yield (description, problem) for problems that the decoder supports and whose trees can be enumerated.

    Each problem has parts of the cell's family. In the first problem the family decides which tree is best; in every
    second problem it has a larger weight than the other families.

    `rounds` is the number of rounds. A round has one problem of each shape, or for a decoder in `BUDGET` twice as many
    problems as `BUDGET` says. 0 stands for the quick tests: a single round, in which a decoder in `BUDGET` has only
    as many problems as `BUDGET` says.
    """
    decoder = cell.decoder
    rng = np.random.default_rng([zlib.crc32(str(cell).encode()), rounds])
    budget = BUDGET.get(decoder.name)
    if budget and rounds:
        budget *= 2
    shapes = [SHAPES[i] for _ in range(rounds or 1) for i in rng.permutation(len(SHAPES))[:budget]]
    largest = 6 if decoder.space == "projective" and decoder.name not in BUDGET else 5
    for i, (kind, single_root, alone) in enumerate(shapes):
        other_families = [f for f in families(decoder) if f != cell.family and not alone and rng.random() < 0.4]
        chosen = other_families if cell.family == "arc" else [cell.family, *other_families]
        forbidden = 0.15 if kind == "forbidden" else 0.0
        while True:
            problem = random_problem(
                rng, chosen, min_n=2, max_n=largest, space=decoder.space, single_root=single_root,
                kind=str(rng.choice(KINDS)) if forbidden else kind, forbidden=forbidden,
            )  # fmt: skip
            if cell.family == "arc":
                break
            score = problem.parts[cell.family].score
            if i % 2 == 0:
                problem = rescored(problem, **{cell.family: 8.0 * score})
            if changes_best_score(cell.family, problem, decoder.space) if i == 0 else len(score):
                break
        yield f"{cell}, round of {rounds}, problem {i}: {kind}, {single_root=}, {alone=}", problem


def slack(problem: Problem, value: float) -> float:
    """Return the tolerance for a value of the problem."""
    return 0.0 if problem.unit else 1e-9 * max(1.0, abs(value))


def check_against_enumeration(decoder: Decoder, problem: Problem, note: str) -> None:
    """Check everything that a parse claims against the enumeration of all trees."""
    value, winners = best(problem, decoder.space)
    parse = decoder.decode(problem)
    assert check_parse(problem, parse, space=decoder.space) == [], note
    if value == -np.inf:
        assert parse.value == -np.inf, note
        # an inexact decoder may find no tree without knowing that no tree exists
        if decoder.exact or parse.status != "limit":
            assert parse.status == "infeasible", note
            assert parse.bound == -np.inf, note
        return
    assert parse.status != "infeasible", note
    # A decoder with a limit may report -inf if it reaches the limit; these decoders have no limit.
    assert parse.value <= value + slack(problem, value), note
    assert parse.bound >= value - slack(problem, value), note
    if decoder.exact:
        assert parse.status == "optimal", note
        assert abs(parse.value - value) <= slack(problem, value), note
        assert any((parse.heads == heads).all() for heads in winners), note
