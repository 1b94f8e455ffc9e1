"""First-order non-projective decoding: the maximum spanning arborescence (McDonald et al. 2005)."""

from __future__ import annotations

import numpy as np

from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.spaces import Space
from treebound.decoders.base import CheckedDecoder, without_infinities
from treebound.kernels.arcs.numbering import heads_of
from treebound.kernels.arcs.problem_index import arcs_of
from treebound.kernels.chart.arborescence import arborescence, arborescence_scratch
from treebound.kernels.chart.hypergraph import NEG_TEST


class ChuLiuEdmonds(CheckedDecoder):
    """A decoder of the best tree, projective or not, under arc scores."""

    name = "chu-liu-edmonds"
    space: Space = "non-projective"
    exact = True
    supports = frozenset({"arc"})
    cite = "McDonald, Pereira, Ribarov & Hajic (2005), section 2.2.1"

    def _decode(self, problem: Problem) -> Parse:
        """Return the best tree of a canonical problem. O(arcs) for each contraction of a cycle."""
        n, index = problem.n, arcs_of(problem)
        arcs = np.empty(n, np.int32)
        scratch = arborescence_scratch(n, problem.arcs)
        weight = without_infinities(problem)[0].arc
        value = arborescence(index, weight, n, problem.single_root, arcs, np.empty(0), scratch)
        if value <= NEG_TEST:
            return Parse(heads_of(index, arcs[:0]), -np.inf, -np.inf, "infeasible", {"dp_calls": 1})
        return Parse(heads_of(index, arcs), value, value, "optimal", {"dp_calls": 1})
