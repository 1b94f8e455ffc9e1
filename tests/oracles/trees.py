"""All dependency trees over a few words, by brute force: every choice of heads, cyclic ones thrown away."""

from __future__ import annotations

from functools import cache

import numpy as np

MAX_WORDS = 7


@cache
def trees(n: int, space: str = "projective", single_root: bool = True) -> np.ndarray:
    """Every tree with words 1..n, one row each: int32[T, n + 1], column 0 is -1. Read-only, in lexicographic order.

    T for n = 1..7: projective 1, 2, 7, 30, 143, 728, 3876 with a single root and 1, 3, 12, 55, 273, 1428, 7752 with any
    number; non-projective n**(n - 1) and (n + 1)**(n - 1).
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
    """bool[T]: every word reaches the root, after n steps up (rows of heads[T, n + 1], column 0 holding 0 or -1)."""
    up = np.maximum(heads, 0)
    at = up
    for _ in range(heads.shape[1]):
        at = np.take_along_axis(up, at, axis=1)
    return (at == 0).all(axis=1)


def is_projective(heads: np.ndarray) -> np.ndarray:
    """bool[T]: no two arcs cross when drawn above the words, the root standing at position 0."""
    out = np.ones(len(heads), bool)
    n = heads.shape[1] - 1
    for i in range(1, n + 1):
        low, high = np.minimum(heads[:, i], i), np.maximum(heads[:, i], i)
        for j in range(1, n + 1):
            a, b = np.minimum(heads[:, j], j), np.maximum(heads[:, j], j)
            out &= ~((low < a) & (a < high) & (high < b))
    return out
