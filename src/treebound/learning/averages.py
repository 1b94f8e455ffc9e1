"""Averages of weights over all examples of training, as integers, so that every score is an exact sum."""

from __future__ import annotations

import numpy as np

from treebound.kernels.features.updates import largest_mean, round_means

FIXED_UNIT = float(1 << 16)  #: 16 binary digits after the point, for learners with real-valued updates


def averaged(
    weights: np.ndarray, sums: np.ndarray, examples: int, unit: float = FIXED_UNIT
) -> tuple[np.ndarray, float]:
    """(int32[table] averages, units per 1.0); the unit is halved until the largest of them fits.

    weights  float32[table]
    sums     float64[table] sum over updates of (examples seen before) * update
    """
    examples = max(1, examples)
    largest = largest_mean(weights, sums, examples)
    while np.rint(largest * unit) >= 2**31:
        unit /= 2.0
    return round_means(weights, sums, examples, unit), unit
