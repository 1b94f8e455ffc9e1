"""Parts of hand-crafted patterns: from the matches in a sentence to arcs, scores and updates.

Matches are rare, so these kernels are called only for sentences with a match. Work that can be done for a whole
treebank at once is done in `treebound.features.patterns`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.core.problem import NONE
from treebound.kernels.features.scoring import _M1, LINE, PAD, _finish
from treebound.kernels.features.templates import Templates
from treebound.support.jit import kernel

ROOT, OUTSIDE = -1, -2  #: heads that are not words of the pattern: the root, and any word outside the match
MAX_ARCS = 6
CLOSED, MISSING = -1, -2


class PatternIndex(NamedTuple):
    """The patterns of a set, one after another.

    - `product_first`: int32[P + 1]. Pattern p is the sum of the products product_first[p] .. product_first[p + 1] - 1.
    - `coefficient`: int32[Q]. The coefficient of each product. A pattern without alternatives is one product with
      coefficient 1.
    - `arc_first`: int32[Q + 1]. Product q has the arcs arc_first[q] .. arc_first[q + 1] - 1.
    - `head`, `mod`: int32[K]. Words of the pattern; a head can also be ROOT or OUTSIDE.
    - `size`: int32[P]. The number of words of each pattern.
    - `first`: int32[P + 1]. Pattern p has the templates first[p] .. first[p + 1] - 1.
    - `templates`: Templates whose slots are words of the pattern. The last slot, MAX_WORDS, is the head outside.
    """

    product_first: np.ndarray
    coefficient: np.ndarray
    arc_first: np.ndarray
    head: np.ndarray
    mod: np.ndarray
    size: np.ndarray
    first: np.ndarray
    templates: Templates


@kernel
def _arc(index, h, m):
    """Return the number of the candidate arc h -> m, or -1."""
    for i in range(index.into_start[m], index.into_start[m + 1]):
        if index.head[index.into[i]] == h:
            return index.into[i]
    return np.int32(-1)


@kernel
def _find_arcs(patterns, q, places, index, row):
    """Write the arcs of product q of a pattern, for the match with the words `places`, to `row` int32[MAX_ARCS].

    Return the index in `row` of the arc whose head is outside the match. The result is CLOSED if no arc has its
    head outside the match, and MISSING if an arc is no candidate.
    """
    open_arc = CLOSED
    lo = patterns.arc_first[q]
    for k in range(lo, patterns.arc_first[q + 1]):
        m = places[patterns.mod[k]]
        if patterns.head[k] == OUTSIDE:
            open_arc = k - lo
            continue
        h = 0 if patterns.head[k] == ROOT else places[patterns.head[k]]
        row[k - lo] = _arc(index, h, m)
        if row[k - lo] < 0:
            return MISSING
    return open_arc


@kernel
def pattern_parts(patterns, pattern, places, index):
    """Return the parts of the matches in a sentence whose arcs are all candidates. O(parts k).

    - `pattern`: int32[M]. The pattern of each match.
    - `places`: int32[M, R]. The words of each match, 1..n; R = MAX_WORDS.

    Return (arcs int32[F, MAX_ARCS], words int32[F, R + 3]). Arcs are padded with NONE. A row of `words` has the words
    of the match, the head outside or 0, the coefficient and the pattern. Parts are sorted by match, then by product,
    then by the head outside.
    """
    M, R = places.shape
    arcs = np.full((max(M, 1), MAX_ARCS), NONE, np.int32)
    words = np.zeros((max(M, 1), R + 3), np.int32)
    c = 0
    for i in range(M):
        p = pattern[i]
        for q in range(patterns.product_first[p], patterns.product_first[p + 1]):
            row = np.full(MAX_ARCS, NONE, np.int32)
            open_arc = _find_arcs(patterns, q, places[i], index, row)
            if open_arc == MISSING:
                continue
            first, last = 0, 1  # one part for each head outside the match
            if open_arc >= 0:
                m = places[i, patterns.mod[patterns.arc_first[q] + open_arc]]
                first, last = index.into_start[m], index.into_start[m + 1]
            for j in range(first, last):
                h = 0
                if open_arc >= 0:
                    h = index.head[index.into[j]]
                    is_inside = False
                    for s in range(patterns.size[p]):
                        is_inside |= places[i, s] == h
                    if is_inside:
                        continue
                    row[open_arc] = index.into[j]
                if c == len(arcs):
                    arcs = np.concatenate((arcs, np.full_like(arcs, NONE)))
                    words = np.concatenate((words, np.zeros_like(words)))
                arcs[c] = row
                words[c, :R] = places[i]
                words[c, R] = h
                words[c, R + 1] = patterns.coefficient[q]
                words[c, R + 2] = p
                c += 1
    return arcs[:c], words[:c]


@kernel(inline="always")
def _hash(templates, t, tokens, words):
    """Return the hash of template t over the words of a part."""
    x = templates.seed[t]
    for k in range(templates.start[t], templates.start[t + 1]):
        row = words[templates.slot[k]] + PAD + templates.offset[k]
        x = (x ^ tokens[templates.attr[k], row]) * _M1
    return _finish(x)


@kernel
def pattern_scores(patterns, words, tokens, weights, mask):
    """Return float64[F]: the scores of parts; `words` is a result of `pattern_parts`. O(F templates)."""
    out = np.zeros(len(words))
    for i in range(len(words)):
        p = words[i, -1]
        for t in range(patterns.first[p], patterns.first[p + 1]):
            x = _hash(patterns.templates, t, tokens, words[i])
            out[i] += weights[((x >> 4) & mask) * LINE + (x & (LINE - 1))]
        out[i] *= words[i, -2]
    return out


@kernel
def pattern_features(patterns, words, chosen, tokens, out, c):
    """Append the weight slots of the parts `chosen` to an Output with `c` slots, with their coefficients as counts.

    Return the new number of slots.
    """
    slots, signs, sign, (_, mask) = out
    for i in chosen:
        p = words[i, -1]
        for t in range(patterns.first[p], patterns.first[p + 1]):
            x = _hash(patterns.templates, t, tokens, words[i])
            slots[c] = ((x >> 4) & mask) * LINE + (x & (LINE - 1))
            signs[c] = sign * words[i, -2]
            c += 1
    return c
