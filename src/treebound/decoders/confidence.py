"""Confidence of a parse: exact margins, marginal probabilities of its arcs, and the k best trees.

    parser.parse(treebank, confidence=Assess(margins=True, marginals=True, k=10))

Margins and k-best trees use the complete score with its non-local factors. Marginals use the log-linear model of the
scores that one dynamic program can sum over (`arc_marginals`).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import numpy as np

from treebound.core.errors import InputError
from treebound.core.limits import check_memory
from treebound.core.parse import Confidence, Parse
from treebound.core.problem import Problem
from treebound.core.protocols import Decoder
from treebound.core.spaces import Space
from treebound.decoders.canonical import canonical
from treebound.decoders.exact.branch_and_bound.decoder import BACKBONES, MAX_EDGES, smallest_backbone
from treebound.decoders.kbest import kbest
from treebound.decoders.kbest import margins as exact_margins
from treebound.kernels.arcs.problem_index import index_of
from treebound.kernels.chart.arc_chart import arc_edges
from treebound.kernels.chart.arc_marginals import projective_arc_marginals
from treebound.kernels.chart.backbones import chart_scores
from treebound.kernels.chart.marginals import COARSE, log_inside_outside, matrix_tree_marginals

#: bytes per pair of words in the tables of inside-outside, or in the matrices of the matrix-tree theorem
MARGINAL = 100


@dataclass(frozen=True)
class Assess:
    """Choice of the confidence measures that are computed for a parse.

    margins    whether to compute the margin of every arc of the tree; solves n decoding problems
    marginals  whether to compute the marginal probability of every arc of the tree
    k          number of best trees to find, 0 for none; solves at most 1 + (k - 1) n decoding problems
    scale      number that multiplies the scores before probabilities are computed: a tree has a probability
               proportional to exp(scale * score). Values below 1 make the distribution flatter. Scores of a
               large-margin learner have no natural scale: choose `scale` on held-out data
    """

    margins: bool = False
    marginals: bool = False
    k: int = 0
    scale: float = 1.0

    def __call__(self, decoder: Decoder, problem: Problem, parse: Parse) -> Parse:
        """Return `parse`, which `decoder` found for `problem`, with the chosen confidence measures added.

        If the parse is not proved to be optimal, its margins are nan and its list of best trees holds no other tree.
        """
        decoder = copy.copy(decoder)
        if getattr(decoder, "record", False):
            decoder.record = False  # type: ignore[attr-defined]
        trees: tuple[Parse, ...] = (parse,)
        complete = False
        if self.k and parse.certified:
            best = kbest(decoder, problem, self.k)
            trees, complete = tuple(best.parses), best.complete
        confidence = Confidence(trees=trees if self.k else (), complete=complete)
        if self.margins:
            confidence = replace(confidence, margins=exact_margins(decoder, problem, parse, trees))
        if self.marginals:
            of_tree = np.full(problem.n + 1, np.nan)
            chosen = parse.heads[problem.mod] == problem.head
            of_tree[problem.mod[chosen]] = arc_marginals(problem, decoder.space, self.scale)[chosen]
            confidence = replace(confidence, marginals=of_tree)
        return replace(parse, confidence=confidence)


def arc_marginals(problem: Problem, space: Space = "projective", scale: float = 1.0) -> np.ndarray:
    """Return float64[A]: the marginal probability of every arc, nan if it is unknown.

    The probability of a tree is proportional to exp(scale * score).

    In projective problems, inside-outside sums the scores of all families that the smallest backbone scores exactly.
    Other families are ignored. In non-projective problems, the matrix-tree theorem sums the scores of arcs. Scores are
    in units of the model: the problem's scores divided by its unit. O(edges of the hypergraph), or O(n^3) in
    non-projective problems. The result is nan if there is no tree, or if the hypergraph with non-local families is too
    large. Raises TooLargeError above the limit of memory. Oracle: tests enumerate all trees.

    Examples
    --------
    Two trees with scores 7 and 3, whose log-odds are 4.

    >>> import treebound
    >>> problem = treebound.problem([[0, 1, 3], [0, 0, 2], [0, 4, 0]])
    >>> probability = arc_marginals(problem)
    >>> [(int(h), int(m), round(float(p), 3)) for h, m, p in zip(problem.head, problem.mod, probability)]
    [(0, 1, 0.018), (0, 2, 0.982), (1, 2, 0.018), (2, 1, 0.982)]
    """
    if not 0.0 <= scale < np.inf:
        raise InputError(f"scale = {scale}", hint="give a finite number, at least 0")
    n, scale = problem.n, scale / (problem.unit or 1.0)
    size = MARGINAL * (n + 1) ** 2
    if space == "non-projective":
        check_memory(f"the marginals of {n:,} words", size, "raise the limit of memory, or leave marginals out")
        score = _centred(_scaled(problem.arc, scale), problem.mod)
        log_z, marginal = matrix_tree_marginals(n, problem.head, problem.mod, score, problem.single_root)
        return marginal if log_z > -np.inf else np.full(problem.arcs, np.nan)
    if not problem.parts and arc_edges(n, problem.head, problem.mod) > MAX_EDGES:
        check_memory(f"the marginals of {n:,} words", size, "raise the limit of memory, or leave marginals out")
        matrix, probability = np.full((n + 1, n + 1), -np.inf), np.empty((n + 1, n + 1))
        matrix[problem.head, problem.mod] = _centred(_scaled(problem.arc, scale), problem.mod)
        log_z = projective_arc_marginals(matrix, problem.single_root, probability)
        return probability[problem.head, problem.mod] if log_z > -np.inf else np.full(problem.arcs, np.nan)
    form = canonical(problem, space)
    problem, (index, parts) = form.problem, index_of(form.problem)
    backbone = BACKBONES[smallest_backbone(problem.families)]
    exact_scores = {f: _scaled(problem.parts[f].score, scale) for f in backbone.families & problem.parts.keys()}
    graph = backbone.graph(index, parts, chart_scores(exact_scores), MAX_EDGES)
    items = len(graph.first)
    marginal = np.empty(problem.arcs + 1)
    score = np.append(_centred(_scaled(problem.arc, scale), problem.mod), 0.0)
    log_z = log_inside_outside(graph, score, np.empty(items), np.empty(items), marginal)
    if log_z == -np.inf:
        return np.full(problem.arcs, np.nan)
    probabilities = np.empty(problem.arcs)
    probabilities[slice(None) if form.order is None else form.order] = marginal[:-1]
    return probabilities


def _scaled(score: np.ndarray, scale: float) -> np.ndarray:
    """Return the scores times the scale; forbidden arcs stay at -inf, even under a scale of 0."""
    allowed = score > -np.inf
    with np.errstate(over="ignore"):
        product = np.where(allowed, scale * np.where(allowed, score, 0.0), -np.inf)
    if not np.abs(product[allowed]).sum() < np.inf:
        raise InputError(f"scale = {scale:.3g}", hint="give a smaller scale: a score times this scale is infinite")
    return product


def _centred(score: np.ndarray, mod: np.ndarray) -> np.ndarray:
    """Return the scores of arcs minus the highest score of an arc into the same word.

    The probabilities stay the same, but the numbers are smaller.
    """
    if np.abs(score[score > -np.inf]).max(initial=0.0) < COARSE:
        return score
    highest = np.full(mod.max(initial=0) + 1, -np.inf)
    np.maximum.at(highest, mod, score)
    return score - np.where(np.isneginf(highest), 0.0, highest)[mod]
