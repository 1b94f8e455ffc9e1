"""How sure a parse is: exact margins, marginal probabilities of its arcs, and the k best trees.

    parser.parse(treebank, confidence=Assess(margins=True, marginals=True, k=10))

Margins and k-best trees are those of the whole score, with its non-local factors; marginals are those of the log-linear
model over what one dynamic program scores (`arc_marginals`).
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

#: bytes for a pair of words: tables of inside-outside, or matrices of the matrix-tree theorem
MARGINAL = 100


@dataclass(frozen=True)
class Assess:
    """What to find out about a parse.

    margins    of every arc of the tree; n decoding problems
    marginals  of every arc of the tree
    k          number of best trees, 0 for none; at most 1 + (k - 1) n decoding problems
    scale      probabilities are proportional to exp(scale * score), with the model's scores: below 1 they are flatter.
               A learner with a margin makes scores of no particular scale; what fits is best chosen on held-out data
    """

    margins: bool = False
    marginals: bool = False
    k: int = 0
    scale: float = 1.0

    def __call__(self, decoder: Decoder, problem: Problem, parse: Parse) -> Parse:
        """The parse of `problem` by `decoder`, with its confidence. What is not proved has no margins, no k best."""
        decoder = copy.copy(decoder)
        if getattr(decoder, "record", False):
            decoder.record = False  # type: ignore[attr-defined]
        trees: tuple[Parse, ...] = (parse,)
        complete = False
        if self.k and parse.certified:
            best = kbest(decoder, problem, self.k)
            trees, complete = tuple(best.parses), best.complete
        found = Confidence(trees=trees if self.k else (), complete=complete)
        if self.margins:
            found = replace(found, margins=exact_margins(decoder, problem, parse, trees))
        if self.marginals:
            of_tree = np.full(problem.n + 1, np.nan)
            chosen = parse.heads[problem.mod] == problem.head
            of_tree[problem.mod[chosen]] = arc_marginals(problem, decoder.space, self.scale)[chosen]
            found = replace(found, marginals=of_tree)
        return replace(parse, confidence=found)


def arc_marginals(problem: Problem, space: Space = "projective", scale: float = 1.0) -> np.ndarray:
    """float64[A]: probability of every arc where a tree's is proportional to exp(scale * score), nan where unknown.

    Projective: the score of all families that the smallest backbone scores exactly, by inside-outside; those that are
    bounded count nothing. Non-projective: the scores of arcs, by the matrix-tree theorem. Scores are the model's, that
    is, the problem's over its unit. O(edges of the hypergraph), O(n^3). nan: no tree, or too large a graph of more than
    scores of arcs. Raises TooLargeError above the limit of memory.
    Oracle: tests enumerate all trees.

    Examples
    --------
    Two trees, with scores 7 and 3, which are log-odds of 4 between them.

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
    asked = canonical(problem, space)
    problem, (index, parts) = asked.problem, index_of(asked.problem)
    backbone = BACKBONES[smallest_backbone(problem.families)]
    given = {f: _scaled(problem.parts[f].score, scale) for f in backbone.families & problem.parts.keys()}
    graph = backbone.graph(index, parts, chart_scores(given), MAX_EDGES)
    items = len(graph.first)
    marginal = np.empty(problem.arcs + 1)
    score = np.append(_centred(_scaled(problem.arc, scale), problem.mod), 0.0)
    log_z = log_inside_outside(graph, score, np.empty(items), np.empty(items), marginal)
    if log_z == -np.inf:
        return np.full(problem.arcs, np.nan)
    out = np.empty(problem.arcs)
    out[slice(None) if asked.order is None else asked.order] = marginal[:-1]
    return out


def _scaled(score: np.ndarray, scale: float) -> np.ndarray:
    """The scores times the scale; what is forbidden stays so, under a scale of 0 too."""
    allowed = score > -np.inf
    with np.errstate(over="ignore"):
        out = np.where(allowed, scale * np.where(allowed, score, 0.0), -np.inf)
    if not np.abs(out[allowed]).sum() < np.inf:
        raise InputError(f"scale = {scale:.3g}", hint="give a smaller one: a score times the scale is infinite")
    return out


def _centred(score: np.ndarray, mod: np.ndarray) -> np.ndarray:
    """Return the scores of arcs less the highest one into each word: the same probabilities, but smaller numbers."""
    if np.abs(score[score > -np.inf]).max(initial=0.0) < COARSE:
        return score
    top = np.full(mod.max(initial=0) + 1, -np.inf)
    np.maximum.at(top, mod, score)
    return score - np.where(np.isneginf(top), 0.0, top)[mod]
