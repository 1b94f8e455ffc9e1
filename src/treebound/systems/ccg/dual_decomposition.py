"""Dual decomposition of the joint model (Auli & Lopez 2011, section 4.2; Rush et al. 2010).

L(u) = max over derivations y of (f(y) - u y) + max over sequences z of (g(z) + u z) bounds the score of every
derivation, for any multipliers u of the lexical categories. Subgradient descent makes it smaller; where both sides
agree, y is the best derivation, else the best output of the parser seen is given back.

The paper takes the steps of Rush et al. (2010): 0.5 at first, halved whenever the bound has risen. Ours are those of
Polyak (1969), whose length follows the gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from treebound.checker.joint_proofs import Node
from treebound.systems.ccg.joint import UNIT, Analysis, Joint

Step = Literal["polyak", "published"]
FIRST = 0.5  #: first step of Rush et al. (2010), in units of log probability
HALVINGS = 60  #: after so many a published step is shorter than UNIT


class Dual(NamedTuple):
    """The least bound met, -inf where nothing is allowed.

    multipliers  float64[V] that give it
    tags         int32[n] of the parser under them, in conflict int32[n]: how often both sides disagreed about a word
    rounds       iterations
    """

    bound: float
    multipliers: np.ndarray
    tags: np.ndarray
    conflict: np.ndarray
    rounds: int


class Best:
    """The best derivation seen, by its categories: value -inf and none at first."""

    def __init__(self) -> None:
        self.value, self.tags = -np.inf, np.empty(0, np.int32)

    def offer(self, value: float, tags: np.ndarray) -> None:
        """Keep it if it is better."""
        if value > self.value:
            self.value, self.tags = value, tags


def descend(joint: Joint, allowed: np.ndarray, multipliers: np.ndarray, best: Best, iterations: int) -> Dual:
    """The last of `steps`, with our step."""
    found = Dual(np.inf, multipliers, np.empty(0, np.int32), np.zeros(joint.words, np.int32), 0)
    for one in steps(joint, allowed, multipliers, best, iterations):
        found = one
    return found


def steps(
    joint: Joint,
    allowed: np.ndarray,
    multipliers: np.ndarray,
    best: Best,
    iterations: int,
    step: Step = "polyak",
) -> Iterator[Dual]:
    """Subgradient descent from `multipliers` float64[V] until the bound is no more than the best value seen.

    allowed  bool[V]: categories that words may have
    best     takes what is met
    step     `polyak`: as long as if the best value seen were the optimum (Polyak 1969), divided by one more than the
             number of times that the bound rose (Koo et al. 2010); `published`: FIRST, divided by two whenever the
             bound rose (Rush et al. 2010), which Auli & Lopez take
    O(iterations (E + sum c_i c_i+1)).
    """
    barred, u = np.where(allowed, 0.0, -np.inf), multipliers.copy()
    dual = Dual(np.inf, u, np.empty(0, np.int32), np.zeros(joint.words, np.int32), 0)
    rises, before = 0, np.inf
    for iteration in range(1, iterations + 1):
        parsed = joint.best_derivation(barred - u)
        chain, z = joint.best_sequence(barred + u)
        if parsed is None or chain == -np.inf:
            yield dual._replace(bound=-np.inf, multipliers=u, rounds=iteration)
            return
        value, y = parsed
        bound = value + chain
        best.offer(value + float(u[y].sum()) + joint.chain_score(y), y)
        if bound < dual.bound:
            dual = dual._replace(bound=bound, multipliers=u.copy(), tags=y)
        dual = dual._replace(rounds=iteration)
        yield dual
        if dual.bound <= best.value:
            return
        rises, before = rises + (bound > before), bound
        differ = y != z
        dual.conflict[differ] += 1
        if step == "published":
            length = FIRST * 2.0 ** -min(rises, HALVINGS)
        else:
            length = (bound - best.value) / (2 * max(1, differ.sum()) * (1 + rises))
        moved = max(1.0, np.round(min(length, joint.widest) / UNIT)) * UNIT
        u[y[differ]] += moved
        u[z[differ]] -= moved
        np.clip(u, -joint.widest, joint.widest, out=u)


def decompose(joint: Joint, iterations: int, step: Step = "polyak") -> tuple[Analysis, list[Node]] | None:
    """The best derivation that the parser gave within so many iterations, and the bound: `optimal` or `gap`.

    The one node proves the bound. None where nothing is possible.
    """
    best, start = Best(), np.zeros(len(joint.emission))
    *_, dual = steps(joint, joint.possible, start, best, iterations, step)
    if not len(best.tags):
        return None
    found = joint.analysis(best.tags, dual.bound, dual.rounds, "gap")
    left = replace(found, scores=scores_left(joint.possible, dual.multipliers))
    return left, [Node(-1, -1, 0, whole(dual.multipliers))]


def scores_left(allowed: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
    """Return float64[V], the scores of variables that multipliers mean for the parser; -inf for what is not allowed."""
    return np.where(allowed, -multipliers, -np.inf)


def whole(multipliers: np.ndarray) -> dict[int, int]:
    """Those that are not 0, in units."""
    return {int(v): round(multipliers[v] / UNIT) for v in np.flatnonzero(multipliers)}
