"""Move through trees by climbing, Gibbs sampling and random walks, with restarts.

Sources: Zhang, Lei, Jaakkola, Barzilay & Globerson (2014), `Greed is good if randomized`, section 3; Zhang, Lei,
Barzilay, Jaakkola & Globerson (2014), `Steps to excellence`, section 3.2, with random walks as in Wilson (1996).

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
MANY = 2**62  #: value of a limit that is never reached
#: levels of moves for which a word can be marked: simple moves, and moves after which nearby words get new heads, too
PLAIN, FOLLOWED = 1, 2


class Plan(NamedTuple):
    """Method and limits of a search, which consists of runs from random trees.

    - method: GREEDY, GIBBS or WALK. A run of GIBBS or WALK makes the steps of a chain. Each run ends with a climb.
    - restarts: maximum number of runs.
    - patience: number of runs in a row without a better tree that ends the search.
    - moves: no new run, chain step or move of a climb begins once this number of arcs was scored.
    - sweeps: number of steps of a chain, per word of the sentence.
    - hot, cold: first and last temperature of a chain, in units of scores. Each step multiplies the temperature by a
      constant.
    - words: number of words that a random walk gives new heads.
    """

    method: int
    restarts: int
    patience: int
    moves: int
    sweeps: int
    hot: float
    cold: float
    words: int


class ChainResult(NamedTuple):
    """The best tree so far and the progress of the search.

    - value: float64[1], the best score so far.
    - arcs: int64[n], the arcs of the best tree.
    - counts: int64[3], number of runs since the last better tree, number of runs, number of scored arcs.
    - seen: int64[>= runs], codes (`tree_code`) of the trees at which the simple moves of `climb` ended. A run that
      reaches such a tree again stops there.
    """

    value: np.ndarray
    arcs: np.ndarray
    counts: np.ndarray
    seen: np.ndarray


@kernel
def search(ints, reals, graph, starts, plan, rng, result):
    """Make the runs of the plan from randomly drawn trees, and update `result`, the best tree so far.

    The score of a tree is summed anew after each run, in a fixed order, so that equal trees have equal scores.
    """
    value, arcs, counts, seen = result
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
    """Make moves that gain something until none is left or `limit` arcs were scored; return the gain.

    The climb visits the words in cycles while some word is marked, that is, something near it has changed. At each word
    it tries simple moves (level PLAIN), which `ascend_plainly` lists. When no simple move gains anything, it tries the
    moves of `moves.ascend_followed` (level FOLLOWED), one word at a time. After such a move, nearby words get new
    heads, too. After a gain, it returns to simple moves. The climb visits O(n) words, plus the words near a change.

    first, last  levels at which the climb begins and ends. (PLAIN, PLAIN) makes simple moves only. (FOLLOWED, FOLLOWED)
                 begins with the other moves
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
    """Return a code of the forest's tree; the codes of two different trees agree with probability 2^-60 or so."""
    code = 0
    for m in range(1, ints[at.N] + 1):
        code ^= ints[ints[at.CODE] + m] * (2 * arc_into(ints, m) + 1)
    return code


@kernel
def ascend_plainly(ints, reals, m):
    """Make the first simple move of word m that gains something; return the gain.

    The moves are, in this order: its best head, an exchange with its head, the root of a non-projective tree with a
    single root, and a common head for m and the next modifier.
    """
    gain = ascend(ints, reals, m)
    if gain <= 0.0:
        gain = ascend_rotated(ints, reals, m)
    if gain <= 0.0 and not ints[at.PROJECTIVE] and ints[at.ONE_ROOT]:
        gain = ascend_to_root(ints, reals, m)
    return gain if gain > 0.0 else ascend_pair(ints, reals, m)


@kernel
def mark_changes(ints):
    """Mark each word whose head changed since the last call, its old and new head, and the modifiers of all three."""
    into, kept, head = ints[at.ARC_INTO], ints[at.KEPT], ints[at.HEAD]
    for x in range(1, ints[at.N] + 1):
        if ints[kept + x] != ints[into + x]:
            mark_around(ints, ints[head + ints[kept + x]])
            mark_around(ints, ints[head + ints[into + x]])
            mark_around(ints, x)
            ints[kept + x] = ints[into + x]


@kernel
def mark_around(ints, h):
    """Mark h and its modifiers as words near a change."""
    mark = ints[at.MARK]
    ints[mark + h] = PLAIN | FOLLOWED
    c = ints[ints[at.FIRST] + h]
    while c != NONE:
        ints[mark + c] = PLAIN | FOLLOWED
        c = ints[ints[at.NEXT] + c]


@kernel
def anneal(ints, reals, plan, limit, rng):
    """Run a chain of plan.sweeps * n steps with falling temperature, and return the gain.

    The chain ends early once `limit` arcs were scored.
    """
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
    """Make a step with stationary distribution exp(score / temperature), and return the gain.

    Half of the steps draw a new head for a word. The other half are rotations. A rotation draws one of two trees: the
    present tree, or the tree in which a word and its head are exchanged. Without rotations, a single root would never
    change. A rotation is left out if modifiers of the old head would have to move as well, because such a rotation is
    not its own inverse.
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
    """Draw one of two trees in proportion to exp(score / temperature); return whether the second is drawn.

    The second tree scores `gain` more than the first.
    """
    if gain < 0.0:
        odds = at_temperature(gain, temperature)
        return uniform(rng) < odds / (1.0 + odds)
    return uniform(rng) < 1.0 / (1.0 + at_temperature(-gain, temperature))


@kernel
def walk(ints, reals, words, temperature, rng):
    """Make a Metropolis-Hastings step over non-projective trees, and return (gain, whether it was accepted).

    The step proposes a tree y' in place of the present tree y. It draws the heads of `words` random words together,
    from all trees that differ from y in these words only. The probability of y' is proportional to share(y'), the
    product of the entries S_SHARE of the arcs into these words. Both directions have the same normalising constant, so
    y' is accepted with probability min(1, exp((s(y') - s(y)) / temperature) share(y) / share(y')). A tree with a wrong
    number of roots has score -inf.
    """
    new, old, count = ints[at.NEW], ints[at.OLD], draw_words(ints, words, rng)
    propose(ints, reals, count, rng)
    log, roots = 0.0, 0
    for i in range(count):
        old_arc, new_arc = ints[old + i], ints[new + i]
        log += np.log(reals[ints[at.S_SHARE] + old_arc]) - np.log(reals[ints[at.S_SHARE] + new_arc])
        roots += (ints[ints[at.HEAD] + new_arc] == 0) - (ints[ints[at.HEAD] + old_arc] == 0)
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
    """Mark `words` random words by setting their entries at MARK to 1, and return the number of marked words.

    All words are marked if the sentence has fewer words. The arcs into the marked words are written to OLD.
    """
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
    """Draw new arcs into the words marked 1 by Wilson's loop-erased random walks, and write them to NEW.

    The present arcs into the words are at OLD. Words marked 2 are connected to the root. A walk that returns to a word
    leaves it by a newly drawn arc, which erases the loop.
    """
    mark, new, old, head, mod = ints[at.MARK], ints[at.NEW], ints[at.OLD], ints[at.HEAD], ints[at.MOD]
    chosen = ints[at.FOUND]
    for i in range(count):
        first = ints[mod + ints[old + i]]
        word = first
        while word != 0 and ints[mark + word] != 2:
            if ints[mark + word] == 1:
                ints[chosen + word] = draw_arc(ints, reals, word, rng)
                word = ints[head + ints[chosen + word]]
            else:
                word = head_of(ints, word)
        word = first
        while word != 0 and ints[mark + word] != 2:
            if ints[mark + word] == 1:
                ints[mark + word] = 2
                word = ints[head + ints[chosen + word]]
            else:
                word = head_of(ints, word)
    for i in range(count):
        ints[new + i] = ints[chosen + ints[mod + ints[old + i]]]


@kernel
def draw_arc(ints, reals, m, rng):
    """Draw an arc into word m with a probability proportional to its entry in S_SHARE. O(heads of m)."""
    first, end = ints[at.INTO] + ints[ints[at.INTO_START] + m], ints[at.INTO] + ints[ints[at.INTO_START] + m + 1]
    total = 0.0
    for i in range(first, end):
        total += reals[ints[at.S_SHARE] + ints[i]]
    remaining, last = uniform(rng) * total, NONE
    for i in range(first, end):
        share = reals[ints[at.S_SHARE] + ints[i]]
        if share > 0.0:
            last = ints[i]
            remaining -= share
            if remaining < 0.0:
                break
    return last
