"""Left to right with a beam, on given scores: what transition parsers do, without their features."""

from __future__ import annotations

import time

import numpy as np

from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.spaces import Space
from treebound.decoders.approximate.beam_kernel import beam_search
from treebound.decoders.approximate.charted import positive, scored, some_tree
from treebound.decoders.approximate.sampling.buffers import buffers_of
from treebound.decoders.base import CheckedDecoder, without_infinities
from treebound.decoders.exact.branch_and_bound.fallback import first_order_tree
from treebound.factors import FAMILIES
from treebound.kernels.arcs.problem_index import index_of


class BeamSearch(CheckedDecoder):
    """The best projective tree that a beam of arc-hybrid sequences holds on to.

    width  sequences that are kept after every transition
    Where none ends in a tree, as few candidate heads can make it, the best tree of the arcs (work: "dead_ends").
    Status "heuristic"; "infeasible" where there is no tree, "limit" where none was met that is allowed.
    """

    name = "beam"
    space: Space = "projective"
    exact = False
    supports = frozenset(FAMILIES)
    cite = "Zhang & Nivre (2011); Kuhlmann, Gomez-Rodriguez & Satta (2011), arc-hybrid"

    def __init__(self, width: int = 64):
        positive("width", width)
        self.width = int(width)

    def _decode(self, problem: Problem) -> Parse:
        """O(n width) arcs are scored, each in what its parts take."""
        started = time.perf_counter()
        given, least = without_infinities(problem)
        buffers = buffers_of(given, np.zeros(problem.arcs))
        ahead = np.full(problem.n + 1, -np.inf)
        np.maximum.at(ahead, problem.mod, given.arc)
        if np.any(ahead[1:] == -np.inf):
            return some_tree(problem, self.space)
        value, arcs = beam_search(*buffers, ahead, self.width)
        work = {"dead_ends": int(value < least)}
        if value < least:
            work["dp_calls"] = 1
            arcs = first_order_tree(index_of(given).arcs, problem.n, problem.single_root, np.append(given.arc, 0.0))
        found = arcs if len(arcs) else None
        return scored(problem, self.space, found, work, time.perf_counter() - started)
