"""Base class of all decoders: it checks a problem, brings it into canonical form, and translates the parse back."""

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

#: rounding error of float64 in the sums of a search over real-valued scores, as a fraction of the largest score
ROUNDING = 2.0**-50
#: relative error that `optimal` permits for real-valued scores; an absolute error for values below 1.0
TOLERANCE = 1e-9


class CheckedDecoder(ABC):
    """A decoder that checks its input: `_decode` receives only canonical problems of supported families.

    - name: name of the decoder in messages
    - space: trees that the decoder searches, "projective" or "non-projective"
    - exact: whether the decoder proves that its tree is optimal, unless it reaches a limit
    - supports: factor families that the decoder scores
    - cite: author and year of the publication that describes the decoder, for instance "Eisner (1996)"
    - instead: decoder that an error message recommends for other families
    """

    name: str
    space: Space
    exact: bool
    supports: frozenset[str]
    cite: str
    instead = "branch-and-bound"

    def decode(self, problem: Problem) -> Parse:
        """Return the best tree of `problem`.

        Raises UnsupportedError for a family outside `supports`, and InputError for a row of a table that is not a part
        of the table's family.
        """
        return self._through(problem)

    @abstractmethod
    def _decode(self, problem: Problem) -> Parse:
        """Return the best tree of a canonical problem that has supported families only."""

    def _through(self, problem: Problem, **options: object) -> Parse:
        """Check a problem, decode its canonical form, and return the parse of the original problem.

        The options are arguments of `_decode`.
        """
        unsupported = problem.families - self.supports
        if unsupported:
            names = ", ".join(sorted(unsupported))
            hint = f"use {self.instead}" if self.instead != self.name else "leave the family out"
            raise UnsupportedError(f"{self.name} does not score {names}", hint=hint)
        if problem.canonical == self.space:  # problems of parsers are canonical: skip the conversion
            return within_tolerance(problem, self._decode(problem, **options))
        form = canonical(problem, self.space)
        return within_tolerance(problem, form.restored(self._decode(form.problem, **options)))


def within_tolerance(problem: Problem, parse: Parse) -> Parse:
    """Return the parse, with status `gap` if rounding may have made the proof wrong by more than `TOLERANCE` allows.

    Rounding errors matter if real-valued scores differ very much in size, for instance a tree of value 1.0 beside a
    part of score -1e15. Integer scores are never rounded.
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
    """Return (the problem with finite scores, a threshold). A tree that scores less has a forbidden arc or part.

    Forbidden arcs, and forbidden parts of the families in `exact`, get the score NEG, which kernels treat as
    impossible. In the other families a bound must stay finite, so that a forbidden part subtracts a penalty instead.
    The penalty is larger than the score difference of any two trees.
    """
    if problem.finite:
        return problem, NEG / 2
    penalty = 4.0 * np.ceil(problem.total) + 4.0

    def finite(score: np.ndarray, forbidden: float) -> np.ndarray:
        """Return the scores, with `forbidden` in place of -inf."""
        return np.where(np.isneginf(score), forbidden, score)

    tables = {
        family: PartTable(family, table.arcs, finite(table.score, NEG if family in exact else -penalty))
        for family, table in problem.parts.items()
    }
    return problem.rescored(finite(problem.arc, NEG), tables).with_facts(finite=True), -penalty / 2
