"""First-order non-projective decoding: the maximum spanning arborescence (McDonald et al. 2005)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.decoders.door import CheckedDecoder, arc_index
from treebound.kernels.chart.arborescence import arborescence, arborescence_scratch
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST


class ChuLiuEdmonds(CheckedDecoder):
    """Best tree, projective or not, under arc scores."""

    name = "chu-liu-edmonds"
    space: Literal["non-projective"] = "non-projective"
    exact = True
    supports = frozenset({"arc"})
    cite = "McDonald, Pereira, Ribarov & Hajic (2005), section 2.2.1"

    def _decode(self, problem: Problem) -> Parse:
        """O(arcs) a contraction."""
        n, index = problem.n, arc_index(problem)
        arcs = np.empty(n, np.int32)
        scratch = arborescence_scratch(n, problem.arcs)
        weight = np.where(np.isneginf(problem.arc), NEG, problem.arc)
        value = arborescence(index, weight, n, problem.single_root, arcs, np.empty(0), scratch)
        heads = np.zeros(n + 1, np.int32)
        heads[0] = -1
        if value <= NEG_TEST:
            return Parse(heads, -np.inf, -np.inf, "infeasible", {"dp_calls": 1})
        heads[index.mod[arcs]] = index.head[arcs]
        return Parse(heads, value, value, "optimal", {"dp_calls": 1})
