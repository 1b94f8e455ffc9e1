"""From configurations to instances: one kernel interprets a compiled feature model.

An instance is int32[m], one value a cell. Values of words, tags and labels are NONE, ROOT, UNKNOWN or FIRST and the
number in a vocabulary; numbers of modifiers and distances are FIRST and the number; sets of labels are their bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.core.dtypes import NO_HEAD
from treebound.support.jit import kernel
from treebound.systems.transition.configuration import (
    HEAD,
    LABEL,
    LEFT_LABELS,
    LEFTS,
    RIGHT_LABELS,
    RIGHTS,
    ahead,
    stacked,
    start,
    take,
)
from treebound.systems.transition.oracles import derive, understand

#: functions of a word; the first COLUMNS are columns of a token table
FUNCTIONS = ("w", "p", "c", "m", "f", "d", "vl", "vr", "sl", "sr", "dist")
COLUMNS = 5
LABEL_OF, LEFTS_OF, RIGHTS_OF, LEFT_LABELS_OF, RIGHT_LABELS_OF, DISTANCE = range(COLUMNS, COLUMNS + 6)
DEPTH = 3  #: longest path of an address: h(h(s0)) has two steps
NONE, ROOT, UNKNOWN, FIRST = range(4)  #: no such word; word 0; a string not seen in training; the first of a vocabulary
MANY = 8  #: more modifiers than this are this many


class Cells(NamedTuple):
    """A compiled feature model of m cells.

    function  int32[m] number in FUNCTIONS
    place     int32[m, 2] a depth of the stack, or -1 - position in the buffer; the second is that of distances
    path      int32[m, 2, DEPTH] rows of the configuration to follow from there, -1 at the end
    """

    function: np.ndarray
    place: np.ndarray
    path: np.ndarray


class Words(NamedTuple):
    """All words of a treebank as the kernels see them.

    offsets  int64[S + 1]
    tokens   int32[COLUMNS, W] values of forms, tags, coarse tags, lemmas and morphological features
    heads    int32[W], labels int32[W]; numbers of labels, of any value where they are not asked for
    """

    offsets: np.ndarray
    tokens: np.ndarray
    heads: np.ndarray
    labels: np.ndarray

    def part(self, i: int, j: int) -> Words:
        """Those of the sentences from i to before j."""
        a, b = self.offsets[i], self.offsets[j]
        tokens = np.ascontiguousarray(self.tokens[:, a:b])
        return Words(self.offsets[i : j + 1] - a, tokens, self.heads[a:b], self.labels[a:b])


@kernel
def _find(c, place, path):
    """The word at an address, NO_HEAD if there is none."""
    word = stacked(c, place) if place >= 0 else ahead(c, -1 - place)
    for row in path:
        if row < 0 or word < 0:
            break
        word = 0 if row == HEAD and word > 0 and c[HEAD, word] == NO_HEAD else c[row, word]
    return word


@kernel
def _bucket(distance):
    """1 .. 4, 5 to 6, 7 to 10, and more."""
    if distance <= 4:
        return distance
    return 5 if distance <= 6 else 6 if distance <= 10 else 7


@kernel
def extract(c, tokens, cells, out):
    """Write the instance of a configuration to out int32[m]; tokens int32[COLUMNS, n] of its sentence. O(m)."""
    for i in range(len(cells.function)):
        function = cells.function[i]
        word = _find(c, cells.place[i, 0], cells.path[i, 0])
        if word < 0:
            out[i] = NONE
        elif function < COLUMNS:
            out[i] = tokens[function, word - 1] if word > 0 else ROOT
        elif function == LABEL_OF:
            out[i] = FIRST + c[LABEL, word] if word > 0 else ROOT
        elif function == LEFTS_OF:
            out[i] = FIRST + min(c[LEFTS, word], MANY)
        elif function == RIGHTS_OF:
            out[i] = FIRST + min(c[RIGHTS, word], MANY)
        elif function == LEFT_LABELS_OF:
            out[i] = c[LEFT_LABELS, word]
        elif function == RIGHT_LABELS_OF:
            out[i] = c[RIGHT_LABELS, word]
        else:
            other = _find(c, cells.place[i, 1], cells.path[i, 1])
            out[i] = NONE if other < 0 else FIRST + _bucket(abs(word - other))


@kernel
def derivations(system, words, c, root_label):
    """(moves int32[N, 2], counts int64[S], derivable bool[S]): the static oracle's transitions of all sentences.

    A sentence whose derivation does not give back its tree has no moves. c is a configuration long enough for all.
    """
    sentences = len(words.offsets) - 1
    moves = np.empty((max(16, 2 * len(words.heads)), 2), np.int32)
    counts, derivable = np.zeros(sentences, np.int64), np.empty(sentences, np.bool_)
    total = 0
    for s in range(sentences):
        a, b = words.offsets[s], words.offsets[s + 1]
        found, derivable[s] = derive(system, c, understand(words.heads[a:b], words.labels[a:b]), root_label)
        if derivable[s]:
            if total + len(found) > len(moves):
                longer = np.empty((2 * (total + len(found)), 2), np.int32)
                longer[:total] = moves[:total]
                moves = longer
            moves[total : total + len(found)] = found
            counts[s] = len(found)
            total += len(found)
    return moves[:total].copy(), counts, derivable


@kernel
def instances(system, cells, words, c, root_label, moves, counts):
    """int32[N, m]: the instance before every one of the moves of `derivations`. O(N m)."""
    out = np.empty((len(moves), len(cells.function)), np.int32)
    i = 0
    for s in range(len(counts)):
        a, b = words.offsets[s], words.offsets[s + 1]
        start(system, c, b - a, root_label)
        for _ in range(counts[s]):
            extract(c, words.tokens[:, a:b], cells, out[i])
            take(system, c, moves[i, 0], moves[i, 1])
            i += 1
    return out
