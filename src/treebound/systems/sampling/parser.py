"""The parser of a sampling model: search for the best tree of each sentence."""

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

BLOCK = 32  #: number of sentences that a worker parses at a time
METHODS = {"greedy": GREEDY, "gibbs": GIBBS, "random-walk": WALK}
#: settings of a chain: steps per word, first and last temperature (in standard deviations of arc scores), and the
#: number of words of a random walk
SWEEPS, HOT, COLD, WORDS = 5, 1.0, 0.1, 4


class Parser(Naming):
    """A parser with a sampling model and a search. The model's settings give the default search.

    search    "gibbs", "random-walk" or "greedy"
    restarts  number of search runs per sentence, at most
    patience  number of consecutive runs without a better tree after which the search stops
    seed      random seed of the search
    rerank    number of trees from which the best one is taken instead of a search
              (`treebound.systems.sampling.rerank`); None searches

    No tree is proved to be optimal: the status is `heuristic`. The seed of a sentence is computed from the parser's
    seed and from the scores, so that results depend neither on workers nor on the order of sentences.
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
            raise InputError("random walks need a model whose arcs may cross", hint="choose gibbs or greedy")
        self.restarts = spec.restarts if restarts is None else restarts
        self.patience = spec.patience if patience is None else patience
        self.seed = spec.seed if seed is None else seed
        self.rerank = rerank
        if min(self.restarts, self.patience, 1 if rerank is None else rerank) < 1:
            raise InputError("restarts, patience and rerank must be at least 1", hint="give positive numbers")
        tree_rules = bool(model.meta.get("single_root", True)), projective
        weights, self.names = (model.weights, model.reals), model.labelling.names
        self.scoring = Scoring(model.scorer, *weights, model.codes, *tree_rules, model.unit, model.labelling)

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that the model reads, apart from forms."""
        known = (self.model.meta["tag"], self.model.meta["coarse"], *sorted(self.model.pruner.attributes))
        return tuple(dict.fromkeys(name for name in known if name in ("upos", "xpos", "feats", "lemma")))

    def parse(
        self, treebank: Treebank, workers: int = 1, progress: Progress | None = None, scheduler: str | None = None
    ) -> list[Parse]:
        """Return one parse per sentence, in order. The result is the same for any number of workers."""
        blocks = [range(i, min(i + BLOCK, len(treebank))) for i in range(0, len(treebank), BLOCK)]
        task = self, self.table(treebank)
        parsed_blocks = spread(_block, task, blocks, workers=workers, scheduler=scheduler, short=True)
        results = chain.from_iterable(parsed_blocks)
        return list(progress(results, "parse") if progress else results)

    def table(self, treebank: Treebank) -> TokenTable:
        """Return the words of a treebank under the conventions that the model was trained with."""
        return TokenTable(under(self.model.meta, treebank))

    def sentence(self, table: TokenTable, i: int) -> Sentence:
        """Return sentence i with its scores.

        Arcs of the pruner's best tree are added if the candidate arcs make up no tree.
        """
        return self.candidates(table, i)[0]

    def candidates(self, table: TokenTable, i: int) -> tuple[Sentence, np.ndarray]:
        """Return sentence i, scored, and its candidate arcs, bool[n + 1, n + 1], indexed head first.

        Arcs of the pruner's best tree are added if the candidate arcs make up no tree.
        """
        model, (rows, tag) = self.model, table.sentence(i)
        allowed = allowed_arcs(self.scoring, model.pruner, rows, tag, model.spec.k, model.spec.threshold)
        sentence = scored(self.scoring, rows, tag, allowed)
        if sentence is None:
            allowed[model.pruner.tree(rows, tag, self.scoring.single_root)[1:], np.arange(1, len(tag))] = True
            sentence = scored(self.scoring, rows, tag, allowed)
        assert sentence is not None
        return sentence, allowed

    def parse_sentence(self, table: TokenTable, i: int) -> Parse:
        """Return the best tree of sentence i that the search finds, or the best tree of the list if `rerank` is set.

        The search starts from the result of greedy search by local factors.
        """
        started = time.perf_counter()
        sentence = self.sentence(table, i)
        features = time.perf_counter() - started
        if self.rerank is None:
            value, best, count = self.searched(sentence)
        else:
            value, best, count = best_of_list(sentence, self.model.spec.space, self.rerank)
        work = {"restarts" if self.rerank is None else "trees": count}
        seconds = {"features": features, "decode": time.perf_counter() - started - features}
        heads = heads_of(index_of(sentence.problem).arcs, best)
        labels = None if sentence.labels is None else np.append(-1, sentence.labels[best]).astype(np.int32)
        return Parse(heads, value, np.inf, "heuristic", work, seconds, labels)

    def searched(self, sentence: Sentence) -> tuple[float, np.ndarray, int]:
        """Return the score and the arcs int32[n] of the best tree that the search finds, and the number of runs."""
        problem, sd = sentence.problem, deviation(sentence.problem)
        rng = np.array([_seed(problem, self.seed)], np.uint64)
        best, method = sentence.first_tree(rng), METHODS[self.search]
        plan = Plan(method, self.restarts, self.patience, SWEEPS, HOT * sd, COLD * sd, WORDS)
        value, runs = search(*sentence.buffers, sentence.view, sentence.graph, sentence.starts, plan, rng, best)
        return float(value), best, int(runs)

    def scores_of_trees(self, treebank: Treebank) -> list[float]:
        """Return the scores of the model for the trees of `treebank` themselves.

        The score is -inf for a tree that `parse` cannot return: it has an arc that the pruner removed, or it has
        crossing arcs or several roots although the model's trees have none.
        """
        table = self.table(treebank)
        return [self.sentence(table, i).score(treebank.heads(i)) for i in range(len(treebank))]


def _block(task: tuple[Parser, TokenTable], sentences: range) -> list[Parse]:
    parser, table = task
    return [parser.parse_sentence(table, i) for i in sentences]


def _seed(problem: Problem, seed: int) -> int:
    return zlib.crc32(problem.arc.tobytes(), seed & 0xFFFFFFFF) | (zlib.crc32(problem.mod.tobytes()) << 32)
