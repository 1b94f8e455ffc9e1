"""Find the matches of hand-crafted patterns, and compile the features of their parts.

Matching is done once for a whole treebank, before any sentence is parsed. Conditions are evaluated once per vocabulary
entry, an index finds the rarest word of a pattern, and only its neighbourhood is searched. A pattern whose literal
words do not occur costs a few dictionary look-ups.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from treebound.core.dtypes import INDEX
from treebound.core.treebank import Treebank
from treebound.factors.pattern_language import MAX_WORDS, OUTSIDE, Gap, Pattern, PatternSet, Test
from treebound.factors.templates import ATTRIBUTES
from treebound.features.tokens import hash_string
from treebound.kernels.features.patterns import PatternIndex
from treebound.kernels.features.templates import Templates


@dataclass(frozen=True)
class Matches:
    """The matches of a pattern set in a treebank, sorted by sentence, pattern and words.

    - start: int64[S + 1]; the matches of sentence i are start[i] .. start[i + 1] - 1.
    - pattern: int32[M], number of the pattern of each match.
    - places: int32[M, MAX_WORDS], the words of each match, 1..n, followed by 0.
    """

    start: np.ndarray
    pattern: np.ndarray
    places: np.ndarray

    def __len__(self) -> int:
        return len(self.pattern)

    def sentence(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the patterns, int32[M], and the words, int32[M, MAX_WORDS], of the matches in sentence i."""
        rows = slice(self.start[i], self.start[i + 1])
        return self.pattern[rows], self.places[rows]


def find(patterns: PatternSet, treebank: Treebank) -> Matches:
    """Find all matches of patterns in a treebank.

    O(V tests + occurrences of each pattern's rarest word x gaps) for V vocabulary entries.
    """
    index = _Index(treebank)
    blocks, numbers = [np.empty((0, MAX_WORDS), np.int64)], [np.empty(0, INDEX)]
    for p, pattern in enumerate(patterns.patterns):
        words = _occurrences(pattern, index)
        blocks.append(np.pad(words, ((0, 0), (0, MAX_WORDS - words.shape[1])), constant_values=-1))
        numbers.append(np.full(len(words), p, INDEX))
    words, pattern_of = np.concatenate(blocks), np.concatenate(numbers)
    sentence = np.searchsorted(treebank.offsets, words[:, 0], side="right") - 1
    order = np.lexsort((*words.T[::-1], pattern_of, sentence))
    words, sentence = words[order], sentence[order]
    places = np.where(words >= 0, words - treebank.offsets[sentence][:, None] + 1, 0).astype(INDEX)
    start = np.searchsorted(sentence, np.arange(len(treebank) + 1))
    return Matches(start, pattern_of[order], places)


class _Index:
    """A treebank indexed by vocabulary entries: which entries pass a test, and where they occur."""

    def __init__(self, treebank: Treebank):
        self.treebank = treebank
        self._values: dict[str, tuple[np.ndarray, list[str]]] = {}
        self._numbers: dict[str, dict[str, list[int]]] = {}
        self._where: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._passes: dict[tuple[str, str, tuple[str, ...]], np.ndarray] = {}

    def column(self, attribute: str) -> np.ndarray:
        """Return int32[W], the vocabulary entries that determine the attribute of each word."""
        return self.treebank.columns[self._source(attribute)]

    def _source(self, attribute: str) -> str:
        """Return the name of the column from which an attribute is read."""
        meta = self.treebank.meta
        named = {"lower": "form", "tag": meta.get("tag", "xpos"), "coarse": meta.get("coarse", "upos")}
        source = named.get(attribute, attribute)
        return meta.get("tag", "xpos") if source == "tag2" else source

    def value(self, attribute: str, string: str) -> str:
        """Return the value of an attribute for the vocabulary entry `string`."""
        if attribute == "lower":
            return string.lower()
        return string[:2] if attribute == "coarse" and self.treebank.meta.get("coarse") == "tag2" else string

    def entries(self, attribute: str, values: tuple[str, ...]) -> list[int]:
        """Return the vocabulary entries whose attribute is one of `values`."""
        numbers = self._numbers.get(attribute)
        if numbers is None:
            numbers = self._numbers[attribute] = {}
            for i, string in enumerate(self.treebank.vocab[self._source(attribute)].strings):
                numbers.setdefault(self.value(attribute, string), []).append(i)
        return [i for value in values for i in numbers.get(value, ())]

    def passes(self, test: Test) -> np.ndarray:
        """Return bool[V], the vocabulary entries that pass a test."""
        key = (test.attribute, test.kind, test.values)
        passing = self._passes.get(key)
        if passing is None:
            strings = self.treebank.vocab[self._source(test.attribute)].strings
            if test.kind == "~":
                passing = np.array([test.holds(self.value(test.attribute, s)) for s in strings], bool)
            else:
                passing = np.full(len(strings), test.kind == "!=")
                passing[self.entries(test.attribute, test.values)] = test.kind == "="
            self._passes[key] = passing
        return passing

    def occurrences(self, attribute: str, entries: np.ndarray) -> tuple[int, Iterator[np.ndarray]]:
        """Return (number of words with the given vocabulary entries, iterator over the words of each entry)."""
        source = self._source(attribute)
        if source not in self._where:
            column = self.treebank.columns[source]
            counts = np.bincount(column, minlength=len(self.treebank.vocab[source]))
            self._where[source] = np.argsort(column, kind="stable"), np.concatenate([[0], np.cumsum(counts)])
        order, start = self._where[source]
        size = int((start[entries + 1] - start[entries]).sum())
        return size, (order[start[e] : start[e + 1]] for e in entries)

    def all(self, tests: tuple[Test, ...], words: np.ndarray) -> np.ndarray:
        """Return bool in the shape of `words`: whether each word passes all tests other than `$` tests."""
        out = np.ones(words.shape, bool)
        for test in tests:
            if test.kind != "$":
                out &= self.passes(test)[self.column(test.attribute)[words]]
        return out

    def equal(self, test: Test, words: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return bool: whether each word of `words` has the same attribute as the corresponding word of `others`."""
        strings = self.treebank.vocab[self._source(test.attribute)].strings
        first = np.empty(len(strings), np.int64)
        numbers: dict[str, int] = {}
        for i, string in enumerate(strings):
            first[i] = numbers.setdefault(self.value(test.attribute, string), i)
        column = self.column(test.attribute)
        return first[column[words]] == first[column[others]]


def _occurrences(pattern: Pattern, index: _Index) -> np.ndarray:
    """Return int64[M, words], the words (numbers in the treebank) of every match."""
    size = len(pattern.names)
    no_matches = np.empty((0, size), np.int64)
    literal = [t for tests in pattern.tests for t in tests if t.kind == "="]
    if any(not index.entries(t.attribute, t.values) for t in literal):
        return no_matches
    total = index.treebank.words
    rarest, fewest, places = 0, total + 1, None
    for i, tests in enumerate(pattern.tests):
        for test in tests:
            if test.kind != "$":
                number, where = index.occurrences(test.attribute, np.flatnonzero(index.passes(test)))
                if number < fewest:
                    rarest, fewest, places = i, number, where
    if places is None:  # no word has a test, so a match may begin anywhere
        anchor = np.arange(total)
    else:
        anchor = np.concatenate([np.empty(0, np.int64), *places])
    anchor = anchor[index.all(pattern.tests[rarest], anchor)]
    words = anchor[:, None]
    for i in range(rarest + 1, size):
        words = _extend(words, 1, pattern.gaps[i - 1], pattern.tests[i - 1], pattern.tests[i], index)
    for i in range(rarest - 1, -1, -1):
        words = _extend(words, -1, pattern.gaps[i], pattern.tests[i + 1], pattern.tests[i], index)
    for i, tests in enumerate(pattern.tests):
        for test in tests:
            if test.kind == "$":
                words = words[index.equal(test, words[:, i], words[:, test.other])]
    return words


def _extend(
    words: np.ndarray, step: int, gap: Gap, last: tuple[Test, ...], tests: tuple[Test, ...], index: _Index
) -> np.ndarray:
    """Return partial matches extended by a word after their last word (step 1) or before their first word (step -1).

    words  int64[M, words so far], the words of each partial match, numbered in the treebank
    last   tests of the present end word; a gap with `?` ends at a word that passes `last` or `tests`
    tests  tests of the new word
    """
    offsets = index.treebank.offsets
    end = words[:, -1] if step == 1 else words[:, 0]
    sentence = np.searchsorted(offsets, end, side="right") - 1
    low, high = offsets[sentence], offsets[sentence + 1]
    growing = np.arange(len(words))  # numbers of the matches whose gap may still grow
    out = [np.empty((0, words.shape[1] + 1), np.int64)]
    for between in range(gap.most + 1):
        place = end[growing] + step * (between + 1)
        inside = (place >= low[growing]) & (place < high[growing])
        growing, place = growing[inside], place[inside]
        if not len(growing):
            break
        fits = index.all(tests, place)
        if between >= gap.least:
            new, old = place[fits, None], words[growing[fits]]
            out.append(np.hstack([old, new] if step == 1 else [new, old]))
        if gap.shortest:
            growing = growing[~(fits | index.all(last, place))]
    return np.concatenate(out)


def compile_patterns(patterns: PatternSet, attributes: frozenset[str]) -> PatternIndex:
    """Compile the arcs and templates of a pattern set for the kernels.

    Templates with attributes that the corpus lacks are left out. The features of a pattern depend on its name only, so
    that other patterns may be added or removed.
    """
    seed, start, slot, attr, first = [], [0], [], [], [0]
    for pattern in patterns.patterns:
        for atoms in pattern.features:
            if all(attribute in attributes for _, attribute in atoms):
                text = " ".join(f"{'outside' if w == OUTSIDE else pattern.names[w]}.{a}" for w, a in atoms)
                seed.append(hash_string(f"pattern|{pattern.name}|{text}"))
                slot += [MAX_WORDS if w == OUTSIDE else w for w, _ in atoms]
                attr += [ATTRIBUTES.index(a) for _, a in atoms]
                start.append(len(slot))
        first.append(len(seed))
    products = [pattern.products() for pattern in patterns.patterns]
    coefficients = [coefficient for terms_of_pattern in products for coefficient, _ in terms_of_pattern]
    pairs = zip(patterns.patterns, products, strict=True)
    terms = [[pattern.arcs[k] for k in chosen] for pattern, terms_of_pattern in pairs for _, chosen in terms_of_pattern]
    arcs = [arc for term in terms for arc in term]
    return PatternIndex(
        np.cumsum([0, *map(len, products)]).astype(INDEX),
        np.array(coefficients, INDEX),
        np.cumsum([0, *map(len, terms)]).astype(INDEX),
        np.array([h for h, _ in arcs], INDEX),
        np.array([m for _, m in arcs], INDEX),
        np.array([len(pattern.names) for pattern in patterns.patterns], INDEX),
        np.array(first, INDEX),
        Templates(
            np.array(seed, np.int64),
            np.array(start, INDEX),
            np.array(slot, INDEX),
            np.zeros(len(slot), INDEX),
            np.array(attr, INDEX),
        ),
    )
