"""A fast test of many sentences at once: find trees that might break a validity rule."""

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

#: whether FEATS, MISC and LEMMA are known
Columns = tuple[bool, bool, bool]
COLUMNS = ("feats", "misc", "lemma")
#: a possessive word and a negative word, to which rules about two labels allow more than to other words
POSSESSIVE, NEGATIVE = Entry("DET", "Poss=Yes"), Entry("PART", "Polarity=Neg")
#: replaces every lemma, because rules read only whether a word has a lemma
LEMMA = "lemma"
#: limit of distinct words whose numbers a screen stores
MOST_WORDS = 1 << 18
SPANS = (clauses.Gap, clauses.NoSpace)


class Batch(NamedTuple):
    """Trees of several sentences as arrays over all their words.

    - heads: head of each word, as a position in its sentence; 0 if the head is the root.
    - places: position of each word in its sentence, 1..n.
    - above: index of each word's head in these arrays. If the head is the root, the index is the length of the arrays.
    - labels, head_labels: number of each word's label, and of its head's label.
    - codes, head_codes: number of each word's properties, and of its head's properties.
    - sizes: number of words of each sentence.
    - sentence: index of the sentence of each word.
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
    """A fast test that finds all trees that break a rule, and perhaps other trees.

    The test looks up labels and properties of words in tables.

    Parameters
    ----------
    rule_set
        The rules.
    names
        The labels, in the order of their numbers.
    space
        `projective` means that no arcs cross. Rules about crossing arcs are then skipped.

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
        """Yield the methods that test the rules of the classes `kinds`."""
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
        """Return bool[L + 1]: whether each label is in the set; the last entry, for the root, is False."""
        return np.array([name in labels for name in self._names] + [False])

    def _relations(self, *relations: str) -> np.ndarray:
        """Return bool[L + 1]: whether each label belongs to one of the relations."""
        return self._mask(labels_of(self._names, frozenset(relations)))

    def _label_pairs(self, rules: tuple[UdRule, ...]) -> np.ndarray:
        """Return the pairs of labels that rules about two labels exclude, as bool[2, 2, L + 1, L].

        The indices are: whether the head is possessive, whether the dependent is negative, the head's label, and the
        dependent's label.
        """
        table = np.zeros((2, 2, len(self._names) + 1, len(self._names)), np.bool_)
        for rule in rules:
            if isinstance(rule, TwoLabelsRule):
                parents = self._mask(rule.parent_labels(self._names))[:, None]
                for (i, head), (j, child) in product(enumerate((ROOT, POSSESSIVE)), enumerate((ROOT, NEGATIVE))):
                    table[i, j] |= parents & self._mask(rule.child_labels(self._names, head, child))[:-1]
        return table

    def codes(self, sentence: Words) -> np.ndarray:
        """Return int32[n]: the number of each word's properties, for the argument `codes` of `suspicious`. O(n)."""
        known = (sentence.feats is not None, sentence.misc is not None, sentence.lemma is not None)
        unknown = (None,) * (sentence.n + 1)
        lemmas = [lemma if lemma in EMPTY else LEMMA for lemma in sentence.lemma] if sentence.lemma else unknown
        columns = (sentence.word_class, sentence.feats or unknown, sentence.misc or unknown, lemmas)
        words, stored = zip(*columns, strict=True), self._words
        codes = [stored[word] if word in stored else self._number(word, known) for word in words]
        return np.array(codes[1:], np.int32)

    def _number(self, word: tuple[str, str | None, str | None, str | None], known: Columns) -> int:
        """Return the number of the properties of a word with these columns, and store it for equal words.

        The store is emptied when it has more than MOST_WORDS words.
        """
        if len(self._words) > MOST_WORDS:
            self._words.clear()
        return self._words.setdefault(word, self._code(entry(*word), known))

    def _code(self, word: Entry, known: Columns) -> int:
        """Return the number of a word's properties; a new combination of properties gets a new number."""
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
        """Return one array for each property, indexed by the numbers that `codes` returns."""
        if not self._tables:
            own, under, *flags = zip(*self._rows, strict=True)
            masks = (np.array(column, np.uint64) for column in (own, under))
            self._tables = (*masks, *(np.array(column, np.bool_) for column in flags))
        return self._tables

    def suspicious(self, offsets: np.ndarray, heads: np.ndarray, labels: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the sentences that might break a rule. Every sentence that breaks a rule is among them.

        Parameters
        ----------
        offsets
            int[S + 1]: the words of sentence s have the indices from `offsets[s]` up to `offsets[s + 1]`.
        heads
            int[N]: heads of all words in their sentences, 1..n, or 0 for the root.
        labels
            int[N]: numbers of the words' labels.
        codes
            int[N]: properties of the words, from the method `codes`.

        Returns
        -------
        bool[S]. O(N) for projective trees; other trees need O(n) more for each punctuation mark.
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
        """Mark words that break a rule about a label and properties of the word or of its head."""
        own, under, *_ = self._columns()
        excluded = own[batch.codes] | under[batch.head_codes]
        broken |= (self._label_bits[batch.labels] & excluded) != 0

    def _directions(self, batch: Batch, broken: np.ndarray) -> None:
        """Mark words that break a rule about the label of the root, or about the direction of an arc."""
        at_root = batch.heads == 0
        for wrong, attached in self._roots:
            broken |= wrong[batch.labels] & (at_root != attached)
        broken |= self._leftwards[batch.labels] & (batch.heads > batch.places)

    def _two_labels(self, batch: Batch, broken: np.ndarray) -> None:
        """Mark words that break a rule about the labels of a word and its head."""
        *_, possessive, negative = self._columns()
        head, child = possessive[batch.head_codes].view(np.int8), negative[batch.codes].view(np.int8)
        broken |= self._pairs[head, child, batch.head_labels, batch.labels]

    def _counts(self, batch: Batch, broken: np.ndarray) -> None:
        """Mark subjects that share a head, and direct objects that share a head, if a rule forbids this."""
        for counted, subjects in self._limits:
            index = counted[batch.labels] & (batch.heads > 0)
            if subjects:
                index &= self._columns()[3][batch.codes]
            above = batch.above[index]
            broken[index] |= np.bincount(above, minlength=1)[above] > 1

    def _obliques(self, batch: Batch, broken: np.ndarray) -> None:
        """Mark oblique dependents of nominals that are not predicates."""
        index = self._oblique[batch.labels] & self._nominal[batch.head_labels] & self._columns()[2][batch.head_codes]
        if index.any():
            clausal = np.zeros(len(batch.heads) + 1, np.bool_)
            clausal[batch.above[self._clausal[batch.labels]]] = True
            broken |= index & ~clausal[batch.above]

    def _spans(self, batch: Batch, broken: np.ndarray) -> None:
        """Mark words that break a rule about runs of adjacent words: `clauses.Gap` or `clauses.NoSpace`.

        Under the relation of the rule, a dependent on the right of its head must immediately follow the head. It may
        also immediately follow another dependent of the head under the same relation.
        """
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
        """Mark punctuation whose arc may cross another arc.

        The arc may cross another arc if a word under the arc has its head outside. It may also cross another arc if a
        word on the mark's other side has its head under the arc.
        """
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
