"""Averages of weights over all training examples, as integers, so that every score is an exact sum."""

from __future__ import annotations

import numpy as np

from treebound.kernels.features.updates import largest_mean, round_means

FIXED_UNIT = float(1 << 16)  #: 16 binary digits after the point, for learners with real-valued updates


def averaged(weights: np.ndarray, sums: np.ndarray, total: float, unit: float = FIXED_UNIT) -> tuple[np.ndarray, float]:
    """Return (int32[table], the averaged weights in integer units; the number of units per 1.0).

    weights  float32[table]
    sums     float64[table]: the sum over all updates of a * update, where a is the total averaging weight of the
             examples before the update; for a mean over examples, a is the number of examples before the update
    total    the total averaging weight of all examples; for a mean over examples, the number of examples. The average
             is weights - sums / total
    unit     number of units per 1.0; it is halved until the largest average fits into int32
    """
    total = max(1.0, float(total))
    largest = largest_mean(weights, sums, total)
    while np.rint(largest * unit) >= 2**31:
        unit /= 2.0
    return round_means(weights, sums, total, unit), unit
