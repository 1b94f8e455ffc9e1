"""Search for the best tree by annealed chains and greedy search, and the pairs of trees that SampleRank learns from."""

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
NOTHING, NEIGHBOUR, GOLD = range(3)  #: the constraint that is violated


class Plan(NamedTuple):
    """The schedule of a search.

    method    GREEDY for greedy search alone; GIBBS or WALK for a chain with such steps, followed by greedy search;
    restarts  number of runs, at most;
    patience  number of consecutive runs without a better tree after which the search stops;
    sweeps    steps of a chain, per word of the sentence;
    hot, cold first and last temperature, in units of scores; the temperature falls by a constant factor;
    words     K, the number of words that a random walk redraws.
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
    """Search from the tree `best`, then from random trees; return the best score and the number of runs.

    best           int32[n], the arcs of the first tree; receives the best tree
    graph, starts  the data for drawing random trees
    plan           the schedule of the search

    Scores are summed anew after each run, in a fixed order, so that equal trees have equal scores.
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
    """Make plan.sweeps * n steps of a chain under a falling temperature."""
    steps = plan.sweeps * ints[at.N]
    fall = (plan.cold / plan.hot) ** (1.0 / max(1, steps - 1))
    temperature = plan.hot
    for _ in range(steps):
        step(ints, reals, view, plan.method, plan.words, temperature, rng)
        temperature *= fall


@kernel
def step(ints, reals, view, method, words, temperature, rng):
    """Make one step of a chain, and return the gain of score; `method` is GIBBS or WALK."""
    if method == WALK:
        return walk(ints, reals, view, words, temperature, rng)
    return gibbs(ints, reals, view, temperature, rng)


class Pair(NamedTuple):
    """The heads of the tree before a step of a chain, and the gold heads.

    Each is int64[n + 1], with -1 at index 0. The buffers hold the tree after the step.
    """

    before: np.ndarray
    gold: np.ndarray


@kernel
def next_pair(ints, reals, view, pair, steps, cost, temperature, rng):
    """Make steps of a chain until two successive trees violate a constraint; return (steps left, errors saved).

    The constraint says that the tree with fewer errors scores more, by `cost` for each error of difference (Zhang et
    al., section 3.3, equation 5). "Errors saved" are the errors of pair.before minus the errors of the new tree, which
    is in the buffers. The number is negative if the new tree is worse, and 0 if no steps are left.
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
    """The heads of three trees: the tree before a proposal, the proposed tree, and the gold tree.

    Each is int64[n + 1], with -1 at index 0.
    """

    before: np.ndarray
    proposal: np.ndarray
    gold: np.ndarray


class Rule(NamedTuple):
    """The constraints that training checks, and the chain that proposes trees.

    neighbour    whether successive trees are compared;
    gold         whether the gold tree is compared;
    cost         margin for each wrong head;
    method       GIBBS or WALK;
    words        K, the number of words that a random walk redraws;
    temperature  temperature of the chain, in units of scores.
    """

    neighbour: bool
    gold: bool
    cost: float
    method: int
    words: int
    temperature: float


@kernel
def next_violation(ints, reals, view, trees, steps, behind, rule, rng):
    """Make proposals until a constraint is violated (Zhang et al., Figure 4); return (steps left, constraint, errors).

    trees   receives the tree before the last proposal, and the proposal; holds the gold tree
    steps   number of proposals, at most
    behind  score of the gold tree minus score of the tree in the buffers
    rule    the constraints, and the chain that proposes trees

    A proposal is compared with the tree before it, whether it is accepted or not. If this constraint holds, the tree in
    the buffers after the step is compared with the gold tree. The returned constraint is NEIGHBOUR, GOLD or NOTHING.
    For NEIGHBOUR, `errors` is the number of errors of the tree before minus the number of errors of the proposal. For
    GOLD, it is the number of errors of the tree in the buffers.
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
