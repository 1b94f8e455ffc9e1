"""Dual decomposition with head automata: often a proof at the first node, never a search."""

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
    """The best tree of the arcs, the best modifiers of every head, and products one by one, made to agree.

    space       "projective" or "non-projective": the tree's; the automata of heads are the same
    iterations  at most so many trees are computed
    rate        length of the first step, in standard deviations of the arcs' scores; steps fall as 1 / (1 + t), t being
                how often the bound has risen
    record      keep the multipliers of the best bound in `Parse.record`, as a proof that the checker reads
    Status "optimal" where all agree, or the bound meets a tree that was met; else "gap" with the best bound. Bounds are
    exact integers where scores are.
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
        """O(edges of the first-order chart + stars that changed + products) an iteration."""
        started = time.perf_counter()
        given, least = without_infinities(problem)
        found = self._found(given)
        parse = self._parse(problem, found, least)
        record = _proof(problem, given, found, parse) if self.record else None
        return replace(parse, record=record, seconds={"decode": time.perf_counter() - started})

    def _found(self, given: Problem) -> Agreed:
        """What is agreed on, of a problem of finite scores."""
        nothing = Multipliers(np.zeros(given.arcs), np.zeros(given.arcs))
        return agree(*parted(given, self.space), nothing, deviation(given) * self.rate, self.iterations)

    def _parse(self, problem: Problem, found: Agreed, least: float) -> Parse:
        index, work = index_of(problem).arcs, {"dp_calls": int(found.iterations), "iterations": int(found.iterations)}
        value, bound = float(found.value), float(found.bound)
        if bound <= NEG_TEST or bound < least:  # so has every tree something forbidden
            return Parse(heads_of(index, found.arcs[:0]), -np.inf, -np.inf, "infeasible", work)
        if value < least:
            parse = some_tree(problem, self.space)
            if parse.status != "heuristic":
                return parse
            return replace(parse, status="gap", bound=max(bound, parse.value), work=work)
        heads = heads_of(index, found.arcs)
        closed = bound < value + 1.0 if problem.unit else bound <= value + 1e-9 * max(1.0, abs(value))
        return Parse(heads, value, value if closed else bound, "optimal" if closed else "gap", work)


def parted(problem: Problem, space: Space, scale: float = 1.0) -> tuple[Hypergraph, Parted]:
    """The tree's chart and the pieces of a canonical problem of finite scores; real ones, under any scale but 1."""
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
    """The families that are not of one head, in the order of their products."""
    return [family for family in problem.parts if family not in AT_HEADS]


def _proof(problem: Problem, given: Problem, found: Agreed, parse: Parse) -> SearchRecord:
    """One node, closed by one bound: the multipliers as the checker of certificates reads them."""
    kind = np.int64 if problem.unit else np.float64
    shares, at = {}, 0
    for family in _products(problem):
        table = problem.parts[family]
        used = (given.parts[family].score != 0.0)[:, None] & (table.arcs >= 0)
        size = int(np.count_nonzero(used))
        whole = np.zeros(table.arcs.shape)
        whole[used] = found.share[at : at + size]
        if family == "head-bigram":  # one share for both arcs; rounding may leave it just outside its range
            most = np.where(used[:, 0], np.abs(given.parts[family].score), 0.0)
            whole = np.clip(whole[:, 0], 0.0, most)
        shares[family] = whole.astype(kind)
        at += size
    u, w = (np.rint(x).astype(kind) if problem.unit else x for x in (found.child, found.parent))
    unit = problem.unit or 1.0
    node = {"id": 0, "parent": -1, "arc": None, "value": 0, "ub": parse.bound / unit, "status": "closed"}
    bounds = [{"call": parse.work["dp_calls"], "node": 0, "ub": parse.bound / unit, "lb": parse.value / unit}]
    return SearchRecord(bounds, [node], np.array([-1], np.int32), [[Step(shares, child=u, parent=w)]], frozenset())
