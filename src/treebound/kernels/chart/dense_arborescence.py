"""Maximum spanning arborescence of a dense matrix: Chu & Liu (1965), Edmonds (1967), in O(n^2) time (Tarjan 1977).

The components and the path are those of `treebound.kernels.chart.arborescence`, which keeps the arcs that enter a
component and bounds each of them. Here a component keeps one arc for each head, the best one. A cycle is contracted by
taking the maxima of the rows of its parts, so that a contraction costs O(n) for each part, not O(arcs). Ties are broken
as there: the earlier word of the component, then the lower head. A single root is found as there, by root arcs that
are chosen last.

Oracle: tests/test_arborescence.py compares both.
"""

from __future__ import annotations

import numpy as np

from treebound.kernels.chart.arborescence import DONE, NEW, ON_PATH
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.support.jit import kernel


@kernel
def dense_arborescence(score, single_root, heads):
    """Find the best tree of a matrix, projective or not; return whether there is one. O(n^2) time and space.

    score        float64[n + 1, n + 1]: score[h, m] is that of the arc from head h to modifier m; scores that are not
                 above `NEG_TEST`, such as -inf, forbid. The diagonal and column 0 are not read
    single_root  exactly one word is attached to the root
    heads        int32[n + 1] IN: the best head of each word, the lowest of equal ones, 0 for no head. OUT: heads[1:] of
                 the best tree; unchanged if there is none
    """
    n = len(score) - 1
    parent = np.empty(2 * n + 1, np.int32)  # component into which a component was contracted, or -1
    pick = np.empty((2 * n + 1, 2), np.int32)  # head and modifier of the arc that a component takes
    roots = 0
    for m in range(1, n + 1):
        roots += heads[m] == 0
    # most often the best tree has a single root anyway; words that prefer the root show that it has not
    made = 0
    if not single_root or roots < 2:
        made = _contract(score, False, 1 if single_root else n, parent, pick)
    if made == 0:
        made = _contract(score, True, 1, parent, pick)
    if made <= 0:
        return False
    # open the cycles again, the last one first: the arc into a cycle replaces the one of the member that it enters
    for t in range(made - 1, n, -1):
        w = pick[t, 1]
        while parent[w] != t:
            w = parent[w]
        pick[w, 0], pick[w, 1] = pick[t, 0], pick[t, 1]
    for m in range(1, n + 1):
        heads[m] = pick[m, 0]
    return True


@kernel
def _contract(score, root_last, most_roots, parent, pick):
    """Contract cycles until every component is reached from the root.

    root_last  components take a root arc only if nothing else enters them
    parent     int32[2 n + 1] OUT, pick int32[2 n + 1, 2] OUT: as in `dense_arborescence`
    Returns how many components there were in all, words included; 0 for more than most_roots root arcs, -1 for no tree.
    """
    n = len(score) - 1
    row, word = _entering_arcs(score)
    component, rank, next_word = np.arange(n + 1), np.zeros(n + 1, np.int32), np.empty(n + 1, np.int32)
    row_of, first, last = np.arange(2 * n + 1), np.arange(2 * n + 1), np.arange(2 * n + 1)
    dual, state, path = np.empty(2 * n + 1), np.full(2 * n + 1, NEW, np.int8), np.empty(2 * n + 1, np.int32)
    state[0] = DONE
    parent[:] = -1
    made = n + 1  # components so far
    roots = 0
    for s in range(1, n + 1):
        if state[component[s]] == DONE:
            continue
        path[0] = component[s]
        top = 0
        while True:
            c = path[top]
            if state[c] == NEW:
                state[c] = ON_PATH
                head, dual[c] = _best_head(row[row_of[c]], word[row_of[c]], rank, root_last)
                if head < 0:
                    return -1
                roots += head == 0
                if roots > most_roots:
                    return 0
                pick[c, 0], pick[c, 1] = head, word[row_of[c], head]
            u = component[pick[c, 0]]
            if state[u] == DONE:
                for k in range(top + 1):
                    state[path[k]] = DONE
                break
            if state[u] == NEW:
                top += 1
                path[top] = u
                continue
            k = top  # u is on the path: the cycle from u to c becomes component `made`, in the row of u
            while path[k] != u:
                k -= 1
            best, best_word = row[row_of[u]], word[row_of[u]]
            best -= dual[u]
            for j in range(k, top + 1):
                part = path[j]
                parent[part] = made
                if j > k:
                    _take_better(best, best_word, row[row_of[part]], word[row_of[part]], dual[part])
                    next_word[last[path[j - 1]]] = first[part]
            row_of[made], first[made], last[made] = row_of[u], first[u], last[c]
            w, order = first[made], 0
            while True:
                component[w], rank[w] = made, order
                best[w] = NEG  # no arc of the component enters it
                if w == last[made]:
                    break
                w = next_word[w]
                order += 1
            path[k] = made
            top = k
            made += 1
    return made


@kernel(inline="always")
def _entering_arcs(score):
    """Return the arcs that enter each component, at first each word.

    float64[n + 1, n + 1] [row of the component, head]: what is left of the score of the best arc from the head, and
    int32[n + 1, n + 1]: the modifier of that arc.
    """
    n = len(score) - 1
    row, word = np.empty((n + 1, n + 1)), np.empty((n + 1, n + 1), np.int32)
    for h in range(n + 1):
        for m in range(1, n + 1):
            row[m, h] = score[h, m]
    for m in range(1, n + 1):
        word[m] = m
        row[m, m] = NEG
    return row, word


@kernel(inline="always")
def _best_head(row, word, rank, root_last):
    """Return the head of the best arc that enters a component, -1 if there is none, and what is left of its score."""
    head, best = -1, NEG_TEST
    for h in range(1 if root_last else 0, len(row)):
        x = row[h]
        if x > best or (x == best and head >= 0 and rank[word[h]] < rank[word[head]]):
            head, best = h, x
    if head < 0 and row[0] > NEG_TEST:
        return 0, row[0]
    return head, best


@kernel(inline="always")
def _take_better(best, best_word, row, word, dual):
    """Take the arcs of a part of a cycle that are better than those of the parts before it."""
    for h in range(len(best)):
        x = row[h] - dual
        better = x > best[h]
        best[h] = x if better else best[h]
        best_word[h] = word[h] if better else best_word[h]
