"""Decode by loopy belief propagation with a global factor that only trees satisfy (Smith & Eisner 2008)."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from treebound.core.errors import InputError
from treebound.core.parse import Parse
from treebound.core.problem import PRODUCTS, Problem
from treebound.core.spaces import Space
from treebound.decoders.approximate.belief_kernel import send
from treebound.decoders.approximate.charted import (
    Chart,
    chart_of,
    deviation,
    exact_families,
    positive,
    scored,
    some_tree,
    space_of,
)
from treebound.decoders.base import CheckedDecoder, without_infinities
from treebound.decoders.exact.branch_and_bound.decoder import BACKBONES
from treebound.kernels.bounded import make_products
from treebound.kernels.chart.best_tree import best_tree, keep_arcs, oracle_scratch, tree_variables
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST, NO_GRAPH
from treebound.kernels.chart.marginals import log_inside_outside, matrix_tree_marginals
from treebound.kernels.tree_moves import joined

#: messages have converged once none changes by this much
SETTLED = 1e-6


class Beliefs(NamedTuple):
    """The result of belief propagation.

    chart    the tree factor
    belief   float64[V], probabilities of the variables; 0 for forbidden variables
    rounds   number of rounds of messages
    settled  whether the messages converged
    """

    chart: Chart
    belief: np.ndarray
    rounds: int
    settled: bool


class BeliefPropagation(CheckedDecoder):
    """Decoder that returns the tree with the largest sum of approximate arc probabilities, under exp(scale * score).

    Families that the tree factor does not score are products of arcs, and each product is a factor. Families that count
    arcs, or that depend on the absence of arcs, are refused unless the tree factor scores them. The status is
    "heuristic": messages may not converge, and the tree with the most likely arcs may not have the highest score.

    Parameters
    ----------
    space : "projective" or "non-projective"
        Set of trees. For "projective", the tree factor is the smallest chart for the problem's families, which it
        scores exactly. For "non-projective", the tree factor is the matrix-tree theorem over arcs.
    iterations : int
        Maximum number of rounds of messages. All messages of a round are sent at once, and rounds end once the messages
        have converged.
    scale : float
        Number that multiplies the scores, after their division by the standard deviation of the arcs' scores.
    damping : float
        Weight of the old message in each new message, from 0 to below 1.
    """

    name = "belief-propagation"
    exact = False
    cite = "Smith & Eisner (2008), sections 3-5"

    def __init__(self, space: Space = "projective", iterations: int = 20, scale: float = 2.0, damping: float = 0.3):
        positive("iterations", iterations)
        positive("scale", scale)
        if not 0.0 <= damping < 1.0:
            raise InputError(f"damping = {damping!r}", hint="give a number from 0 to below 1")
        self.space, self.iterations, self.scale, self.damping = space_of(space), int(iterations), scale, damping
        charted = "grandparent-sibling" if space == "projective" else "arborescence"
        self.supports = BACKBONES[charted].families | PRODUCTS

    def _decode(self, problem: Problem) -> Parse:
        """Decode by belief propagation. O(edges of the chart, or n^3, + products) a round."""
        started = time.perf_counter()
        finite, _ = without_infinities(problem, exact_families(problem, self.space))
        beliefs = self._beliefs(finite, self.scale / deviation(finite))
        if beliefs is None:
            return some_tree(problem, self.space)
        arcs = _likeliest(beliefs, problem)
        work = {"dp_calls": beliefs.rounds + 1, "iterations": beliefs.rounds, "settled": int(beliefs.settled)}
        return scored(problem, self.space, arcs, work, time.perf_counter() - started)

    def marginals(self, problem: Problem, scale: float) -> np.ndarray:
        """Return float64[A], approximate probabilities of the arcs of a canonical problem under exp(scale * score).

        The probabilities are exact if no product has two undecided arcs. All are nan if there is no tree.
        """
        finite, _ = without_infinities(problem, exact_families(problem, self.space))
        beliefs = self._beliefs(finite, scale)
        return np.full(problem.arcs, np.nan) if beliefs is None else beliefs.belief[: problem.arcs]

    def _beliefs(self, problem: Problem, scale: float) -> Beliefs | None:
        """Return the beliefs of a problem with finite scores, or None if there is no tree."""
        chart = chart_of(problem, self.space, scale)
        uncharted = [f for f in problem.parts if f not in chart.families]
        products = make_products(*joined(problem.parts, uncharted), 0.0, 0)
        phi, message = products.phi * scale, np.zeros(len(products.var))
        total = np.zeros(len(chart.weight))
        settled, rounds = not len(phi), 0
        belief = _of_trees(chart, chart.weight, problem)
        while belief is not None and not settled and rounds < self.iterations:
            rounds += 1
            settled = send(products, phi, belief, message, self.damping, total) < SETTLED
            updated = _of_trees(chart, chart.weight + total, problem)
            if updated is None:  # the odds are too extreme for float64, so the last belief is returned
                break
            belief = updated
        return None if belief is None else Beliefs(chart, belief, rounds, bool(settled))


def _of_trees(chart: Chart, weight: np.ndarray, problem: Problem) -> np.ndarray | None:
    """Return float64[V], probabilities of the variables under the log weights `weight`; None if no tree exists."""
    graph, allowed = chart.graph, chart.weight > NEG_TEST
    log = np.where(allowed, weight, -np.inf)
    if graph is not NO_GRAPH:
        inner, outer, out = np.empty(len(graph.first)), np.empty(len(graph.first)), np.empty(len(log))
        return out if log_inside_outside(graph, log, inner, outer, out) > -np.inf else None
    best_into = np.full(problem.n + 1, -np.inf)
    np.maximum.at(best_into, problem.mod, log[:-1])
    if np.any(best_into[1:] == -np.inf):
        return None
    total, marginals = matrix_tree_marginals(
        problem.n, problem.head, problem.mod, log[:-1] - best_into[problem.mod], problem.single_root
    )
    return np.append(np.clip(np.nan_to_num(marginals), 0.0, 1.0), 0.0) if total > -np.inf else None


def _likeliest(beliefs: Beliefs, problem: Problem) -> np.ndarray:
    """Return int32[n], the arcs of the tree of the chart with the largest sum of probabilities."""
    chart, n = beliefs.chart, problem.n
    graph = chart.graph._replace(weight=np.zeros(len(chart.graph.weight)))
    weight = np.where(chart.weight > NEG_TEST, beliefs.belief, NEG)
    weight[-1] = 0.0
    scratch = oracle_scratch(True, graph, n, problem.arcs)
    chosen, arcs = np.empty(2 * n + 1, np.int32), np.empty(n, np.int32)
    best_tree(graph, chart.arcs, weight, problem.single_root, chosen, scratch)
    keep_arcs(chosen, tree_variables(graph, chart.arcs, chosen, scratch)[1], problem.arcs, arcs)
    return arcs
