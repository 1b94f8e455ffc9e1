"""The bounds of `treebound.checker.majorants` for products of arcs and for numbers of modifiers, in int64."""

from __future__ import annotations

import numpy as np

from treebound.checker.compiled.tables import NO
from treebound.core.problem import NONE
from treebound.support.jit import kernel


@kernel
def add_pairs(first, second, phi, share, first_score, second_score):
    """Bound the scores of parts of two arcs, and add the shares of each part to the scores of its two arcs.

    first, first_score    position of the first arc of each part in `first_score`, and the scores of first arcs
    second, second_score  the same for second arcs; in place of an arc, the second may be an adjacent pair
    phi, share            score of each part, and the share of its first arc

    Returns (index of the first part whose share is out of range, or -1; constant of the bound).
    """
    constant = np.int64(0)
    for i in range(len(phi)):
        s = share[i]
        if phi[i] >= 0:
            if s < 0 or s > phi[i]:
                return i, constant
            first_score[first[i]] += s
            second_score[second[i]] += phi[i] - s
        else:
            if s < 0 or s > -phi[i]:
                return i, constant
            first_score[first[i]] -= s
            second_score[second[i]] -= s
            constant += s
    return -1, constant


@kernel
def add_rows(arcs, phi, share, arc_score):
    """Bound the scores of parts of several arcs with one share per arc, and add the shares to `arc_score`.

    arcs   arcs of each part, one row per part; empty slots are NONE
    phi    score of each part
    share  shares, in an array of the shape of `arcs`

    Returns (index of the first part whose shares are invalid, or -1; constant of the bound).
    """
    constant = np.int64(0)
    for i in range(len(phi)):
        size, total = 0, np.int64(0)
        for j in range(arcs.shape[1]):
            if share[i, j] < 0 or (share[i, j] != 0 and (arcs[i, j] == NONE or (phi[i] < 0 and j > 0))):
                return i, constant
            size += arcs[i, j] != NONE
            total += share[i, j]
        if (phi[i] >= 0 and total != phi[i]) or (phi[i] < 0 and total > -phi[i]):
            return i, constant
        for j in range(arcs.shape[1]):
            if arcs[i, j] != NONE:
                arc_score[arcs[i, j]] += share[i, j] if phi[i] >= 0 else -total
        if phi[i] < 0:
            constant += total * (size - 1)
    return -1, constant


@kernel
def add_valency(arcs, scores, slope, alive, certain, arc_score):
    """Bound the valency scores by one line per word, add the slopes to `arc_score`, and return the constant.

    Returns NO (-inf) if some word has no possible number of modifiers.

    scores          `Tables` with the valency scores
    slope           slope of each word's line, which is added to the scores of the remaining arcs out of the word
    alive, certain  bool[A]: the remaining arcs, and the remaining arcs that every tree has
    """
    constant = np.int64(0)
    for h in range(1, len(arcs.out_first) - 1):
        last = scores.last[h]
        if last < 0:
            continue
        fewest, most = 0, 0
        for i in range(arcs.out_first[h], arcs.out_first[h + 1]):
            fewest += certain[arcs.out[i]]
            most += alive[arcs.out[i]]
        best = np.int64(NO)
        for count in range(fewest, most + 1):
            score = scores.valency[h, min(count, last)]
            if score != NO:
                best = max(best, score - slope[h] * count)
        if best == NO:
            return NO
        constant += best
        for i in range(arcs.out_first[h], arcs.out_first[h + 1]):
            if alive[arcs.out[i]]:
                arc_score[arcs.out[i]] += slope[h]
    return constant
