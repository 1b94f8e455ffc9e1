"""Linear models of instances: hashed cells and joins with one weight per class, and the perceptron's update.

A feature owns the weights base .. base + C - 1, where base is the hash of the feature, reduced to the number of rows,
times a stride. With a stride of one cache line, rows overlap. This does little harm, because most of their entries are
zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.core.hashing import hash_string
from treebound.kernels.features.hashing import M1, finish
from treebound.support.jit import kernel
from treebound.systems.transition.feature_models import FeatureModel

LINE = 16  #: number of weights in a cache line
UNIT = 1024.0  #: integer steps of an averaged weight per 1.0; float32 adds such integers without rounding


class Joins(NamedTuple):
    """The cells that make up each of the T features of an instance: cell[start[t] : start[t + 1]].

    seed int64[T] (hash of the names of the cells), start int32[T + 1], cell int32[start[T]]
    """

    seed: np.ndarray
    start: np.ndarray
    cell: np.ndarray


class Linear(NamedTuple):
    """A linear model: a table of 2 ** bits rows that begin `stride` weights apart.

    weights  float32[2 ** bits * stride + C]
    mask     2 ** bits - 1, which reduces a hash to the number of a row
    """

    joins: Joins
    weights: np.ndarray
    mask: int
    stride: int


def compile_joins(model: FeatureModel) -> Joins:
    """Return the compiled features of a model: every cell alone, followed by the joins."""
    features = [*((i,) for i in range(len(model.cells))), *model.joins]
    seeds = [hash_string(" + ".join(model.cells[i] for i in feature)) for feature in features]
    start = np.cumsum([0, *map(len, features)]).astype(np.int32)
    return Joins(np.array(seeds, np.int64), start, np.array([i for f in features for i in f], np.int32))


def empty(model: FeatureModel, classes: int, bits: int, stride: int = LINE) -> Linear:
    """Return a linear model whose weights are zero, with 2 ** bits rows."""
    weights = np.zeros((stride << bits) + classes, np.float32)
    return Linear(compile_joins(model), weights, (1 << bits) - 1, stride)


def averaged(linear: Linear, sums: np.ndarray, examples: float) -> Linear:
    """Return the average of the weights over all examples, in steps of 1 / UNIT.

    `sums` holds for each weight the sum of its updates, each times the number of examples before it.
    """
    mean = np.rint((linear.weights - sums / max(1.0, examples)) * UNIT).astype(np.float32)
    return linear._replace(weights=mean)


@kernel
def find_rows(linear, x, out):
    """Write the index of the first weight of every feature of instance x to out int64[T]. O(T)."""
    joins = linear.joins
    for t in range(len(joins.seed)):
        value = joins.seed[t]
        for i in range(joins.start[t], joins.start[t + 1]):
            value = (value ^ x[joins.cell[i]]) * M1
        out[t] = (finish(value) & linear.mask) * linear.stride


@kernel
def add_up(weights, rows, out):
    """Write the scores of all C classes to out float32[C]. O(T C).

    rows  int64[T], the index of the first weight of every feature (see `find_rows`)
    """
    classes = len(out)
    out[:] = 0
    for base in rows:
        row = weights[base : base + classes]
        for k in range(classes):
            out[k] += row[k]


@kernel
def add(weights, sums, rows, k, amount, time):
    """Add an amount to the weight of class k in the rows of an instance, and `time` times the amount to `sums`. O(T).

    rows  int64[T], the index of the first weight of every feature (see `find_rows`)
    """
    for base in rows:
        weights[base + k] += amount
        sums[base + k] += amount * time


@kernel
def perceptron_epoch(linear, sums, X, y, order, classes, time):
    """Train for one epoch over instances X int32[N, m] with classes y in `order`, and return the number of errors.

    sums  float64[len(weights)], the sum of all updates, each times the number of instances before it
    time  number of instances before this epoch
    """
    rows = np.empty(len(linear.joins.seed), np.int64)
    scores = np.empty(classes, np.float32)
    wrong = 0
    for i in order:
        find_rows(linear, X[i], rows)
        add_up(linear.weights, rows, scores)
        best = np.argmax(scores)
        if best != y[i]:
            wrong += 1
            add(linear.weights, sums, rows, y[i], 1, time)
            add(linear.weights, sums, rows, best, -1, time)
        time += 1
    return wrong


@kernel
def all_scores(linear, X, classes):
    """Return float32[N, C], the score of each of C classes for instances X int32[N, m]."""
    out = np.empty((len(X), classes), np.float32)
    rows = np.empty(len(linear.joins.seed), np.int64)
    for i in range(len(X)):
        find_rows(linear, X[i], rows)
        add_up(linear.weights, rows, out[i])
    return out


@kernel
def find_all_rows(linear, X):
    """Return int64[N, T], the index of the first weight of every feature of instances X int32[N, m]."""
    out = np.empty((len(X), len(linear.joins.seed)), np.int64)
    for i in range(len(X)):
        find_rows(linear, X[i], out[i])
    return out
