"""Online updates, exchangeable: how far the weights go towards the features of the right structure.

A new update is a class and a line in `UPDATES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from treebound.core.registry import Registry
from treebound.kernels.features.updates import merge, step
from treebound.learning.averages import FIXED_UNIT, averaged


class Update(Protocol):
    """A rule for the size of a step.

    plain   costs of wrong structures and rates of features are ignored
    scale   what scores are multiplied with and rounded before a sentence of training is decoded
    """

    @property
    def plain(self) -> bool: ...
    @property
    def scale(self) -> float: ...

    def size(self, margin: float, norm: float, cost: float) -> float:
        """The step along a difference of this squared norm, whose sides ought to be `cost` apart and are `margin`."""

    def unit(self, examples: int) -> float:
        """Units per 1.0 of the averaged weights."""


@dataclass(frozen=True)
class Perceptron:
    """A step of 1, whatever the margin (Collins 2002). Weights are integers, and so are their sums: exact averages."""

    plain: ClassVar[bool] = True
    scale: ClassVar[float] = 1.0

    def size(self, margin: float, norm: float, cost: float) -> float:
        """1."""
        return 1.0

    def unit(self, examples: int) -> float:
        """The number of examples: T w - sum is the average times T."""
        return float(max(1, examples))


@dataclass(frozen=True)
class Mira:
    """The smallest step that makes the margin as large as the cost, or `limit` (Crammer et al. 2006, PA-I)."""

    limit: float
    plain: ClassVar[bool] = False
    scale: ClassVar[float] = FIXED_UNIT

    def size(self, margin: float, norm: float, cost: float) -> float:
        """min(limit, (cost - margin) / norm); not positive where the margin is large enough."""
        return min(self.limit, (cost - margin) / norm)

    def unit(self, examples: int) -> float:
        """Fixed point."""
        return FIXED_UNIT


#: name -> the update with this largest step
UPDATES: Registry[Callable[[float], Update]] = Registry("learner")
UPDATES.register("mira", Mira)
UPDATES.register("perceptron", lambda limit: Perceptron())


class Learner:
    """Weights in training, with the sums that give their average.

    weights  float32[size] (integers for the perceptron, exact up to 2 ** 24)
    sums     float64[size] sum over updates of (examples seen before) ** (degree + 1) * update
    examples number of sentences seen
    degree   0: the average counts the weights after every sentence alike. Above: it counts those after sentence t by
             t ** degree, so that the poor weights of the first epoch count little (polynomial-decay averaging, Shamir
             & Zhang 2013)
    """

    def __init__(self, size: int, rule: Update, degree: int = 0):
        self.rule, self.degree = rule, degree
        self.weights = np.zeros(size, np.float32)
        self.sums = np.zeros(size, np.float64)
        self.scratch = np.zeros(size, np.float32)
        self.examples = 0

    def update(self, slots: np.ndarray, signs: np.ndarray, rates: np.ndarray, count: int, cost: float) -> None:
        """Step towards the feature difference of the right and the wrong structure, which ought to be `cost` apart.

        rates  how far the weight of each slot goes with a step of 1: as if its feature were sqrt(rate), not 1
        """
        if self.rule.plain:
            rates[:count] = 1.0
        count, norm, margin = merge(slots, signs, rates, count, self.scratch, self.weights, self.sums)
        if norm == 0.0:
            return
        size = self.rule.size(margin, norm, cost)
        if size > 0.0:
            step(self.weights, self.sums, self._settled(self.examples - 1), slots, signs, rates, count, size)

    def average(self) -> tuple[np.ndarray, float]:
        """Return (int32 weights, units per 1.0) of the average over all examples."""
        return averaged(self.weights, self.sums, self._settled(self.examples), self.rule.unit(self.examples))

    def _settled(self, examples: int) -> float:
        """Return the share of the average that so many examples settle, in units that `sums` share."""
        return float(examples) ** (self.degree + 1)
