"""Feature extraction: one kernel interprets a compiled feature model and turns configurations into instances.

An instance is int32[m], with one value per cell. A word, tag or label is NONE, ROOT, UNKNOWN, or FIRST plus its number
in a vocabulary. A number of modifiers or a distance is FIRST plus the number. A set of labels is its bits.
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

#: functions of a word; the first COLUMNS functions read the columns of a token table
FUNCTIONS = ("w", "p", "c", "m", "f", "d", "vl", "vr", "sl", "sr", "dist")
COLUMNS = 5
LABEL_OF, LEFTS_OF, RIGHTS_OF, LEFT_LABELS_OF, RIGHT_LABELS_OF, DISTANCE = range(COLUMNS, COLUMNS + 6)
DEPTH = 3  #: number of steps of the longest address; h(h(s0)) has two steps
#: values: there is no word at the address; the word is 0; a string was not seen in training; first of a vocabulary
NONE, ROOT, UNKNOWN, FIRST = range(4)
MANY = 8  #: larger numbers of modifiers are reduced to this number


class Cells(NamedTuple):
    """A compiled feature model of m cells.

    function  int32[m] number of the function in FUNCTIONS
    place     int32[m, 2] word at which each of the two addresses of a cell begins: its depth in the stack, or -1 - its
              position in the buffer. Only distances have a second address
    path      int32[m, 2, DEPTH] rows of the configuration that each address follows from this word, padded with -1
    """

    function: np.ndarray
    place: np.ndarray
    path: np.ndarray


class Words(NamedTuple):
    """The words of a treebank in the form that the kernels read.

    offsets  int64[S + 1] where each sentence begins
    tokens   int32[COLUMNS, W] values of forms, tags, coarse tags, lemmas and morphological features
    heads    int32[W] heads of the words
    labels   int32[W] numbers of the labels; any value in text to be parsed
    """

    offsets: np.ndarray
    tokens: np.ndarray
    heads: np.ndarray
    labels: np.ndarray

    def part(self, i: int, j: int) -> Words:
        """Return the words of the sentences from i to before j."""
        a, b = self.offsets[i], self.offsets[j]
        tokens = np.ascontiguousarray(self.tokens[:, a:b])
        return Words(self.offsets[i : j + 1] - a, tokens, self.heads[a:b], self.labels[a:b])


@kernel
def _find(c, place, path):
    """Return the word at the address that begins at `place` and follows `path` (see `Cells`), or else NO_HEAD."""
    word = stacked(c, place) if place >= 0 else ahead(c, -1 - place)
    for row in path:
        if row < 0 or word < 0:
            break
        word = 0 if row == HEAD and word > 0 and c[HEAD, word] == NO_HEAD else c[row, word]
    return word


@kernel
def _bucket(distance):
    """Return the bucket of a distance: 1, 2, 3, 4, 5 to 6, 7 to 10, or more."""
    if distance <= 4:
        return distance
    return 5 if distance <= 6 else 6 if distance <= 10 else 7


@kernel
def extract(c, tokens, cells, out):
    """Write the instance of configuration c to out int32[m]. O(m).

    tokens  int32[COLUMNS, n] values of the words of the sentence (see `Words`)
    """
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
            second = _find(c, cells.place[i, 1], cells.path[i, 1])
            out[i] = NONE if second < 0 else FIRST + _bucket(abs(word - second))


@kernel
def derivations(system, words, c, root_label):
    """Return the static oracle's transitions of all sentences: (moves int32[N, 2], counts int64[S], derivable bool[S]).

    A sentence whose derivation does not rebuild its tree has no moves. c is working memory: a configuration that is
    large enough for every sentence.
    """
    sentences = len(words.offsets) - 1
    moves = np.empty((max(16, 2 * len(words.heads)), 2), np.int32)
    counts, derivable = np.zeros(sentences, np.int64), np.empty(sentences, np.bool_)
    total = 0
    for s in range(sentences):
        a, b = words.offsets[s], words.offsets[s + 1]
        derivation, derivable[s] = derive(system, c, understand(words.heads[a:b], words.labels[a:b]), root_label)
        if derivable[s]:
            if total + len(derivation) > len(moves):
                longer = np.empty((2 * (total + len(derivation)), 2), np.int32)
                longer[:total] = moves[:total]
                moves = longer
            moves[total : total + len(derivation)] = derivation
            counts[s] = len(derivation)
            total += len(derivation)
    return moves[:total].copy(), counts, derivable


@kernel
def instances(system, cells, words, c, root_label, moves, counts):
    """Return int32[N, m], the instance before each transition. O(N m).

    `moves` and `counts` are results of `derivations`. c is working memory: a configuration large enough for every
    sentence.
    """
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
