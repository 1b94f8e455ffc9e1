"""A scored sentence: the data on which moves and searches work."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.core.problem import Problem
from treebound.decoders.approximate.sampling import chains
from treebound.decoders.approximate.sampling.buffers import ARC_INTO, PROJECTIVE, S_ARC, Buffers, buffers_of
from treebound.decoders.approximate.sampling.decoder import deviation, shares
from treebound.decoders.approximate.sampling.forest import lay
from treebound.decoders.approximate.sampling.starts import Starts, starts_of
from treebound.features.labelling import Labelling
from treebound.features.long_sentences import limit_parts
from treebound.features.scorer import Scorer, Scores
from treebound.kernels.arcs.numbering import arcs_of_tree
from treebound.kernels.arcs.problem_index import index_of
from treebound.kernels.chart.hypergraph import Hypergraph
from treebound.learning.pruner import Pruner
from treebound.systems.sampling.globals.catalogue import score_all
from treebound.systems.sampling.globals.view import View, view_of
from treebound.treebanks.projectivise import in_space

SCALE = 0.2  #: trees are drawn from exp(SCALE * score of arcs / their standard deviation)
RUNS, PATIENCE = 12, 4  #: restarts and patience of the greedy search by local factors
Labelled = tuple[np.ndarray, np.ndarray]  #: the heads of a tree, or the arcs into its words, and the labels


class Scoring(NamedTuple):
    """The weights and settings of a sampling model that are needed to score sentences.

    weights, reals  [2 ** bits] the weights for local factors, and the same weights as float32 for global features;
    codes           int64[F] numbers of the global features;
    single_root, projective  restrictions of the trees;
    unit            number of integer steps in a score of 1.0; 0.0 for real scores;
    labelling       chooses labels together with arcs; its weights follow the other weights in `weights`. None means
                    that trees have no labels.
    """

    scorer: Scorer
    weights: np.ndarray
    reals: np.ndarray
    codes: np.ndarray
    single_root: bool
    projective: bool
    unit: float = 0.0
    labelling: Labelling | None = None


class Sentence(NamedTuple):
    """A scored sentence, its decoding problem, and the data of moves and global features.

    buffers        the current tree and the working memory of moves
    view           the data of global features
    graph, starts  the data for drawing random trees
    labels         int32[A] the label of each arc, or None
    """

    scores: Scores
    problem: Problem
    buffers: Buffers
    view: View
    graph: Hypergraph
    starts: Starts
    labels: np.ndarray | None

    @property
    def arcs(self) -> np.ndarray:
        """The arcs into the words, int32[n], of the tree in the buffers."""
        ints, n = self.buffers.ints, self.problem.n
        return ints[ints[ARC_INTO] + 1 : ints[ARC_INTO] + n + 1].astype(np.int32)

    def score(self, heads: np.ndarray) -> float:
        """Return the score of a tree int32[n + 1] and put the tree into the buffers.

        The score is -inf for a tree that no search reaches (see `Parser.scores_of_trees`).
        """
        arcs = arcs_of_tree(index_of(self.problem).arcs, heads)
        if np.any(arcs < 0) or not in_space(heads, bool(self.buffers.ints[PROJECTIVE]), self.problem.single_root):
            return -np.inf
        return self.lay(arcs)

    def lay(self, arcs: np.ndarray) -> float:
        """Replace the tree in the buffers by the tree with arcs int32[n], and return its score."""
        return float(lay(*self.buffers, arcs) + score_all(self.buffers.ints, self.view))

    def ask(self, gold: np.ndarray, cost: float) -> None:
        """Add `cost` to the score of every arc except the arcs `gold` (int32[n]), to train with a margin.

        The scores in the buffers change, but not the scores in `scores` and `problem`.
        """
        first = self.buffers.ints[S_ARC]
        arc = self.buffers.reals[first : first + self.problem.arcs]
        arc += cost
        arc[gold] -= cost

    def set_tree_unscored(self, arcs: np.ndarray) -> None:
        """Put the tree with arcs int32[n] into the buffers without scoring global features."""
        lay(*self.buffers, arcs)

    def first_tree(self, rng: np.ndarray) -> np.ndarray:
        """Return int32[n], the arcs of the best tree of a few runs of greedy search by local factors alone."""
        counts, seen = np.zeros(3, np.int64), np.zeros(RUNS, np.int64)
        best = chains.ChainResult(np.full(1, -np.inf), np.zeros(self.problem.n, np.int64), counts, seen)
        plan = chains.Plan(chains.GREEDY, RUNS, PATIENCE, chains.MANY, 0, 1.0, 1.0, 1)
        chains.search(*self.buffers, self.graph, self.starts, plan, rng, best)
        return best.arcs.astype(np.int32)


def allowed_arcs(
    by: Scoring, pruner: Pruner, rows: np.ndarray, tag: np.ndarray, k: int | None, threshold: float = 0.0
) -> np.ndarray:
    """Return the candidate arcs of a sentence, bool[n + 1, n + 1], indexed head first.

    Arcs are left out if all arcs would make up too many parts (`limit_parts`).

    by         weights and settings of the model
    rows, tag  the words, as returned by `TokenTable.sentence`
    k          number of candidate heads per word; None keeps all heads
    threshold  drop a candidate head if its probability is below this fraction of the best head's probability
    """
    return limit_parts(pruner.allowed(rows, tag, k, threshold), by.scorer.families)[0]


def scored(
    by: Scoring,
    rows: np.ndarray,
    tag: np.ndarray,
    allowed: np.ndarray,
    right: Labelled | None = None,
    view: View | None = None,
) -> Sentence | None:
    """Return a scored sentence, or None if the candidate arcs (bool[n + 1, n + 1], head first) make up no tree.

    by         weights and settings of the model
    rows, tag  the words, as returned by `TokenTable.sentence`
    right      the gold tree (heads int32[n + 1], labels int32[n]) in training, whose arcs get their gold labels
    view       an earlier view of the same sentence, whose arrays are used again; `score_all` replaces its scores
    """
    scores, labels = by.scorer.score(by.weights, rows, tag, allowed, by.single_root, by.projective), None
    if by.labelling is not None:
        tree = right and (arcs_of_tree(scores.arc_index, right[0]), right[1])
        scores, labels = by.labelling.fold(by.weights, rows, scores, right=tree)
    problem = scores.problem(by.unit)
    log = problem.arc * (SCALE / deviation(problem))
    starts = starts_of(index_of(problem).arcs, log, problem.single_root, by.projective)
    if starts is None:
        return None
    view = view or view_of(rows, problem.n, by.codes, by.reals)
    return Sentence(scores, problem, buffers_of(problem, shares(log, problem)), view, *starts, labels)
