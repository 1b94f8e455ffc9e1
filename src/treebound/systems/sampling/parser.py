"""Sentences in, trees out: search under a trained model."""

from __future__ import annotations

import time
import zlib
from itertools import chain

import numpy as np

from treebound.core.errors import InputError
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.treebank import Treebank
from treebound.decoders.approximate.sampling.decoder import deviation
from treebound.features.tokens import TokenTable
from treebound.kernels.arcs.numbering import heads_of
from treebound.kernels.arcs.problem_index import index_of
from treebound.learning.conventions import under
from treebound.learning.loop import Progress
from treebound.learning.system import Naming
from treebound.support.workers import spread
from treebound.systems.sampling.model import SamplingModel
from treebound.systems.sampling.rerank import best_of_list
from treebound.systems.sampling.search import GIBBS, GREEDY, WALK, Plan, search
from treebound.systems.sampling.sentence import Scoring, Sentence, allowed_arcs, scored

BLOCK = 32  #: sentences that a worker takes at a time
METHODS = {"greedy": GREEDY, "gibbs": GIBBS, "random-walk": WALK}
SWEEPS, HOT, COLD, WORDS = 5, 1.0, 0.1, 4  #: of a chain; temperatures in deviations of the scores of arcs


class Parser(Naming):
    """A model with a search: by default the one of its settings.

    search    "gibbs", "random-walk" or "greedy"
    restarts, patience, seed  as of `Settings`
    rerank    no search but the best of so many trees: see `treebound.systems.sampling.rerank`
    Nothing is proved of trees: the status is `heuristic`. The seed of a sentence is made from
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
        rerank: int | None = None,
    ):
        spec = model.spec
        self.model, self.search = model, search or spec.search
        if self.search not in METHODS:
            raise InputError(f"unknown search {search!r}", hint=f"choose from {', '.join(METHODS)}")
        projective = spec.space == "projective"
        if self.search == "random-walk" and projective:
            raise InputError("the model's trees do not cross", hint="choose gibbs or greedy")
        self.restarts = spec.restarts if restarts is None else restarts
        self.patience = spec.patience if patience is None else patience
        self.seed = spec.seed if seed is None else seed
        self.rerank = rerank
        if min(self.restarts, self.patience, 1 if rerank is None else rerank) < 1:
            raise InputError("restarts, patience and rerank are at least 1", hint="give positive numbers")
        of_trees = bool(model.meta.get("single_root", True)), projective
        weights, self.names = (model.weights, model.reals), model.labelling.names
        self.scoring = Scoring(model.scorer, *weights, model.codes, *of_trees, model.unit, model.labelling)

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns beside forms that the model looks at."""
        known = (self.model.meta["tag"], self.model.meta["coarse"], *sorted(self.model.pruner.attributes))
        return tuple(dict.fromkeys(name for name in known if name in ("upos", "xpos", "feats", "lemma")))

    def parse(
        self, treebank: Treebank, workers: int = 1, progress: Progress | None = None, scheduler: str | None = None
    ) -> list[Parse]:
        """One a sentence, in order; the same for any number of workers."""
        blocks = [range(i, min(i + BLOCK, len(treebank))) for i in range(0, len(treebank), BLOCK)]
        given = self, self.table(treebank)
        found = spread(_block, given, blocks, workers=workers, scheduler=scheduler, short=True)
        results = chain.from_iterable(found)
        return list(progress(results, "parse") if progress else results)

    def table(self, treebank: Treebank) -> TokenTable:
        """Words under the conventions that the model was trained with."""
        return TokenTable(under(self.model.meta, treebank))

    def sentence(self, table: TokenTable, i: int) -> Sentence:
        """Sentence i, scored. Where the heads that the pruner keeps admit no tree, with those of its own best tree."""
        return self.candidates(table, i)[0]

    def candidates(self, table: TokenTable, i: int) -> tuple[Sentence, np.ndarray]:
        """The same, and which arcs bool[n + 1, n + 1] (head first) are its candidates."""
        model, (rows, tag) = self.model, table.sentence(i)
        allowed = allowed_arcs(self.scoring, model.pruner, rows, tag, model.spec.k, model.spec.threshold)
        made = scored(self.scoring, rows, tag, allowed)
        if made is None:
            allowed[model.pruner.tree(rows, tag, self.scoring.single_root)[1:], np.arange(1, len(tag))] = True
            made = scored(self.scoring, rows, tag, allowed)
        assert made is not None
        return made, allowed

    def parse_sentence(self, table: TokenTable, i: int) -> Parse:
        """The best tree that is found. Search begins where greedy search under local factors alone ends."""
        started = time.perf_counter()
        made = self.sentence(table, i)
        features = time.perf_counter() - started
        if self.rerank is None:
            value, best, count = self.searched(made)
        else:
            value, best, count = best_of_list(made, self.model.spec.space, self.rerank)
        work = {"restarts" if self.rerank is None else "trees": count}
        seconds = {"features": features, "decode": time.perf_counter() - started - features}
        heads = heads_of(index_of(made.problem).arcs, best)
        labels = None if made.labels is None else np.append(-1, made.labels[best]).astype(np.int32)
        return Parse(heads, value, np.inf, "heuristic", work, seconds, labels)

    def searched(self, made: Sentence) -> tuple[float, np.ndarray, int]:
        """The score and the arcs int32[n] of the best tree that search finds, and its runs."""
        problem, sd = made.problem, deviation(made.problem)
        rng = np.array([_seed(problem, self.seed)], np.uint64)
        best, method = made.first_tree(rng), METHODS[self.search]
        plan = Plan(method, self.restarts, self.patience, SWEEPS, HOT * sd, COLD * sd, WORDS)
        value, runs = search(*made.buffers, made.view, made.graph, made.starts, plan, rng, best)
        return float(value), best, int(runs)

    def scores_of_trees(self, treebank: Treebank) -> list[float]:
        """What the model gives the trees of `treebank` themselves.

        -inf for those that `parse` cannot return: with an arc that the pruner removed, with crossing arcs or several
        roots where the model's trees have none.
        """
        table = self.table(treebank)
        return [self.sentence(table, i).score(treebank.heads(i)) for i in range(len(treebank))]


def _block(given: tuple[Parser, TokenTable], sentences: range) -> list[Parse]:
    parser, table = given
    return [parser.parse_sentence(table, i) for i in sentences]


def _seed(problem: Problem, seed: int) -> int:
    return zlib.crc32(problem.arc.tobytes(), seed & 0xFFFFFFFF) | (zlib.crc32(problem.mod.tobytes()) << 32)
