"""The jackknife over folds: figures from sums over all folds, with intervals from leaving out each fold in turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from treebound.metrics.significance import jackknife_half_width

#: system -> its counts and seconds
Sums = Mapping[str, Mapping[str, Any]]


def jackknife(
    folds: Sequence[Sums],
    figure: Callable[[Sums], float],
    to: Callable[[float], float] = float,
    back: Callable[[float], float] = float,
) -> tuple[float, float, float]:
    """Return a figure for all folds together, and the ends of its 95 % t-interval, which are NaN if there is one fold.

    figure    function that computes the figure from the sums over some folds
    to, back  functions that convert a value to the scale on which the interval is computed, and back
    """
    value, n = figure(added(folds)), len(folds)
    if n < 2:
        return value, float("nan"), float("nan")
    without = [to(figure(added([fold for fold in folds if fold is not omitted]))) for omitted in folds]
    half = jackknife_half_width(np.array(without))
    middle = to(value)
    return value, back(middle - half), back(middle + half)


def added(folds: Sequence[Sums]) -> dict[str, dict[str, float]]:
    """Add up the counts and seconds of every system over folds."""
    counts = {
        name: [key for key, v in system.items() if isinstance(v, int | float)] for name, system in folds[0].items()
    }
    return {name: {key: sum(fold[name][key] for fold in folds) for key in keys} for name, keys in counts.items()}
