"""Decode from left to right with a beam, on given scores, like a transition parser without features."""

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
    """Decoder that searches arc-hybrid transition sequences with a beam, and returns the best tree in the beam.

    With few candidate heads, it is possible that no sequence of the beam ends in a tree. The best tree under the arcs'
    scores alone is then returned, and `work["dead_ends"]` is 1. The status is "heuristic". It is "infeasible" if there
    is no tree, and "limit" if no allowed tree was met.

    Parameters
    ----------
    width : int
        Number of sequences that stay in the beam after every transition.
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
        """Decode with a beam. O(n width) arcs are scored, and the time for an arc depends on its parts."""
        started = time.perf_counter()
        finite, least = without_infinities(problem)
        buffers = buffers_of(finite, np.zeros(problem.arcs))
        ahead = np.full(problem.n + 1, -np.inf)
        np.maximum.at(ahead, problem.mod, finite.arc)
        if np.any(ahead[1:] == -np.inf):
            return some_tree(problem, self.space)
        value, arcs = beam_search(*buffers, ahead, self.width)
        work = {"dead_ends": int(value < least)}
        if value < least:
            work["dp_calls"] = 1
            arcs = first_order_tree(index_of(finite).arcs, problem.n, problem.single_root, np.append(finite.arc, 0.0))
        tree = arcs if len(arcs) else None
        return scored(problem, self.space, tree, work, time.perf_counter() - started)
