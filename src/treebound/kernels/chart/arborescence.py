"""Maximum spanning arborescence over sparse arcs: Chu & Liu (1965), Edmonds (1967), with a bound for every arc.

Components are grown along a path, as in Gabow, Galil, Spencer & Tarjan (1986): a component takes its best entering arc
and walks to that arc's head; where the walk meets itself, the cycle becomes one component. What a component's best arc
scored is its dual variable: it is taken from every arc that enters the component, and what is left of an arc in the end
is minus its reduced cost. A single root needs no constant on root arcs: where the best tree has several, a component
takes a root arc only if nothing else enters it. That is what an infinite constant would do, and integers stay exact.

Oracle: tests/test_arborescence.py enumerates all trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.kernels.arcs.numbering import index_arcs
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.support.jit import kernel


class ArborescenceScratch(NamedTuple):
    """Working memory of `arborescence`; its contents mean nothing between calls.

    Components 0..n are the words (0 the root), the others are contracted cycles, in order of contraction.

    arc, left   int32[A], float64[A]  arcs by modifier that still enter its component, what is left of them
    arc_end     int32[n + 1]  end of the arcs of each word
    component   int32[n + 1]  component of each word
    next_word   int32[n + 1]  words of a component as a list
    first, last int32[2 n + 1]  ends of that list
    parent      int32[2 n + 1]  component into which a component was contracted, or -1
    pick        int32[2 n + 1]  arc that the component takes
    dual        float64[2 n + 1]
    state       int8[2 n + 1]   NEW, ON_PATH, DONE
    path        int32[2 n + 1]
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
    """Scratch for sentences of up to n words and A arcs."""
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
    """Every word is a component, entered by its arcs that are not forbidden. O(A)."""
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
    """(best arc that enters the component on top of the path, -1: none; what is left of it).

    cycle: parts of the component if it was just contracted, above it on the path. Their duals are taken from their
    arcs, and arcs inside are put away. O(arcs into it).
    """
    arc, left, arc_end, component = scratch.arc, scratch.left, scratch.arc_end, scratch.component
    c = scratch.path[top]
    best, best_root = NEG_TEST, NEG_TEST
    arg, arg_root = -1, -1
    for k in range(top + min(cycle, 1), top + 1 + cycle):
        part = scratch.path[k]
        off = scratch.dual[part]
        w = scratch.first[part]
        while True:
            e = index.into_start[w]
            for i in range(index.into_start[w], arc_end[w]):
                a = arc[i]
                u = index.head[a]
                x = left[i] - off
                if component[u] == c:
                    if len(arc_max) > 0:
                        arc_max[a] = x
                    continue
                arc[e] = a
                left[e] = x
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
    """Path k .. top becomes component t, in place k; the parts stay above it until it has taken its arc. O(words)."""
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
    """Contract until every component is reached from the root.

    root_last: components take a root arc only if nothing else enters them.
    OUT: arc_max (if not empty) of arcs inside components: minus their reduced cost.
    Returns how many components there were in all, words included; 0 for more than most_roots root arcs, -1 for no tree.
    """
    head, component = index.head, scratch.component
    pick, state, path = scratch.pick, scratch.state, scratch.path
    _begin(index, weight, scratch)
    made = n + 1  # components so far
    roots = 0
    for s in range(1, n + 1):
        if state[component[s]] == DONE:
            continue
        path[0] = component[s]
        top = 0
        cycle = 0  # parts of the component on top if it was just contracted: they lie above it on the path
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
            _merge(k, top, made, scratch)
            made += 1
            cycle = top + 1 - k
            top = k
    return made


@kernel
def arborescence(index, weight, n, single_root, arcs, arc_max, scratch):
    """Score of the best tree, projective or not, NEG if there is none.

    index     ArcIndex
    weight    float64[>= A]; NEG forbids an arc (forced arcs: forbid the other arcs into the word)
    arcs      int32[n] OUT: the arc into each word; untouched if there is no tree
    arc_max   float64[>= A] OUT: no tree through the arc scores more than this: value minus reduced cost, so the value
              itself for arcs of the best tree, NEG for forbidden ones; empty: not wanted
    scratch   ArborescenceScratch
    Ties go to the lower head within a component. Integers give exact integers. O(A) a contraction, O(A n) at worst;
    two to four passes over the arcs are usual. Changes nothing but OUT and scratch.
    """
    head, mod, into, into_start = index.head, index.mod, index.into, index.into_start
    component, parent, pick, dual = scratch.component, scratch.parent, scratch.pick, scratch.dual
    bounds = len(arc_max) > 0
    # most often the best tree has a single root anyway; found with fewer contractions, and with better bounds
    made, root_last = 0, False
    for root_last in (False, True):
        if bounds:
            arc_max[:] = NEG
        made = _contract(index, weight, n, root_last, 1 if single_root else n, arc_max, scratch)
        if made != 0:
            break
    if made <= 0:
        return NEG
    # open the cycles again, the last one first: the arc into a cycle replaces the one of the member that it enters
    for t in range(made - 1, n, -1):
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
    """int32[n + 1] heads of the best tree rooted in node 0, ties to the lower head; heads[1] = -2 if there is none.

    score float64[n + 1, n + 1], score[h, m]; -inf forbids an arc. As `arborescence`, for a dense matrix and any number
    of roots.
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
