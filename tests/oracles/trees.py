"""Enumerate all dependency trees over a few words by brute force: every choice of heads without a cycle."""

from __future__ import annotations

from functools import cache

import numpy as np

MAX_WORDS = 7


@cache
def trees(n: int, space: str = "projective", single_root: bool = True) -> np.ndarray:
    """Return every tree over words 1..n, one per row: int32[T, n + 1], with -1 in column 0.

    The array is read-only and in lexicographic order. T for n = 1..7: projective 1, 2, 7, 30, 143, 728, 3876 with a
    single root and 1, 3, 12, 55, 273, 1428, 7752 with any number of roots; non-projective n**(n - 1) and (n + 1)**(n -
    1).
    """
    if not 1 <= n <= MAX_WORDS:
        raise ValueError(f"enumeration is for 1 to {MAX_WORDS} words, not {n}")
    choices = [[h for h in range(n + 1) if h != m] for m in range(1, n + 1)]
    heads = np.stack(np.meshgrid(*choices, indexing="ij"), axis=-1).reshape(-1, n)
    heads = np.hstack([np.zeros((len(heads), 1), heads.dtype), heads]).astype(np.int32)
    heads = heads[is_acyclic(heads)]
    if single_root:
        heads = heads[(heads[:, 1:] == 0).sum(axis=1) == 1]
    if space == "projective":
        heads = heads[is_projective(heads)]
    elif space != "non-projective":
        raise ValueError(f"unknown space {space!r}")
    heads[:, 0] = -1
    heads.flags.writeable = False
    return heads


def is_acyclic(heads: np.ndarray) -> np.ndarray:
    """Return bool[T]: whether every word reaches the root within n steps.

    The rows are heads[T, n + 1] with 0 or -1 in column 0.
    """
    parent = np.maximum(heads, 0)
    ancestor = parent
    for _ in range(heads.shape[1]):
        ancestor = np.take_along_axis(parent, ancestor, axis=1)
    return (ancestor == 0).all(axis=1)


def is_projective(heads: np.ndarray) -> np.ndarray:
    """Return bool[T]: whether no two arcs cross when drawn above the words, with the root at position 0."""
    out = np.ones(len(heads), bool)
    n = heads.shape[1] - 1
    for i in range(1, n + 1):
        low, high = np.minimum(heads[:, i], i), np.maximum(heads[:, i], i)
        for j in range(1, n + 1):
            a, b = np.minimum(heads[:, j], j), np.maximum(heads[:, j], j)
            out &= ~((low < a) & (a < high) & (high < b))
    return out
