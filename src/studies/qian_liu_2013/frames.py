"""Which constructions a parser gets wrong though treebanks are sure about them: candidates for hand-crafted patterns.

A *frame* is two to four words, side by side or in two groups with a short gap between them, each described by its
lower-cased form, its tag or its coarse tag, at least one by its form. It is a candidate where its words are nearly
always attached to each other in the same way, and where parses of unseen sentences differ several times
(`studies.qian_liu_2013.held_out`).
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

#: groups of words that make a frame: one group, or two with a gap between them
SHAPES = ((2,), (3,), (4,), (1, 1), (1, 2), (2, 1), (2, 2))
GAP = 8  #: words that a gap may have
FREQUENT = 20  #: a word of that many occurrences may stand for itself
SEEN = 10  #: occurrences that a candidate has at least: fewer say little about how consistent it is
FEWEST = 3  #: occurrences with mistakes that it has at least
CONSISTENT = 0.95  #: share of the occurrences of a candidate that are attached alike
_M = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class _Words:
    """Columns of a treebank as this module uses them, one entry a word.

    kinds       attribute -> int64[W]: lower-cased forms (-1: too rare), tags, coarse tags where they say less, numbered
                from disjoint ranges
    tests       what each number stands for: (attribute, string)
    sentence    int32[W]
    gold, found int64[W] number of the head word, -1 for the root
    wrong       bool[W] the head is wrong and counts
    """

    kinds: dict[str, np.ndarray]
    tests: list[tuple[str, str]]
    sentence: np.ndarray
    gold: np.ndarray
    found: np.ndarray
    wrong: np.ndarray


@dataclass(frozen=True)
class _Candidate:
    """A frame with its counts.

    descriptions  numbers as in `_Words`, one a word
    arcs          (head, modifier) as places in the frame
    instead       (modifier, wrong head or the number of words for none of them, how often): the most frequent mistake
    errors        int64[E]: the words that are wrong and would be right if its arcs held
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
    """Frames ranked by how many wrong words each adds to those above it, times its consistency.

    heads  int32[W] predicted heads of every word, by models that have not seen the sentence
    Columns: match and arcs (as a pattern file takes them), occurrences, consistency (share of occurrences with all arcs
    in the gold tree), mistaken (occurrences of those where a prediction lacks an arc), words (wrong words in them), new
    (those in no frame above), instead (the most frequent mistake).

    Time O(W shapes GAP) vector operations; memory O(W GAP).
    """
    words = _describe(treebank, heads)
    found: list[_Candidate] = []
    for shape in SHAPES:
        for kinds in product(words.kinds, repeat=sum(shape)):
            if "lower" in kinds:
                found += _frames(words, shape, kinds)
                found = sorted(found, key=_rank)[: 50 * limit]  # bounded, however large the treebank
    rows = []
    for candidate, new in _greedy(found, treebank.words, limit):
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
    consistency = candidate.consistent / candidate.occurrences
    return -len(candidate.errors) * consistency, len(candidate.descriptions), candidate.descriptions, candidate.shape


def _describe(treebank: Treebank, heads: np.ndarray) -> _Words:
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
    """intp[words of the shape, M]: word numbers of possible frames, one array for each length of the gap."""
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
        if gap:  # as short as can be
            a, b = first + shape[0] - 1, first + offset[shape[0]]
            first = first[(following[a] >= b) & (previous[b] <= a)]
        yield first[None, :] + offset[:, None]


def _next_same(description: np.ndarray, sentence: np.ndarray, backwards: bool = False) -> np.ndarray:
    """intp[W]: the next (previous) word of the same sentence with the same description; W (-1) where there is none."""
    total = len(description)
    order = np.lexsort((np.arange(total), description, sentence))
    if backwards:
        order = order[::-1]
    out = np.full(total, -1 if backwards else total, np.intp)
    here, there = order[:-1], order[1:]
    same = (description[here] == description[there]) & (sentence[here] == sentence[there])
    out[here[same]] = there[same]
    return out


def _inside(place: np.ndarray, head: np.ndarray) -> np.ndarray:
    """int8[words, M]: which word of its frame is the head of each, or their number where it is none of them."""
    size = len(place)
    out = np.full(place.shape, size, np.int8)
    for s in range(size):
        out[head[place] == place[s]] = s
    return out


def _frames(words: _Words, shape: tuple[int, ...], kinds: tuple[str, ...]) -> list[_Candidate]:
    """Candidates of one shape whose words are described by these attributes."""
    size = sum(shape)
    columns = [words.kinds[kind] for kind in kinds]

    def hashed(place: np.ndarray) -> np.ndarray:
        key = np.zeros(place.shape[1], np.uint64)
        for column, row in zip(columns, place, strict=True):
            key = (key ^ column[row].astype(np.uint64)) * _M
            key ^= key >> np.uint64(29)
        return key

    with np.errstate(over="ignore"):
        # only what goes wrong often enough is looked at closely
        often: list[np.ndarray] = []
        places = list(_places(words, shape, kinds))
        for place in places:
            mistake = words.wrong[place] & (_inside(place, words.gold) < size)
            if len(shape) == 2:
                mistake = mistake & _across(_inside(place, words.gold), shape[0])
            often.append(hashed(place[:, mistake.any(axis=0)]))
        keys, counts = np.unique(np.concatenate(often), return_counts=True)
        keys = keys[counts >= FEWEST]
        kept = [place[:, np.isin(hashed(place), keys)] for place in places] if len(keys) else []
    if not kept:
        return []
    place = np.concatenate(kept, axis=1)
    with np.errstate(over="ignore"):
        _, first, group = np.unique(hashed(place), return_index=True, return_inverse=True)
    gold, found = _inside(place, words.gold), _inside(place, words.found)
    number = np.bincount(group)
    heads = np.full((size, len(number)), -1, np.int8)  # of the arcs of each frame
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
    good = crossing & (number >= SEEN) & (mistaken >= FEWEST) & (consistent >= CONSISTENT * number)
    order = np.argsort(group, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(number)])
    out = []
    for g in np.flatnonzero(good):
        members = order[bounds[g] : bounds[g + 1]]
        some = wrong[:, members]
        worst = int(some.sum(axis=1).argmax())
        instead = np.bincount(found[worst, members][some[worst]], minlength=size + 1)
        out.append(
            _Candidate(
                shape,
                tuple(int(c[place[s, first[g]]]) for s, c in enumerate(columns)),
                tuple((int(heads[s, g]), s) for s in range(size) if heads[s, g] >= 0),
                int(number[g]),
                int(consistent[g]),
                int(mistaken[g]),
                (worst, int(instead.argmax()), int(instead.max())),
                np.unique(place[:, members][some]),
            )
        )
    return out


def _across(heads: np.ndarray, split: int) -> np.ndarray:
    """bool like heads[words, M]: the head stands in the other of two groups, the first of which has `split` words."""
    size = len(heads)
    after = (np.arange(size) >= split)[:, None]
    return (heads >= 0) & (heads < size) & ((heads >= split) != after)


def _greedy(found: list[_Candidate], total: int, limit: int) -> Iterator[tuple[_Candidate, int]]:
    """Candidates in the order of the wrong words that each adds, times its consistency, with that number."""
    open_ = np.ones(total, bool)
    rest = sorted(found, key=_rank)
    gain = [len(c.errors) * c.consistent / c.occurrences for c in rest]
    for _ in range(limit):
        best, most = -1, 0.0
        for i, candidate in enumerate(rest):  # gains only shrink: what was too small before is too small now
            if gain[i] > most:
                gain[i] = float(open_[candidate.errors].sum()) * candidate.consistent / candidate.occurrences
                if gain[i] > most:
                    best, most = i, gain[i]
        if best < 0:
            return
        new = int(open_[rest[best].errors].sum())
        if new < FEWEST:
            return
        open_[rest[best].errors] = False
        gain[best] = 0.0
        yield rest[best], new


def _written(candidate: _Candidate, words: _Words) -> tuple[str, str, str]:
    """(match, arcs, instead) of a candidate in the pattern language."""
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
    modifier, head, times = candidate.instead
    above = labels[head] if head < len(labels) else "outside"
    return " ".join(items), arcs, f"{above} -> {labels[modifier]} ({times})"


_BARE = re.compile(r"[^\W\d_][\w'’-]*")
_SPECIAL = re.compile(r"[|&\s]|^\$")


def _escaped(string: str) -> str:
    """A regular expression for a string that the pattern language would read otherwise."""
    return re.escape(string).replace(r"\&", r"\x26").replace("\\ ", r"\s")
