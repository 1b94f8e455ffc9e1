"""Parses that satisfy the rules of a validator: the best valid tree of a sentence, with the best valid labels.

A model chooses labels twice: with the tree, arc by arc, and again for the complete tree. Both choices satisfy the
rules. The tree is the highest-scoring tree that can be labelled validly. The labels are the highest-scoring valid
labels of this tree. Both use the same scores as parsing without rules.
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
from treebound.core.errors import InputError, UnsupportedError
from treebound.core.limits import check_memory
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.treebank import Treebank
from treebound.core.validity import Region, ValidityProof
from treebound.decoders.exact.branch_and_bound.record import SearchRecord, certificate
from treebound.decoders.exact.valid_trees import LabelScores, OnlyTree, ValidDecoder, ValidRecord
from treebound.features.tokens import TokenTable
from treebound.treebanks.claims import can_be_claimed

if TYPE_CHECKING:
    from treebound.systems.graph.parser import Parser

#: a problem whose arc scores include the best label of each arc, and these labels, int32[A]
ScoredProblem = tuple[Problem, np.ndarray | None]
LABEL = 16  #: bytes per arc and label in the tables of a search


@dataclass(frozen=True)
class Validity:
    """The rules that all parses of a parser must satisfy.

    parser  the parser. Its model chooses labels with the tree, and its decoder bounds the search
    rules   the rules
    screen  a fast test for labelled trees that might break a rule
    """

    parser: Parser
    rules: RuleSet
    screen: Screen

    @classmethod
    def of(cls, parser: Parser, valid: str | Path | RuleSet) -> Validity:
        """Load rules by their name or file, for one parser.

        Raises UnsupportedError if the model does not choose labels with the tree, or if most of its labels are unknown
        to the rules. Raises InputError if there is no such set of rules, or if its name has another meaning in the
        comments of parses.
        """
        if parser.model.labelling.joint is None:
            reason = "the model does not choose labels with the tree, so valid trees cannot be searched"
            raise UnsupportedError(reason, hint="train it with --labels both or joint")
        rules = valid if isinstance(valid, RuleSet) else load(valid)
        names = parser.model.labelling.names
        if 2 * len(unknown_labels(names)) > len(names):
            examples = ", ".join(names[:3])
            reason = f"the rules {rules.name} are about the labels of Universal Dependencies, not about {examples}, ..."
            raise UnsupportedError(reason, hint="leave the rules out, or train on a treebank of Universal Dependencies")
        validity = cls(parser, rules, Screen(rules, names, parser.decoder.space))
        if not can_be_claimed(validity.name):
            reason = f"rules cannot be called {validity.name!r}, because comments of parses could not be read back"
            raise InputError(reason, hint="rename the file of the rules, for instance to my-rules.toml")
        return validity

    def of_batch(
        self,
        table: TokenTable,
        sentences: Sequence[int],
        words: Sequence[Words],
        best_parses: Sequence[Parse],
        problems: Sequence[ScoredProblem],
    ) -> list[Parse]:
        """Return the best valid tree of each sentence with the best valid labels.

        If no tree over the candidate arcs is valid, all arcs become candidates, and `work["every"]` of the parse is 1.
        If there is still no valid tree, the result is the best tree without rules, its status is `heuristic`, and
        `work["valid"]` is 0. The record of the parse proves that no tree is valid, or `work["gave_up"]` is 1.

        table         the token table
        sentences     indices of the sentences in the table
        words         the words of each sentence, in the form that rules read
        best_parses   the best tree of each sentence without rules, with the labels that were chosen with it
        problems      for each sentence the problem searched without rules, and the label that each arc score includes
        """
        codes = [self.screen.codes(sentence) for sentence in words]
        suspicious = self._suspicious(codes, best_parses)
        trees = [
            self._tree(table, i, words[j], best_parses[j], problems[j]) if suspicious[j] else _accepted(best_parses[j])
            for j, i in enumerate(sentences)
        ]
        if self.parser.model.labelling.stage is None:
            return trees
        parses = [self.parser._labelled(tree, table, i) for i, tree in zip(sentences, trees, strict=True)]
        suspicious = self._suspicious(codes, parses)
        return [
            self._relabelled(table, i, words[j], parses[j])
            if suspicious[j] and parses[j].work.get("valid")
            else parses[j]
            for j, i in enumerate(sentences)
        ]

    def words(self, treebank: Treebank, i: int, misc: Sequence[str] | None = None) -> Words:
        """Return the words of sentence i in the form that rules read, see `words_of`."""
        return words_of(treebank, i, misc)

    @property
    def name(self) -> str:
        """The name of the rules. For rules from a file: the file name without its folder."""
        return Path(self.rules.name).name

    def statement(self, treebank: Treebank, i: int, misc: Sequence[str] | None, every: bool) -> SentenceDecoder:
        """Return the decoder with which `Parser.parse` finds the best valid tree of sentence i.

        misc   column MISC of the words, which some rules read
        every  whether all arcs are candidates, not only the candidate arcs of the pruner
        """
        return self.decoder(self.parser.token_table(treebank), i, self.words(treebank, i, misc), every)

    def labelled(self, parse: Parse, treebank: Treebank, i: int, decoder: SentenceDecoder) -> Parse:
        """Return `parse`, a valid tree of sentence i, with its best valid labels; `decoder` comes from `statement`."""
        if self.parser.model.labelling.stage is None:
            labels = decoder.labels_for(parse.heads)
            return parse if labels is None else parse.with_labels(labels)
        return self._relabelled(self.parser.token_table(treebank), i, decoder.words, parse)

    def rules_of(self, words: Words) -> tuple[UdRule, ...]:
        """Return the rules for a sentence. If it has unknown tags, the rules that read tags are left out."""
        if unknown_tags(words.word_class[1:]):
            return tuple(rule for rule in self.rules.rules if not rule.tagged)
        return self.rules.rules

    def _suspicious(self, codes: Sequence[np.ndarray], parses: Sequence[Parse]) -> list[bool]:
        """Return for each parse whether its labelled tree might break a rule; `codes` comes from `Screen.codes`."""
        labelled = [j for j, parse in enumerate(parses) if parse.labels is not None]
        marks = [False] * len(parses)
        if not labelled:
            return marks
        offsets = np.cumsum([0, *(len(codes[j]) for j in labelled)])
        heads = np.concatenate([parses[j].heads[1:] for j in labelled])
        labels = np.concatenate([parses[j].labels[1:] for j in labelled])  # type: ignore[index]
        marked = self.screen.suspicious(offsets, heads, labels, np.concatenate([codes[j] for j in labelled]))
        for j, suspicious in zip(labelled, marked.tolist(), strict=True):
            marks[j] = suspicious
        return marks

    def _tree(self, table: TokenTable, i: int, words: Words, labelled: Parse, scored: ScoredProblem) -> Parse:
        """Return the best valid tree of a sentence whose best labelled tree might break a rule."""
        started = time.perf_counter()
        scores = LabelScores(_only(labelled.heads), np.zeros((words.n, 0)), self.names)
        if ValidDecoder(self.parser.decoder, scores, words, self.rules_of(words)).violation(labelled) is None:
            return _accepted(labelled)
        reusable = labelled.certified and _has_tree(scored[0], labelled.heads)
        decoder = self._decoder_of_problem(table, i, words, scored) if reusable else self.decoder(table, i, words)
        parse = self._searched(table, i, decoder, labelled if reusable else None)
        work = {name: labelled.work.get(name, 0) + parse.work.get(name, 0) for name in {**labelled.work, **parse.work}}
        if parse.value == -np.inf:
            record = None if parse.work["gave_up"] else parse.record
            return replace(labelled, status="heuristic", bound=np.inf, work=work, record=record)
        seconds = {**labelled.seconds, "validity": time.perf_counter() - started}
        return replace(parse, seconds=seconds, work=work)

    def _searched(self, table: TokenTable, i: int, decoder: SentenceDecoder, relaxed: Parse | None) -> Parse:
        """Return the best valid tree over the candidate arcs, or over all arcs if the candidates contain no valid tree.

        If there is no valid tree, `work["valid"]` is 0, and `work["gave_up"]` is 1 if this is not proved.

        relaxed  the best tree of the decoder's problem without rules, if its optimality is proved
        """
        every = False
        parse = decoder.decode(decoder.scores.problem, relaxed)
        if parse.value == -np.inf and self.parser.k is not None:
            decoder, every = self.decoder(table, i, decoder.words, every=True), True
            parse = decoder.decode(decoder.scores.problem)
        work = {**parse.work, "valid": int(parse.value > -np.inf), "every": int(every)}
        if not work["valid"]:
            return replace(parse, work=work | {"gave_up": int(parse.status != "infeasible" or decoder.cut)})
        if decoder.cut:
            parse = replace(parse, status="heuristic", bound=np.inf, record=None)
        return replace(parse, work=work)

    def _decoder_of_problem(self, table: TokenTable, i: int, words: Words, scored: ScoredProblem) -> SentenceDecoder:
        """Return the decoder of the valid trees of a scored problem. Only labels are scored again."""
        problem, best_labels = scored
        labels = self._table(table, i, problem.head, problem.mod)
        without_labels = problem.arc - labels[np.arange(problem.arcs), best_labels]
        scores = LabelScores(problem, without_labels[:, None] + labels, self.names)
        return SentenceDecoder(self.parser.decoder, scores, words, self.rules_of(words))

    def decoder_of(self, table: TokenTable, i: int, words: Words, parse: Parse) -> SentenceDecoder:
        """Return the decoder with which a valid parse of sentence i was found."""
        return self.decoder(table, i, words, every=bool(parse.work.get("every")))

    @property
    def names(self) -> tuple[str, ...]:
        """The labels of the model."""
        return self.parser.model.labelling.names

    def decoder(self, table: TokenTable, i: int, words: Words, every: bool = False) -> SentenceDecoder:
        """Return a decoder of the valid trees of sentence i, over candidate arcs or, with `every`, over all arcs."""
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
        """Return float64[A, L]: the joint labeller's score of each of L labels on A arcs of sentence i."""
        joint = self.parser.model.labelling.joint
        assert joint is not None
        rows, tag = table.sentence(i)
        arcs = (np.ascontiguousarray(ends, np.int32) for ends in (head, mod))
        return joint.of_arcs(self.parser.weights, rows, len(tag) - 1, *arcs)[:, : len(self.names)].astype(np.float64)

    def _relabelled(self, table: TokenTable, i: int, words: Words, parse: Parse) -> Parse:
        """Return a valid tree with the best valid labels under the scores of the second-stage labeller."""
        stage = self.parser.model.labelling.stage
        assert stage is not None
        labels = stage.of_tree(self.parser.weights, table.sentence(i)[0], parse.heads)
        scores = LabelScores(_only(parse.heads), labels[:, : len(self.names)].astype(np.float64), self.names)
        single_tree = OnlyTree(parse.heads, self.parser.decoder.space)
        chosen = ValidDecoder(single_tree, scores, words, self.rules_of(words)).decode(scores.problem)
        assert chosen.labels is not None, "the tree has valid labels: the labels that were chosen with it"
        return parse.with_labels(chosen.labels)


class SentenceDecoder(ValidDecoder):
    """The decoder of the valid trees of one sentence.

    cut  whether candidate arcs were left out because of too many parts. No optimality is proved then
    """

    cut: bool = False

    def labels_for(self, heads: np.ndarray) -> np.ndarray | None:
        """Return the best valid labels (int32[n + 1]) of a tree under the joint labeller, or None if there are none.

        Raises ValueError if an arc of the tree is not a candidate.
        """
        problem = self.scores.problem
        arcs = np.flatnonzero(heads[problem.mod] == problem.head)
        if len(arcs) != problem.n:
            raise ValueError("the tree has an arc that is not a candidate")
        table = self.scores.table[arcs[np.argsort(problem.mod[arcs])]]
        scores = LabelScores(_only(heads), table, self.scores.names)
        return ValidDecoder(OnlyTree(heads, self.space), scores, self.words, self.rules).decode(scores.problem).labels


def words_of(treebank: Treebank, i: int, misc: Sequence[str] | None = None) -> Words:
    """Return the words of sentence i as rules read them: forms, UPOS, FEATS, lemmas, and MISC (n strings or None)."""
    form, upos, feats, lemma = (treebank[i].strings(name) for name in ("form", "upos", "feats", "lemma"))
    return Words.of(form, upos, feats=feats, misc=misc, lemma=lemma).with_empty_columns()


def _accepted(labelled: Parse) -> Parse:
    """Return the parse of a best tree that is valid, with the proof that no valid tree scores more.

    The given parse has the proof that no tree scores more, whether valid or not.
    """
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
    """Return the problem whose only candidate arcs are the arcs of one tree, with scores of 0."""
    n = len(heads) - 1
    return Problem(n, heads[1:], np.arange(1, n + 1), np.zeros(n), single_root=False)
