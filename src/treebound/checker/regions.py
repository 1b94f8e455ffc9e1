"""What is left of the trees of a node, as steps of a proof remove from it: edges of a chart, or arcs."""

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
    """A set of trees."""

    @property
    def arcs(self) -> Set[int]:
        """The arcs that its trees may use."""

    @property
    def empty(self) -> bool:
        """True if nothing is left. A region without a tree may still look not empty until a bound is asked for."""

    def without(self, arcs: Set[int]) -> Self:
        """Its trees that use none of `arcs`."""

    def above(self, bound: Majorant | None, threshold: Number) -> Self:
        """What of it some tree uses whose bound (None: 0) exceeds `threshold`."""


@dataclass(frozen=True)
class ProjectiveTrees:
    """The derivations of a chart."""

    chart: Chart
    size: int  #: arcs of the problem

    @cached_property
    def arcs(self) -> Set[int]:
        """See `Region`."""
        return {edge.arc for edge in self.chart.edges} - {-1}

    @property
    def empty(self) -> bool:
        """See `Region`."""
        return not self.chart.edges

    def without(self, arcs: Set[int]) -> Self:
        """See `Region`."""
        return replace(self, chart=self.chart.keep(lambda edge: edge.arc not in arcs)) if arcs else self

    def above(self, bound: Majorant | None, threshold: Number) -> Self:
        """See `Region`. Every edge whose best derivation is bounded by the threshold goes."""
        bound = bound or Majorant(0, [0] * self.size)
        _, marginal = max_marginals(self.chart, bound.arc, bound.adjacent)
        kept = [e for e, m in zip(self.chart.edges, marginal, strict=True) if m + bound.constant > threshold]
        return replace(self, chart=Chart(self.chart.items, kept))


@dataclass(frozen=True)
class NonProjectiveTrees:
    """The trees over some arcs."""

    arcs: Set[int]
    space: Arborescences

    @property
    def empty(self) -> bool:
        """See `Region`."""
        return not self.arcs

    def without(self, arcs: Set[int]) -> Self:
        """See `Region`."""
        return replace(self, arcs=self.arcs - arcs)

    def above(self, bound: Majorant | None, threshold: Number) -> Self:
        """See `Region`. Every arc whose best tree is bounded by the threshold goes."""
        bound = bound or Majorant(0, [0] * len(self.space.ends))
        if bound.constant == -math.inf:
            return replace(self, arcs=frozenset())
        return replace(self, arcs=self.space.reach(self.arcs, bound.arc, threshold - bound.constant))


def whole_space(problem: Problem, exact: frozenset[str], projective: bool) -> Region:
    """All trees of a problem, those that use a forbidden arc left out; `exact` families scored, if projective."""
    if projective:
        return ProjectiveTrees(build_chart(problem, exact), problem.arcs)
    ends = list(zip(problem.head.tolist(), problem.mod.tolist(), strict=True))
    possible = frozenset(np.flatnonzero(problem.arc > -np.inf).tolist())
    return NonProjectiveTrees(possible, Arborescences(problem.n, ends, problem.single_root))
