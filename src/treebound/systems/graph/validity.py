"""Parses that keep the rules of a validator: the best valid tree of a sentence, and the best valid labels for it.

A model chooses labels twice: with the tree, arc by arc, and again once the tree is known. Both choices keep the rules.
The tree is the best one that can be labelled validly, under the score that trees are always searched by; the labels are
the best valid ones for that tree, under the score that labels are always chosen by.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from treebound.constraints.rows import Words
from treebound.constraints.ud import RuleSet, Screen, UdRule, load, unknown_labels, unknown_tags
from treebound.core.errors import UnsupportedError
from treebound.core.limits import check_memory
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.treebank import Treebank
from treebound.core.validity import Region, ValidityProof
from treebound.decoders.exact.branch_and_bound.record import SearchRecord, certificate
from treebound.decoders.exact.valid_trees import LabelScores, OnlyTree, ValidDecoder, ValidRecord
from treebound.features.tokens import TokenTable

if TYPE_CHECKING:
    from treebound.systems.graph.parser import Parser

#: a problem whose scores hold those of the best label of each arc, and these labels, int32[A]
Stated = tuple[Problem, np.ndarray | None]
LABEL = 16  #: bytes of the score of an arc's label in the tables of a search


@dataclass(frozen=True)
class Validity:
    """The rules that the parses of a parser keep.

    parser  whose model chooses labels with the tree, and whose decoder bounds the search
    rules   the rules
    screen  tells which labelled trees might break a rule
    """

    parser: Parser
    rules: RuleSet
    screen: Screen

    @classmethod
    def of(cls, parser: Parser, valid: str | Path | RuleSet) -> Validity:
        """Return the rules of a name or file.

        UnsupportedError for a model that does not choose labels with the tree, or whose labels are not those of the
        rules; InputError for what is no set of rules.
        """
        if parser.model.labelling.joint is None:
            reason = "the model does not choose labels with the tree, so no valid tree can be searched"
            raise UnsupportedError(reason, hint="train it with --labels both or joint")
        rules = valid if isinstance(valid, RuleSet) else load(valid)
        names = parser.model.labelling.names
        if 2 * len(unknown_labels(names)) > len(names):
            some = ", ".join(names[:3])
            reason = f"the rules {rules.name} are about the labels of Universal Dependencies, not about {some}, ..."
            raise UnsupportedError(reason, hint="leave the rules out, or train on a treebank of Universal Dependencies")
        return cls(parser, rules, Screen(rules, names, parser.decoder.space))

    def of_batch(
        self,
        table: TokenTable,
        sentences: Sequence[int],
        words: Sequence[Words],
        bests: Sequence[Parse],
        problems: Sequence[Stated],
    ) -> list[Parse]:
        """Return the best valid tree of each sentence with the best valid labels.

        Where no tree of a sentence's candidate arcs is valid, all arcs are candidates, and `work["every"]` is 1. Where
        none of these is valid either, the result is the sentence's best tree with its usual labels, and `work["valid"]`
        is 0. Nothing is claimed then about other trees, but its record proves that none is valid.

        table, sentences  the sentences of a token table
        words             the sentences as rules see them
        bests             the best tree of each when no rule is known, with the labels that were chosen with it
        problems          the problem of each that was searched first, and the labels in its scores
        """
        codes = [self.screen.codes(sentence) for sentence in words]
        again = self._suspicious(codes, bests)
        trees = [
            self._tree(table, i, words[j], bests[j], problems[j]) if again[j] else _accepted(bests[j])
            for j, i in enumerate(sentences)
        ]
        if self.parser.model.labelling.stage is None:
            return trees
        final = [self.parser._labelled(tree, table, i) for i, tree in zip(sentences, trees, strict=True)]
        again = self._suspicious(codes, final)
        return [
            self._relabelled(table, i, words[j], final[j]) if again[j] and final[j].work.get("valid") else final[j]
            for j, i in enumerate(sentences)
        ]

    def words(self, treebank: Treebank, i: int, misc: Sequence[str] | None = None) -> Words:
        """Return what the rules see of sentence i, as `words_of`."""
        return words_of(treebank, i, misc)

    @property
    def name(self) -> str:
        """The name of the rules: of a file, without its folder."""
        return Path(self.rules.name).name

    def statement(self, treebank: Treebank, i: int, misc: Sequence[str] | None, every: bool) -> SentenceDecoder:
        """Return the decoder of the valid trees of sentence i, as `parse` searches them, over `every` arc or not."""
        return self.decoder(self.parser.token_table(treebank), i, self.words(treebank, i, misc), every)

    def labelled(self, parse: Parse, treebank: Treebank, i: int, decoder: SentenceDecoder) -> Parse:
        """Return a valid tree of sentence i with the labels that `parse` gives it; `decoder` is that of `statement`."""
        if self.parser.model.labelling.stage is None:
            labels = decoder.labels_for(parse.heads)
            return parse if labels is None else parse.with_labels(labels)
        return self._relabelled(self.parser.token_table(treebank), i, decoder.words, parse)

    def rules_of(self, words: Words) -> tuple[UdRule, ...]:
        """Return the rules that concern a sentence: where it has other tags, only those that do not read tags."""
        if unknown_tags(words.word_class[1:]):
            return tuple(rule for rule in self.rules.rules if not rule.tagged)
        return self.rules.rules

    def _suspicious(self, codes: Sequence[np.ndarray], parses: Sequence[Parse]) -> list[bool]:
        """Return which labelled trees might break a rule; codes: those of `Screen.codes` for each sentence."""
        some = [j for j, parse in enumerate(parses) if parse.labels is not None]
        out = [False] * len(parses)
        if not some:
            return out
        offsets = np.cumsum([0, *(len(codes[j]) for j in some)])
        heads = np.concatenate([parses[j].heads[1:] for j in some])
        labels = np.concatenate([parses[j].labels[1:] for j in some])  # type: ignore[index]
        marked = self.screen.suspicious(offsets, heads, labels, np.concatenate([codes[j] for j in some]))
        for j, suspicious in zip(some, marked.tolist(), strict=True):
            out[j] = suspicious
        return out

    def _tree(self, table: TokenTable, i: int, words: Words, labelled: Parse, stated: Stated) -> Parse:
        """Return the best valid tree of a sentence whose best tree, with its first labels, might break a rule."""
        started = time.perf_counter()
        scores = LabelScores(_only(labelled.heads), np.zeros((words.n, 0)), self.names)
        if ValidDecoder(self.parser.decoder, scores, words, self.rules_of(words)).violation(labelled) is None:
            return _accepted(labelled)
        known = labelled.certified and _has_tree(stated[0], labelled.heads)
        decoder = self._restated(table, i, words, stated) if known else self.decoder(table, i, words)
        parse = self._searched(table, i, decoder, labelled if known else None)
        work = {name: labelled.work.get(name, 0) + parse.work.get(name, 0) for name in {**labelled.work, **parse.work}}
        if parse.value == -np.inf:
            return replace(labelled, status="heuristic", bound=np.inf, work={**work, "valid": 0}, record=parse.record)
        seconds = {**labelled.seconds, "validity": time.perf_counter() - started}
        return replace(parse, seconds=seconds, work=work)

    def _searched(self, table: TokenTable, i: int, decoder: SentenceDecoder, relaxed: Parse | None) -> Parse:
        """Return the best valid tree among the candidate arcs; among all arcs if there is none.

        relaxed  the best tree of the decoder's problem that knows no rules, if that is proved
        """
        every = False
        parse = decoder.decode(decoder.scores.problem, relaxed)
        if parse.value == -np.inf and self.parser.k is not None:
            decoder, every = self.decoder(table, i, decoder.words, every=True), True
            parse = decoder.decode(decoder.scores.problem)
        if decoder.cut and parse.value > -np.inf:
            parse = replace(parse, status="heuristic", bound=np.inf, record=None)
        return replace(parse, work={**parse.work, "valid": 1, "every": int(every)})

    def _restated(self, table: TokenTable, i: int, words: Words, stated: Stated) -> SentenceDecoder:
        """Return the decoder over a problem that has been stated already: only labels are scored again."""
        problem, first = stated
        labels = self._table(table, i, problem.head, problem.mod)
        own = problem.arc - labels[np.arange(problem.arcs), first]
        scores = LabelScores(problem, own[:, None] + labels, self.names)
        return SentenceDecoder(self.parser.decoder, scores, words, self.rules_of(words))

    def decoder_of(self, table: TokenTable, i: int, words: Words, parse: Parse) -> SentenceDecoder:
        """Return the decoder that found a valid parse of sentence i."""
        return self.decoder(table, i, words, every=bool(parse.work.get("every")))

    @property
    def names(self) -> tuple[str, ...]:
        """The labels of the model."""
        return self.parser.model.labelling.names

    def decoder(self, table: TokenTable, i: int, words: Words, every: bool = False) -> SentenceDecoder:
        """Return the decoder of the valid trees of sentence i, over its candidate arcs or over `every` arc."""
        scored, cut = self.parser.scores_without_labels(table, i, every)
        index, n = scored.arc_index, words.n
        size = LABEL * len(index.head) * len(self.names)
        check_memory(f"the labels of {n:,} words", size, "parse without --valid, or keep fewer heads a word (--k)")
        labels = self._table(table, i, index.head, index.mod)
        problem = scored.problem(self.parser.model.unit)
        scores = LabelScores(problem, scored.arc[:, None] + labels, self.names)
        decoder = SentenceDecoder(self.parser.decoder, scores, words, self.rules_of(words))
        decoder.cut = cut
        return decoder

    def _table(self, table: TokenTable, i: int, head: np.ndarray, mod: np.ndarray) -> np.ndarray:
        """Return float64[A, L]: the score of each label, as it is chosen with the tree, on some arcs of sentence i."""
        joint = self.parser.model.labelling.joint
        assert joint is not None
        rows, tag = table.sentence(i)
        arcs = (np.ascontiguousarray(ends, np.int32) for ends in (head, mod))
        return joint.of_arcs(self.parser.weights, rows, len(tag) - 1, *arcs)[:, : len(self.names)].astype(np.float64)

    def _relabelled(self, table: TokenTable, i: int, words: Words, parse: Parse) -> Parse:
        """Return a valid tree with the best labels, as they are chosen for a known tree, that keep the rules."""
        stage = self.parser.model.labelling.stage
        assert stage is not None
        labels = stage.of_tree(self.parser.weights, table.sentence(i)[0], parse.heads)
        scores = LabelScores(_only(parse.heads), labels[:, : len(self.names)].astype(np.float64), self.names)
        only = OnlyTree(parse.heads, self.parser.decoder.space)
        chosen = ValidDecoder(only, scores, words, self.rules_of(words)).decode(scores.problem)
        assert chosen.labels is not None, "the tree has valid labels: those that were chosen with it"
        return parse.with_labels(chosen.labels)


class SentenceDecoder(ValidDecoder):
    """The decoder of the valid trees of one sentence.

    cut  whether the sentence has fewer candidate arcs than were asked for, so that nothing is proved about the others
    """

    cut: bool = False

    def labels_for(self, heads: np.ndarray) -> np.ndarray | None:
        """Return the best valid labels (int32[n + 1]) of a tree, as they are chosen with it; None if it has none.

        Raises ValueError where an arc of the tree is no candidate.
        """
        problem = self.scores.problem
        arcs = np.flatnonzero(heads[problem.mod] == problem.head)
        if len(arcs) != problem.n:
            raise ValueError("the tree has an arc that is no candidate")
        table = self.scores.table[arcs[np.argsort(problem.mod[arcs])]]
        scores = LabelScores(_only(heads), table, self.scores.names)
        return ValidDecoder(OnlyTree(heads, self.space), scores, self.words, self.rules).decode(scores.problem).labels


def words_of(treebank: Treebank, i: int, misc: Sequence[str] | None = None) -> Words:
    """Return what rules see of sentence i: forms, UPOS, FEATS, lemmas, and MISC (n strings; None: empty)."""
    form, upos, feats, lemma = (treebank[i].strings(name) for name in ("form", "upos", "feats", "lemma"))
    return Words.of(form, upos, feats=feats, misc=misc, lemma=lemma).with_empty_columns()


def _accepted(labelled: Parse) -> Parse:
    """Return the best tree of a sentence, which is valid; its proof shows that no valid tree scores more."""
    if labelled.labels is None:
        return labelled
    proof = None
    if isinstance(labelled.record, SearchRecord):
        proof = ValidRecord(ValidityProof([Region(-1, True, bound=certificate(labelled.record))]))
    return replace(labelled, record=proof, work={**labelled.work, "regions": 1, "valid": 1})


def _has_tree(problem: Problem, heads: np.ndarray) -> bool:
    """Return whether all arcs of a tree are candidates of a problem."""
    return int(np.count_nonzero(heads[problem.mod] == problem.head)) == problem.n


def _only(heads: np.ndarray) -> Problem:
    """Return the problem whose candidate arcs are those of one tree, with scores of 0."""
    n = len(heads) - 1
    return Problem(n, heads[1:], np.arange(1, n + 1), np.zeros(n), single_root=False)
