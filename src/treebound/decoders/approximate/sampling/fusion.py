"""The best of two trees, fragment by fragment.

Where a word has the same descendants in both trees, what is inside can be exchanged and the result is a tree: so the
words whose smallest such surrounding subtree is the same are a fragment, and each fragment can be taken from either
tree. A long sentence is then as hard as its fragments, not as their product. The idea is that of partition crossover
(Whitley, Hains & Howe 2009, for tours).

Oracle: tests/test_sampling_chains.py.
"""

from __future__ import annotations

from treebound.decoders.approximate.sampling import buffers as at
from treebound.decoders.approximate.sampling.forest import arc_into
from treebound.decoders.approximate.sampling.moves import ENOUGH, exchange, undo
from treebound.support.jit import kernel


@kernel
def fuse(ints, reals, arcs):
    """Take the fragments that gain something from the tree int[n] arcs; the gain. O(n depth), scoring what differs."""
    n, here, there, fragment = ints[at.N], ints[at.HERE], ints[at.THERE], ints[at.FRAGMENT]
    differ = False
    for m in range(1, n + 1):
        differ = differ or arc_into(ints, m) != arcs[m - 1]
    if not differ:
        return 0.0
    _descendants(ints, arcs)
    for m in range(1, n + 1):
        x = ints[ints[at.HEAD] + arcs[m - 1]]
        while x != 0 and ints[here + x] != ints[there + x]:
            x = ints[ints[at.HEAD] + arcs[x - 1]]
        ints[fragment + m] = x if arc_into(ints, m) != arcs[m - 1] else -1
    total = 0.0
    for m in range(1, n + 1):
        if ints[fragment + m] >= 0:
            total += _exchange_fragment(ints, reals, arcs, m)
    return total


@kernel
def _descendants(ints, arcs):
    """Write to HERE and THERE what tells the sets of descendants apart, in the forest and in the tree of the arcs.

    It is the exclusive or of a code of 62 random bits for each word, the word's own included (Zobrist 1970).
    """
    n, head = ints[at.N], ints[at.HEAD]
    for m in range(n + 1):
        ints[ints[at.HERE] + m] = ints[ints[at.THERE] + m] = 0
    for m in range(1, n + 1):
        code, x = ints[ints[at.CODE] + m], m
        while x != 0:
            ints[ints[at.HERE] + x] ^= code
            x = ints[head + arc_into(ints, x)]
        x = m
        while x != 0:
            ints[ints[at.THERE] + x] ^= code
            x = ints[head + arcs[x - 1]]


@kernel
def _exchange_fragment(ints, reals, arcs, m):
    """Take the words of m's fragment, m the first of them, from the arcs if that gains something; the gain."""
    fragment, old, new, count = ints[at.FRAGMENT], ints[at.OLD], ints[at.NEW], 0
    which = ints[fragment + m]
    for x in range(m, ints[at.N] + 1):
        if ints[fragment + x] == which:
            ints[fragment + x] = -1
            ints[old + count], ints[new + count] = arc_into(ints, x), arcs[x - 1]
            count += 1
    gain = exchange(ints, reals, count)
    if gain > ENOUGH:
        return gain
    undo(ints, count)
    return 0.0
