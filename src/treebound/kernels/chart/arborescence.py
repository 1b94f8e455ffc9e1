"""Maximum spanning arborescence over sparse arcs (Chu & Liu 1965; Edmonds 1967), with an upper bound for every arc.

Components grow along a path, as in Gabow, Galil, Spencer & Tarjan (1986). A component takes its best entering arc, and
the path continues at the head of this arc. If the path reaches itself, the cycle becomes one component. What remains
of the score of this best arc is the dual variable of the component. The dual variable is subtracted from the scores of
all arcs that enter the component. The final remainder of an arc's score is minus the arc's reduced cost.

A single root needs no constant on root arcs. If the best tree has several root arcs, the search is repeated, and a
component takes a root arc only if no other arc enters it. This has the effect of an infinite constant, and integers
remain exact.

Oracle: tests/test_arborescence.py enumerates all trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.kernels.arcs.numbering import index_arcs
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.support.jit import kernel


class ArborescenceScratch(NamedTuple):
    """Working memory of `arborescence`; its contents have no meaning between calls.

    Components 0..n are the words (0 is the root). The other components are contracted cycles, in order of contraction.

    - `arc`, `left`: int32[A], float64[A]. For each word, the arcs into it from outside its component, and what remains
      of their scores.
    - `arc_end`: int32[n + 1]. The end of the arcs of each word.
    - `component`: int32[n + 1]. The component of each word.
    - `next_word`: int32[n + 1]. The words of a component as a linked list.
    - `first`, `last`: int32[2 n + 1]. The ends of this list.
    - `parent`: int32[2 n + 1]. The component into which a component was contracted, or -1.
    - `pick`: int32[2 n + 1]. The arc that the component takes.
    - `dual`: float64[2 n + 1]. The dual variable of each component.
    - `state`: int8[2 n + 1]. NEW, ON_PATH or DONE.
    - `path`: int32[2 n + 1]. The components on the path.
    """

    arc: np.ndarray
    left: np.ndarray
    arc_end: np.ndarray
    component: np.ndarray
    next_word: np.ndarray
    first: np.ndarray
    last: np.ndarray
    parent: np.ndarray
    pick: np.ndarray
    dual: np.ndarray
    state: np.ndarray
    path: np.ndarray


NEW, ON_PATH, DONE = range(3)


@kernel
def arborescence_scratch(n, A):
    """Return scratch for sentences of up to n words and A arcs."""
    return ArborescenceScratch(
        np.empty(A, np.int32),
        np.empty(A, np.float64),
        np.empty(n + 1, np.int32),
        np.empty(n + 1, np.int32),
        np.empty(n + 1, np.int32),
        np.empty(2 * n + 1, np.int32),
        np.empty(2 * n + 1, np.int32),
        np.empty(2 * n + 1, np.int32),
        np.empty(2 * n + 1, np.int32),
        np.empty(2 * n + 1, np.float64),
        np.empty(2 * n + 1, np.int8),
        np.empty(2 * n + 1, np.int32),
    )


@kernel(inline="always")
def _begin(index, weight, scratch):
    """Make every word a component with its arcs that are not forbidden. O(A)."""
    scratch.component[0] = 0
    scratch.state[0] = DONE
    for w in range(1, len(index.right)):
        c = index.into_start[w]
        for i in range(index.into_start[w], index.into_start[w + 1]):
            a = index.into[i]
            if weight[a] > NEG_TEST:
                scratch.arc[c] = a
                scratch.left[c] = weight[a]
                c += 1
        scratch.arc_end[w] = c
        scratch.component[w], scratch.first[w], scratch.last[w] = w, w, w
        scratch.parent[w], scratch.state[w], scratch.dual[w] = -1, NEW, 0.0


@kernel(inline="always")
def _enter(index, top, cycle, root_last, arc_max, scratch):
    """Return (best arc that enters the component on top of the path, or -1; the remainder of the arc's score).

    If the component was just contracted, `cycle` is the number of its members, which follow it on the path; otherwise
    `cycle` is 0. The dual variable of each member is then subtracted from the arcs into this member, and arcs inside
    the component are removed. O(arcs into the component).
    """
    arc, remainder, arc_end, component = scratch.arc, scratch.left, scratch.arc_end, scratch.component
    c = scratch.path[top]
    best, best_root = NEG_TEST, NEG_TEST
    arg, arg_root = -1, -1
    for k in range(top + min(cycle, 1), top + 1 + cycle):
        part = scratch.path[k]
        dual = scratch.dual[part]
        w = scratch.first[part]
        while True:
            e = index.into_start[w]
            for i in range(index.into_start[w], arc_end[w]):
                a = arc[i]
                u = index.head[a]
                x = remainder[i] - dual
                if component[u] == c:
                    if len(arc_max) > 0:
                        arc_max[a] = x
                    continue
                arc[e] = a
                remainder[e] = x
                e += 1
                if u == 0 and root_last:
                    if x > best_root:
                        best_root = x
                        arg_root = a
                elif x > best:
                    best = x
                    arg = a
            arc_end[w] = e
            if w == scratch.last[part]:
                break
            w = scratch.next_word[w]
    if arg < 0:
        return arg_root, best_root
    return arg, best


@kernel(inline="always")
def _merge(k, top, t, scratch):
    """Contract the components path[k .. top] into component t. O(words).

    Component t is written at index k of the path. Its members move up by one index, where `_enter` reads them.
    """
    first, last, path = scratch.first, scratch.last, scratch.path
    first[t], last[t] = first[path[k]], last[path[k]]
    for j in range(k, top + 1):
        part = path[j]
        scratch.parent[part] = t
        if j > k:
            scratch.next_word[last[t]] = first[part]
            last[t] = last[part]
        w = first[part]
        while True:
            scratch.component[w] = t
            if w == last[part]:
                break
            w = scratch.next_word[w]
    scratch.parent[t], scratch.state[t] = -1, NEW
    for j in range(top, k - 1, -1):
        path[j + 1] = path[j]
    path[k] = t


@kernel
def _contract(index, weight, n, root_last, most_roots, arc_max, scratch):
    """Contract cycles until the root reaches every component.

    If `root_last`, components take a root arc only if no other arc enters them. If `arc_max` is not empty, minus the
    reduced cost of arcs inside components is written to it.

    Return the number of all components, including words; 0 if there are more than most_roots root arcs, -1 if no tree
    exists.
    """
    head, component = index.head, scratch.component
    pick, state, path = scratch.pick, scratch.state, scratch.path
    _begin(index, weight, scratch)
    components = n + 1  # number of components so far
    roots = 0
    for s in range(1, n + 1):
        if state[component[s]] == DONE:
            continue
        path[0] = component[s]
        top = 0
        # number of members of the component on top if it was just contracted; the members follow it on the path
        cycle = 0
        while True:
            c = path[top]
            if state[c] == NEW:
                state[c] = ON_PATH
                arg, best = _enter(index, top, cycle, root_last, arc_max, scratch)
                cycle = 0
                if arg < 0:
                    return -1
                if head[arg] == 0:
                    roots += 1
                    if roots > most_roots:
                        return 0
                scratch.dual[c] = best
                pick[c] = arg
            u = component[head[pick[c]]]
            if state[u] == DONE:
                for k in range(top + 1):
                    state[path[k]] = DONE
                break
            if state[u] == NEW:
                top += 1
                path[top] = u
                continue
            # u is on the path: contract the cycle from u to c
            k = top
            while path[k] != u:
                k -= 1
            _merge(k, top, components, scratch)
            components += 1
            cycle = top + 1 - k
            top = k
    return components


@kernel
def arborescence(index, weight, n, single_root, arcs, arc_max, scratch):
    """Return the score of the best tree, projective or not, or NEG if there is none.

    - `index`: ArcIndex.
    - `weight`: float64[>= A]; NEG forbids an arc. To force an arc, forbid the other arcs into its word.
    - `arcs`: int32[n], written: the arc into each word. Unchanged if there is no tree.
    - `arc_max`: float64[>= A], written unless empty. No tree with the arc scores more than this bound, which is the
      value minus the reduced cost. It is the value itself for arcs of the best tree, and NEG for forbidden arcs.
    - `scratch`: ArborescenceScratch.

    Ties go to the lower head within a component. Integers give exact integers. O(A) per contraction, O(A n) at worst;
    two to four passes over the arcs are usual. All other arguments remain unchanged.
    """
    head, mod, into, into_start = index.head, index.mod, index.into, index.into_start
    component, parent, pick, dual = scratch.component, scratch.parent, scratch.pick, scratch.dual
    bounds = len(arc_max) > 0
    # the first try usually finds a tree with a single root, with fewer contractions and better bounds
    components, root_last = 0, False
    for root_last in (False, True):
        if bounds:
            arc_max[:] = NEG
        components = _contract(index, weight, n, root_last, 1 if single_root else n, arc_max, scratch)
        if components != 0:
            break
    if components <= 0:
        return NEG
    # expand the cycles, the last one first: the arc into a cycle replaces the arc of the member that it enters
    for t in range(components - 1, n, -1):
        w = mod[pick[t]]
        while parent[w] != t:
            w = parent[w]
        pick[w] = pick[t]
    value = 0.0
    for w in range(1, n + 1):
        arcs[w - 1] = pick[w]
        value += weight[pick[w]]
    if bounds:
        for w in range(1, n + 1):
            c = component[w]
            shut = root_last and head[pick[c]] != 0  # the single root arc is needed elsewhere
            for i in range(into_start[w], scratch.arc_end[w]):
                if not (shut and head[scratch.arc[i]] == 0):
                    arc_max[scratch.arc[i]] = scratch.left[i] - dual[c]
        for i in range(into_start[n + 1]):
            if arc_max[into[i]] > NEG_TEST:
                arc_max[into[i]] += value
    return value


@kernel
def maximum_arborescence(score):
    """Return int32[n + 1]: heads of the best tree with root 0, ties to the lower head; heads[1] = -2 if there is none.

    score[h, m] is float64[n + 1, n + 1]; -inf forbids an arc. The algorithm is `arborescence`, for any number of root
    arcs.
    """
    n = len(score) - 1
    index = index_arcs(n, score > -np.inf)
    A = len(index.head)
    weight = np.empty(A, np.float64)
    for a in range(A):
        weight[a] = score[index.head[a], index.mod[a]]
    arcs = np.empty(n, np.int32)
    heads = np.full(n + 1, -1, np.int32)
    if arborescence(index, weight, n, False, arcs, np.empty(0, np.float64), arborescence_scratch(n, A)) <= NEG_TEST:
        heads[1] = -2
        return heads
    for m in range(1, n + 1):
        heads[m] = index.head[arcs[m - 1]]
    return heads
