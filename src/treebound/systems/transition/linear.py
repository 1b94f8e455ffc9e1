"""Linear models of instances: hashed cells and joins, one weight a class, and the averaged perceptron that learns them.

A feature owns the weights base .. base + C - 1, where base is its hash cut to the table and to a multiple of 16, so
that a row begins a cache line. Rows overlap; most of their entries are zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from treebound.core.hashing import hash_string
from treebound.kernels.features.hashing import M1, finish
from treebound.systems.transition.feature_models import FeatureModel

LINE = 16  #: weights of a cache line


class Joins(NamedTuple):
    """Which cells make up each of the T features of an instance: cell[start[t] : start[t + 1]].

    seed int64[T], start int32[T + 1], cell int32[start[T]]
    """

    seed: np.ndarray
    start: np.ndarray
    cell: np.ndarray


class Linear(NamedTuple):
    """joins; weights float32[mask + 1 + C], whole numbers where they are averages; mask, 2 ** bits - 1."""

    joins: Joins
    weights: np.ndarray
    mask: int


def compile_joins(model: FeatureModel) -> Joins:
    """Every cell alone, and the joins of the model."""
    features = [*((i,) for i in range(len(model.cells))), *model.joins]
    seeds = [hash_string(" + ".join(model.cells[i] for i in feature)) for feature in features]
    start = np.cumsum([0, *map(len, features)]).astype(np.int32)
    return Joins(np.array(seeds, np.int64), start, np.array([i for f in features for i in f], np.int32))


def table(bits: int, classes: int, dtype: type = np.float32) -> np.ndarray:
    """Weights of 2 ** bits entries, and of the last row."""
    return np.zeros((1 << bits) + classes, dtype)


@njit(cache=True, nogil=True)
def find_rows(joins, mask, x, out):
    """Write the first weight of every feature of instance x to out int64[T]. O(T)."""
    for t in range(len(joins.seed)):
        value = joins.seed[t]
        for i in range(joins.start[t], joins.start[t + 1]):
            value = (value ^ x[joins.cell[i]]) * M1
        out[t] = finish(value) & mask & ~(LINE - 1)


@njit(cache=True, nogil=True, fastmath=True)
def add_up(weights, rows, out):
    """Write the scores of all C classes to out float32[C]. O(T C)."""
    classes = len(out)
    out[:] = 0
    for base in rows:
        row = weights[base : base + classes]
        for k in range(classes):
            out[k] += row[k]


@njit(cache=True, nogil=True)
def update(weights, sums, rows, right, wrong, time):
    """Add 1 to the weights of class `right` and take 1 from those of `wrong`; sums get it times `time`. O(T)."""
    for base in rows:
        weights[base + right] += 1
        weights[base + wrong] -= 1
        sums[base + right] += time
        sums[base + wrong] -= time


@njit(cache=True, nogil=True)
def perceptron_epoch(linear, sums, X, y, order, classes, time):
    """One pass over instances X int32[N, m] with classes y in `order`; returns how many were wrong.

    sums float64[len(weights)], of update * instances seen before it, `time` of them before this pass
    """
    rows = np.empty(len(linear.joins.seed), np.int64)
    scores = np.empty(classes, np.float32)
    wrong = 0
    for i in order:
        find_rows(linear.joins, linear.mask, X[i], rows)
        add_up(linear.weights, rows, scores)
        best = np.argmax(scores)
        if best != y[i]:
            wrong += 1
            update(linear.weights, sums, rows, y[i], best, time)
        time += 1
    return wrong


@njit(cache=True, nogil=True)
def all_scores(linear, X, classes):
    """float32[N, C]: the scores of instances X int32[N, m]."""
    out = np.empty((len(X), classes), np.float32)
    rows = np.empty(len(linear.joins.seed), np.int64)
    for i in range(len(X)):
        find_rows(linear.joins, linear.mask, X[i], rows)
        add_up(linear.weights, rows, out[i])
    return out
