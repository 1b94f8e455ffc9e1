"""Move from tree to tree: another head for a word, a word exchanged with its head, two neighbours moved together.

Every move gives a tree of the space, with a single root if required. For projective trees, the possible heads of a span
are found by following heads outward from its ends. This visits about four words, and none inside the span. O(depth +
heads found * modifiers).

Oracle: tests/test_sampling_moves.py.
"""

from __future__ import annotations

import numpy as np

from treebound.core.problem import NONE
from treebound.decoders.approximate.sampling import buffers as at
from treebound.decoders.approximate.sampling.chance import uniform
from treebound.decoders.approximate.sampling.forest import (
    arc_into,
    arc_number,
    attach,
    detach,
    head_of,
    link,
    unlink,
    worth,
)
from treebound.support.jit import kernel

ENOUGH = 1e-6  #: smallest gain that counts; a smaller one may be a rounding error


@kernel
def span(ints, m):
    """Return the (first, last) word of the subtree of m in a projective tree."""
    low, high = m, m
    while ints[ints[at.FIRST] + low] != NONE and ints[ints[at.FIRST] + low] < low:
        low = ints[ints[at.FIRST] + low]
    while ints[ints[at.LAST] + high] > high:
        high = ints[ints[at.LAST] + high]
    return low, high


@kernel
def find_heads(ints, m, low, high):
    """Write the possible heads of word m to FOUND, and return their number; m must have no head.

    low, high  the first and last word below m, for projective trees; all words without a head lie in this span
    """
    begin, count = ints[at.FOUND], 0
    if ints[at.PROJECTIVE]:
        u = low - 1
        while u >= 0:
            if arc_number(ints, u, m) != NONE and (u > 0 or not ints[at.ONE_ROOT]):
                ints[begin + count] = u
                count += 1
            if u == 0 or ints[ints[at.LAST] + u] > high or head_of(ints, u) > u:
                break
            u = head_of(ints, u)
        u = high + 1
        while u <= ints[at.N]:
            if arc_number(ints, u, m) != NONE:
                ints[begin + count] = u
                count += 1
            if (ints[ints[at.FIRST] + u] != NONE and ints[ints[at.FIRST] + u] < low) or head_of(ints, u) < u:
                break
            u = head_of(ints, u)
        return count
    for i in range(ints[ints[at.INTO_START] + m], ints[ints[at.INTO_START] + m + 1]):
        u = ints[ints[at.HEAD] + ints[ints[at.INTO] + i]]
        if arc_number(ints, u, m) != NONE and (u > 0 or not ints[at.ONE_ROOT]) and reaches_root(ints, u):
            ints[begin + count] = u
            count += 1
    return count


@kernel
def reaches_root(ints, u):
    """Return whether u is connected to 0 in the forest."""
    while u != 0 and arc_into(ints, u) != NONE:
        u = head_of(ints, u)
    return u == 0


@kernel
def ascend(ints, reals, m):
    """Give word m its best head, and return the gain. A single root keeps its head."""
    if head_of(ints, m) == 0 and ints[at.ONE_ROOT]:
        return 0.0
    old = arc_into(ints, m)
    low, high = span(ints, m)
    old_worth = detach(ints, reals, m)
    best_worth, best = old_worth, old
    for i in range(find_heads(ints, m, low, high)):
        b = arc_number(ints, ints[ints[at.FOUND] + i], m)
        if b != old:
            value = worth(ints, reals, b)
            if value > best_worth + ENOUGH:
                best_worth, best = value, b
    link(ints, best)
    return best_worth - old_worth


@kernel
def resample(ints, reals, m, temperature, rng):
    """Give word m a head drawn in proportion to exp(score / temperature) (Gibbs sampling), and return the gain.

    All other heads stay the same.
    """
    if head_of(ints, m) == 0 and ints[at.ONE_ROOT]:
        return 0.0
    low, high = span(ints, m)
    old_worth = detach(ints, reals, m)
    count, top, values = find_heads(ints, m, low, high), old_worth, ints[at.S_WORTH]
    for i in range(count):
        reals[values + i] = worth(ints, reals, arc_number(ints, ints[ints[at.FOUND] + i], m))
        top = max(top, reals[values + i])
    total = 0.0
    for i in range(count):
        total += at_temperature(reals[values + i] - top, temperature)
    remaining, i = uniform(rng) * total, 0
    remaining -= at_temperature(reals[values] - top, temperature)
    while remaining >= 0.0 and i < count - 1:
        i += 1
        remaining -= at_temperature(reals[values + i] - top, temperature)
    link(ints, arc_number(ints, ints[ints[at.FOUND] + i], m))
    return reals[values + i] - old_worth


@kernel(inline="always")
def at_temperature(gain, temperature):
    """Return exp(gain / temperature) for a gain of at most 0, or 0 if it is very small."""
    return np.exp(gain / temperature) if gain > -700.0 * temperature else 0.0


@kernel
def rotation(ints, m, far):
    """Write the arcs that change when m becomes the head of its present head: removed arcs to OLD, added arcs to NEW.

    Return the number of changed words, or 0 if the move is impossible. The first arcs at OLD and NEW are those into m,
    which gets the former head of its head. Modifiers of the old head that lie beyond m would cross the new arc in a
    projective tree. They become modifiers of m if `far` is true; otherwise the move is impossible.
    """
    h = head_of(ints, m)
    if h == 0:
        return 0
    old, new, count = ints[at.OLD], ints[at.NEW], 2
    ints[old], ints[old + 1] = arc_into(ints, m), arc_into(ints, h)
    ints[new], ints[new + 1] = arc_number(ints, head_of(ints, h), m), arc_number(ints, m, h)
    if ints[new + 1] == NONE:
        return 0
    if ints[at.PROJECTIVE]:
        step = ints[at.NEXT] if m > h else ints[at.BEFORE]
        c = ints[step + m]
        while c != NONE:
            b = arc_number(ints, m, c)
            if not far or b == NONE:
                return 0
            ints[old + count], ints[new + count] = arc_into(ints, c), b
            count += 1
            c = ints[step + c]
    return count


@kernel
def rotate(ints, reals, m):
    """Exchange word m and its head only; return (gain, number of arcs for `undo`), or (0, 0) if that is impossible."""
    count = rotation(ints, m, False)
    if count == 0 or ints[ints[at.NEW]] == NONE:
        return 0.0, 0
    return exchange(ints, reals, count), count


@kernel
def ascend_rotated(ints, reals, m):
    """Make word m the head of its present head, and give m its best head, if that gains something; return the gain."""
    h, count = head_of(ints, m), rotation(ints, m, True)
    if count == 0:
        return 0.0
    low, high = span(ints, h)
    old, new, old_worth, value = ints[at.OLD], ints[at.NEW], 0.0, 0.0
    root = ints[at.ONE_ROOT] and head_of(ints, h) == 0
    for i in range(count):
        old_worth += detach(ints, reals, ints[ints[at.MOD] + ints[old + i]])
    for i in range(1, count):
        value += attach(ints, reals, ints[new + i])
    best_worth, best = old_worth, NONE
    if root:
        ints[ints[at.FOUND]] = 0
        heads = 1 if arc_number(ints, 0, m) != NONE else 0
    else:
        heads = find_heads(ints, m, low, high)
    for i in range(heads):
        b = arc_number(ints, ints[ints[at.FOUND] + i], m)
        new_worth = value + worth(ints, reals, b)
        if new_worth > best_worth + ENOUGH:
            best_worth, best = new_worth, b
    if best != NONE:
        link(ints, best)
        return best_worth - old_worth
    for i in range(1, count):
        unlink(ints, ints[ints[at.MOD] + ints[new + i]])
    for i in range(count):
        link(ints, ints[old + i])
    return 0.0


@kernel
def ascend_to_root(ints, reals, m):
    """Make m the single root of a non-projective tree, with the old root attached to m, if that gains something.

    Return the gain.
    """
    root = ints[ints[at.FIRST]]
    arc_from_root, arc_to_old_root = arc_number(ints, 0, m), arc_number(ints, m, root)
    if root == m or arc_from_root == NONE or arc_to_old_root == NONE:
        return 0.0
    old, new = ints[at.OLD], ints[at.NEW]
    ints[old], ints[old + 1], ints[new], ints[new + 1] = (
        arc_into(ints, m),
        arc_into(ints, root),
        arc_from_root,
        arc_to_old_root,
    )
    gain = exchange(ints, reals, 2)
    if gain > ENOUGH:
        return gain
    undo(ints, 2)
    return 0.0


@kernel
def exchange(ints, reals, count):
    """Replace the `count` arcs in the array OLD by those in the array NEW, into the same words; return the gain."""
    old, new, gain = ints[at.OLD], ints[at.NEW], 0.0
    for i in range(count):
        gain -= detach(ints, reals, ints[ints[at.MOD] + ints[old + i]])
    for i in range(count):
        gain += attach(ints, reals, ints[new + i])
    return gain


@kernel
def undo(ints, count):
    """Undo an `exchange` of `count` arcs: put the arcs in the array OLD back into the forest."""
    old, new = ints[at.OLD], ints[at.NEW]
    for i in range(count):
        unlink(ints, ints[ints[at.MOD] + ints[new + i]])
    for i in range(count):
        link(ints, ints[old + i])


@kernel
def ascend_pair(ints, reals, m):
    """Give m and the next modifier on its side the best common head, if that gains something; return the gain."""
    s, h = ints[ints[at.NEXT] + m], head_of(ints, m)
    if s == NONE or h == 0 or (m < h) != (s < h):
        return 0.0
    arc, arc_of_sibling = arc_into(ints, m), arc_into(ints, s)
    low, high = span(ints, m)[0], span(ints, s)[1]
    old_worth = detach(ints, reals, m) + detach(ints, reals, s)
    best_worth = old_worth
    for i in range(find_heads(ints, m, low, high)):
        u = ints[ints[at.FOUND] + i]
        b, c = arc_number(ints, u, m), arc_number(ints, u, s)
        if u != h and c != NONE:
            value = attach(ints, reals, b) + worth(ints, reals, c)
            unlink(ints, m)
            if value > best_worth + ENOUGH:
                best_worth, arc, arc_of_sibling = value, b, c
    link(ints, arc)
    link(ints, arc_of_sibling)
    return best_worth - old_worth


@kernel
def ascend_followed(ints, reals, m):
    """Give m another head or make m the head of its head, then give affected modifiers their best heads.

    The first such chain of moves that gains something in total is made (as in Lin & Kernighan 1973). Return the gain.
    """
    gain = _headed_anew(ints, reals, m)
    return gain if gain > ENOUGH else _followed_above(ints, reals, m)


@kernel
def _headed_anew(ints, reals, m):
    """Try the moves of `ascend_followed` that give m another head; its modifiers then get their best heads."""
    if (head_of(ints, m) == 0 and ints[at.ONE_ROOT]) or ints[ints[at.FIRST] + m] == NONE:
        return 0.0
    low, high = span(ints, m)
    old = unlink(ints, m)
    count, heads = find_heads(ints, m, low, high), ints[at.NEW]
    for i in range(count):
        ints[heads + i] = arc_number(ints, ints[ints[at.FOUND] + i], m)
    link(ints, old)
    saved = save_modifiers(ints, m, save(ints, m, 0))
    for i in range(count):
        if ints[heads + i] != old:
            gain = -detach(ints, reals, m)
            gain += attach(ints, reals, ints[heads + i])
            for j in range(1, saved):
                gain += ascend(ints, reals, ints[ints[at.MOD] + ints[ints[at.OLD] + j]])
            if gain > ENOUGH:
                return gain
            restore(ints, saved)
    return 0.0


@kernel
def _followed_above(ints, reals, m):
    """Try the move of `ascend_followed` that makes m the head of its head; affected words then get their best heads."""
    h, count = head_of(ints, m), rotation(ints, m, True)
    if count == 0 or ints[ints[at.NEW]] == NONE:
        return 0.0
    gain = exchange(ints, reals, count)
    undo(ints, count)
    moved = count
    for i in range(count):  # copied because `save` overwrites OLD
        ints[ints[at.FOLLOWED] + i] = ints[ints[at.NEW] + i]
    saved = save_modifiers(ints, m, save_modifiers(ints, h, save(ints, h, 0)))
    for i in range(moved):
        unlink(ints, ints[ints[at.MOD] + ints[ints[at.FOLLOWED] + i]])
    for i in range(moved):
        link(ints, ints[ints[at.FOLLOWED] + i])
    for _ in range(2):
        for j in range(saved):
            gain += ascend(ints, reals, ints[ints[at.MOD] + ints[ints[at.OLD] + j]])
    if gain > ENOUGH:
        return gain
    restore(ints, saved)
    return 0.0


@kernel
def save(ints, m, count):
    """Append the arc into m to the `count` arcs in the array OLD, and return the new number of arcs."""
    ints[ints[at.OLD] + count] = arc_into(ints, m)
    return count + 1


@kernel
def save_modifiers(ints, h, count):
    """Append the arcs into all modifiers of h to the `count` arcs in the array OLD; return the new number of arcs."""
    c = ints[ints[at.FIRST] + h]
    while c != NONE:
        count = save(ints, c, count)
        c = ints[ints[at.NEXT] + c]
    return count


@kernel
def restore(ints, count):
    """Put the first `count` arcs of the array OLD back into the forest."""
    for i in range(count):
        unlink(ints, ints[ints[at.MOD] + ints[ints[at.OLD] + i]])
    for i in range(count):
        link(ints, ints[ints[at.OLD] + i])
