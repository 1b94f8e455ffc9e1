"""Ways of moving through trees: climbing, Gibbs sampling, random walks; and restarts of any of them.

Sources: Zhang, Lei, Jaakkola, Barzilay & Globerson (2014), Greed is good if randomized, section 3; Zhang, Lei,
Barzilay, Jaakkola & Globerson (2014), Steps to excellence, section 3.2, with random walks as in Wilson (1996).

Oracles: tests/test_sampling_moves.py, tests/test_sampling_chains.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.core.problem import NONE
from treebound.decoders.approximate.sampling import buffers as at
from treebound.decoders.approximate.sampling.chance import below, uniform
from treebound.decoders.approximate.sampling.forest import arc_into, head_of, lay
from treebound.decoders.approximate.sampling.fusion import fuse
from treebound.decoders.approximate.sampling.moves import (
    ascend,
    ascend_followed,
    ascend_pair,
    ascend_rotated,
    ascend_to_root,
    at_temperature,
    exchange,
    resample,
    rotate,
    undo,
)
from treebound.decoders.approximate.sampling.starts import draw
from treebound.support.jit import kernel

GREEDY, GIBBS, WALK = range(3)
MANY = 2**62  #: no limit
PLAIN, FOLLOWED = 1, 2  #: moves that a word is marked for


class Plan(NamedTuple):
    """How long which search goes on.

    method    GREEDY, GIBBS or WALK; each run ends with a climb
    restarts  at most so many runs
    patience  enough once so many runs in a row found nothing better
    moves     no new run, and no new sweep, once so many arcs were scored
    sweeps    steps of a chain, in words of the sentence
    hot, cold first and last temperature of a chain, in units of scores; it falls by a constant factor
    words     K: words that a random walk gives new heads
    """

    method: int
    restarts: int
    patience: int
    moves: int
    sweeps: int
    hot: float
    cold: float
    words: int


class Found(NamedTuple):
    """float64[1] the best score yet, int64[n] the arcs of its tree, int64[3]: runs since then, runs, arcs scored.

    seen  int64[>= runs] what tells the trees apart at which simple moves ended: the same one again leads nowhere else
    """

    value: np.ndarray
    arcs: np.ndarray
    counts: np.ndarray
    seen: np.ndarray


@kernel
def search(ints, reals, graph, starts, plan, rng, found):
    """Runs of the plan from drawn trees; OUT found, which holds what was found before.

    Scores of trees are summed up anew after each run, in one order, so that equal trees have equal scores.
    """
    value, arcs, counts, seen = found
    n, into = ints[at.N], ints[at.ARC_INTO]
    for _ in range(plan.restarts):
        if counts[0] >= plan.patience or counts[2] >= plan.moves:
            break
        ints[at.SCORED] = 0
        draw(graph, starts, rng)
        lay(ints, reals, starts.into)
        limit = plan.moves - counts[2]
        if plan.method != GREEDY:
            anneal(ints, reals, plan, limit, rng)
        climb(ints, reals, limit, PLAIN, PLAIN)
        seen[counts[1]] = tree_code(ints)
        if np.any(seen[: counts[1]] == seen[counts[1]]):
            counts += np.array([1, 1, ints[at.SCORED]])
            continue
        climb(ints, reals, limit, FOLLOWED, FOLLOWED)
        if counts[1] > 0 and fuse(ints, reals, arcs) > 0.0:
            climb(ints, reals, limit, PLAIN, FOLLOWED)
        for m in range(1, n + 1):
            starts.into[m - 1] = ints[into + m]
        total = lay(ints, reals, starts.into)
        counts[0] += 1
        counts[1] += 1
        counts[2] += ints[at.SCORED]
        if total > value[0]:
            value[0], counts[0] = total, 0
            arcs[:] = starts.into


@kernel
def climb(ints, reals, limit, first, last):
    """Make moves that gain something until none is found, or `limit` arcs were scored; the gain.

    Word by word, around the sentence, while there is a word near which something has changed: its best head, else the
    place of its head, else the best head for it and its neighbour. Then, for a word at a time, the moves that others
    follow; and again. first, last: PLAIN and FOLLOWED; (PLAIN, PLAIN) leaves those out, (FOLLOWED, FOLLOWED) begins
    with them. O(n) words and those near what moved.
    """
    n, total, quiet, m = ints[at.N], 0.0, 0, 0
    mark, into, kept = ints[at.MARK], ints[at.ARC_INTO], ints[at.KEPT]
    for x in range(n + 1):
        ints[mark + x], ints[kept + x] = first | last, ints[into + x]
    level = first
    while ints[at.SCORED] < limit:
        m = m % n + 1
        if quiet == n:
            if level == last:
                break
            level, quiet = FOLLOWED, 0
        quiet += 1
        if ints[mark + m] & level == 0:
            continue
        ints[mark + m] &= ~level
        gain = ascend_plainly(ints, reals, m) if level == PLAIN else ascend_followed(ints, reals, m)
        if gain > 0.0:
            total += gain
            mark_changes(ints)
            level, quiet = PLAIN, 0
    return total


@kernel
def tree_code(ints):
    """A number that tells the forest's tree from others, but for one in 2^60."""
    code = 0
    for m in range(1, ints[at.N] + 1):
        code ^= ints[ints[at.CODE] + m] * (2 * arc_into(ints, m) + 1)
    return code


@kernel
def ascend_plainly(ints, reals, m):
    """The first of the simple moves of word m that gains something; the gain."""
    gain = ascend(ints, reals, m)
    if gain <= 0.0:
        gain = ascend_rotated(ints, reals, m)
    if gain <= 0.0 and not ints[at.PROJECTIVE] and ints[at.ONE_ROOT]:
        gain = ascend_to_root(ints, reals, m)
    return gain if gain > 0.0 else ascend_pair(ints, reals, m)


@kernel
def mark_changes(ints):
    """Mark the words that have another head than at the last call, both heads, and all their modifiers."""
    into, kept, head = ints[at.ARC_INTO], ints[at.KEPT], ints[at.HEAD]
    for x in range(1, ints[at.N] + 1):
        if ints[kept + x] != ints[into + x]:
            mark_around(ints, ints[head + ints[kept + x]])
            mark_around(ints, ints[head + ints[into + x]])
            mark_around(ints, x)
            ints[kept + x] = ints[into + x]


@kernel
def mark_around(ints, h):
    """Mark h and its modifiers as words near which something has changed."""
    mark = ints[at.MARK]
    ints[mark + h] = PLAIN | FOLLOWED
    c = ints[ints[at.FIRST] + h]
    while c != NONE:
        ints[mark + c] = PLAIN | FOLLOWED
        c = ints[ints[at.NEXT] + c]


@kernel
def anneal(ints, reals, plan, limit, rng):
    """A chain of plan.sweeps * n steps under a falling temperature, or until `limit` arcs were scored; the gain."""
    n, total = ints[at.N], 0.0
    steps = plan.sweeps * n
    fall = (plan.cold / plan.hot) ** (1.0 / max(1, steps - 1))
    temperature = plan.hot
    for _ in range(steps):
        if ints[at.SCORED] >= limit:
            break
        if plan.method == GIBBS:
            total += gibbs(ints, reals, temperature, rng)
        else:
            total += walk(ints, reals, plan.words, temperature, rng)[0]
        temperature *= fall
    return total


@kernel
def gibbs(ints, reals, temperature, rng):
    """A step whose stationary distribution is exp(score / temperature): a word's head drawn anew, or two words swapped.

    Half of the steps are rotations, drawn from the two trees that they join: a single root never changes otherwise.
    Rotations that modifiers of the old head would have to follow are left out: they are not their own inverses.
    Returns the gain.
    """
    m = 1 + below(rng, ints[at.N])
    if uniform(rng) < 0.5:
        return resample(ints, reals, m, temperature, rng)
    gain, count = rotate(ints, reals, m)
    if taken(gain, temperature, rng):
        return gain
    undo(ints, count)
    return 0.0


@kernel
def taken(gain, temperature, rng):
    """Whether the second of two trees is drawn, which scores `gain` more, by exp(score / temperature) of both."""
    if gain < 0.0:
        odds = at_temperature(gain, temperature)
        return uniform(rng) < odds / (1.0 + odds)
    return uniform(rng) < 1.0 / (1.0 + at_temperature(-gain, temperature))


@kernel
def walk(ints, reals, words, temperature, rng):
    """A step of Metropolis & Hastings over crossing trees; (gain, whether it was accepted).

    The heads of K words are drawn together, from all trees that differ in these alone, with probability ~ the product
    of S_SHARE of their arcs. Both directions have the same constant, so that y' is accepted with probability
    min(1, exp((s(y') - s(y)) / temperature) share(y) / share(y')). A tree with another number of roots than is asked
    for has score -inf.
    """
    new, old, count = ints[at.NEW], ints[at.OLD], draw_words(ints, words, rng)
    propose(ints, reals, count, rng)
    log, roots = 0.0, 0
    for i in range(count):
        one, two = ints[old + i], ints[new + i]
        log += np.log(reals[ints[at.S_SHARE] + one]) - np.log(reals[ints[at.S_SHARE] + two])
        roots += (ints[ints[at.HEAD] + two] == 0) - (ints[ints[at.HEAD] + one] == 0)
    if roots != 0 and ints[at.ONE_ROOT]:
        return 0.0, False
    gain = exchange(ints, reals, count)
    log += gain / temperature
    if log >= 0.0 or uniform(rng) < np.exp(log):
        return gain, True
    undo(ints, count)
    return 0.0, False


@kernel
def draw_words(ints, words, rng):
    """Mark so many different words 1, or all there are, and put the arcs into them at OLD; their number."""
    n, mark, count = ints[at.N], ints[at.MARK], 0
    for i in range(n + 1):
        ints[mark + i] = 0
    while count < min(words, n):
        m = 1 + below(rng, n)
        if ints[mark + m] == 0:
            ints[mark + m], ints[ints[at.OLD] + count] = 1, arc_into(ints, m)
            count += 1
    return count


@kernel
def propose(ints, reals, count, rng):
    """Wilson's loop-erased walks over the words marked 1, whose arcs are at OLD; the arcs that they get, to NEW.

    Words marked 2 have reached the root; what a walk passes again, it leaves by another arc, which erases the loop.
    """
    mark, new, old, head, mod = ints[at.MARK], ints[at.NEW], ints[at.OLD], ints[at.HEAD], ints[at.MOD]
    chosen = ints[at.FOUND]
    for i in range(count):
        first = ints[mod + ints[old + i]]
        at_word = first
        while at_word != 0 and ints[mark + at_word] != 2:
            if ints[mark + at_word] == 1:
                ints[chosen + at_word] = draw_arc(ints, reals, at_word, rng)
                at_word = ints[head + ints[chosen + at_word]]
            else:
                at_word = head_of(ints, at_word)
        at_word = first
        while at_word != 0 and ints[mark + at_word] != 2:
            if ints[mark + at_word] == 1:
                ints[mark + at_word] = 2
                at_word = ints[head + ints[chosen + at_word]]
            else:
                at_word = head_of(ints, at_word)
    for i in range(count):
        ints[new + i] = ints[chosen + ints[mod + ints[old + i]]]


@kernel
def draw_arc(ints, reals, m, rng):
    """An arc into word m with probability ~ S_SHARE. O(heads of m)."""
    first, end = ints[at.INTO] + ints[ints[at.INTO_START] + m], ints[at.INTO] + ints[ints[at.INTO_START] + m + 1]
    total = 0.0
    for i in range(first, end):
        total += reals[ints[at.S_SHARE] + ints[i]]
    left, last = uniform(rng) * total, NONE
    for i in range(first, end):
        share = reals[ints[at.S_SHARE] + ints[i]]
        if share > 0.0:
            last = ints[i]
            left -= share
            if left < 0.0:
                break
    return last
