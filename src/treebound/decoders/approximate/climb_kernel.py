"""Improve a tree by giving single words other heads, until no change helps (McDonald & Pereira 2006, section 3.2).

Oracle: tests/test_climbing.py scores every tree and every neighbour.
"""

from __future__ import annotations

from treebound.core.problem import NONE
from treebound.kernels.tree_moves import gain, lay_out, move
from treebound.support.jit import kernel

ENOUGH = 1e-6  #: smallest gain that counts; a smaller one may be a rounding error


@kernel
def climb_heads(scoring, arcs):
    """Return (score, arcs int32[n]) of a tree that no neighbour outscores, starting from the tree `arcs`.

    A neighbour has another head for one word. If trees have a single root, a neighbour may also have another root, with
    the old root attached to it or to one of its descendants. Every sweep changes words one by one to their best head.
    O(A d^2) a sweep, where d is the largest number of modifiers of a word.
    """
    index = scoring.arc_index
    tree, total = lay_out(scoring, arcs)
    better = True
    while better:
        better = False
        for m in range(1, len(index.right)):
            best_gain, arc, arc_of_root = _best_of_word(scoring, tree, m)
            if arc == NONE:
                continue
            better = True
            total += best_gain
            move(scoring, tree, arc)
            if arc_of_root != NONE:
                move(scoring, tree, arc_of_root)
    return total, tree.into[1:].copy()


@kernel
def _best_of_word(scoring, tree, m):
    """Return the best neighbour with another head for m: (gain, arc into m, arc into the old root or NONE).

    The arc into m is NONE if no neighbour gains anything.
    """
    index, single_root = scoring.arc_index, scoring.part_index.single_root
    best_gain, arc, arc_of_root = ENOUGH, NONE, NONE
    for i in range(index.into_start[m], index.into_start[m + 1]):
        b = index.into[i]
        if b == tree.into[m] or _below(index, tree.into, index.head[b], m):
            continue
        if not single_root or index.head[b] != 0:
            gain_of_move = gain(scoring, tree, b, NONE)
            if gain_of_move > best_gain:
                best_gain, arc, arc_of_root = gain_of_move, b, NONE
        else:  # m becomes the root, so the old root needs a head in m's subtree
            root = _root(index, tree.z)
            for j in range(index.into_start[root], index.into_start[root + 1]):
                c = index.into[j]
                if index.head[c] == 0 or not _below(index, tree.into, index.head[c], m):
                    continue
                gain_of_move = gain(scoring, tree, b, c)
                if gain_of_move > best_gain:
                    best_gain, arc, arc_of_root = gain_of_move, b, c
    return best_gain, arc, arc_of_root


@kernel
def _below(index, into, u, m):
    """Return whether u is m or a descendant of m."""
    while u != 0 and u != m:
        u = index.head[into[u]]
    return u == m


@kernel
def _root(index, z):
    """Return the smallest dependent of the root."""
    for a in range(index.start[0], index.start[1]):
        if z[a] == 1:
            return index.mod[a]
    return 0
