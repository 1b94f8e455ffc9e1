"""Random scores in which some entries are masks: finite scores that stand for forbidden arcs and parts."""

from __future__ import annotations

from typing import Any

import numpy as np

#: masks that neural parsers use; masks of the first row are treated as ordinary scores and decoded exactly
SCORES = (-1e4, -65504.0, -1e5, -1e6)


MASKS = (-1e8, -1e9, -1e15, -1e16, -1e32, float(np.finfo(np.float32).min), float(np.finfo(np.float64).min))


def random_masked(rng: np.random.Generator, names: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return random scores for 1 to 5 words, and for each array the positions that are masked."""
    n = int(rng.integers(1, 6))
    shapes = {"arc": [n + 1] * 2, "labels": [n + 1, n + 1, 3]}
    scores, masked = {}, {}
    for name in ("arc", *names):
        shape = shapes.get(name, [n + 1] * 3)
        ties = rng.random() < 0.3
        scores[name] = rng.integers(-2, 3, shape).astype(float) if ties else rng.normal(size=shape)
        share = rng.choice([0.0, 0.2, 0.5, 0.8]) if name in ("arc", "labels") else rng.choice([0.0, 0.1])
        masked[name] = rng.random(shape) < share
    for name in {"siblings"} & scores.keys():
        scores[name], masked[name] = np.triu(scores[name], 1), np.triu(masked[name], 1)
        scores[name][0], masked[name][0] = 0.0, False
    return scores, masked


def with_masks(scores: dict[str, Any], masked: dict[str, np.ndarray], mask: float) -> dict[str, Any]:
    return {name: np.where(masked[name], mask, x) for name, x in scores.items()}
