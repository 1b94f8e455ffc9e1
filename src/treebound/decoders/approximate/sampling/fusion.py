"""Combine the best fragments of two trees.

If a word has the same descendants in both trees, the arcs among these descendants can be exchanged, and the result is a
tree. A fragment consists of the words for which the smallest such set of descendants around them is the same. Each
fragment can be taken from either tree.
The cost of a long sentence is then the sum over its fragments instead of their product. The idea is partition crossover
(Whitley, Hains & Howe 2009, for tours of travelling salesmen).

Oracle: tests/test_sampling_chains.py.
"""

from __future__ import annotations

from treebound.decoders.approximate.sampling import buffers as at
from treebound.decoders.approximate.sampling.forest import arc_into
from treebound.decoders.approximate.sampling.moves import ENOUGH, exchange, undo
from treebound.support.jit import kernel


@kernel
def fuse(ints, reals, arcs):
    """Replace each fragment of the forest by the same fragment of another tree if that scores more; return the gain.

    arcs  int[n], the arcs of the other tree

    O(n depth), plus the scoring of arcs that differ.
    """
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
    """Write a code of each word's set of descendants to HERE for the forest and to THERE for the tree of the arcs.

    The code is the exclusive or of 62 random bits of each descendant, including the word itself (Zobrist 1970).
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
    """Take the fragment whose first word is m from the tree `arcs` if that gains anything, and return the gain."""
    fragment, old, new, count = ints[at.FRAGMENT], ints[at.OLD], ints[at.NEW], 0
    fragment_number = ints[fragment + m]
    for x in range(m, ints[at.N] + 1):
        if ints[fragment + x] == fragment_number:
            ints[fragment + x] = -1
            ints[old + count], ints[new + count] = arc_into(ints, x), arcs[x - 1]
            count += 1
    gain = exchange(ints, reals, count)
    if gain > ENOUGH:
        return gain
    undo(ints, count)
    return 0.0
