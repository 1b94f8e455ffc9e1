"""The best tree that annealed chains and climbs find, and the pairs of trees that SampleRank learns from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.decoders.approximate.sampling import buffers as at
from treebound.decoders.approximate.sampling.forest import arc_into, head_of, lay
from treebound.decoders.approximate.sampling.starts import draw
from treebound.support.jit import kernel
from treebound.systems.sampling.globals.catalogue import score_all
from treebound.systems.sampling.moves import climb, gibbs, propose_gibbs, propose_walk, take_back, walk

GREEDY, GIBBS, WALK = range(3)
NOTHING, NEIGHBOUR, GOLD = range(3)  #: which constraint is broken


class Plan(NamedTuple):
    """How long which search goes on.

    method    GREEDY: climbs alone; GIBBS, WALK: chains of these steps, then a climb
    restarts  runs; patience: enough once so many in a row found nothing better
    sweeps    steps of a chain, in words of the sentence
    hot, cold first and last temperature, in units of scores; it falls by a constant factor
    words     K of random walks
    """

    method: int
    restarts: int
    patience: int
    sweeps: int
    hot: float
    cold: float
    words: int


@kernel
def search(ints, reals, view, graph, starts, plan, rng, best):
    """Runs from the tree int32[n] `best`, then from drawn ones; the best score, its arcs in `best`; and the runs.

    Scores are summed up anew after each run, in one order, so that equal trees have equal scores.
    """
    n, value, since = ints[at.N], -np.inf, 0
    for run in range(plan.restarts):
        if since >= plan.patience:
            return value, run
        if run > 0:
            draw(graph, starts, rng)
        else:
            starts.into[:] = best
        lay(ints, reals, starts.into)
        score_all(ints, view)
        if plan.method != GREEDY and run > 0:
            anneal(ints, reals, view, plan, rng)
        climb(ints, reals, view, rng)
        for m in range(1, n + 1):
            starts.into[m - 1] = arc_into(ints, m)
        total = lay(ints, reals, starts.into) + score_all(ints, view)
        since += 1
        if total > value:
            value, since = total, 0
            best[:] = starts.into
    return value, plan.restarts


@kernel
def anneal(ints, reals, view, plan, rng):
    """A chain of plan.sweeps * n steps under a falling temperature."""
    steps = plan.sweeps * ints[at.N]
    fall = (plan.cold / plan.hot) ** (1.0 / max(1, steps - 1))
    temperature = plan.hot
    for _ in range(steps):
        step(ints, reals, view, plan.method, plan.words, temperature, rng)
        temperature *= fall


@kernel
def step(ints, reals, view, method, words, temperature, rng):
    """A step of a chain; the gain."""
    if method == WALK:
        return walk(ints, reals, view, words, temperature, rng)
    return gibbs(ints, reals, view, temperature, rng)


class Pair(NamedTuple):
    """Two successive trees of a chain, `before` and the forest's own; int64[n + 1] gold: heads, -1 at 0.

    before  int64[n + 1] heads
    """

    before: np.ndarray
    gold: np.ndarray


@kernel
def next_pair(ints, reals, view, pair, steps, cost, temperature, rng):
    """Steps of a chain until two successive trees break their constraint; (steps left, errors less).

    The constraint: the tree with fewer errors scores more by `cost` for each error that it has less (Zhang et al.,
    section 3.3, equation 5). errors less: of the forest's tree, below 0 where it has more than pair.before; 0 once no
    steps are left.
    """
    n = ints[at.N]
    while steps > 0:
        steps -= 1
        for m in range(1, n + 1):
            pair.before[m] = head_of(ints, m)
        gain = gibbs(ints, reals, view, temperature, rng)
        less = 0
        for m in range(1, n + 1):
            head = head_of(ints, m)
            if head != pair.before[m]:
                less += (head == pair.gold[m]) - (pair.before[m] == pair.gold[m])
        if (less > 0 and gain < cost * less) or (less < 0 and -gain < -cost * less):
            return steps, less
    return 0, 0


class Trees(NamedTuple):
    """Trees of a chain, int64[n + 1] heads with -1 at 0: before a proposal, the proposal itself, and the gold tree."""

    before: np.ndarray
    proposal: np.ndarray
    gold: np.ndarray


class Rule(NamedTuple):
    """Constraints to be checked: of successive trees, of the gold tree; `cost` is the margin for each wrong head.

    method, words, temperature  of the chain: GIBBS or WALK, K of random walks, units of scores
    """

    neighbour: bool
    gold: bool
    cost: float
    method: int
    words: int
    temperature: float


@kernel
def next_violation(ints, reals, view, trees, steps, behind, rule, rng):
    """Make proposals until one breaks a constraint (Zhang et al., Figure 4); (steps left, constraint, errors less).

    behind       score of the gold tree less the score of the forest's tree
    steps        proposals to make at most
    errors less  of the proposal than of the tree before; for GOLD the errors of the forest's tree

    A proposal is compared with the tree before it whether it is accepted or not. The tree after it, which is that of
    the forest, is compared with the gold tree where the proposal itself breaks no constraint.
    """
    n = ints[at.N]
    while steps > 0:
        steps -= 1
        for m in range(1, n + 1):
            trees.before[m] = head_of(ints, m)
        if rule.method == WALK:
            gain, count, accepted = propose_walk(ints, reals, view, rule.words, rule.temperature, rng)
        else:
            gain, count, accepted = propose_gibbs(ints, reals, view, rule.temperature, rng)
        less, errors = 0, 0
        for m in range(1, n + 1):
            trees.proposal[m] = head_of(ints, m)
            less += (trees.proposal[m] == trees.gold[m]) - (trees.before[m] == trees.gold[m])
            errors += trees.proposal[m] != trees.gold[m]
        if accepted:
            behind -= gain
        else:
            take_back(ints, view, count)
            errors += less
        if rule.neighbour and ((less > 0 and gain < rule.cost * less) or (less < 0 and -gain < -rule.cost * less)):
            return steps, NEIGHBOUR, less
        if rule.gold and errors > 0 and behind < rule.cost * errors:
            return steps, GOLD, errors
    return 0, NOTHING, 0
