"""Better trees by giving one word another head, as often as that helps (McDonald & Pereira 2006, section 3.2).

Oracle: tests/test_climbing.py scores every tree and every neighbour.
"""

from __future__ import annotations

from treebound.core.problem import NONE
from treebound.kernels.tree_moves import gain, lay_out, move
from treebound.support.jit import kernel

ENOUGH = 1e-6  #: a smaller gain may be rounding


@kernel
def climb_heads(scoring, arcs):
    """(score, arcs int32[n]) of a tree no neighbour of which scores more; begins at the tree `arcs`.

    A neighbour has another head for one word; where there is a single root, also another root that the old one hangs
    below. Every sweep takes, word by word, the best of its arcs. O(A d^2) a sweep, d the largest number of modifiers.
    """
    index = scoring.arc_index
    tree, total = lay_out(scoring, arcs)
    better = True
    while better:
        better = False
        for m in range(1, len(index.right)):
            most, one, two = _best_of_word(scoring, tree, m)
            if one == NONE:
                continue
            better = True
            total += most
            move(scoring, tree, one)
            if two != NONE:
                move(scoring, tree, two)
    return total, tree.into[1:].copy()


@kernel
def _best_of_word(scoring, tree, m):
    """(gain, arc into m, arc into the old root or NONE) of the best neighbour with another head for m; NONE: none."""
    index, single_root = scoring.arc_index, scoring.part_index.single_root
    most, one, two = ENOUGH, NONE, NONE
    for i in range(index.into_start[m], index.into_start[m + 1]):
        b = index.into[i]
        if b == tree.into[m] or _below(index, tree.into, index.head[b], m):
            continue
        if not single_root or index.head[b] != 0:
            more = gain(scoring, tree, b, NONE)
            if more > most:
                most, one, two = more, b, NONE
        else:  # m becomes the root: what takes the old one?
            root = _root(index, tree.z)
            for j in range(index.into_start[root], index.into_start[root + 1]):
                c = index.into[j]
                if index.head[c] == 0 or not _below(index, tree.into, index.head[c], m):
                    continue
                more = gain(scoring, tree, b, c)
                if more > most:
                    most, one, two = more, b, c
    return most, one, two


@kernel
def _below(index, into, u, m):
    """Whether u is m or hangs below it."""
    while u != 0 and u != m:
        u = index.head[into[u]]
    return u == m


@kernel
def _root(index, z):
    """The first word that hangs below 0."""
    for a in range(index.start[0], index.start[1]):
        if z[a] == 1:
            return index.mod[a]
    return 0
