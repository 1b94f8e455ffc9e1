"""Sentences in, trees out: search under a trained model."""

from __future__ import annotations

import time
import zlib
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from treebound.core.errors import InputError
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.treebank import Treebank
from treebound.decoders.approximate.sampling.buffers import Buffers, buffers_of
from treebound.decoders.approximate.sampling.decoder import Greedy, deviation, shares
from treebound.decoders.approximate.sampling.starts import Starts, starts_of
from treebound.features.scorer import Scorer
from treebound.features.tokens import TokenTable
from treebound.features.tree_score import PartScore
from treebound.kernels.arcs.numbering import arcs_of_tree, heads_of
from treebound.kernels.arcs.problem_index import index_of
from treebound.kernels.chart.hypergraph import Hypergraph
from treebound.learning.conventions import under
from treebound.learning.loop import Progress
from treebound.support.workers import spread
from treebound.systems.sampling.globals.catalogue import score_all
from treebound.systems.sampling.globals.view import View, view_of
from treebound.systems.sampling.model import SamplingModel
from treebound.systems.sampling.search import GIBBS, GREEDY, WALK, Plan, search

BLOCK = 32  #: sentences that a worker takes at a time
SCALE = 0.2  #: runs begin at trees drawn from exp(SCALE * score of arcs / their deviation)
METHODS = {"greedy": GREEDY, "gibbs": GIBBS, "random-walk": WALK}
SWEEPS, HOT, COLD, WORDS = 5, 1.0, 0.1, 4  #: of a chain; temperatures in deviations of the scores of arcs


class Made(NamedTuple):
    """A scored sentence: the problem of its local factors, the buffers of moves, what global features see."""

    problem: Problem
    buffers: Buffers
    view: View
    graph: Hypergraph | None
    starts: Starts


class Parser:
    """A model with a search: by default the one of its settings.

    search    "gibbs", "random-walk" or "greedy"
    restarts, patience, seed  as of `Settings`
    Trees have no labels and nothing is proved of them: the status is `heuristic`. The seed of a sentence is made from
    that of the parser and from the scores, so that neither workers nor order change anything.
    """

    def __init__(
        self,
        model: SamplingModel,
        *,
        search: str | None = None,
        restarts: int | None = None,
        patience: int | None = None,
        seed: int | None = None,
    ):
        spec = model.spec
        self.model, self.search = model, search or spec.search
        if self.search not in METHODS:
            raise InputError(f"unknown search {search!r}", hint=f"choose from {', '.join(METHODS)}")
        if self.search == "random-walk" and spec.space == "projective":
            raise InputError("the model's trees do not cross", hint="choose gibbs or greedy")
        self.restarts = spec.restarts if restarts is None else restarts
        self.patience = spec.patience if patience is None else patience
        self.seed = spec.seed if seed is None else seed
        if min(self.restarts, self.patience) < 1:
            raise InputError("restarts and patience are at least 1", hint="give positive numbers")
        self.single_root = bool(model.meta.get("single_root", True))

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns beside forms that the model looks at."""
        known = (self.model.meta["tag"], self.model.meta["coarse"], *sorted(self.model.pruner.attributes))
        return tuple(dict.fromkeys(name for name in known if name in ("upos", "xpos", "feats", "lemma")))

    def label_names(self, parse: Parse) -> list[str]:
        """None: `_` for every word."""
        return ["_"] * (len(parse.heads) - 1)

    def parse(
        self, treebank: Treebank, workers: int = 1, progress: Progress | None = None, scheduler: str | None = None
    ) -> list[Parse]:
        """One a sentence, in order; the same for any number of workers."""
        blocks = [range(i, min(i + BLOCK, len(treebank))) for i in range(0, len(treebank), BLOCK)]
        given = self, self.table(treebank)
        results = chain.from_iterable(
            spread(_block, given, blocks, workers=workers, scheduler=scheduler, short=True)
        )
        return list(progress(results, "parse") if progress else results)

    def table(self, treebank: Treebank) -> TokenTable:
        """Words under the conventions that the model was trained with."""
        return TokenTable(under(self.model.meta, treebank))

    def made(self, table: TokenTable, i: int) -> Made:
        """Sentence i, scored. Where the heads that the pruner keeps admit no tree, with those of its own best tree."""
        model, (rows, tag) = self.model, table.sentence(i)
        allowed = model.pruner.allowed(rows, tag, model.spec.k, model.spec.threshold)
        try:
            return scored(model.scorer, model.weights, model.reals, model.codes, rows, tag, allowed, self._shape)
        except NoTree:
            allowed[model.pruner.tree(rows, tag, self.single_root)[1:], np.arange(1, len(tag))] = True
            return scored(model.scorer, model.weights, model.reals, model.codes, rows, tag, allowed, self._shape)

    @property
    def _shape(self) -> tuple[bool, bool]:
        return self.single_root, self.model.spec.space == "projective"

    def sentence(self, table: TokenTable, i: int) -> Parse:
        """The best tree that is found. It begins where greedy search under local factors alone ends."""
        started = time.perf_counter()
        made = self.made(table, i)
        problem, sd = made.problem, deviation(made.problem)
        first = Greedy(self.model.spec.space, self.seed, patience=4, restarts=12).decode(problem)
        plan = Plan(METHODS[self.search], self.restarts, self.patience, SWEEPS, HOT * sd, COLD * sd, WORDS)
        rng = np.array([_seed(problem, self.seed)], np.uint64)
        best = arcs_of_tree(index_of(problem).arcs, first.heads).astype(np.int64)
        value, runs = search(*made.buffers, made.view, made.graph, made.starts, plan, rng, best)
        heads = heads_of(index_of(problem).arcs, best)
        work = {"dp_calls": 1, "restarts": int(runs)}
        return Parse(heads, float(value), np.inf, "heuristic", work, {"decode": time.perf_counter() - started})

    def scores_of_trees(self, treebank: Treebank) -> list[float]:
        """What the model gives the trees of `treebank` themselves; -inf where the pruner removed an arc."""
        table, out = self.table(treebank), []
        for i in range(len(treebank)):
            out.append(score_of(self.made(table, i), treebank.heads(i)))
        return out


def _block(given: tuple[Parser, TokenTable], sentences: range) -> list[Parse]:
    parser, table = given
    return [parser.sentence(table, i) for i in sentences]


def _seed(problem: Problem, seed: int) -> int:
    return zlib.crc32(problem.arc.tobytes(), seed & 0xFFFFFFFF) | (zlib.crc32(problem.mod.tobytes()) << 32)


class NoTree(Exception):
    """The candidate arcs make up no tree."""


def scored(
    scorer: Scorer,
    weights: np.ndarray,
    reals: np.ndarray,
    codes: np.ndarray,
    rows: np.ndarray,
    tag: np.ndarray,
    allowed: np.ndarray,
    shape: tuple[bool, bool],
) -> Made:
    """A sentence under these weights, all its trees drawn by the scores of arcs. NoTree where there is none.

    shape  whether trees have one root, and whether arcs must not cross
    """
    problem = scorer.score(weights, rows, tag, allowed, *shape).problem(1.0)
    log = problem.arc * (SCALE / deviation(problem))
    found = starts_of(index_of(problem).arcs, log, problem.single_root, shape[1])
    if found is None:
        raise NoTree
    view = view_of(rows, problem.n, codes, reals)
    return Made(problem, buffers_of(problem, shares(log, problem)), view, *found)


def score_of(made: Made, heads: np.ndarray) -> float:
    """Score of a tree, local factors and global features; -inf where an arc is no candidate."""
    from treebound.decoders.approximate.sampling.forest import lay

    arcs = arcs_of_tree(index_of(made.problem).arcs, heads)
    rooted = not made.problem.single_root or np.count_nonzero(heads[1:] == 0) == 1
    if np.any(arcs < 0) or not rooted:
        return -np.inf
    return float(lay(*made.buffers, arcs.astype(np.int64)) + score_all(made.buffers.ints, made.view))


def option_names() -> tuple[str, ...]:
    """What may be chosen when parsing."""
    return "search", "restarts", "patience", "seed"


__all__ = ["Any", "Made", "NoTree", "Parser", "PartScore", "option_names", "score_of", "scored"]
