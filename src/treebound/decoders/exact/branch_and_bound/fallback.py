"""Trees of sentences whose hypergraph would be too large: the best tree under arc scores alone."""

from __future__ import annotations

import numpy as np

from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.decoders.exact.branch_and_bound.trace import Record
from treebound.kernels.arcs.numbering import heads_of
from treebound.kernels.arcs.problem_index import arcs_of
from treebound.kernels.chart.arborescence import arborescence, arborescence_scratch
from treebound.kernels.chart.arc_chart import arc_edges
from treebound.kernels.chart.first_order import best_candidates
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.support.jit import kernel


@kernel
def first_order_tree(index, n, single_root, theta):
    """Return int32[n]: the arc into each word of the best projective tree under the arc scores theta float64[>= A].

    The array is empty if there is no tree. O(n^2 k) time for k candidate heads per word, O(n^2) space.
    """
    into = np.zeros(n, np.int32)
    return into if best_candidates(index, theta, single_root, into) > NEG_TEST else into[:0]


def large_first_order(problem: Problem, projective: bool, limit: int) -> tuple[Parse, Record] | None:
    """Return (the best tree of a problem without parts, a record with one bound, which proves that the tree is best).

    The value is NEG if there is no tree. Return None if the hypergraph of projective trees has at most `limit` edges:
    the search is then as fast, and its record is more detailed. The tree is the one that the search would return.
    O(n^2 k) time, O(n^2 + arcs) space.
    """
    n = problem.n
    small = problem.arcs * 2 * n <= limit  # fast test that makes the exact count unnecessary for most sentences
    if small or arc_edges(n, problem.head, problem.mod) <= limit:
        return None
    index, arcs = arcs_of(problem), np.zeros(n, np.int32)
    if projective:
        value = best_candidates(index, problem.arc, problem.single_root, arcs)
    else:
        scratch = arborescence_scratch(n, problem.arcs)
        value = arborescence(index, problem.arc, n, problem.single_root, arcs, np.empty(0), scratch)
    exists = value > NEG_TEST
    value = float(value) if exists else NEG
    work = {"dp_calls": 1, "nodes": 1, "root_solved": 1}
    heads = heads_of(index, arcs if exists else arcs[:0])
    parse = Parse(heads, value, value, "optimal" if exists else "infeasible", work)
    rows = np.array([[0.0, value, value]]), np.array([[-1.0, -1.0, 0.0, value, 0.0]])
    return parse, Record(*rows, np.zeros(1, np.int32), np.zeros((1, 0)))
