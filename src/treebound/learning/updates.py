"""Update rules of online learning: the size of the step towards the features of the right structure.

A new rule is a class and a line in `UPDATES`.
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
    """A rule for the size of an update step.

    plain  whether the rule ignores the costs of wrong structures and the learning rates of features
    scale  factor by which the scores of a training sentence are multiplied before they are rounded and decoded
    """

    @property
    def plain(self) -> bool: ...
    @property
    def scale(self) -> float: ...

    def size(self, margin: float, norm: float, cost: float) -> float:
        """Return the size of the step along a feature difference.

        margin  score of the right structure minus score of the wrong structure
        norm    squared norm of the feature difference
        cost    the margin that is required
        """

    def unit(self, examples: int) -> float:
        """Return the number of units per 1.0 in the averaged weights after a number of training examples."""


@dataclass(frozen=True)
class Perceptron:
    """A step of size 1, whatever the margin (Collins 2002).

    Weights and their sums are integers, so averages are exact.
    """

    plain: ClassVar[bool] = True
    scale: ClassVar[float] = 1.0

    def size(self, margin: float, norm: float, cost: float) -> float:
        """Return 1, the size of every step."""
        return 1.0

    def unit(self, examples: int) -> float:
        """Return the number of training examples T, so that averaged weights are exact integers.

        The average is weights - sums / T, where `weights` and `sums` are integers (degree 0 of the `Learner`).
        """
        return float(max(1, examples))


@dataclass(frozen=True)
class Mira:
    """The smallest step that raises the margin to the cost, up to `limit` (Crammer et al. 2006, PA-I)."""

    limit: float
    plain: ClassVar[bool] = False
    scale: ClassVar[float] = FIXED_UNIT

    def size(self, margin: float, norm: float, cost: float) -> float:
        """Return min(limit, (cost - margin) / norm), which is not positive if the margin is large enough."""
        return min(self.limit, (cost - margin) / norm)

    def unit(self, examples: int) -> float:
        """Return the unit of fixed-point weights."""
        return FIXED_UNIT


#: name -> function from the largest step to the update rule
UPDATES: Registry[Callable[[float], Update]] = Registry("learner")
UPDATES.register("mira", Mira)
UPDATES.register("perceptron", lambda limit: Perceptron())


class Learner:
    """The weights of a model in training, with the sums from which their average is computed.

    Attributes
    ----------
    weights
        float32[size]; integers for the perceptron, exact up to 2 ** 24.
    sums
        float64[size]: sum over updates of (examples seen before the update) ** (degree + 1) * update.
    examples
        Number of sentences seen.
    degree
        With 0, the average counts the weights after every sentence alike. With a higher degree, the weights after
        sentence t count t ** degree, so that the poor weights of the first epoch count little (polynomial-decay
        averaging, Shamir & Zhang 2013).
    """

    def __init__(self, size: int, rule: Update, degree: int = 0):
        self.rule, self.degree = rule, degree
        self.weights = np.zeros(size, np.float32)
        self.sums = np.zeros(size, np.float64)
        self.scratch = np.zeros(size, np.float32)
        self.examples = 0

    def update(self, slots: np.ndarray, signs: np.ndarray, rates: np.ndarray, count: int, cost: float) -> None:
        """Step along the feature difference of the right and the wrong structure.

        - `slots`, `signs`: the features of the difference
        - `rates`: step sizes of the weights relative to a step of 1, as if each feature had the value sqrt(rate)
        - `count`: number of features
        - `cost`: required margin between the two structures
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
        """Return the total averaging weight of the first `examples` examples: examples ** (degree + 1)."""
        return float(examples) ** (self.degree + 1)
