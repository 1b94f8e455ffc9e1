"""The index of a problem's arcs and parts. It is built on first use and stored with the problem."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.core.problem import Problem
from treebound.kernels.arcs.numbering import ArcIndex, index_arcs
from treebound.kernels.arcs.parts import PartIndex, index_parts


class Index(NamedTuple):
    """The index of a problem: its arcs by head and by modifier, and its parts by arc and by head."""

    arcs: ArcIndex
    parts: PartIndex


class ArcsAlone(NamedTuple):
    """The index of a problem whose parts have not been indexed yet.

    An index of parts takes five times the memory of an index of arcs.
    """

    arcs: ArcIndex


def arcs_of(problem: Problem) -> ArcIndex:
    """Return the index of the arcs of a problem in canonical form. O(n^2) on first use."""
    if problem.index is None:
        problem.with_facts(index=ArcsAlone(arc_index(problem)))
    return problem.index.arcs


def index_of(problem: Problem) -> Index:
    """Return the index of a problem in canonical form. O(n^2 + arcs * modifiers) on first use."""
    if not isinstance(problem.index, Index):
        arcs = arcs_of(problem)
        parts = index_parts(arcs, problem.single_root, problem.canonical == "projective")
        problem.with_facts(index=Index(arcs, parts))
    return problem.index


def arc_index(problem: Problem) -> ArcIndex:
    """Build the index of a problem's arcs, which must be in canonical order. O(n^2)."""
    allowed = np.zeros((problem.n + 1, problem.n + 1), np.bool_)
    allowed[problem.head, problem.mod] = True
    return index_arcs(problem.n, allowed)
