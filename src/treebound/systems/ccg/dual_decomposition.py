"""Dual decomposition of the joint model (Auli & Lopez 2011, section 4.2; Rush et al. 2010).

L(u) is an upper bound on the score of every derivation, for any multipliers u of the lexical categories:

    L(u) = max over derivations y of (f(y) - u y) + max over sequences z of (g(z) + u z)

Here f is the score of the parser, g is the score of the supertagger, and u y is the sum of the multipliers of the
categories in y. Subgradient descent makes the bound smaller. If both maxima agree, y is the best derivation.
Otherwise the best derivation that the parser returned in any iteration is the result.

The paper takes the steps of Rush et al. (2010): 0.5 at first, halved whenever the bound has risen. The default here is
the step of Polyak (1969), whose length follows the gap.
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
HALVINGS = 60  #: number of halvings after which a published step is shorter than UNIT


class Dual(NamedTuple):
    """The least bound of a descent, -inf if no derivation is allowed.

    multipliers  float64[V], the multipliers at the least bound;
    tags         int32[n], variables of the parser's derivation under these multipliers;
    conflict     int32[n], number of iterations in which parser and supertagger disagreed about each word;
    rounds       number of iterations
    """

    bound: float
    multipliers: np.ndarray
    tags: np.ndarray
    conflict: np.ndarray
    rounds: int


class Best:
    """The best derivation seen so far: its joint score `value`, -inf before the first derivation, and its variables."""

    def __init__(self) -> None:
        self.value, self.tags = -np.inf, np.empty(0, np.int32)

    def offer(self, value: float, tags: np.ndarray) -> None:
        """Store the derivation with joint score `value` and variables `tags` if it is better than the stored one."""
        if value > self.value:
            self.value, self.tags = value, tags


def descend(joint: Joint, allowed: np.ndarray, multipliers: np.ndarray, best: Best, iterations: int) -> Dual:
    """Run subgradient descent with the Polyak step and return the last result.

    `steps` explains the arguments.
    """
    last = Dual(np.inf, multipliers, np.empty(0, np.int32), np.zeros(joint.words, np.int32), 0)
    for dual in steps(joint, allowed, multipliers, best, iterations):
        last = dual
    return last


def steps(
    joint: Joint,
    allowed: np.ndarray,
    multipliers: np.ndarray,
    best: Best,
    iterations: int,
    step: Step = "polyak",
) -> Iterator[Dual]:
    """Run subgradient descent from `multipliers` float64[V] until the bound is no more than the best value seen.

    allowed  bool[V]: categories that words may have;
    best     receives every derivation of the parser;
    step     `polyak`: the step that would be right if the best value seen were the optimum (Polyak 1969), divided by
             1 + the number of times that the bound rose (Koo et al. 2010);
             `published`: the constant FIRST, halved whenever the bound rose (Rush et al. 2010), as in Auli & Lopez

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
        shift = max(1.0, np.round(min(length, joint.widest) / UNIT)) * UNIT
        u[y[differ]] += shift
        u[z[differ]] -= shift
        np.clip(u, -joint.widest, joint.widest, out=u)


def decompose(joint: Joint, iterations: int, step: Step = "polyak") -> tuple[Analysis, list[Node]] | None:
    """Return the best derivation of the parser within `iterations` iterations, with its bound, and a proof.

    The status is `optimal` or `gap`. The second result is the single node that proves the bound. Return None if no
    derivation is possible.
    """
    best, start = Best(), np.zeros(len(joint.emission))
    *_, dual = steps(joint, joint.possible, start, best, iterations, step)
    if not len(best.tags):
        return None
    analysis = joint.analysis(best.tags, dual.bound, dual.rounds, "gap")
    result = replace(analysis, scores=scores_left(joint.possible, dual.multipliers))
    return result, [Node(-1, -1, 0, whole(dual.multipliers))]


def scores_left(allowed: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
    """Return float64[V], the scores of the parser's variables: minus the multipliers, or -inf if forbidden."""
    return np.where(allowed, -multipliers, -np.inf)


def whole(multipliers: np.ndarray) -> dict[int, int]:
    """Return a dictionary from variables to their multipliers, as whole multiples of UNIT and without zeros."""
    return {int(v): round(multipliers[v] / UNIT) for v in np.flatnonzero(multipliers)}
