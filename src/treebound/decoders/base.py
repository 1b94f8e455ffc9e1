"""The base class of all decoders: it checks a problem, brings it into canonical form, and translates the parse back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Set
from dataclasses import replace

import numpy as np

from treebound.core.errors import UnsupportedError
from treebound.core.parse import Parse
from treebound.core.problem import PartTable, Problem
from treebound.core.spaces import Space
from treebound.decoders.canonical import canonical
from treebound.kernels.chart.hypergraph import NEG

#: of the largest score: what float64 may lose in the sums of a search over real scores
ROUNDING = 2.0**-50
#: real scores: `optimal` is a promise to within this part of the value (of 1.0 where the value is smaller)
TOLERANCE = 1e-9


class CheckedDecoder(ABC):
    """A decoder that sees canonical problems of families that it supports, and nothing else."""

    name: str
    space: Space
    exact: bool
    supports: frozenset[str]
    instead = "branch-and-bound"  #: what to use for other families

    def decode(self, problem: Problem) -> Parse:
        """Best tree of `problem`.

        UnsupportedError for families outside `supports`, InputError for parts that the family does not have.
        """
        return self._through(problem)

    @abstractmethod
    def _decode(self, problem: Problem) -> Parse:
        """Best tree of a canonical problem of families that are supported."""

    def _through(self, problem: Problem, **options: object) -> Parse:
        unsupported = problem.families - self.supports
        if unsupported:
            names = ", ".join(sorted(unsupported))
            hint = f"use {self.instead}" if self.instead != self.name else "leave the family out"
            raise UnsupportedError(f"{self.name} does not score {names}", hint=hint)
        if problem.canonical == self.space:  # as those of parsers are: nothing to be done, many times a second
            return within_tolerance(problem, self._decode(problem, **options))
        given = canonical(problem, self.space)
        return within_tolerance(problem, given.restored(self._decode(given.problem, **options)))


def within_tolerance(problem: Problem, parse: Parse) -> Parse:
    """The parse, not called optimal where rounding may have lost more than `TOLERANCE` allows.

    Scores of very different sizes: a tree of value 1.0 beside a part that scores -1e15, say, whose shares were added
    and subtracted. Integer scores are never rounded.
    """
    if problem.unit or parse.status != "optimal":
        return parse
    tables = problem.parts.values()
    forbidden = any(np.isneginf(table.score).any() for table in tables)  # see `without_infinities`
    largest = max(float(np.abs(s[s > -np.inf]).max(initial=0.0)) for s in (problem.arc, *(t.score for t in tables)))
    largest = 4.0 * problem.total if forbidden else largest
    if largest * ROUNDING <= TOLERANCE * max(1.0, abs(parse.value)):
        return parse
    return replace(parse, status="gap", bound=parse.value + largest * ROUNDING * 2**10)


def without_infinities(problem: Problem, exact: Set[str] = frozenset()) -> tuple[Problem, float]:
    """(the problem with finite scores, a value below which a tree has something forbidden).

    What is forbidden of the arcs and of the families in `exact` is impossible to kernels. Where a bound must stay
    finite, a forbidden part costs a penalty instead: more than any two trees can differ by.
    """
    if problem.finite:
        return problem, NEG / 2
    penalty = 4.0 * np.ceil(problem.total) + 4.0

    def stated(score: np.ndarray, forbidden: float) -> np.ndarray:
        return np.where(np.isneginf(score), forbidden, score)

    tables = {
        family: PartTable(family, table.arcs, stated(table.score, NEG if family in exact else -penalty))
        for family, table in problem.parts.items()
    }
    return problem.rescored(stated(problem.arc, NEG), tables).knowing(finite=True), -penalty / 2
