"""Find good non-projective trees quickly and without a proof, as training needs them."""

from __future__ import annotations

import time

import numpy as np

from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.spaces import Space
from treebound.decoders.approximate.climb_kernel import climb_heads
from treebound.decoders.base import CheckedDecoder, without_infinities
from treebound.decoders.exact.branch_and_bound.decoder import EMPTY, projective_tree
from treebound.factors import FAMILIES
from treebound.kernels.arcs.numbering import heads_of
from treebound.kernels.arcs.problem_index import index_of
from treebound.kernels.chart.arborescence import arborescence, arborescence_scratch
from treebound.kernels.chart.hypergraph import NEG_TEST
from treebound.kernels.tree_moves import scoring_of


class HillClimbing(CheckedDecoder):
    """Decoder that improves two starting trees by single head changes, and returns the better result.

    The starting trees are the best projective tree and the best arborescence of the arcs' scores. The status is
    "heuristic". It is "infeasible" if the arcs form no tree, and "limit" if every tree that was met is forbidden.
    """

    name = "hill-climbing"
    space: Space = "non-projective"
    exact = False
    supports = frozenset(FAMILIES)
    cite = "McDonald & Pereira (2006), section 3.2"

    def _decode(self, problem: Problem) -> Parse:
        """Improve both starting trees. O(A d^2) for each sweep over the words, plus two dynamic programs.

        d is the largest number of modifiers of a word.
        """
        started = time.perf_counter()
        finite, least = without_infinities(problem)
        n, index = problem.n, index_of(finite).arcs
        value, tree, dp_calls = projective_tree(finite)
        starts = [tree] if value > NEG_TEST else []
        work = {"dp_calls": dp_calls + 1}
        into, theta = np.empty(n, np.int32), np.append(finite.arc, 0.0)
        scratch = arborescence_scratch(n, problem.arcs)
        if arborescence(index, theta, n, problem.single_root, into, EMPTY, scratch) <= NEG_TEST:
            return Parse(heads_of(index, into[:0]), -np.inf, -np.inf, "infeasible", work)
        scoring = scoring_of(finite)
        climbed = [climb_heads(scoring, start) for start in (*starts, into)]
        value, tree = max(climbed, key=lambda pair: pair[0])
        seconds = {"decode": time.perf_counter() - started}
        if value < least:
            return Parse(heads_of(index, into[:0]), -np.inf, np.inf, "limit", work, seconds)
        return Parse(heads_of(index, tree), float(value), np.inf, "heuristic", work, seconds)
