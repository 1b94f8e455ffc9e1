"""Maximum spanning arborescence of a dense matrix (Chu & Liu 1965; Edmonds 1967), in O(n^2) time (Tarjan 1977).

Components and path are defined as in `treebound.kernels.chart.arborescence`, which stores all arcs that enter a
component and bounds each of them. Here a component stores only the best arc from each head. A cycle is contracted by
taking the maxima of the rows of its members. A contraction therefore costs O(n) for each member, not O(arcs). Ties are
broken in the same way: the earlier word of the component, then the lower head. A single root is also found in the same
way, by choosing root arcs last.

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

    - `score`: float64[n + 1, n + 1]. score[h, m] belongs to the arc from head h to modifier m. Scores that are not
      above `NEG_TEST`, such as -inf, forbid the arc. The diagonal and column 0 are never read.
    - `single_root`: if True, exactly one word is attached to the root.
    - `heads`: int32[n + 1]. On entry, the best head of each word, the lowest of equal ones, or 0 for no head. On
      return, heads[1:] is the best tree; unchanged if there is none.
    """
    n = len(score) - 1
    parent = np.empty(2 * n + 1, np.int32)  # component into which a component was contracted, or -1
    pick = np.empty((2 * n + 1, 2), np.int32)  # head and modifier of the arc that a component takes
    roots = 0
    for m in range(1, n + 1):
        roots += heads[m] == 0
    # the best tree usually has a single root, unless several words prefer the root
    components = 0
    if not single_root or roots < 2:
        components = _contract(score, False, 1 if single_root else n, parent, pick)
    if components == 0:
        components = _contract(score, True, 1, parent, pick)
    if components <= 0:
        return False
    # expand the cycles, the last one first: the arc into a cycle replaces the arc of the member that it enters
    for t in range(components - 1, n, -1):
        w = pick[t, 1]
        while parent[w] != t:
            w = parent[w]
        pick[w, 0], pick[w, 1] = pick[t, 0], pick[t, 1]
    for m in range(1, n + 1):
        heads[m] = pick[m, 0]
    return True


@kernel
def _contract(score, root_last, most_roots, parent, pick):
    """Contract cycles until the root reaches every component.

    - `root_last`: if True, components take a root arc only if no other arc enters them.
    - `parent`: int32[2 n + 1], written. The component into which each component was contracted, or -1.
    - `pick`: int32[2 n + 1, 2], written. Head and modifier of the arc that each component takes.

    Return the number of all components, including words; 0 if there are more than most_roots root arcs, -1 if no tree
    exists.
    """
    n = len(score) - 1
    row, word = _entering_arcs(score)
    component, rank, next_word = np.arange(n + 1), np.zeros(n + 1, np.int32), np.empty(n + 1, np.int32)
    row_of, first, last = np.arange(2 * n + 1), np.arange(2 * n + 1), np.arange(2 * n + 1)
    dual, state, path = np.empty(2 * n + 1), np.full(2 * n + 1, NEW, np.int8), np.empty(2 * n + 1, np.int32)
    state[0] = DONE
    parent[:] = -1
    components = n + 1  # number of components so far
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
            k = top  # u is on the path: the cycle from u to c becomes a new component, in the row of u
            while path[k] != u:
                k -= 1
            best, best_word = row[row_of[u]], word[row_of[u]]
            best -= dual[u]
            for j in range(k, top + 1):
                part = path[j]
                parent[part] = components
                if j > k:
                    _take_better(best, best_word, row[row_of[part]], word[row_of[part]], dual[part])
                    next_word[last[path[j - 1]]] = first[part]
            row_of[components], first[components], last[components] = row_of[u], first[u], last[c]
            w, order = first[components], 0
            while True:
                component[w], rank[w] = components, order
                best[w] = NEG  # no arc of the component enters it
                if w == last[components]:
                    break
                w = next_word[w]
                order += 1
            path[k] = components
            top = k
            components += 1
    return components


@kernel(inline="always")
def _entering_arcs(score):
    """Return (remainders, words) of the arcs that enter each component; at first, each word is a component.

    - Remainders: float64[n + 1, n + 1], indexed by component and head. The rest of the score of the best arc from this
      head into the component, after dual variables were subtracted.
    - Words: int32[n + 1, n + 1]. The modifier of this best arc.
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
    """Return (head of the best arc that enters a component, or -1; the remainder of this arc's score).

    `row` and `word` are the rows of the component in the two arrays that `_entering_arcs` returns. `rank` is the
    position of each word in the component. Among equal arcs, the arc into the word with the lowest rank is the best.
    """
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
    """Merge the row of one member of a cycle into the row of the new component.

    From each head, the better of the two arcs is stored. `dual`, the dual variable of the member, is subtracted first.
    """
    for h in range(len(best)):
        x = row[h] - dual
        better = x > best[h]
        best[h] = x if better else best[h]
        best_word[h] = word[h] if better else best_word[h]
