"""Moves from tree to tree, scored by local factors and global features together.

The tree is stored in the buffers of `treebound.decoders.approximate.sampling`, and these moves resemble the moves in
its module `chains`. Global features near a move are scored again. Local factors and global features use the weights
with which the sentence was scored.

Oracles: tests/test_sampling_globals.py: scores from scratch, exact distributions by enumeration.
"""

from __future__ import annotations

import numpy as np

from treebound.decoders.approximate.sampling import buffers as at
from treebound.decoders.approximate.sampling.chains import draw_words, propose, taken
from treebound.decoders.approximate.sampling.chance import below, uniform
from treebound.decoders.approximate.sampling.forest import arc_into, arc_number, detach, head_of, link, unlink, worth
from treebound.decoders.approximate.sampling.moves import (
    ENOUGH,
    at_temperature,
    exchange,
    find_heads,
    rotation,
    span,
    undo,
)
from treebound.support.jit import kernel
from treebound.systems.sampling.globals.catalogue import refresh
from treebound.systems.sampling.globals.view import mark_path

COLDEST = 0.0  #: the temperature at which a move always takes the best choice


@kernel
def resample(ints, reals, view, m, temperature, rng):
    """Draw a new head of word m from exp(score / temperature), and return the gain of score (Zhang et al., 3.2.1).

    All other heads stay. The draw is from the conditional distribution, so it is always accepted. At the temperature
    COLDEST, word m gets the best head, or keeps its head if no other is better. The only root of a tree keeps its head.
    O(heads) evaluations of the global features near m.
    """
    if head_of(ints, m) == 0 and ints[at.ONE_ROOT]:
        return 0.0
    count, stay, top, last = _weigh(ints, reals, view, m)
    values, heads = ints[at.S_WORTH], ints[at.FOUND]
    if temperature == COLDEST:
        i = stay
        for j in range(count):
            if reals[values + j] > reals[values + i] + ENOUGH:
                i = j
    else:
        remaining, i = uniform(rng) * _mass(ints, reals, count, top, temperature), 0
        remaining -= at_temperature(reals[values] - top, temperature)
        while remaining >= 0.0 and i < count - 1:
            i += 1
            remaining -= at_temperature(reals[values + i] - top, temperature)
    link(ints, arc_number(ints, ints[heads + i], m))
    _global(ints, view, m, last, ints[heads + i])
    return reals[values + i]


@kernel
def free_gain(ints, reals, view, m, temperature):
    """Return temperature * log of the sum of exp(gain / temperature) over the heads that `resample` draws from.

    At the temperature COLDEST, this is the gain of the best head. The tree does not change.
    """
    if head_of(ints, m) == 0 and ints[at.ONE_ROOT]:
        return 0.0
    count, stay, top, last = _weigh(ints, reals, view, m)
    head = ints[ints[at.FOUND] + stay]
    link(ints, arc_number(ints, head, m))
    _global(ints, view, m, last, head)
    if temperature == COLDEST:
        return top
    return top + temperature * np.log(_mass(ints, reals, count, top, temperature))


@kernel
def _weigh(ints, reals, view, m):
    """Detach m from its head and compute the gains of all possible heads.

    Return (number of possible heads, index of the old head among them, largest gain, last head that was tried). The
    scores in `view` are the scores for the last head. The heads are stored in the array FOUND of the buffers, and their
    gains in the array S_WORTH.
    """
    before, head = view.total[0], head_of(ints, m)
    low, high = span(ints, m)
    old = arc_into(ints, m)
    lost = detach(ints, reals, m)
    count, values, heads = find_heads(ints, m, low, high), ints[at.S_WORTH], ints[at.FOUND]
    stay = 0
    top = -np.inf
    for i in range(count):
        b = arc_number(ints, ints[heads + i], m)
        value = worth(ints, reals, b) - lost
        if b == old:
            stay = i
        if len(view.codes):
            link(ints, b)
            value += _global(ints, view, m, head, ints[heads + i]) - before
            head = ints[heads + i]
            unlink(ints, m)
        reals[values + i] = value
        top = max(top, value)
    return count, stay, top, head


@kernel
def _mass(ints, reals, count, top, temperature):
    """Return the sum of exp((gain - top) / temperature) over the heads that `_weigh` has stored."""
    total = 0.0
    for i in range(count):
        total += at_temperature(reals[ints[at.S_WORTH] + i] - top, temperature)
    return total


@kernel
def _global(ints, view, m, old_head, new_head):
    """Return the score of the global features after the head of m has changed from `old_head` to `new_head`."""
    mark_path(ints, view, m)
    mark_path(ints, view, old_head)
    mark_path(ints, view, new_head)
    return refresh(ints, view)


@kernel
def swap_arcs(ints, reals, view, count):
    """Replace `count` arcs of the tree, and return the gain of local and global score.

    The arrays OLD and NEW of the buffers hold the arcs to be removed and the arcs to be added.
    """
    before = view.total[0]
    gain = exchange(ints, reals, count)
    return gain + _near_arcs(ints, view, count) - before


@kernel
def take_back(ints, view, count):
    """Undo the last call of `swap_arcs`, which replaced `count` arcs."""
    undo(ints, count)
    _near_arcs(ints, view, count)


@kernel
def _near_arcs(ints, view, count):
    """Return the score of the global features after `swap_arcs` or its reversal has exchanged `count` arcs."""
    for i in range(count):
        old, new = ints[ints[at.OLD] + i], ints[ints[at.NEW] + i]
        mark_path(ints, view, ints[ints[at.MOD] + old])
        mark_path(ints, view, ints[ints[at.HEAD] + old])
        mark_path(ints, view, ints[ints[at.HEAD] + new])
    return refresh(ints, view)


@kernel
def gibbs(ints, reals, view, temperature, rng):
    """Make a step whose stationary distribution is exp(score / temperature), and return the gain.

    Half of the steps draw a new head of a word. The others draw one of two trees: the tree as it is, and the tree in
    which a word and its head are exchanged. `chains.gibbs` makes such steps for local factors alone.
    """
    gain, count, accepted = propose_gibbs(ints, reals, view, temperature, rng)
    if accepted:
        return gain
    take_back(ints, view, count)
    return 0.0


@kernel
def propose_gibbs(ints, reals, view, temperature, rng):
    """Move to the tree that a step of `gibbs` proposes; return (gain, number of new arcs, whether it is accepted).

    The new arcs are in the array NEW of the buffers. The caller undoes a rejected proposal with `take_back`. A newly
    drawn head is always accepted.
    """
    m = 1 + below(rng, ints[at.N])
    if uniform(rng) < 0.5:
        return resample(ints, reals, view, m, temperature, rng), 0, True
    count = rotation(ints, m, False)
    if count == 0 or ints[ints[at.NEW]] < 0:
        return 0.0, 0, True
    gain = swap_arcs(ints, reals, view, count)
    return gain, count, taken(gain, temperature, rng)


@kernel
def walk(ints, reals, view, words, temperature, rng):
    """Make a step of Metropolis & Hastings over non-projective trees, and return the gain.

    See Zhang et al., section 3.2.2. `chains.walk` makes such steps for local factors alone.
    """
    gain, count, accepted = propose_walk(ints, reals, view, words, temperature, rng)
    if accepted:
        return gain
    take_back(ints, view, count)
    return 0.0


@kernel
def propose_walk(ints, reals, view, words, temperature, rng):
    """Move to the tree that a step of `walk` proposes; return (gain, number of new arcs, whether it is accepted).

    The new arcs are in the array NEW of the buffers. The proposal q draws the heads of `words` words by Wilson's random
    walks, which draw an arc in proportion to its share, a weight in the array S_SHARE. So q(y) / q(y') is the product
    of the old arcs' shares divided by the product of the new arcs' shares. The move from tree y to tree y' is accepted
    with probability min(1, p(y') q(y) / (p(y) q(y'))). The caller undoes a rejected proposal with `take_back`. If a
    single root is required, a proposal that changes the number of roots leaves the tree as it is.
    """
    new, old, count = ints[at.NEW], ints[at.OLD], draw_words(ints, words, rng)
    propose(ints, reals, count, rng)
    log, roots, same = 0.0, 0, True
    for i in range(count):
        old_arc, new_arc = ints[old + i], ints[new + i]
        same = same and old_arc == new_arc
        log += np.log(reals[ints[at.S_SHARE] + old_arc]) - np.log(reals[ints[at.S_SHARE] + new_arc])
        roots += (ints[ints[at.HEAD] + new_arc] == 0) - (ints[ints[at.HEAD] + old_arc] == 0)
    if same or (roots != 0 and ints[at.ONE_ROOT]):
        return 0.0, 0, True
    gain = swap_arcs(ints, reals, view, count)
    log += gain / temperature
    return gain, count, log >= 0.0 or uniform(rng) < np.exp(log)


@kernel
def climb(ints, reals, view, rng):
    """Make moves that gain score, word by word around the sentence, until no move gains; return the total gain.

    The moves for a word are tried in this order: the best head; an exchange with its head, including the modifiers that
    would cross; and becoming the only root, if arcs may cross and a single root is required.
    """
    n, total, quiet, m = ints[at.N], 0.0, 0, 0
    while quiet < n:
        m = m % n + 1
        quiet += 1
        gain = resample(ints, reals, view, m, COLDEST, rng)
        if gain <= ENOUGH:
            gain = _rotated(ints, reals, view, m)
        if gain <= ENOUGH and not ints[at.PROJECTIVE] and ints[at.ONE_ROOT]:
            gain = _rooted(ints, reals, view, m)
        if gain > ENOUGH:
            total += gain
            quiet = 0
    return total


@kernel
def _rotated(ints, reals, view, m):
    """Put word m above its head if that improves the score; return the gain."""
    count = rotation(ints, m, True)
    if count == 0 or ints[ints[at.NEW]] < 0:
        return 0.0
    return _kept_if_better(ints, reals, view, count)


@kernel
def _rooted(ints, reals, view, m):
    """Make m the only root, with the old root as its dependent, if that improves the score; return the gain."""
    root = ints[ints[at.FIRST]]
    root_arc, old_root_arc = arc_number(ints, 0, m), arc_number(ints, m, root)
    if root == m or root_arc < 0 or old_root_arc < 0:
        return 0.0
    old, new = ints[at.OLD], ints[at.NEW]
    ints[old], ints[old + 1], ints[new], ints[new + 1] = arc_into(ints, m), arc_into(ints, root), root_arc, old_root_arc
    return _kept_if_better(ints, reals, view, 2)


@kernel
def _kept_if_better(ints, reals, view, count):
    gain = swap_arcs(ints, reals, view, count)
    if gain > ENOUGH:
        return gain
    take_back(ints, view, count)
    return 0.0
