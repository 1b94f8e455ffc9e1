"""Find constructions that a parser gets wrong although treebanks annotate them consistently.

These constructions are candidates for hand-crafted patterns. A *frame* is a sequence of two to four words, either
adjacent or in two groups with a short gap between them. Each word is described by its lower-cased form, its tag or its
coarse tag, and at least one word by its form. A frame is a candidate if its words are nearly always attached to each
other in the same way, and if several parses of unseen sentences attach them differently. The module
`studies.qian_liu_2013.held_out` makes these parses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from treebound.core.treebank import Treebank
from treebound.metrics.attachment import scored_words

#: sizes of the groups of words in a frame: one group, or two groups with a gap between them
SHAPES = ((2,), (3,), (4,), (1, 1), (1, 2), (2, 1), (2, 2))
GAP = 8  #: largest number of words in a gap
FREQUENT = 20  #: fewest occurrences of a form that may describe a word
SEEN = 10  #: fewest occurrences of a candidate, because fewer would say little about its consistency
FEWEST = 3  #: fewest occurrences of a candidate in which the parser makes a mistake
CONSISTENT = 0.95  #: smallest share of the occurrences of a candidate that have the same arcs
_M = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class _Words:
    """Columns of a treebank in the form that this module uses, one entry per word.

    kinds            attribute -> int64[W] numbers that describe the words; attributes are lower-cased forms (-1: too
                     rare), tags, and coarse tags if they differ from tags; each attribute has its own range of numbers
    tests            number -> the attribute and the string that the number stands for
    sentence         int32[W] number of the sentence
    gold, predicted  int64[W] number of the head word, -1 for the root
    wrong            bool[W] whether the word is scored and its predicted head is wrong
    """

    kinds: dict[str, np.ndarray]
    tests: list[tuple[str, str]]
    sentence: np.ndarray
    gold: np.ndarray
    predicted: np.ndarray
    wrong: np.ndarray


@dataclass(frozen=True)
class _Candidate:
    """A frame with its counts.

    descriptions  numbers that describe the words of the frame, from `_Words.kinds`
    arcs          pairs (head, modifier), each word given by its position in the frame
    instead       the most frequent mistake: (modifier, wrong head, count); the number of words stands for a head
                  outside the frame
    errors        int64[E]: numbers of the words whose predicted head is wrong although an arc of the frame gives the
                  right head
    """

    shape: tuple[int, ...]
    descriptions: tuple[int, ...]
    arcs: tuple[tuple[int, int], ...]
    occurrences: int
    consistent: int
    mistaken: int
    instead: tuple[int, int, int]
    errors: np.ndarray


def candidates(treebank: Treebank, heads: np.ndarray, limit: int = 100) -> pd.DataFrame:
    """Rank frames by consistency times the number of wrong words that no higher-ranked frame contains.

    heads  int32[W] predicted heads of all W words, by models that have not seen the sentence
    limit  largest number of frames in the result

    Columns: match and arcs (in the syntax of pattern files); occurrences; consistency, the share of occurrences with
    all arcs in the gold tree; mistaken, the consistent occurrences where the prediction lacks an arc; words, the wrong
    words in those occurrences; new, the wrong words that no frame above contains; instead, the most frequent mistake.

    Time: O(GAP) operations on vectors of W words, for each shape of a frame and each choice of attributes. Memory:
    O(W GAP).
    """
    words = _describe(treebank, heads)
    ranked: list[_Candidate] = []
    for shape in SHAPES:
        for kinds in product(words.kinds, repeat=sum(shape)):
            if "lower" in kinds:
                ranked += _frames(words, shape, kinds)
                ranked = sorted(ranked, key=_rank)[: 50 * limit]  # bounds memory for any size of the treebank
    rows = []
    for candidate, new in _greedy(ranked, treebank.words, limit):
        match, arcs, instead = _written(candidate, words)
        rows.append(
            {
                "match": match,
                "arcs": arcs,
                "occurrences": candidate.occurrences,
                "consistency": candidate.consistent / candidate.occurrences,
                "mistaken": candidate.mistaken,
                "words": len(candidate.errors),
                "new": new,
                "instead": instead,
            }
        )
    columns = ["match", "arcs", "occurrences", "consistency", "mistaken", "words", "new", "instead"]
    return pd.DataFrame(rows, columns=columns, index=pd.RangeIndex(1, len(rows) + 1, name="rank"))


def _rank(candidate: _Candidate) -> tuple:
    """Return the sort key of a candidate; candidates with more wrong words times consistency come first."""
    consistency = candidate.consistent / candidate.occurrences
    return -len(candidate.errors) * consistency, len(candidate.descriptions), candidate.descriptions, candidate.shape


def _describe(treebank: Treebank, heads: np.ndarray) -> _Words:
    """Collect the columns of a treebank and of its predicted heads that the search for frames needs."""
    tests: list[tuple[str, str]] = []
    kinds: dict[str, np.ndarray] = {}
    tag, coarse = treebank.meta.get("tag", "xpos"), treebank.meta.get("coarse", "upos")
    columns = {"lower": "form", "tag": tag}
    if coarse in treebank.columns and coarse != tag:
        columns["coarse"] = coarse
    for attribute, column in columns.items():
        numbers: dict[str, int] = {}
        strings = treebank.vocab[column].strings
        strings = [s.lower() for s in strings] if attribute == "lower" else strings
        number = np.array([numbers.setdefault(s, len(numbers)) for s in strings], np.int64)
        row = number[treebank.columns[column]] if len(number) else np.empty(0, np.int64)
        if attribute == "lower" and len(row):
            row = np.where(np.bincount(row)[row] >= FREQUENT, row, -1)
        kinds[attribute] = np.where(row >= 0, row + len(tests), -1)
        tests += [(attribute, string) for string in numbers]
    sentence = np.repeat(np.arange(len(treebank), dtype=np.int32), treebank.lengths)
    start = treebank.offsets[:-1][sentence]

    def absolute(head: np.ndarray) -> np.ndarray:
        return np.where(head > 0, start + head - 1, -1)

    wrong = (heads != treebank.head) & scored_words(treebank)
    return _Words(kinds, tests, sentence, absolute(treebank.head), absolute(heads), wrong)


def _places(words: _Words, shape: tuple[int, ...], kinds: tuple[str, ...]) -> Iterator[np.ndarray]:
    """Yield the word numbers of all possible frames: one array intp[words in a frame, M] for each length of the gap.

    shape  sizes of the one or two groups of words in a frame
    kinds  attribute that describes each word
    """
    total, size = len(words.sentence), sum(shape)
    columns = [words.kinds[kind] for kind in kinds]
    if len(shape) == 2:
        following = _next_same(columns[shape[0] - 1], words.sentence)
        previous = _next_same(columns[shape[0]], words.sentence, backwards=True)
    for gap in range(1, GAP + 1) if len(shape) == 2 else [0]:
        offset = np.arange(size) + gap * (np.arange(size) >= shape[0])
        first = np.arange(max(0, total - offset[-1]))
        first = first[words.sentence[first] == words.sentence[first + offset[-1]]]
        for column, i in zip(columns, offset, strict=True):
            first = first[column[first + i] >= 0]
        if gap:  # only the shortest gap between the two descriptions counts
            a, b = first + shape[0] - 1, first + offset[shape[0]]
            first = first[(following[a] >= b) & (previous[b] <= a)]
        yield first[None, :] + offset[:, None]


def _next_same(description: np.ndarray, sentence: np.ndarray, backwards: bool = False) -> np.ndarray:
    """Find, for each word, the next word of its sentence with the same description. Return word numbers as intp[W].

    The number is W if no such word exists. With `backwards`, find the previous word; the number is then -1 if no such
    word exists.

    description  int64[W]: number of the form, tag or coarse tag of each word
    sentence     int32[W]: number of each word's sentence
    """
    total = len(description)
    order = np.lexsort((np.arange(total), description, sentence))
    if backwards:
        order = order[::-1]
    neighbours = np.full(total, -1 if backwards else total, np.intp)
    word, following = order[:-1], order[1:]
    matching = (description[word] == description[following]) & (sentence[word] == sentence[following])
    neighbours[word[matching]] = following[matching]
    return neighbours


def _inside(place: np.ndarray, head: np.ndarray) -> np.ndarray:
    """Return int8[words, M]: the position of each word's head in the frame, or the frame's size for a head outside.

    place  intp[words, M]: word numbers of M frames
    head   int64[W]: number of the head of every word
    """
    size = len(place)
    position = np.full(place.shape, size, np.int8)
    for s in range(size):
        position[head[place] == place[s]] = s
    return position


def _frames(words: _Words, shape: tuple[int, ...], kinds: tuple[str, ...]) -> list[_Candidate]:
    """Find the candidate frames of one shape whose words are described by the given attributes.

    shape  sizes of the one or two groups of words in a frame
    kinds  attribute that describes each word of the frame
    """
    size = sum(shape)
    columns = [words.kinds[kind] for kind in kinds]

    def hashed(place: np.ndarray) -> np.ndarray:
        key = np.zeros(place.shape[1], np.uint64)
        for column, row in zip(columns, place, strict=True):
            key = (key ^ column[row].astype(np.uint64)) * _M
            key ^= key >> np.uint64(29)
        return key

    with np.errstate(over="ignore"):
        # exact counts are made only for frames with enough mistakes
        often: list[np.ndarray] = []
        places = list(_places(words, shape, kinds))
        for place in places:
            mistake = words.wrong[place] & (_inside(place, words.gold) < size)
            if len(shape) == 2:
                mistake = mistake & _across(_inside(place, words.gold), shape[0])
            often.append(hashed(place[:, mistake.any(axis=0)]))
        keys, counts = np.unique(np.concatenate(often), return_counts=True)
        keys = keys[counts >= FEWEST]
        selected = [place[:, np.isin(hashed(place), keys)] for place in places] if len(keys) else []
    if not selected:
        return []
    place = np.concatenate(selected, axis=1)
    with np.errstate(over="ignore"):
        _, first, group = np.unique(hashed(place), return_index=True, return_inverse=True)
    gold, predicted = _inside(place, words.gold), _inside(place, words.predicted)
    number = np.bincount(group)
    heads = np.full((size, len(number)), -1, np.int8)  # head of each word in each frame, -1 if no arc is consistent
    for s in range(size):
        counts = np.zeros((len(number), size + 1), np.int64)
        np.add.at(counts, (group, gold[s].astype(np.intp)), 1)
        top = counts[:, :size].argmax(axis=1)
        sure = counts[np.arange(len(number)), top] >= CONSISTENT * number
        heads[s, sure] = top[sure]
    arc = heads[:, group] >= 0
    holds = ((gold == heads[:, group]) | ~arc).all(axis=0)
    wrong = words.wrong[place] & arc & holds
    consistent, mistaken = np.bincount(group, holds), np.bincount(group, wrong.any(axis=0))
    crossing = _across(heads, shape[0]).any(axis=0) if len(shape) == 2 else (heads >= 0).any(axis=0)
    selected_frames = crossing & (number >= SEEN) & (mistaken >= FEWEST) & (consistent >= CONSISTENT * number)
    order = np.argsort(group, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(number)])
    result = []
    for g in np.flatnonzero(selected_frames):
        members = order[bounds[g] : bounds[g + 1]]
        mistakes = wrong[:, members]
        worst = int(mistakes.sum(axis=1).argmax())
        instead = np.bincount(predicted[worst, members][mistakes[worst]], minlength=size + 1)
        result.append(
            _Candidate(
                shape,
                tuple(int(c[place[s, first[g]]]) for s, c in enumerate(columns)),
                tuple((int(heads[s, g]), s) for s in range(size) if heads[s, g] >= 0),
                int(number[g]),
                int(consistent[g]),
                int(mistaken[g]),
                (worst, int(instead.argmax()), int(instead.max())),
                np.unique(place[:, members][mistakes]),
            )
        )
    return result


def _across(heads: np.ndarray, split: int) -> np.ndarray:
    """Return bool[words, M]: whether a word and its head are in different groups of a frame.

    heads  int8[words, M]: position of each word's head in its frame
    split  number of words in the first group
    """
    size = len(heads)
    in_second = (np.arange(size) >= split)[:, None]
    return (heads >= 0) & (heads < size) & ((heads >= split) != in_second)


def _greedy(pool: list[_Candidate], total: int, limit: int) -> Iterator[tuple[_Candidate, int]]:
    """Yield candidates one by one, each with the number of wrong words that no earlier candidate contains.

    The next candidate is the one with the largest number of such words times consistency. At most `limit` candidates
    are yielded, and none with fewer than FEWEST such words.

    total  number of words in the treebank
    """
    uncovered = np.ones(total, bool)
    ordered = sorted(pool, key=_rank)
    gain = [len(c.errors) * c.consistent / c.occurrences for c in ordered]
    for _ in range(limit):
        best, best_gain = -1, 0.0
        for i, candidate in enumerate(ordered):  # gains only shrink, so an old gain that is too small needs no update
            if gain[i] > best_gain:
                gain[i] = float(uncovered[candidate.errors].sum()) * candidate.consistent / candidate.occurrences
                if gain[i] > best_gain:
                    best, best_gain = i, gain[i]
        if best < 0:
            return
        new = int(uncovered[ordered[best].errors].sum())
        if new < FEWEST:
            return
        uncovered[ordered[best].errors] = False
        gain[best] = 0.0
        yield ordered[best], new


def _written(candidate: _Candidate, words: _Words) -> tuple[str, str, str]:
    """Write the words, the arcs and the most frequent mistake of a candidate in the syntax of pattern files."""
    items: list[str] = []
    labels: list[str] = []
    for i, description in enumerate(candidate.descriptions):
        attribute, string = words.tests[description]
        if attribute == "lower" and _BARE.fullmatch(string) and string not in (*labels, "root", "outside"):
            items.append(string)
            labels.append(string)
            continue
        value = f"={string}" if not _SPECIAL.search(string) else "~" + _escaped(string)
        items.append(f"w{i + 1}:{attribute}{value}")
        labels.append(f"w{i + 1}")
    if len(candidate.shape) == 2:
        items.insert(candidate.shape[0], f"1..{GAP}?")
    arcs = ", ".join(f"{labels[h]} -> {labels[m]}" for h, m in candidate.arcs)
    modifier, head, count = candidate.instead
    wrong_head = labels[head] if head < len(labels) else "outside"
    return " ".join(items), arcs, f"{wrong_head} -> {labels[modifier]} ({count})"


_BARE = re.compile(r"[^\W\d_][\w'’-]*")
_SPECIAL = re.compile(r"[|&\s]|^\$")


def _escaped(string: str) -> str:
    """Return a regular expression for a string that has a special meaning in pattern files."""
    return re.escape(string).replace(r"\&", r"\x26").replace("\\ ", r"\s")
