"""A fast screen for the trees of many sentences: which of them might break a validity rule?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import NamedTuple

import numpy as np

from treebound.constraints.rows import Words
from treebound.constraints.ud import clauses, crossings, words
from treebound.constraints.ud.base import EntryRule, TwoLabelsRule, UdRule
from treebound.constraints.ud.entries import EMPTY, ROOT, Entry, entry
from treebound.constraints.ud.labels import labels_of
from treebound.constraints.ud.rule_sets import RuleSet
from treebound.core.spaces import Space

#: a property of a word, given its entry and which of FEATS, MISC, LEMMA are known
Columns = tuple[bool, bool, bool]
COLUMNS = ("feats", "misc", "lemma")
#: words that may have dependents, or be dependents, where other words may not
POSSESSIVE, NEGATIVE = Entry("DET", "Poss=Yes"), Entry("PART", "Polarity=Neg")
#: stands for every lemma
LEMMA = "lemma"
#: distinct words that a screen remembers
MOST_WORDS = 1 << 18
SPANS = (clauses.Gap, clauses.NoSpace)


class Batch(NamedTuple):
    """Trees of several sentences, side by side: arrays over all their words.

    heads   head of each word in its sentence, 0 at the root
    places  position of each word in its sentence, 1..n
    above   index of each word's head in the arrays; their length at the root
    labels  number of each word's label
    head_labels, codes, head_codes  numbers of the head's label, of the word's properties, and of the head's
    sizes, sentence  words of each sentence, and the sentence of each word
    """

    heads: np.ndarray
    places: np.ndarray
    above: np.ndarray
    labels: np.ndarray
    head_labels: np.ndarray
    codes: np.ndarray
    head_codes: np.ndarray
    sizes: np.ndarray
    sentence: np.ndarray


class Screen:
    """A necessary condition for broken rules, by tables over labels and over properties of words.

    Parameters
    ----------
    rule_set
        The rules.
    names
        The labels, in the order of their numbers.
    space
        `projective` says that no arcs cross. Rules about crossing arcs are not looked at then.

    Examples
    --------
    >>> from treebound.constraints.ud import load
    >>> screen = Screen(load("ud"), ("root", "obj"))
    >>> codes = screen.codes(Words.of("see it them".split(), ["VERB", "PRON", "PRON"], ["_"] * 3, ["_"] * 3))
    >>> screen.suspicious([0, 3], [0, 1, 1], [0, 1, 1], codes)
    array([ True])
    """

    def __init__(self, rule_set: RuleSet, names: tuple[str, ...], space: Space = "non-projective"):
        self._names, self._space = names, space
        rules = rule_set.rules
        plain = [rule.inner if isinstance(rule, words.UnlessGoeswith) else rule for rule in rules]
        self._entry_rules = [rule for rule in plain if isinstance(rule, EntryRule)]
        bits = [(rule.labels(names), 1 << k) for k, rule in enumerate(self._entry_rules)]
        self._label_bits = np.array([sum(bit for labels, bit in bits if n in labels) for n in names], np.uint64)
        self._numbers: dict[tuple[Entry, Columns], int] = {}
        self._rows: list[tuple[int, ...]] = [(0,) * 7]
        self._words: dict[tuple[str | None, ...], int] = {}
        self._tables: tuple[np.ndarray, ...] = ()
        self._pairs = self._label_pairs(rules)
        self._roots = [(self._mask(r.labels(names)), r.attached) for r in rules if isinstance(r, words.RootLabel)]
        self._leftwards = self._relations(*(r.relation for r in rules if isinstance(r, words.LeftToRight)))
        self._limits = [(self._mask(r.labels(names)), r.subjects) for r in rules if isinstance(r, clauses.AtMostOne)]
        spans = {"goeswith" if isinstance(r, clauses.NoSpace) else r.relation for r in rules if isinstance(r, SPANS)}
        self._parts = [(self._relations(name), name == "goeswith") for name in sorted(spans)]
        kinds = (clauses.OBLIQUE, clauses.NOMINAL, clauses.CLAUSAL, crossings.PUNCT)
        self._oblique, self._nominal, self._clausal, self._punct = (self._relations(*kind) for kind in kinds)
        self._checks = [*self._of_rules({type(rule) for rule in rules})]

    def _of_rules(self, kinds: set[type]) -> Iterable[Callable[[Batch, np.ndarray], None]]:
        yield self._entries
        if kinds & {words.RootLabel, words.LeftToRight}:
            yield self._directions
        if any(issubclass(kind, TwoLabelsRule) for kind in kinds):
            yield self._two_labels
        if clauses.AtMostOne in kinds:
            yield self._counts
        if clauses.ObliqueUnderNominal in kinds:
            yield self._obliques
        if kinds & {clauses.Gap, clauses.NoSpace}:
            yield self._spans
        if self._space == "non-projective" and kinds & {crossings.Interrupts, crossings.AttachedAcross}:
            yield self._crossings

    def _mask(self, labels: frozenset[str]) -> np.ndarray:
        return np.array([name in labels for name in self._names] + [False])

    def _relations(self, *relations: str) -> np.ndarray:
        return self._mask(labels_of(self._names, frozenset(relations)))

    def _label_pairs(self, rules: tuple[UdRule, ...]) -> np.ndarray:
        """Return the labels of a head and of a dependent that a rule about two labels excludes: bool[2, 2, L + 1, L].

        First come whether the head is possessive and whether the dependent is negative.
        """
        table = np.zeros((2, 2, len(self._names) + 1, len(self._names)), np.bool_)
        for rule in rules:
            if isinstance(rule, TwoLabelsRule):
                parents = self._mask(rule.parent_labels(self._names))[:, None]
                for (i, head), (j, child) in product(enumerate((ROOT, POSSESSIVE)), enumerate((ROOT, NEGATIVE))):
                    table[i, j] |= parents & self._mask(rule.child_labels(self._names, head, child))[:-1]
        return table

    def codes(self, sentence: Words) -> np.ndarray:
        """Return a number for the properties of every word, int32[n], as `suspicious` takes them. O(n)."""
        known = (sentence.feats is not None, sentence.misc is not None, sentence.lemma is not None)
        unknown = (None,) * (sentence.n + 1)
        lemmas = [lemma if lemma in EMPTY else LEMMA for lemma in sentence.lemma] if sentence.lemma else unknown
        columns = (sentence.word_class, sentence.feats or unknown, sentence.misc or unknown, lemmas)
        codes = [self._words.get(word) or self._number(word, known) for word in zip(*columns, strict=True)]
        return np.array(codes[1:], np.int32)

    def _number(self, word: tuple[str, str | None, str | None, str | None], known: Columns) -> int:
        """Return the number of a word that was not seen before, and remember it as far as memory allows."""
        if len(self._words) > MOST_WORDS:
            self._words.clear()
        return self._words.setdefault(word, self._code(entry(*word), known))

    def _code(self, word: Entry, known: Columns) -> int:
        number = self._numbers.get((word, known))
        if number is None:
            number = self._numbers[word, known] = len(self._rows)
            columns = {column for column, present in zip(COLUMNS, known, strict=True) if present}
            rules = [(rule, 1 << k) for k, rule in enumerate(self._entry_rules) if rule.needs <= columns]
            own = sum(bit for rule, bit in rules if rule.excludes(word))
            under = sum(bit for rule, bit in rules if rule.excludes_under(word))
            nominal = word.tag in clauses.NOMINAL_TAGS
            flags = (nominal, known[1] and not word.outer, word.no_space, clauses.possessive(word), word.negative)
            self._rows.append((own, under, *flags))
            self._tables = ()
        return number

    def _columns(self) -> tuple[np.ndarray, ...]:
        if not self._tables:
            own, under, *flags = zip(*self._rows, strict=True)
            masks = (np.array(column, np.uint64) for column in (own, under))
            self._tables = (*masks, *(np.array(column, np.bool_) for column in flags))
        return self._tables

    def suspicious(self, offsets: np.ndarray, heads: np.ndarray, labels: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return which sentences might break a rule: never False for a sentence that does.

        Parameters
        ----------
        offsets
            int[S + 1]: the words of sentence s have the indices from `offsets[s]` up to `offsets[s + 1]`.
        heads
            int[N]: heads of all words, 0 at the root and 1..n else.
        labels
            int[N]: numbers of their labels.
        codes
            int[N]: their properties, by the method `codes`.

        Returns
        -------
        bool[S]. O(N) for projective trees, and O(n per punctuation mark) more for others.
        """
        offsets, heads, labels, codes = (np.asarray(a, np.intp) for a in (offsets, heads, labels, codes))
        sizes = np.diff(offsets)
        sentence = np.repeat(np.arange(len(sizes)), sizes)
        start = offsets[sentence]
        above = np.where(heads > 0, start + heads - 1, len(heads))
        head_labels = np.append(labels, len(self._names))[above]
        head_codes = np.append(codes, 0)[above]
        places = np.arange(len(heads)) - start + 1
        batch = Batch(heads, places, above, labels, head_labels, codes, head_codes, sizes, sentence)
        broken = np.zeros(len(heads), np.bool_)
        for check in self._checks:
            check(batch, broken)
        result = np.zeros(len(sizes), np.bool_)
        result[sentence[broken]] = True
        return result

    def _entries(self, batch: Batch, broken: np.ndarray) -> None:
        own, under, *_ = self._columns()
        excluded = own[batch.codes] | under[batch.head_codes]
        broken |= (self._label_bits[batch.labels] & excluded) != 0

    def _directions(self, batch: Batch, broken: np.ndarray) -> None:
        at_root = batch.heads == 0
        for wrong, attached in self._roots:
            broken |= wrong[batch.labels] & (at_root != attached)
        broken |= self._leftwards[batch.labels] & (batch.heads > batch.places)

    def _two_labels(self, batch: Batch, broken: np.ndarray) -> None:
        *_, possessive, negative = self._columns()
        head, child = possessive[batch.head_codes].view(np.int8), negative[batch.codes].view(np.int8)
        broken |= self._pairs[head, child, batch.head_labels, batch.labels]

    def _counts(self, batch: Batch, broken: np.ndarray) -> None:
        for counted, subjects in self._limits:
            index = counted[batch.labels] & (batch.heads > 0)
            if subjects:
                index &= self._columns()[3][batch.codes]
            above = batch.above[index]
            broken[index] |= np.bincount(above, minlength=1)[above] > 1

    def _obliques(self, batch: Batch, broken: np.ndarray) -> None:
        index = self._oblique[batch.labels] & self._nominal[batch.head_labels] & self._columns()[2][batch.head_codes]
        if index.any():
            clausal = np.zeros(len(batch.heads) + 1, np.bool_)
            clausal[batch.above[self._clausal[batch.labels]]] = True
            broken |= index & ~clausal[batch.above]

    def _spans(self, batch: Batch, broken: np.ndarray) -> None:
        """Every dependent of such a relation follows its head, or another such dependent of its head, at once."""
        for mask, goeswith in self._parts:
            parts = mask[batch.labels]
            if not parts.any():
                continue
            index = np.flatnonzero(parts)
            above, before = batch.above[index], index - 1
            joined = (before == above) | (parts[before] & (batch.above[before] == above))
            right = above < index
            if goeswith:
                broken[index] |= ~right | ~joined | self._columns()[4][batch.codes[before]]
            else:
                broken[index] |= right & ~joined

    def _crossings(self, batch: Batch, broken: np.ndarray) -> None:
        """Find marks with a word under their arc and its head outside, or a word beyond them and its head under it."""
        low, high = np.minimum(batch.heads, batch.places), np.maximum(batch.heads, batch.places)
        marks = np.flatnonzero(self._punct[batch.labels] & (high - low > 1))
        if not len(marks):
            return
        sizes = batch.sizes[batch.sentence[marks]]
        mark = np.repeat(marks, sizes)
        first = np.repeat(np.cumsum(sizes) - sizes, sizes)
        word = np.arange(len(mark)) - first + np.repeat(marks - batch.places[marks] + 1, sizes)
        own, head, a, b = batch.places[word], batch.heads[word], low[mark], high[mark]
        leaves = (a < own) & (own < b) & ((head < a) | (b < head))
        beyond = np.where(batch.heads[mark] < batch.places[mark], own > b, own < a)
        broken[mark[leaves | (beyond & (a < head) & (head < b))]] = True
