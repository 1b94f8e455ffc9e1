"""Random scores of a user, and the scores of all trees by the definitions in `treebound.problem`."""

from __future__ import annotations

from typing import Any

import numpy as np
from oracles.trees import trees
from strategies import KINDS, draw


def score(heads: np.ndarray, scores: dict[str, Any], single_root: bool) -> float:
    """Return the score of a tree, word by word, following the definitions in `treebound.problem`."""
    n, h = len(heads) - 1, heads.tolist()
    words = range(1, n + 1)
    total = sum(scores["arc"][h[m], m] for m in words)
    if "labels" in scores:
        total += sum(scores["labels"][h[m], m].max() for m in words)
    if "adjacent_siblings" in scores:
        for m in words:
            between = [s for s in words if h[s] == h[m] and min(h[m], m) < s < max(h[m], m)]
            nearest = min(between, key=lambda s: abs(s - m)) if between else h[m]
            if h[m] > 0 or not single_root:
                total += scores["adjacent_siblings"][h[m], nearest, m]
    if "siblings" in scores:
        total += sum(scores["siblings"][h[m], s, m] for m in words for s in range(1, m) if h[s] == h[m] > 0)
    if "grandparents" in scores:
        total += sum(scores["grandparents"][h[h[m]], h[m], m] for m in words if h[m] > 0)
    return total


def winners(scores: dict[str, Any], space: str, single_root: bool) -> list[tuple[float, tuple[int, ...]]]:
    """Return (score, heads) of all trees, best first."""
    n = len(scores["arc"]) - 1
    allowed = scores.get("allowed", np.ones((n + 1, n + 1), bool))
    scored_trees = []
    for heads in trees(n, space, single_root):
        if all(allowed[heads[m], m] for m in range(1, n + 1)):
            value = score(heads, scores, single_root)
            if value > -np.inf:
                scored_trees.append((value, tuple(heads.tolist())))
    return sorted(scored_trees, key=lambda pair: -pair[0])


def random_scores(rng: np.random.Generator, names: tuple[str, ...], integer: bool) -> dict[str, Any]:
    """Return scores of 1 to 5 words: dense, sparse or tied, some forbidden, and arbitrary where there is no arc."""
    n = int(rng.integers(1, 6))
    kind, forbidden = str(rng.choice(KINDS[:3])), float(rng.choice([0.0, 0.2]))
    shapes = {"arc": 2, "labels": 3, "adjacent_siblings": 3, "siblings": 3, "grandparents": 3}
    scores: dict[str, Any] = {}
    for name in ("arc", *names):
        if name == "allowed":
            scores[name] = rng.random((n + 1, n + 1)) < 0.8
            continue
        shape = [n + 1] * shapes[name]
        shape[2:] = [4] if name == "labels" else shape[2:]
        least = 0.0 if name in ("siblings", "grandparents", "adjacent_siblings") else forbidden
        scores[name] = draw(rng, int(np.prod(shape)), kind, integer, least).reshape(shape)
    if "siblings" in scores:
        x = scores["siblings"]
        upper = np.triu(np.ones((n + 1, n + 1)), 1)
        symmetric = x * upper + (x * upper).swapaxes(1, 2)
        scores["siblings"] = symmetric if rng.random() < 0.5 else x * upper
        scores["siblings"][0] = 0.0
    if not integer:
        scores["arc"][:, 0] = np.nan
        np.fill_diagonal(scores["arc"], np.inf)
    return scores
