"""Score an arc in a forest, and add it to or remove it from the forest: the building blocks of every move.

The score of a forest is the sum over all parts whose arcs are in it. Some parts depend on absent arcs: the first
modifier on a side, a head without inner grandchildren, numbers of modifiers. They count once the arc or word that they
belong to is in the forest. A move is scored by removing arcs one by one and adding others, in any order. Each step
costs O(d), where d is the number of modifiers of the arc's two words, or O(d^2) with tri-siblings.

Oracle: tests/test_sampling_moves.py scores every tree of long walks from scratch.
"""

from __future__ import annotations

from treebound.core.problem import NONE
from treebound.decoders.approximate.sampling import buffers as at
from treebound.kernels.head_stars.tables import pair_rank, triple_rank
from treebound.support.jit import kernel


@kernel(inline="always")
def arc_into(ints, m):
    """Return the arc into word m, NONE for 0 and for a word without an arc."""
    return ints[ints[at.ARC_INTO] + m]


@kernel(inline="always")
def head_of(ints, m):
    """Return the head of a word that has a head."""
    return ints[ints[at.HEAD] + ints[ints[at.ARC_INTO] + m]]


@kernel(inline="always")
def arc_number(ints, h, m):
    """Return the arc from h to m, NONE if it is forbidden or not a candidate."""
    return ints[ints[at.NUMBER] + h * (ints[at.N] + 1) + m]


@kernel
def clear(ints, reals):
    """Make the forest empty and return its score."""
    n, total = ints[at.N], 0.0
    for i in range(5):
        start = ints[at.ARC_INTO + i]
        ints[start : start + n + 2] = NONE
    if ints[at.S_VALENCY] >= 0:
        for h in range(1, n + 1):
            total += reals[ints[at.S_VALENCY] + ints[ints[at.VALENCY] + h]]
    return total


@kernel
def lay(ints, reals, arcs):
    """Replace the forest by the arcs int[*], and return its score."""
    total = clear(ints, reals)
    for b in arcs:
        total += attach(ints, reals, b)
    return total


@kernel
def attach(ints, reals, b):
    """Add arc b, whose word has no head yet, and return the change of the score."""
    gain = worth(ints, reals, b)
    link(ints, b)
    return gain


@kernel
def detach(ints, reals, m):
    """Remove the arc into word m, and return the score that is lost."""
    return worth(ints, reals, unlink(ints, m))


@kernel
def link(ints, b):
    """Add arc b, whose word has no head yet, without scoring it."""
    h, m = ints[ints[at.HEAD] + b], ints[ints[at.MOD] + b]
    first, last, following, preceding = ints[at.FIRST], ints[at.LAST], ints[at.NEXT], ints[at.BEFORE]
    before, after = NONE, ints[first + h]
    while after != NONE and after < m:
        before, after = after, ints[following + after]
    ints[following + m], ints[preceding + m] = after, before
    if before == NONE:
        ints[first + h] = m
    else:
        ints[following + before] = m
    if after == NONE:
        ints[last + h] = m
    else:
        ints[preceding + after] = m
    ints[ints[at.ARC_INTO] + m] = b


@kernel
def unlink(ints, m):
    """Remove the arc into word m without scoring, and return the arc."""
    b = arc_into(ints, m)
    h = ints[ints[at.HEAD] + b]
    before, after = ints[ints[at.BEFORE] + m], ints[ints[at.NEXT] + m]
    if before == NONE:
        ints[ints[at.FIRST] + h] = after
    else:
        ints[ints[at.NEXT] + before] = after
    if after == NONE:
        ints[ints[at.LAST] + h] = before
    else:
        ints[ints[at.BEFORE] + after] = before
    ints[ints[at.ARC_INTO] + m] = NONE
    return b


@kernel
def worth(ints, reals, b):
    """Return the amount that arc b would add to the score of the forest; the word that b enters must have no head."""
    ints[at.SCORED] += 1
    total = reals[ints[at.S_ARC] + b] + _at_head(ints, reals, b) + _at_modifier(ints, reals, b)
    if ints[at.S_BIGRAM] >= 0:
        total += _with_neighbours(ints, reals, b)
    if ints[at.S_FACTOR] >= 0:
        total += _in_factors(ints, reals, b)
    return total


@kernel(inline="always")
def _below(ints, a, c):
    """Return the rank of arc c = (m, g) among the arcs of m that can form a grandchild part with a = (h, m)."""
    m = ints[ints[at.MOD] + a]
    right = ints[ints[at.RIGHT] + m]
    return c - ints[ints[at.START] + m] if c < right else ints[ints[at.BELOW] + 2 * a] + c - right


@kernel(inline="always")
def _adjacent(ints, reals, s, b, first):
    """Return the adjacent-sibling score of arc b and the next arc s towards the head (NONE if b is first).

    first  the first arc from the same head to the same side
    """
    return reals[ints[at.S_ADJACENT] + ints[ints[at.ADJACENT] + b] + (0 if s == NONE else 1 + s - first)]


@kernel(inline="always")
def _grand_sibling(ints, reals, a, s, b, first):
    """Return the grand-sibling score of arc a and two arcs of its modifier: b, and its inner neighbour s or NONE."""
    offset = 0
    if b >= ints[ints[at.RIGHT] + ints[ints[at.MOD] + a]]:
        below = ints[ints[at.BELOW] + 2 * a]
        offset = below * (below + 1) // 2
    rank = offset + (b - first) * (b - first + 1) // 2 + (0 if s == NONE else 1 + s - first)
    return reals[ints[at.S_GRAND_SIBLING] + ints[ints[at.GRAND_SIBLING] + a] + rank]


@kernel(inline="always")
def _outermost(ints, reals, a, on_left, c):
    """Return the outermost-grandchild score of arc a = (h, m) with c, the outermost arc of m on one side, or NONE."""
    p = ints[at.S_OUTERMOST] + ints[ints[at.OUTERMOST] + a]
    if c != NONE:
        return reals[p + 2 + _below(ints, a, c)]
    inner_left = ints[ints[at.HEAD] + a] < ints[ints[at.MOD] + a]
    return reals[p if on_left == inner_left else p + 1]


@kernel
def _at_head(ints, reals, b):
    """Return the score that arc b adds by parts at its head: siblings, valency, parts with the arc into the head."""
    h, m, into, following = ints[ints[at.HEAD] + b], ints[ints[at.MOD] + b], ints[at.ARC_INTO], ints[at.NEXT]
    before, after, total = NONE, ints[ints[at.FIRST] + h], 0.0
    while after != NONE and after < m:
        before, after = after, ints[following + after]
    on_left = m < h
    inner, outer = (after, before) if on_left else (before, after)
    if inner != NONE and (inner > h if on_left else inner < h):
        inner = NONE
    s = NONE if inner == NONE else ints[into + inner]
    t = NONE if outer == NONE or (outer > h) == on_left else ints[into + outer]
    first = ints[ints[at.START] + h] if on_left else ints[ints[at.RIGHT] + h]
    if ints[at.S_ADJACENT] >= 0 and ints[ints[at.ADJACENT] + b + 1] > ints[ints[at.ADJACENT] + b]:
        total += _adjacent(ints, reals, s, b, first)
        if t != NONE:
            total += _adjacent(ints, reals, b, t, first) - _adjacent(ints, reals, s, t, first)
    if h == 0:
        return total
    a = ints[into + h]
    if a != NONE:
        if ints[at.S_GRANDCHILD] >= 0:
            total += reals[ints[at.S_GRANDCHILD] + ints[ints[at.GRANDCHILD] + a] + _below(ints, a, b)]
        if ints[at.S_GRAND_SIBLING] >= 0:
            total += _grand_sibling(ints, reals, a, s, b, first)
            if t != NONE:
                total += _grand_sibling(ints, reals, a, b, t, first) - _grand_sibling(ints, reals, a, s, t, first)
        if ints[at.S_OUTERMOST] >= 0 and t == NONE:
            total += _outermost(ints, reals, a, on_left, b) - _outermost(ints, reals, a, on_left, s)
    if ints[at.S_SIBLING] >= 0 or ints[at.S_TRI_SIBLING] >= 0 or ints[at.S_VALENCY] >= 0:
        total += _among_siblings(ints, reals, b)
    return total


@kernel
def _among_siblings(ints, reals, b):
    """Return the score that arc b adds by sibling pairs, sibling triples and the valency of its head."""
    h, into, following = ints[ints[at.HEAD] + b], ints[at.ARC_INTO], ints[at.NEXT]
    start, k = ints[ints[at.START] + h], ints[ints[at.START] + h + 1] - ints[ints[at.START] + h]
    x, count, total = b - start, 0, 0.0
    c = ints[ints[at.FIRST] + h]
    while c != NONE:
        count += 1
        y = ints[into + c] - start
        low, high = min(x, y), max(x, y)
        if ints[at.S_SIBLING] >= 0:
            total += reals[ints[at.S_SIBLING] + ints[ints[at.SIBLING] + h] + pair_rank(k, low, high)]
        if ints[at.S_TRI_SIBLING] >= 0:
            d = ints[ints[at.FIRST] + h]
            while d != c:
                z = ints[into + d] - start
                middle = max(low, min(high, z))
                rank = triple_rank(k, min(low, z), middle, max(high, z))
                total += reals[ints[at.S_TRI_SIBLING] + ints[ints[at.TRI_SIBLING] + h] + rank]
                d = ints[following + d]
        c = ints[following + c]
    if ints[at.S_VALENCY] >= 0:
        p, largest = ints[ints[at.VALENCY] + h], ints[ints[at.VALENCY] + h + 1] - ints[ints[at.VALENCY] + h] - 1
        total += (
            reals[ints[at.S_VALENCY] + p + min(count + 1, largest)]
            - reals[ints[at.S_VALENCY] + p + min(count, largest)]
        )
    return total


@kernel
def _at_modifier(ints, reals, b):
    """Return the score of the parts that join arc b = (h, m) with arcs out of m: grandchildren and grand-siblings."""
    total = 0.0
    m, into = ints[ints[at.MOD] + b], ints[at.ARC_INTO]
    left, right = ints[ints[at.FIRST] + m], ints[ints[at.LAST] + m]
    if ints[at.S_OUTERMOST] >= 0:
        total += _outermost(ints, reals, b, True, ints[into + left] if left != NONE and left < m else NONE)
        total += _outermost(ints, reals, b, False, ints[into + right] if right > m else NONE)
    if ints[at.S_GRANDCHILD] >= 0:
        p, c = ints[at.S_GRANDCHILD] + ints[ints[at.GRANDCHILD] + b], left
        while c != NONE:
            total += reals[p + _below(ints, b, ints[into + c])]
            c = ints[ints[at.NEXT] + c]
    if ints[at.S_GRAND_SIBLING] >= 0:
        for side in range(2):
            first = ints[ints[at.START] + m] if side == 0 else ints[ints[at.RIGHT] + m]
            c = left
            while c != NONE:
                if (c > m) == (side == 1):
                    inner = ints[(ints[at.NEXT] if side == 0 else ints[at.BEFORE]) + c]
                    s = NONE if inner == NONE or (inner > m) != (side == 1) else ints[into + inner]
                    total += _grand_sibling(ints, reals, b, s, ints[into + c], first)
                c = ints[ints[at.NEXT] + c]
    return total


@kernel
def _with_neighbours(ints, reals, b):
    """Return the score that arc b adds by head bigrams with the arcs into the two neighbouring words."""
    m, into, rank, total = ints[ints[at.MOD] + b], ints[at.ARC_INTO], ints[at.RANK], 0.0
    heads, bigram = ints[at.INTO_START], ints[at.S_BIGRAM]
    if m > 1 and ints[into + m - 1] != NONE:
        row = ints[rank + ints[into + m - 1]] * (ints[heads + m + 1] - ints[heads + m])
        total += reals[bigram + ints[ints[at.BIGRAM] + m - 1] + row + ints[rank + b]]
    if m < ints[at.N] and ints[into + m + 1] != NONE:
        row = ints[rank + b] * (ints[heads + m + 2] - ints[heads + m + 1])
        total += reals[bigram + ints[ints[at.BIGRAM] + m] + row + ints[rank + ints[into + m + 1]]]
    return total


@kernel
def _in_factors(ints, reals, b):
    """Return the score of all explicitly listed factors of arc b whose other arcs are all in the forest."""
    total, width = 0.0, ints[at.WIDTH]
    for i in range(ints[ints[at.FACTOR_FIRST] + b], ints[ints[at.FACTOR_FIRST] + b + 1]):
        f = ints[ints[at.FACTOR] + i]
        place, complete = ints[at.FACTOR_ARCS] + f * width, True
        for j in range(place, place + width):
            c = ints[j]
            if c >= 0 and c != b and ints[ints[at.ARC_INTO] + ints[ints[at.MOD] + c]] != c:
                complete = False
                break
        if complete:
            total += reals[ints[at.S_FACTOR] + f]
    return total
