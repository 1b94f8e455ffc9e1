"""Parse sentences with a trained graph-based model and a decoder: the Python interface to a model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from treebound.constraints.rows import Words
from treebound.constraints.ud import RuleSet
from treebound.core.errors import InputError, ModelError, UnsupportedError
from treebound.core.parse import Parse
from treebound.core.problem import LARGEST_SUM, Problem
from treebound.core.protocols import Decoder
from treebound.core.treebank import Treebank
from treebound.decoders import DECODERS
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound
from treebound.features.long_sentences import LONGEST, check_lengths, limit_parts
from treebound.features.scorer import Scores, narrowed
from treebound.features.tokens import TokenTable
from treebound.features.tree_score import PartScore
from treebound.kernels.arcs.numbering import ArcIndex
from treebound.kernels.arcs.problem_index import index_of
from treebound.kernels.chart.arborescence import arborescence, arborescence_scratch
from treebound.kernels.chart.first_order import best_candidates
from treebound.kernels.chart.hypergraph import NEG_TEST
from treebound.learning.conventions import under
from treebound.support.workers import blocks, spread
from treebound.systems.graph.model import Model
from treebound.systems.graph.validity import Validity, words_of
from treebound.treebanks.projectivise import in_space

#: a function that adds margins, marginals or k best trees to a parse: `treebound.decoders.confidence.Assess`
Assessment = Callable[[Decoder, Problem, Parse], Parse]
BLOCK = 32  #: number of sentences that a worker takes at a time
BATCH_WORDS = 2000  #: words of a batch of sentences whose problems are in memory together
REDUCED_K = 20  #: candidate heads per word of a sentence that is too large for the requested k


class _ScoredProblem(NamedTuple):
    """The decoding problem of a sentence, with the scores of its candidate arcs and their parts.

    cut      whether candidate arcs were left out because they make up too many parts
    seconds  wall time of pruning and scoring
    labels   int32[A], the best label of each arc. Its score is part of the arc's score. None if the model does not
             choose labels with the tree
    """

    problem: Problem
    cut: bool
    seconds: float
    labels: np.ndarray | None


class Parser:
    """A graph-based model with a decoder, ready to parse.

    decoder    name of a decoder in `treebound.decoders.DECODERS`. Further options are passed on to the decoder. It
               searches the model's space unless it supports another space only
    k          number of candidate heads per word. None keeps all heads; "model" uses the value of training
    threshold  drop a candidate head if its probability is below this fraction of the best head's probability; "model"
               uses the value of training, or 0 if k is None
    valid      rules that every tree and its labels must satisfy: a name or file as for `treebound.constraints.ud.load`,
               or a `RuleSet`. None applies no rules. The model must choose labels with the tree

    Raises UnsupportedError if the decoder does not support a factor family of the model.
    """

    longest = LONGEST  #: number of words of the longest sentence that the parser accepts

    def __init__(
        self,
        model: Model,
        decoder: str = BranchAndBound.name,
        k: int | Literal["model"] | None = "model",
        threshold: float | Literal["model"] = "model",
        valid: str | Path | RuleSet | None = None,
        **options: Any,
    ):
        self.model = model
        self.k: int | None = model.spec.k if k == "model" else k
        default_threshold = 0.0 if k is None else float(model.spec.threshold or 0)
        self.threshold: float = default_threshold if threshold == "model" else threshold
        self.decoder = DECODERS[decoder](**options)
        if "space" not in options and self.decoder.space != model.spec.space:
            with suppress(InputError):  # the decoder may support only another space, which it then keeps
                self.decoder = DECODERS[decoder](space=model.spec.space, **options)
        self.single_root = bool(model.meta.get("single_root", True))
        self._weights = narrowed(model.weights)
        largest = max(-int(self._weights.min(initial=0)), int(self._weights.max(initial=0)))
        templates = max((model.scorer.most[f] for f in model.scorer.most if f != "arc"), default=0)
        self._largest_part = 2 * largest * templates  # an upper bound: each template of a part contributes two weights
        unsupported = (frozenset(model.spec.families) | {"arc"}) - self.decoder.supports
        if unsupported:
            raise UnsupportedError(
                f"{decoder} does not support factor families of the model: {', '.join(sorted(unsupported))}",
                hint="choose another decoder, for instance branch-and-bound",
            )
        self.validity: Validity | None = None if valid is None else Validity.of(self, valid)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a worker process, without `_weights`, which `__setstate__` computes from the model."""
        return {name: value for name, value in vars(self).items() if name != "_weights"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _weights=narrowed(state["model"].weights))

    @property
    def weights(self) -> np.ndarray:
        """The weights in the form that the scorer reads: int16 if all weights fit, else int32."""
        return self._weights

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that the model reads in addition to the forms: some of upos, xpos, feats and lemma."""
        columns = (self.model.meta["tag"], self.model.meta["coarse"], *sorted(self.model.pruner.attributes))
        columns += ("upos",) if self.validity else ()
        return tuple(dict.fromkeys(name for name in columns if name in ("upos", "xpos", "feats", "lemma")))

    def label_names(self, parse: Parse) -> list[str]:
        """Return the n labels of a parse as strings, see `Model.label_names`."""
        return self.model.label_names(parse)

    def problem(self, treebank: Treebank, i: int) -> Problem:
        """Return the scored problem of sentence i that `parse` solves, for any decoder."""
        return self._solved_problem(_table(self.model, treebank), i)

    def token_table(self, treebank: Treebank) -> TokenTable:
        """Return the token table of a treebank, which `problem_with` and `label_scores` take."""
        return _table(self.model, treebank)

    def problem_with(self, table: TokenTable, i: int, arcs: np.ndarray) -> tuple[Problem, bool]:
        """Return the scored problem of sentence i with further candidate arcs, and whether it is complete.

        arcs  bool[n + 1, n + 1], indexed head first: candidate arcs in addition to the pruner's candidates

        The problem is incomplete if the pruner's candidates make up too many parts, so that some are left out.
        """
        allowed, cut = self._candidates(table, i, self.k)
        scored, _ = self._folded(table, i, self._scored(table, i, allowed | arcs))
        return scored.problem(self.model.unit), not cut

    def label_scores(self, table: TokenTable, i: int, heads: np.ndarray, mods: np.ndarray) -> np.ndarray:
        """Return the scores [A, L] of the L labels on A arcs of sentence i, under the labeller used with the tree.

        heads, mods  int32[A], the ends of the arcs

        The result has no columns if the model does not choose labels with the tree.
        """
        labelling = self.model.labelling
        if labelling.joint is None:
            return np.zeros((len(heads), 0))
        rows = table.sentence(i)[0]
        n = int(table.offsets[i + 1] - table.offsets[i])
        return labelling.joint.of_arcs(self._weights, rows, n, heads, mods)[:, : len(labelling.names)]

    def _solved_problem(self, table: TokenTable, i: int) -> Problem:
        """Return the problem of sentence i. If its candidate arcs contain no tree, the pruner's best tree is added."""
        problem = self._problem(table, i, self.k)
        if self._has_tree(index_of(problem).arcs):
            return problem
        return self._problem(table, i, self.k, widen=True)

    def _has_tree(self, index: ArcIndex) -> bool:
        """Return whether the arcs contain a tree of the decoder's space."""
        n, A = len(index.right) - 1, len(index.head)
        no_scores, arcs = np.zeros(A), np.empty(n, np.int32)
        if self.decoder.space == "projective":
            return best_candidates(index, no_scores, self.single_root, arcs) > NEG_TEST
        scratch = arborescence_scratch(n, A)
        return arborescence(index, no_scores, n, self.single_root, arcs, no_scores[:0], scratch) > NEG_TEST

    def _problem(self, table: TokenTable, i: int, k: int | None, widen: bool = False) -> Problem:
        """Return the problem of sentence i with k candidate heads per word; `widen` adds the pruner's best tree."""
        return self._scores(table, i, k, widen)[0].problem(self.model.unit)

    def _candidates(self, table: TokenTable, i: int, k: int | None, widen: bool = False) -> tuple[np.ndarray, bool]:
        """Return the candidate arcs of sentence i, and whether some were left out because of too many parts.

        The arcs are bool[n + 1, n + 1], indexed head first. `widen` adds the arcs of the pruner's best tree. A sentence
        whose arcs make up too many parts gets at most REDUCED_K heads per word. If that is not enough, each head keeps
        its nearest modifiers only (`limit_parts`).
        """
        pruner, (rows, tag) = self.model.pruner, table.sentence(i)
        families = self.model.scorer.families
        tree = pruner.tree(rows, tag, self.single_root) if widen else None

        def candidates(k: int | None) -> np.ndarray:
            allowed = pruner.allowed(rows, tag, k, self.threshold)
            if tree is not None:
                allowed[tree[1:], np.arange(1, len(tag))] = True
            return allowed

        allowed, cut = limit_parts(candidates(k), families)
        if cut and (k is None or k > REDUCED_K):
            allowed, _ = limit_parts(candidates(REDUCED_K), families)
        return allowed, cut

    def _scores(self, table: TokenTable, i: int, k: int | None, widen: bool = False) -> tuple[Scores, bool]:
        """Return the scores of the candidate arcs of sentence i and of their parts, and whether arcs were cut.

        The score of an arc includes the score of its best label. For k and `widen`, see `_candidates`.
        """
        allowed, cut = self._candidates(table, i, k, widen)
        return self._folded(table, i, self._scored(table, i, allowed))[0], cut

    def scores_without_labels(self, table: TokenTable, i: int, every: bool = False) -> tuple[Scores, bool]:
        """Score the candidate arcs of sentence i and their parts, without labels; return also whether arcs were cut.

        `every` makes all arcs candidates. Arcs are cut if all candidates would make up too many parts.
        """
        if every:
            allowed, cut = self._candidates(table, i, None)
            return self._scored(table, i, allowed), cut
        allowed, cut = self._candidates(table, i, self.k)
        scored = self._scored(table, i, allowed)
        if self._has_tree(scored.arc_index):
            return scored, cut
        allowed, cut = self._candidates(table, i, self.k, widen=True)
        return self._scored(table, i, allowed), cut

    def _scored(self, table: TokenTable, i: int, allowed: np.ndarray) -> Scores:
        """Score the arcs `allowed` (bool[n + 1, n + 1], head first) of sentence i and their parts, without labels."""
        rows, tag = table.sentence(i)
        projective, matches = self.decoder.space == "projective", table.matches(i)
        scorer = self.model.scorer
        return scorer.score(self._weights, rows, tag, allowed, self.single_root, projective, matches)

    def _folded(self, table: TokenTable, i: int, scored: Scores) -> tuple[Scores, np.ndarray | None]:
        """Add each arc's best label score to the arc scores of sentence i; return the scores and the best labels."""
        scored, labels = self.model.labelling.fold(self._weights, table.sentence(i)[0], scored)
        self._check_size(scored)
        return scored, labels

    def _check_size(self, scored: Scores) -> None:
        """Raise ModelError if sums of scores could be rounded, which only happens with damaged or untrained weights.

        The largest weight gives a cheap bound, which is nearly always sufficient. Only if it is not, all scores are
        summed.
        """
        parts = sum(map(len, scored.by_family.values()))
        if np.abs(scored.arc).sum() + parts * self._largest_part < LARGEST_SUM:
            return
        total = sum(float(np.abs(scores).sum()) for scores in (scored.arc, *scored.by_family.values()))
        if total >= LARGEST_SUM:
            raise ModelError(
                f"scores of a sentence sum to {total:.3g}, which is too large for exact sums",
                hint="train the model again",
            )

    def _parse(self, work: _Work, sentences: range) -> list[Parse]:
        """Parse sentences stage by stage, so that tables in the processor's caches serve all of them."""
        table = work.table
        problems = self._problems(table, sentences)[::-1]
        scored_problems = problems[::-1] if self.validity is not None else []
        # without rules, `pop` removes the only reference to a problem, so that its memory is freed once it is solved
        decoded = [self._tree(table, i, self.k, problems.pop()) for i in sentences]
        parses = [self._with_status(table, i, *tree) for i, tree in zip(sentences, decoded, strict=True)]
        if self.validity is not None:
            searched = [(problem.problem, problem.labels) for problem in scored_problems]
            return self.validity.of_batch(table, sentences, [work.words(i) for i in sentences], parses, searched)
        return [self._labelled(parse, table, i) for i, parse in zip(sentences, parses, strict=True)]

    def _problems(self, table: TokenTable, sentences: range) -> list[_ScoredProblem]:
        """Return the scored problems of sentences. The scoring time of each problem is the mean over all of them.

        Pruner, scorer and labeller each read a table of several MiB. If they took turns sentence by sentence, they
        would evict each other's tables from the processor's caches.
        """
        started = time.perf_counter()
        allowed = [self._candidates(table, i, self.k) for i in sentences]
        scored = [self._scored(table, i, arcs) for i, (arcs, _) in zip(sentences, allowed, strict=True)]
        folded = [self._folded(table, i, scores) for i, scores in zip(sentences, scored, strict=True)]
        problems = [(scores.problem(self.model.unit), labels) for scores, labels in folded]
        seconds = (time.perf_counter() - started) / max(1, len(problems))
        pairs = zip(problems, allowed, strict=True)
        return [_ScoredProblem(problem, cut, seconds, labels) for (problem, labels), (_, cut) in pairs]

    @property
    def _few_heads(self) -> bool:
        """True if k is at most REDUCED_K, the number of heads per word to which large sentences are reduced."""
        return self.k is not None and self.k <= REDUCED_K

    def _scored_problem(self, table: TokenTable, i: int, k: int | None, widen: bool = False) -> _ScoredProblem:
        """Return the scored problem of sentence i with k candidate heads per word.

        `widen` adds the arcs of the pruner's best tree.
        """
        started = time.perf_counter()
        allowed, cut = self._candidates(table, i, k, widen)
        scored, labels = self._folded(table, i, self._scored(table, i, allowed))
        return _ScoredProblem(scored.problem(self.model.unit), cut, time.perf_counter() - started, labels)

    def _tree(self, table: TokenTable, i: int, k: int | None, scored_problem: _ScoredProblem) -> tuple[Parse, bool]:
        """Decode sentence i from its scored problem, and return the parse and whether its candidates were cut.

        If the candidate arcs contain no tree, the sentence is decoded again with the pruner's best tree added.
        """
        parse, cut = self._decoded(scored_problem), scored_problem.cut
        if parse.status == "infeasible":
            del scored_problem
            wider = self._scored_problem(table, i, k, widen=True)
            parse, cut = self._decoded(wider), wider.cut
        return parse, cut

    def _with_status(self, table: TokenTable, i: int, parse: Parse, cut: bool) -> Parse:
        """Return the parse of sentence i with a status and a bound that hold for all k candidate heads of each word.

        Nothing is proved if the sentence is too large to be searched, or if `cut` says that candidates were left out.
        The tree is then the best tree of fewer candidates. A sentence that was too large is decoded again with
        REDUCED_K heads per word.
        """
        without_bound = parse.status == "limit" and bool(np.isinf(parse.bound))
        if without_bound and not self._few_heads:
            parse, cut = self._tree(table, i, REDUCED_K, self._scored_problem(table, i, REDUCED_K))[0], True
        if without_bound and self._few_heads and parse.value > -np.inf and parse.work.get("nodes") == 0:
            cut = True
        if not cut or parse.status == "infeasible":
            return parse
        return replace(parse, status="heuristic" if self._few_heads else "limit", bound=np.inf)

    def _decoded(self, scored_problem: _ScoredProblem) -> Parse:
        """Decode a problem and record the time. If the parser applies rules, add the best label of each arc."""
        started = time.perf_counter()
        parse = self.decoder.decode(scored_problem.problem)
        if not parse.seconds:  # the decoder has not recorded its time
            parse.seconds["decode"] = time.perf_counter() - started
        parse.seconds["features"] = scored_problem.seconds
        if self.validity is not None and scored_problem.labels is not None and parse.value > -np.inf:
            chosen = np.flatnonzero(parse.heads[scored_problem.problem.mod] == scored_problem.problem.head)
            labels = np.full(len(parse.heads), -1, np.int32)
            labels[scored_problem.problem.mod[chosen]] = scored_problem.labels[chosen]
            return parse.with_labels(labels)
        return parse

    def scores_of_trees(self, treebank: Treebank) -> list[float]:
        """Return the score of the annotated tree of each sentence, in the unit of `Parse.value`.

        The score is -inf for a tree that `parse` cannot return. Either the pruner removed one of its arcs, or its arcs
        cross but the decoder is projective, or it has several roots but the model allows one.
        """
        table, scores, projective = _table(self.model, treebank), [], self.decoder.space == "projective"
        for i in range(len(treebank)):
            heads = treebank.heads(i)
            searchable = in_space(heads, projective, self.single_root)
            scores.append(PartScore(self._solved_problem(table, i)).score(heads) if searchable else -np.inf)
        return scores

    def labelled(self, parse: Parse, treebank: Treebank, i: int) -> Parse:
        """Return a parse of sentence i with the labels that the model chooses for its tree."""
        return self._labelled(parse, _table(self.model, treebank), i)

    def _labelled(self, parse: Parse, table: TokenTable, i: int) -> Parse:
        """Return a parse with the labels that the model chooses for its tree; unchanged if the model has no labels."""
        model = self.model
        if not model.labelling.names:
            return parse
        started = time.perf_counter()
        labels = np.full(len(parse.heads), -1, np.int32)
        labels[1:] = model.labelling.of_tree(self._weights, table.sentence(i)[0], parse.heads)
        parse.seconds["labels"] = time.perf_counter() - started
        return parse.with_labels(labels)

    def parse(
        self,
        treebank: Treebank,
        workers: int = 1,
        progress: Callable[[Iterable, str], Iterable] | None = None,
        confidence: Assessment | None = None,
        scheduler: str | None = None,
        misc: Sequence[Sequence[str]] | None = None,
    ) -> list[Parse]:
        """Parse a treebank.

        Parameters
        ----------
        treebank : Treebank
            The sentences, as `treebound.treebanks.document.read` returns them in `treebank`. Heads are not read.
        workers : int, default 1
            Number of worker processes. The result does not depend on it.
        progress : callable, optional
            Function that wraps an iterable to show progress, for instance `treebound.support.progress.over`.
        confidence : Assess, optional
            Adds margins, marginals or k best trees to each parse, see `treebound.decoders.confidence.Assess`.
        scheduler : str, optional
            Address of a Dask scheduler whose workers parse, as for `treebound.support.workers.spread`.
        misc : sequence of sequence of str, optional
            Column MISC of each sentence, which some rules of `valid` read. By default, the columns are empty.

        Returns
        -------
        list of Parse
            One parse for each sentence, in order.

        Raises
        ------
        InputError
            If a sentence is longer than `longest` words. It is raised before anything is parsed.

        Notes
        -----
        The search takes exponential time in the worst case; the option `max_dp_calls` of the decoder limits it.

        References
        ----------
        Qian & Liu (2013), Branch and bound algorithm for dependency parsing with non-local features, TACL 1.
        """
        check_lengths(treebank)
        ranges = blocks(len(treebank), BLOCK)
        work = _Work(self, _table(self.model, treebank), treebank, confidence, misc)
        parses_of_ranges = spread(_block, work, ranges, workers=workers, scheduler=scheduler, short=True)
        results = chain.from_iterable(parses_of_ranges)
        return list(progress(results, "parse") if progress else results)

    def _block(self, work: _Work, sentences: range) -> list[Parse]:
        """Parse a block of sentences and assess the confidence of each parse if that is requested."""
        parses = [parse for batch in self._batches(work.table, sentences) for parse in self._parse(work, batch)]
        if work.confidence is None:
            return parses
        return [self._assessed(work, i, parse) for i, parse in zip(sentences, parses, strict=True)]

    def _assessed(self, work: _Work, i: int, parse: Parse) -> Parse:
        """Return the parse of sentence i with its confidence. If rules are applied, only valid trees count."""
        assert work.confidence is not None
        if self.validity is not None and parse.work.get("valid"):
            decoder = self.validity.decoder_of(work.table, i, work.words(i), parse)
            return work.confidence(decoder, decoder.scores.problem, parse)
        return work.confidence(self.decoder, self._solved_problem(work.table, i), parse)

    def _batches(self, table: TokenTable, sentences: range) -> Iterator[range]:
        """Yield batches of sentences whose problems fit into memory together.

        A batch has at most BATCH_WORDS words or a single sentence. Each sentence is a batch of its own if k exceeds
        REDUCED_K or keeps all heads, because a problem of all arcs may take a gigabyte.
        """
        first = words = 0
        for i, n in enumerate(np.diff(table.offsets[sentences.start : sentences.stop + 1]).tolist()):
            words += n
            if i > first and (words > BATCH_WORDS or not self._few_heads):
                yield sentences[first:i]
                first, words = i, n
        if len(sentences):
            yield sentences[first:]


class _Work(NamedTuple):
    """A parser and the treebank that it parses, in the form that is sent to workers."""

    parser: Parser
    table: TokenTable
    treebank: Treebank
    confidence: Assessment | None
    misc: Sequence[Sequence[str]] | None

    def words(self, i: int) -> Words:
        """Return the words of sentence i in the form that rules read."""
        return words_of(self.treebank, i, None if self.misc is None else self.misc[i])


def _block(work: _Work, sentences: range) -> list[Parse]:
    """Parse a block of sentences in a worker."""
    return work.parser._block(work, sentences)


def _table(model: Model, treebank: Treebank) -> TokenTable:
    """Return the token table of a treebank under the conventions that the model was trained with."""
    converted = under(model.meta, treebank)
    return TokenTable(converted, model.scorer.matches(converted))


def load(path: str | Path, **options: Any) -> Parser:
    """Return the parser of a model file; `options` are options of `Parser`. Raises ModelError for any other file."""
    return Parser(Model.load(path), **options)
