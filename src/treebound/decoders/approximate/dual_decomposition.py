"""Decode by dual decomposition with head automata, which often proves optimality without any search."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from treebound.core.certificate import Step
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.spaces import Space
from treebound.decoders.approximate.charted import deviation, positive, scaled, some_tree, space_of
from treebound.decoders.approximate.dual_kernel import Agreed, Parted, agree
from treebound.decoders.base import CheckedDecoder, without_infinities
from treebound.decoders.exact.branch_and_bound.record import SearchRecord
from treebound.factors import FAMILIES
from treebound.kernels.arcs.numbering import heads_of
from treebound.kernels.arcs.problem_index import index_of
from treebound.kernels.bounded import make_products
from treebound.kernels.chart.arc_chart import arc_graph
from treebound.kernels.chart.hypergraph import NEG_TEST, NO_GRAPH, Hypergraph
from treebound.kernels.head_stars.tables import Multipliers
from treebound.kernels.tree_moves import AT_HEADS, joined, stars_of


class DualDecomposition(CheckedDecoder):
    """Decoder that makes three kinds of subproblems agree: the tree, the modifiers of each head, and products.

    A product is a single part that is not within one head star.

    The status is "optimal" if all subproblems agree, or if the bound equals the score of a tree that was met. Otherwise
    it is "gap", with the best bound. It is "infeasible" if there is no tree. Bounds are exact integers
    if scores are integers.

    Parameters
    ----------
    space : "projective" or "non-projective"
        Set of trees of the tree subproblem; the head automata are the same for both.
    iterations : int
        Maximum number of iterations; each computes one tree.
    rate : float
        Length of the first step, in standard deviations of the arcs' scores. Steps fall as 1 / (1 + t), where t counts
        how often the bound has risen.
    record : bool
        Whether to store the multipliers of the best bound in `Parse.record`, as a proof that the checker can read.
    """

    name = "dual-decomposition"
    exact = False
    supports = frozenset(FAMILIES)
    cite = "Koo, Rush, Collins, Jaakkola & Sontag (2010), section 4"

    def __init__(self, space: Space = "projective", iterations: int = 300, rate: float = 1.0, record: bool = False):
        positive("iterations", iterations)
        positive("rate", rate)
        self.space, self.iterations, self.rate, self.record = space_of(space), int(iterations), rate, record

    def _decode(self, problem: Problem) -> Parse:
        """Decode a problem. O(edges of the first-order chart + stars that changed + products) an iteration."""
        started = time.perf_counter()
        finite, least = without_infinities(problem)
        agreed = self._agreed(finite)
        parse = self._parse(problem, agreed, least)
        record = _proof(problem, finite, agreed, parse) if self.record else None
        return replace(parse, record=record, seconds={"decode": time.perf_counter() - started})

    def _agreed(self, problem: Problem) -> Agreed:
        """Return the result of the subgradient steps for a problem with finite scores."""
        zero = Multipliers(np.zeros(problem.arcs), np.zeros(problem.arcs))
        return agree(*parted(problem, self.space), zero, deviation(problem) * self.rate, self.iterations)

    def _parse(self, problem: Problem, agreed: Agreed, least: float) -> Parse:
        """Return the parse with its status. A tree whose score is below `least` has a forbidden arc or part."""
        index, work = index_of(problem).arcs, {"dp_calls": int(agreed.iterations), "iterations": int(agreed.iterations)}
        value, bound = float(agreed.value), float(agreed.bound)
        if bound <= NEG_TEST or bound < least:  # every tree has a forbidden arc or part
            return Parse(heads_of(index, agreed.arcs[:0]), -np.inf, -np.inf, "infeasible", work)
        if value < least:
            parse = some_tree(problem, self.space)
            if parse.status != "heuristic":
                return parse
            return replace(parse, status="gap", bound=max(bound, parse.value), work=work)
        heads = heads_of(index, agreed.arcs)
        closed = bound < value + 1.0 if problem.unit else bound <= value + 1e-9 * max(1.0, abs(value))
        return Parse(heads, value, value if closed else bound, "optimal" if closed else "gap", work)


def parted(problem: Problem, space: Space, scale: float = 1.0) -> tuple[Hypergraph, Parted]:
    """Return the chart of the tree and the subproblems of a canonical problem with finite scores.

    A scale other than 1 multiplies all scores and makes them real numbers.
    """
    if scale != 1.0:
        rescaled = {f: replace(t, score=scaled(t.score, scale)) for f, t in problem.parts.items()}
        problem = problem.rescored(scaled(problem.arc, scale), rescaled)
    unit = problem.unit if scale == 1.0 else 0.0
    index, parts = index_of(problem)
    graph = arc_graph(index, problem.single_root) if space == "projective" else NO_GRAPH
    products = make_products(*joined(problem.parts, _products(problem)), unit, 0)
    tables = stars_of(index, {f: t for f, t in problem.parts.items() if f in AT_HEADS}, unit)
    return graph, Parted(index, parts, np.append(problem.arc, 0.0), products, tables, unit)


def _products(problem: Problem) -> list[str]:
    """Return the families whose parts are not within one head star, in the order of their products in `Products`."""
    return [family for family in problem.parts if family not in AT_HEADS]


def _proof(problem: Problem, finite: Problem, agreed: Agreed, parse: Parse) -> SearchRecord:
    """Return a search record with one node, which one bound closes; its multipliers have the certificate's form."""
    kind = np.int64 if problem.unit else np.float64
    shares, begin = {}, 0
    for family in _products(problem):
        table = problem.parts[family]
        used = (finite.parts[family].score != 0.0)[:, None] & (table.arcs >= 0)
        size = int(np.count_nonzero(used))
        full = np.zeros(table.arcs.shape)
        full[used] = agreed.share[begin : begin + size]
        if family == "head-bigram":  # both arcs have one share, and rounding may put it outside its range
            largest = np.where(used[:, 0], np.abs(finite.parts[family].score), 0.0)
            full = np.clip(full[:, 0], 0.0, largest)
        shares[family] = full.astype(kind)
        begin += size
    u, w = (np.rint(x).astype(kind) if problem.unit else x for x in (agreed.child, agreed.parent))
    unit = problem.unit or 1.0
    node = {"id": 0, "parent": -1, "arc": None, "value": 0, "ub": parse.bound / unit, "status": "closed"}
    bounds = [{"call": parse.work["dp_calls"], "node": 0, "ub": parse.bound / unit, "lb": parse.value / unit}]
    return SearchRecord(bounds, [node], np.array([-1], np.int32), [[Step(shares, child=u, parent=w)]], frozenset())
