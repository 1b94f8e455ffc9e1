"""Sentences in, parses out: the Python interface to a trained model."""

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

#: what makes a parse one that says how sure it is: `treebound.decoders.confidence.Assess`
Assessment = Callable[[Decoder, Problem, Parse], Parse]
BLOCK = 32  #: sentences that a worker takes at a time
TOGETHER = 2000  #: words of the sentences whose problems are in memory together; a longer sentence is alone
WIDEST = 20  #: heads a word in a sentence that is too large for the requested k


class _Stated(NamedTuple):
    """The scored problem of a sentence, whether it has fewer candidates than were asked for, and the time it took.

    labels  int32[A]: the label of each arc whose score is part of the arc's; None if labels are not chosen with trees
    """

    problem: Problem
    cut: bool
    seconds: float
    labels: np.ndarray | None


class Parser:
    """A model with a decoder.

    decoder  a name of `treebound.decoders.DECODERS`; further options go to it, and the model's space where it takes one
    k        candidate heads a word, None for all; "model": as in training
    threshold  as of `Settings`, likewise; none where k says all
    valid    rules that every tree and its labels keep: a name or file as for `treebound.constraints.ud.load`, or a
             `RuleSet`; None: no rules. The model must choose labels with the tree
    """

    longest = LONGEST  #: words of the longest sentence that it takes

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
        usual = 0.0 if k is None else float(model.spec.threshold or 0)
        self.threshold: float = usual if threshold == "model" else threshold
        self.decoder = DECODERS[decoder](**options)
        if "space" not in options and self.decoder.space != model.spec.space:
            with suppress(InputError):  # a decoder of one space alone keeps it
                self.decoder = DECODERS[decoder](space=model.spec.space, **options)
        self.single_root = bool(model.meta.get("single_root", True))
        self._weights = narrowed(model.weights)
        largest = max(-int(self._weights.min(initial=0)), int(self._weights.max(initial=0)))
        templates = max((model.scorer.most[f] for f in model.scorer.most if f != "arc"), default=0)
        self._part = 2 * largest * templates  # no part scores more: a template has two weights
        unsupported = (frozenset(model.spec.families) | {"arc"}) - self.decoder.supports
        if unsupported:
            raise UnsupportedError(
                f"the model scores {', '.join(sorted(unsupported))}, which {decoder} does not support",
                hint="choose another decoder, for instance branch-and-bound",
            )
        self.validity: Validity | None = None if valid is None else Validity.of(self, valid)

    def __getstate__(self) -> dict[str, Any]:
        """What goes to a worker: weights once, which stand in cache lines of their own there, too."""
        return {name: value for name, value in vars(self).items() if name != "_weights"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _weights=narrowed(state["model"].weights))

    @property
    def weights(self) -> np.ndarray:
        """The weights as they are looked up: int16 where all of them fit."""
        return self._weights

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns beside forms that the model looks at."""
        known = (self.model.meta["tag"], self.model.meta["coarse"], *sorted(self.model.pruner.attributes))
        known += ("upos",) if self.validity else ()
        return tuple(dict.fromkeys(name for name in known if name in ("upos", "xpos", "feats", "lemma")))

    def label_names(self, parse: Parse) -> list[str]:
        """As `Model.label_names`."""
        return self.model.label_names(parse)

    def problem(self, treebank: Treebank, i: int) -> Problem:
        """The scored problem of sentence i, as every decoder takes it, and as `parse` solves it."""
        return self._solved_problem(_table(self.model, treebank), i)

    def token_table(self, treebank: Treebank) -> TokenTable:
        """Return the words of a treebank as the model reads them, for `problem_with` and `label_scores`."""
        return _table(self.model, treebank)

    def problem_with(self, table: TokenTable, i: int, arcs: np.ndarray) -> tuple[Problem, bool]:
        """Return the scored problem of sentence i with further candidate arcs, and whether it is the whole one.

        arcs  bool[n + 1, n + 1], head first: candidates beside those of the pruner. The problem is not the whole one
              where the pruner's candidates make up too many parts, so that some are left out
        """
        allowed, cut = self._candidates(table, i, self.k)
        scored, _ = self._folded(table, i, self._scored(table, i, allowed | arcs))
        return scored.problem(self.model.unit), not cut

    def label_scores(self, table: TokenTable, i: int, heads: np.ndarray, mods: np.ndarray) -> np.ndarray:
        """Return the score [A, labels] of each label on some arcs of sentence i, as the search for a tree adds it.

        heads, mods  int32[A]. A model that does not choose labels jointly with trees has no columns
        """
        labelling = self.model.labelling
        if labelling.joint is None:
            return np.zeros((len(heads), 0))
        rows = table.sentence(i)[0]
        n = int(table.offsets[i + 1] - table.offsets[i])
        return labelling.joint.of_arcs(self._weights, rows, n, heads, mods)[:, : len(labelling.names)]

    def _solved_problem(self, table: TokenTable, i: int) -> Problem:
        problem = self._problem(table, i, self.k)
        if self._has_tree(index_of(problem).arcs):
            return problem
        return self._problem(table, i, self.k, widen=True)  # the k best heads of the words admit no tree

    def _has_tree(self, index: ArcIndex) -> bool:
        """Whether the arcs make up a tree of the decoder's space."""
        n, A = len(index.right) - 1, len(index.head)
        nothing, arcs = np.zeros(A), np.empty(n, np.int32)
        if self.decoder.space == "projective":
            return best_candidates(index, nothing, self.single_root, arcs) > NEG_TEST
        scratch = arborescence_scratch(n, A)
        return arborescence(index, nothing, n, self.single_root, arcs, nothing[:0], scratch) > NEG_TEST

    def _problem(self, table: TokenTable, i: int, k: int | None, widen: bool = False) -> Problem:
        return self._scores(table, i, k, widen)[0].problem(self.model.unit)

    def _candidates(self, table: TokenTable, i: int, k: int | None, widen: bool = False) -> tuple[np.ndarray, bool]:
        """(candidate arcs of sentence i, whether they are fewer than k and the threshold ask for).

        bool[n + 1, n + 1], head first. `widen` adds the pruner's best tree. A sentence whose arcs make up too many
        parts has WIDEST heads a word where k is larger, and of each head the nearest modifiers (`limit_parts`).
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
        if cut and (k is None or k > WIDEST):
            allowed, _ = limit_parts(candidates(WIDEST), families)
        return allowed, cut

    def _scores(self, table: TokenTable, i: int, k: int | None, widen: bool = False) -> tuple[Scores, bool]:
        """(the scored candidate arcs of sentence i and the parts that they make up, as `_candidates`)."""
        allowed, cut = self._candidates(table, i, k, widen)
        return self._folded(table, i, self._scored(table, i, allowed))[0], cut

    def scores_without_labels(self, table: TokenTable, i: int, every: bool = False) -> tuple[Scores, bool]:
        """Return the scored candidate arcs of sentence i, or `every` arc, and whether they were cut (`_candidates`)."""
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
        """Score the candidate arcs of sentence i, without labels, and the parts that they make up."""
        rows, tag = table.sentence(i)
        projective, matches = self.decoder.space == "projective", table.matches(i)
        scorer = self.model.scorer
        return scorer.score(self._weights, rows, tag, allowed, self.single_root, projective, matches)

    def _folded(self, table: TokenTable, i: int, scored: Scores) -> tuple[Scores, np.ndarray | None]:
        """Add the score of each arc's best label to the scores of sentence i; return these labels, too."""
        scored, labels = self.model.labelling.fold(self._weights, table.sentence(i)[0], scored)
        self._check_size(scored)
        return scored, labels

    def _check_size(self, scored: Scores) -> None:
        """ModelError where sums of scores might be rounded, as weights that were never trained can make it happen.

        What the weights allow is nearly always far below that; only where it is not are the scores looked at.
        """
        parts = sum(map(len, scored.by_family.values()))
        if np.abs(scored.arc).sum() + parts * self._part < LARGEST_SUM:
            return
        total = sum(float(np.abs(scores).sum()) for scores in (scored.arc, *scored.by_family.values()))
        if total >= LARGEST_SUM:
            raise ModelError(
                f"scores of a sentence sum to {total:.3g}, which is no longer exact", hint="train the model again"
            )

    def _parse(self, work: _Work, sentences: range) -> list[Parse]:
        """These sentences, stage by stage: what a stage has in the processor's caches serves the next sentence, too."""
        table = work.table
        problems = self._problems(table, sentences)[::-1]
        kept = problems[::-1] if self.validity is not None else []
        # a problem is handed over, so that its memory is free once it is solved
        trees = [self._tree(table, i, self.k, problems.pop()) for i in sentences]
        parses = [self._claimed(table, i, *tree) for i, tree in zip(sentences, trees, strict=True)]
        if self.validity is not None:
            stated = [(problem.problem, problem.labels) for problem in kept]
            return self.validity.of_batch(table, sentences, [work.words(i) for i in sentences], parses, stated)
        return [self._labelled(parse, table, i) for i, parse in zip(sentences, parses, strict=True)]

    def _problems(self, table: TokenTable, sentences: range) -> list[_Stated]:
        """The scored problems of these sentences; every one was scored for as long as the others on average.

        Pruner, scorer and labeller read tables of their own, of several MiB each. Taking turns sentence by sentence,
        they would drive one another's tables out of the caches.
        """
        started = time.perf_counter()
        allowed = [self._candidates(table, i, self.k) for i in sentences]
        scored = [self._scored(table, i, arcs) for i, (arcs, _) in zip(sentences, allowed, strict=True)]
        folded = [self._folded(table, i, scores) for i, scores in zip(sentences, scored, strict=True)]
        problems = [(scores.problem(self.model.unit), labels) for scores, labels in folded]
        seconds = (time.perf_counter() - started) / max(1, len(problems))
        pairs = zip(problems, allowed, strict=True)
        return [_Stated(problem, cut, seconds, labels) for (problem, labels), (_, cut) in pairs]

    @property
    def _narrow(self) -> bool:
        """Whether words keep few heads."""
        return self.k is not None and self.k <= WIDEST

    def _stated(self, table: TokenTable, i: int, k: int | None, widen: bool = False) -> _Stated:
        started = time.perf_counter()
        allowed, cut = self._candidates(table, i, k, widen)
        scored, labels = self._folded(table, i, self._scored(table, i, allowed))
        return _Stated(scored.problem(self.model.unit), cut, time.perf_counter() - started, labels)

    def _tree(self, table: TokenTable, i: int, k: int | None, stated: _Stated) -> tuple[Parse, bool]:
        """(sentence i decoded, whether its candidates were cut); where no tree is left, with the pruner's added."""
        parse, cut = self._timed(stated), stated.cut
        if parse.status == "infeasible":
            del stated
            wider = self._stated(table, i, k, widen=True)
            parse, cut = self._timed(wider), wider.cut
        return parse, cut

    def _claimed(self, table: TokenTable, i: int, parse: Parse, cut: bool) -> Parse:
        """The parse of sentence i with what is proved about it.

        That is nothing for a sentence that is too large to be searched, or for all candidates of k to be stated: the
        tree is the best one of fewer candidates then.
        """
        unproved = parse.status == "limit" and bool(np.isinf(parse.bound))
        if unproved and not self._narrow:
            parse, cut = self._tree(table, i, WIDEST, self._stated(table, i, WIDEST))[0], True
        if unproved and self._narrow and parse.value > -np.inf and parse.work.get("nodes") == 0:
            cut = True
        if not cut or parse.status == "infeasible":
            return parse
        return replace(parse, status="heuristic" if self._narrow else "limit", bound=np.inf)

    def _timed(self, stated: _Stated) -> Parse:
        """The tree of a problem, with the time that it took."""
        started = time.perf_counter()
        parse = self.decoder.decode(stated.problem)
        if not parse.seconds:  # a decoder that does not split its time
            parse.seconds["decode"] = time.perf_counter() - started
        parse.seconds["features"] = stated.seconds
        if self.validity is not None and stated.labels is not None and parse.value > -np.inf:
            chosen = np.flatnonzero(parse.heads[stated.problem.mod] == stated.problem.head)
            labels = np.full(len(parse.heads), -1, np.int32)
            labels[stated.problem.mod[chosen]] = stated.labels[chosen]
            return parse.with_labels(labels)
        return parse

    def scores_of_trees(self, treebank: Treebank) -> list[float]:
        """What the model gives the trees of `treebank` themselves, on the scale of `Parse.value`.

        -inf for those that `parse` cannot return: with an arc that the pruner removed, with crossing arcs where the
        decoder's trees have none, with several roots where the model's have one.
        """
        table, out, projective = _table(self.model, treebank), [], self.decoder.space == "projective"
        for i in range(len(treebank)):
            heads = treebank.heads(i)
            within = in_space(heads, projective, self.single_root)
            out.append(PartScore(self._solved_problem(table, i)).score(heads) if within else -np.inf)
        return out

    def labelled(self, parse: Parse, treebank: Treebank, i: int) -> Parse:
        """A parse of sentence i with the labels that the model gives the arcs of its tree."""
        return self._labelled(parse, _table(self.model, treebank), i)

    def _labelled(self, parse: Parse, table: TokenTable, i: int) -> Parse:
        """The parse with the labels that the model gives its arcs; as it is where the model has none."""
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
        """One Parse a sentence, in order; the same for any number of workers, here or on a cluster.

        confidence  `treebound.decoders.confidence.Assess`, for parses that say how sure they are
        workers, scheduler  as for `treebound.support.workers.spread`
        misc        the column MISC of each sentence, which some rules of `valid` read; None: nothing stands in it
        InputError, before anything is parsed, where a sentence is longer than `features.long_sentences.LONGEST`.
        """
        check_lengths(treebank)
        some = blocks(len(treebank), BLOCK)
        work = _Work(self, _table(self.model, treebank), treebank, confidence, misc)
        found = spread(_block, work, some, workers=workers, scheduler=scheduler, short=True)
        results = chain.from_iterable(found)
        return list(progress(results, "parse") if progress else results)

    def _block(self, work: _Work, sentences: range) -> list[Parse]:
        parses = [parse for batch in self._batches(work.table, sentences) for parse in self._parse(work, batch)]
        if work.confidence is None:
            return parses
        return [self._assessed(work, i, parse) for i, parse in zip(sentences, parses, strict=True)]

    def _assessed(self, work: _Work, i: int, parse: Parse) -> Parse:
        """Return the parse of sentence i with its confidence: among valid trees, if trees have to be valid."""
        assert work.confidence is not None
        if self.validity is not None and parse.work.get("valid"):
            decoder = self.validity.decoder_of(work.table, i, work.words(i), parse)
            return work.confidence(decoder, decoder.scores.problem, parse)
        return work.confidence(self.decoder, self._solved_problem(work.table, i), parse)

    def _batches(self, table: TokenTable, sentences: range) -> Iterator[range]:
        """The sentences in batches whose problems are in memory together; a problem of all arcs may take a gigabyte."""
        first = words = 0
        for i, n in enumerate(np.diff(table.offsets[sentences.start : sentences.stop + 1]).tolist()):
            words += n
            if i > first and (words > TOGETHER or not self._narrow):
                yield sentences[first:i]
                first, words = i, n
        if len(sentences):
            yield sentences[first:]


class _Work(NamedTuple):
    """A parser and what it parses."""

    parser: Parser
    table: TokenTable
    treebank: Treebank
    confidence: Assessment | None
    misc: Sequence[Sequence[str]] | None

    def words(self, i: int) -> Words:
        """What rules see of sentence i."""
        return words_of(self.treebank, i, None if self.misc is None else self.misc[i])


def _block(work: _Work, sentences: range) -> list[Parse]:
    return work.parser._block(work, sentences)


def _table(model: Model, treebank: Treebank) -> TokenTable:
    """Token table under the conventions that the model was trained with."""
    own = under(model.meta, treebank)
    return TokenTable(own, model.scorer.matches(own))


def load(path: str | Path, **options: Any) -> Parser:
    """A parser from a model file; `options` as for `Parser`."""
    return Parser(Model.load(path), **options)
