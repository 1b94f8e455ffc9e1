"""Moves from tree to tree under local factors and global features together.

The tree stands in the buffers of `treebound.decoders.approximate.sampling`, whose moves these follow; global features
are scored anew near what moved. Weights of either are those of the moment in which the sentence was scored.

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

COLDEST = 0.0  #: the temperature at which the best is always taken


@kernel
def resample(ints, reals, view, m, temperature, rng):
    """Give word m a head drawn from exp(score / temperature), all else as it is; the gain (Zhang et al., 3.2.1).

    A draw from the conditional: always accepted. At COLDEST the best head, the old one where none is better. The only
    root of a tree stays. O(heads) scores of global features near m.
    """
    if head_of(ints, m) == 0 and ints[at.ONE_ROOT]:
        return 0.0
    count, stay, top, last = _weigh(ints, reals, view, m)
    values, found = ints[at.S_WORTH], ints[at.FOUND]
    if temperature == COLDEST:
        i = stay
        for j in range(count):
            if reals[values + j] > reals[values + i] + ENOUGH:
                i = j
    else:
        left, i = uniform(rng) * _mass(ints, reals, count, top, temperature), 0
        left -= at_temperature(reals[values] - top, temperature)
        while left >= 0.0 and i < count - 1:
            i += 1
            left -= at_temperature(reals[values + i] - top, temperature)
    link(ints, arc_number(ints, ints[found + i], m))
    _global(ints, view, m, last, ints[found + i])
    return reals[values + i]


@kernel
def free_gain(ints, reals, view, m, temperature):
    """temperature * log of the sum of exp(gain / temperature) over the heads that `resample` draws from.

    At COLDEST the gain of the best head. The tree stays as it is.
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
    """Take m off its head; (possible heads at FOUND, which was its own, the largest gain, which the view knows).

    The gains of these heads stand at S_WORTH.
    """
    kept, last = view.total[0], head_of(ints, m)
    low, high = span(ints, m)
    old = arc_into(ints, m)
    lost = detach(ints, reals, m)
    count, values, found = find_heads(ints, m, low, high), ints[at.S_WORTH], ints[at.FOUND]
    stay = 0
    top = -np.inf
    for i in range(count):
        b = arc_number(ints, ints[found + i], m)
        value = worth(ints, reals, b) - lost
        if b == old:
            stay = i
        if len(view.codes):
            link(ints, b)
            value += _global(ints, view, m, last, ints[found + i]) - kept
            last = ints[found + i]
            unlink(ints, m)
        reals[values + i] = value
        top = max(top, value)
    return count, stay, top, last


@kernel
def _mass(ints, reals, count, top, temperature):
    """The sum of exp((gain - top) / temperature) of what `_weigh` found."""
    total = 0.0
    for i in range(count):
        total += at_temperature(reals[ints[at.S_WORTH] + i] - top, temperature)
    return total


@kernel
def _global(ints, view, m, one, two):
    """The score of global features once m hangs from `two` and not from `one`."""
    mark_path(ints, view, m)
    mark_path(ints, view, one)
    mark_path(ints, view, two)
    return refresh(ints, view)


@kernel
def swap_arcs(ints, reals, view, count):
    """`exchange` with global features; the gain of both."""
    before = view.total[0]
    gain = exchange(ints, reals, count)
    return gain + _near_arcs(ints, view, count) - before


@kernel
def take_back(ints, view, count):
    """Undo `swap_arcs`."""
    undo(ints, count)
    _near_arcs(ints, view, count)


@kernel
def _near_arcs(ints, view, count):
    """The score of global features after `count` arcs at OLD gave way to those at NEW, or the other way round."""
    for i in range(count):
        one, two = ints[ints[at.OLD] + i], ints[ints[at.NEW] + i]
        mark_path(ints, view, ints[ints[at.MOD] + one])
        mark_path(ints, view, ints[ints[at.HEAD] + one])
        mark_path(ints, view, ints[ints[at.HEAD] + two])
    return refresh(ints, view)


@kernel
def gibbs(ints, reals, view, temperature, rng):
    """A step whose stationary distribution is exp(score / temperature), as `chains.gibbs`; the gain.

    Half of the steps exchange a word and its head, drawn from the two trees that this joins.
    """
    gain, count, accepted = propose_gibbs(ints, reals, view, temperature, rng)
    if accepted:
        return gain
    take_back(ints, view, count)
    return 0.0


@kernel
def propose_gibbs(ints, reals, view, temperature, rng):
    """Go to the tree that a step of `gibbs` proposes; (gain, arcs at NEW that are new, whether it is accepted).

    `take_back` undoes a proposal that is not accepted. A head that is drawn anew is always accepted.
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
    """A step of Metropolis & Hastings over crossing trees, as `chains.walk`; the gain (Zhang et al., 3.2.2)."""
    gain, count, accepted = propose_walk(ints, reals, view, words, temperature, rng)
    if accepted:
        return gain
    take_back(ints, view, count)
    return 0.0


@kernel
def propose_walk(ints, reals, view, words, temperature, rng):
    """Go to the tree that a step of `walk` proposes; (gain, arcs at NEW that are new, whether it is accepted).

    The proposal q draws the heads of K words by Wilson's walks under S_SHARE, so that q(y) / q(y') is the ratio of the
    products of shares: accepted with probability min(1, p(y') q(y) / (p(y) q(y'))). `take_back` undoes a proposal that
    is not accepted. A proposal with another number of roots leaves the tree as it is where one root is asked for.
    """
    new, old, count = ints[at.NEW], ints[at.OLD], draw_words(ints, words, rng)
    propose(ints, reals, count, rng)
    log, roots, same = 0.0, 0, True
    for i in range(count):
        one, two = ints[old + i], ints[new + i]
        same = same and one == two
        log += np.log(reals[ints[at.S_SHARE] + one]) - np.log(reals[ints[at.S_SHARE] + two])
        roots += (ints[ints[at.HEAD] + two] == 0) - (ints[ints[at.HEAD] + one] == 0)
    if same or (roots != 0 and ints[at.ONE_ROOT]):
        return 0.0, 0, True
    gain = swap_arcs(ints, reals, view, count)
    log += gain / temperature
    return gain, count, log >= 0.0 or uniform(rng) < np.exp(log)


@kernel
def climb(ints, reals, view, rng):
    """Make moves that gain something, word by word around the sentence, until none does; the gain.

    A word's best head; else the place of its head, with the modifiers that this would cross; else, where arcs may
    cross, the place of the only root.
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
    """Put word m above its head if that is better; the gain."""
    count = rotation(ints, m, True)
    if count == 0 or ints[ints[at.NEW]] < 0:
        return 0.0
    return _kept_if_better(ints, reals, view, count)


@kernel
def _rooted(ints, reals, view, m):
    """Make m the only root, the old one hanging from it, if that is better; the gain."""
    root = ints[ints[at.FIRST]]
    one, two = arc_number(ints, 0, m), arc_number(ints, m, root)
    if root == m or one < 0 or two < 0:
        return 0.0
    old, new = ints[at.OLD], ints[at.NEW]
    ints[old], ints[old + 1], ints[new], ints[new + 1] = arc_into(ints, m), arc_into(ints, root), one, two
    return _kept_if_better(ints, reals, view, 2)


@kernel
def _kept_if_better(ints, reals, view, count):
    gain = swap_arcs(ints, reals, view, count)
    if gain > ENOUGH:
        return gain
    take_back(ints, view, count)
    return 0.0
