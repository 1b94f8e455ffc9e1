"""Regions: the sets of trees of nodes. The steps of a proof reduce a region by removing edges of a chart, or arcs."""

from __future__ import annotations

import math
from collections.abc import Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, Self

import numpy as np

from treebound.checker.arborescence import Arborescences
from treebound.checker.chart import Chart, Number, build_chart, max_marginals
from treebound.checker.majorants import Majorant
from treebound.core.problem import Problem


class Region(Protocol):
    """A set of trees that the steps of a proof reduce."""

    @property
    def arcs(self) -> Set[int]:
        """Return the arcs that the trees may use."""

    @property
    def empty(self) -> bool:
        """Return whether the region is known to be empty.

        A region without trees may be recognised as empty only when a bound is computed.
        """

    def without(self, arcs: Set[int]) -> Self:
        """Return the region of the trees that use none of `arcs`."""

    def above(self, bound: Majorant | None, threshold: Number) -> Self:
        """Return the region reduced to the edges or arcs of trees whose bound exceeds `threshold`.

        With `bound` None and `threshold` -inf, only edges or arcs that are in no tree are removed.
        """


@dataclass(frozen=True)
class ProjectiveTrees:
    """The trees of a chart, as a region of projective trees."""

    chart: Chart
    size: int  #: number of arcs of the problem

    @cached_property
    def arcs(self) -> Set[int]:
        """Return the arcs that the trees may use; see `Region`."""
        return {edge.arc for edge in self.chart.edges} - {-1}

    @property
    def empty(self) -> bool:
        """Return whether the region is known to be empty; see `Region`."""
        return not self.chart.edges

    def without(self, arcs: Set[int]) -> Self:
        """Return the region of the trees that use none of `arcs`; see `Region`."""
        return replace(self, chart=self.chart.keep(lambda edge: edge.arc not in arcs)) if arcs else self

    def above(self, bound: Majorant | None, threshold: Number) -> Self:
        """Remove every edge whose best derivation does not exceed the threshold; see `Region`."""
        bound = bound or Majorant(0, [0] * self.size)
        _, marginal = max_marginals(self.chart, bound.arc, bound.adjacent)
        remaining = [e for e, m in zip(self.chart.edges, marginal, strict=True) if m + bound.constant > threshold]
        return replace(self, chart=Chart(self.chart.items, remaining))


@dataclass(frozen=True)
class NonProjectiveTrees:
    """The trees over some arcs, as a region of trees that may cross."""

    arcs: Set[int]
    space: Arborescences

    @property
    def empty(self) -> bool:
        """Return whether the region is known to be empty; see `Region`."""
        return not self.arcs

    def without(self, arcs: Set[int]) -> Self:
        """Return the region of the trees that use none of `arcs`; see `Region`."""
        return replace(self, arcs=self.arcs - arcs)

    def above(self, bound: Majorant | None, threshold: Number) -> Self:
        """Remove every arc whose best tree does not exceed the threshold; see `Region`."""
        bound = bound or Majorant(0, [0] * len(self.space.ends))
        if bound.constant == -math.inf:
            return replace(self, arcs=frozenset())
        return replace(self, arcs=self.space.reach(self.arcs, bound.arc, threshold - bound.constant))


def whole_space(problem: Problem, exact: frozenset[str], projective: bool) -> Region:
    """Return the region of all trees of a problem that use no forbidden arc.

    exact  families that score the edges of the chart, for projective trees
    """
    if projective:
        return ProjectiveTrees(build_chart(problem, exact), problem.arcs)
    ends = list(zip(problem.head.tolist(), problem.mod.tolist(), strict=True))
    possible = frozenset(np.flatnonzero(problem.arc > -np.inf).tolist())
    return NonProjectiveTrees(possible, Arborescences(problem.n, ends, problem.single_root))
