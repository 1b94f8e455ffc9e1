"""Random arc scores of any size, and their marginals by enumeration in decimal arithmetic."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
from oracles.trees import trees


def expected(arc: np.ndarray, space: str, single_root: bool) -> tuple[Decimal | None, np.ndarray]:
    """Return the log partition function and the marginals [n + 1, n + 1], computed with 60 decimal digits.

    If there is no tree, the log partition function is None.
    """
    n = len(arc) - 1
    out = np.zeros(arc.shape)
    with localcontext() as context:
        context.prec = 60
        every = [heads for heads in trees(n, space, single_root) if (arc[heads[1:], range(1, n + 1)] > -np.inf).all()]
        if not every:
            return None, out
        value = [sum(Decimal(float(arc[heads[m], m])) for m in range(1, n + 1)) for heads in every]
        top = max(value)
        weight = [(x - top).exp() if x - top > -2000 else Decimal(0) for x in value]
        total = sum(weight)
        for heads, w in zip(every, weight, strict=True):
            for m in range(1, n + 1):
                out[heads[m], m] += float(w / total)
        return top + total.ln(), out


def random_arcs(rng: np.random.Generator, size: float) -> np.ndarray:
    n = int(rng.integers(1, 5))
    ties = rng.random() < 0.4
    arc = rng.integers(-2, 3, (n + 1, n + 1)).astype(float) if ties else rng.normal(size=(n + 1, n + 1))
    arc *= size
    arc[rng.random(arc.shape) < rng.choice([0.0, 0.4])] = -np.inf
    return arc
