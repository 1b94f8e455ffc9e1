"""The score of the parts at one head of a tree, for head stars and for moves from tree to tree."""

from __future__ import annotations

from treebound.core.problem import NONE
from treebound.kernels.arcs.parts import below_rank, sibling_rank
from treebound.kernels.arcs.wide_parts import grand_sibling_rank
from treebound.kernels.head_stars.tables import triple_rank
from treebound.support.jit import kernel


@kernel
def score_head(index, parts, tables, z, into, taken, h):
    """Return the score of the parts in `tables` (StarTables) at head h of a tree. O(d^3) for d modifiers of h.

    - `z`: int8[>= A]. 1 for the arcs of the tree.
    - `into`: int32[n + 1]. The arc into each word, NONE at 0.
    - `taken`: int32[n + 1]. Scratch, which receives the arcs to the modifiers of h.
    """
    start, right = index.start, index.right
    a = into[h]
    lo, mid, hi = start[h], right[h], start[h + 1]
    score = 0.0
    count = 0
    before = NONE
    last_left, last_right = NONE, NONE
    adjacent = len(tables.adjacent) > 0 and parts.adjacent[hi] > parts.adjacent[lo]
    for b in range(lo, hi):
        if z[b] == 0:
            continue
        if b < mid:
            last_left = b
        else:
            if last_right == NONE:
                before = NONE
            last_right = b
        if adjacent:
            side = lo if b < mid else mid
            score += tables.adjacent[parts.adjacent[b] + (0 if before == NONE else 1 + before - side)]
        if h > 0:
            if len(tables.grandchild) > 0:
                score += tables.grandchild[parts.grandchild[a] + below_rank(index, parts, a, b)]
            if len(tables.grand_sibling) > 0:
                p = parts.grand_sibling[a] + grand_sibling_rank(index, parts, a, before, b)
                score += tables.grand_sibling[p]
            if len(tables.sibling) > 0:
                for i in range(count):
                    score += tables.sibling[parts.sibling[h] + sibling_rank(index, taken[i], b)]
            if len(tables.tri_sibling) > 0:
                for j in range(1, count):
                    for i in range(j):
                        rank = triple_rank(hi - lo, taken[i] - lo, taken[j] - lo, b - lo)
                        score += tables.tri_sibling[parts.tri_sibling[h] + rank]
        before = b
        taken[count] = b
        count += 1
    if h > 0:
        if len(tables.outermost) > 0:
            inner_left = index.head[a] < h
            for side in range(2):
                c = last_left if side == 0 else last_right
                p = parts.outermost[a]
                if c == NONE:
                    p += 0 if (side == 0) == inner_left else 1
                else:
                    p += 2 + below_rank(index, parts, a, c)
                score += tables.outermost[p]
        if len(tables.valency) > 0:
            size = parts.valency[h + 1] - parts.valency[h]
            score += tables.valency[parts.valency[h] + min(count, size - 1)]
        if len(tables.comb) > 0:
            for p in range(tables.comb_start[h], tables.comb_start[h + 1]):
                complete = True
                for i in range(tables.comb_arcs.shape[1]):
                    c = tables.comb_arcs[p, i]
                    complete = complete and (c < 0 or z[c] == 1)
                if complete:
                    score += tables.comb[p]
    return score


@kernel
def score_heads(index, parts, tables, z, into, taken, out):
    """Score the parts in `tables` (StarTables) at each head of a tree, and return the sum over all heads.

    The score at each head is written to `out` float64[n + 1].

    - `z`: int8[>= A]. 1 for the arcs of the tree.
    - `into`: int32[n + 1]. The arc into each word, NONE at 0.
    - `taken`: int32[n + 1]. Scratch.

    O(A + n d^3), where d is the largest number of modifiers of one head.
    """
    total = 0.0
    for h in range(len(index.right)):
        out[h] = score_head(index, parts, tables, z, into, taken, h)
        total += out[h]
    return total
