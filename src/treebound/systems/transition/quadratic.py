"""Decisions of support vector machines with the kernel (gamma x.x' + r)^2, exact and fast.

As Hall, Nivre & Nilsson (2006, section 3.2): one against one, one machine for every tag of the next word, tags with few
instances pooled. An instance has one binary feature for each cell, so that x.x' is the number of cells that agree. A
class that beats every other has all the votes it can get: losers are knocked out one after the other, the last one left
meets the others, and only if it loses to one of them are all votes counted. Every decision is that of LIBSVM.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.support.jit import kernel

#: decisions nearer to 0 are added up in LIBSVM's order, so that rounding falls as it does there
CLOSE = 1e-6


class Pools(NamedTuple):
    """The machines of P pools, one after the other. Pool p has k classes, l support vectors, k (k - 1) / 2 decisions.

    pool     int32[steps, V + 1] the pool of every value of the cell that splits, for every decision that is made of an
             instance; the last column is that of greater values
    classes  int32[sum of k], from classes_at[p] to classes_at[p + 1]: what its classes are, in LIBSVM's order
    cells    uint16 or int32[m, sum of l] the support vectors, from cells_at[p]
    rho      float64[D], from rho_at[p]: of the decisions, classes 0 and 1, 0 and 2, ..
    start    int64[D + 1]: decision d adds weight[t] * kernel of support vector vector[t], t from start[d], less rho[d]
    vector   int32[T] by LIBSVM's order in each decision; those whose weight is 0 are left out
    weight   float64[T]
    kernel   float64[m + 1] value of the kernel by how many cells agree
    """

    split: int
    pool: np.ndarray
    classes: np.ndarray
    classes_at: np.ndarray
    cells: np.ndarray
    cells_at: np.ndarray
    rho: np.ndarray
    rho_at: np.ndarray
    start: np.ndarray
    vector: np.ndarray
    weight: np.ndarray
    kernel: np.ndarray


@kernel
def pool_of(pools, x, step):
    """The pool that makes a decision about an instance."""
    return pools.pool[step, min(x[pools.split], pools.pool.shape[1] - 1)]


@kernel
def compare(pools, p, x, agreeing, values):
    """Write the kernel of x and every support vector s of pool p to values[s]. O(m l).

    agreeing  uint8[sum of l], values float64[sum of l]: memory that is used again
    """
    a, b = pools.cells_at[p], pools.cells_at[p + 1]
    here, out = agreeing[a:b], values[a:b]
    here[:] = 0
    for cell in range(len(x)):
        column, value = pools.cells[cell, a:b], pools.cells.dtype.type(x[cell])
        if value != x[cell]:  # no support vector has such a number
            continue
        for s in range(b - a):
            here[s] += column[s] == value
    for s in range(b - a):
        out[s] = pools.kernel[here[s]]


@kernel(fastmath=True)
def _product(weights, vectors, values):
    """The scalar product of weights and the values of some vectors, in any order."""
    total = 0.0
    for t in range(len(weights)):
        total += weights[t] * values[vectors[t]]
    return total


@kernel
def decision(pools, p, i, j, values):
    """LIBSVM's decision value for classes number i < j of pool p: i wins if it is above 0. O(their vectors).

    values  as `compare` writes them
    """
    classes = pools.classes_at[p + 1] - pools.classes_at[p]
    d = pools.rho_at[p] + i * (2 * classes - i - 1) // 2 + j - i - 1
    a, b = pools.start[d], pools.start[d + 1]
    total = _product(pools.weight[a:b], pools.vector[a:b], values) - pools.rho[d]
    if abs(total) < CLOSE:
        total = 0.0
        for t in range(a, b):
            total += pools.weight[t] * values[pools.vector[t]]
        total -= pools.rho[d]
    return total


@kernel
def _beats(pools, p, i, j, values):
    """Whether class number i wins against j."""
    if i < j:
        return decision(pools, p, i, j, values) > 0
    return not decision(pools, p, j, i, values) > 0


@kernel
def _votes(pools, p, values, out):
    """How often each class of pool p wins, to out int32[k]."""
    out[:] = 0
    for i in range(len(out)):
        for j in range(i + 1, len(out)):
            out[i if decision(pools, p, i, j, values) > 0 else j] += 1


@kernel
def all_votes(pools, X, classes, step):
    """int32[N, classes]: the votes of all instances in one decision; -1 for classes that their pools do not have."""
    out = np.full((len(X), classes), -1, np.int32)
    agreeing, values = np.empty(pools.cells.shape[1], np.uint8), np.empty(pools.cells.shape[1])
    for n in range(len(X)):
        p = pool_of(pools, X[n], step)
        here = pools.classes[pools.classes_at[p] : pools.classes_at[p + 1]]
        votes = np.empty(len(here), np.int32)
        compare(pools, p, X[n], agreeing, values)
        _votes(pools, p, values, votes)
        for i in range(len(here)):
            out[n, here[i]] = votes[i]
    return out


@kernel
def winners(pools, X, step):
    """int64[N]: the class with most votes in one decision, of several the first in LIBSVM's order, of all instances."""
    out = np.empty(len(X), np.int64)
    agreeing, values = np.empty(pools.cells.shape[1], np.uint8), np.empty(pools.cells.shape[1])
    for n in range(len(X)):
        p = pool_of(pools, X[n], step)
        here = pools.classes[pools.classes_at[p] : pools.classes_at[p + 1]]
        met = np.zeros(len(here), np.bool_)
        compare(pools, p, X[n], agreeing, values)
        best = 0
        for j in range(1, len(here)):
            if _beats(pools, p, best, j, values):
                met[j] = True
            else:
                met[:] = False
                met[best] = True
                best = j
        for j in range(len(here)):
            if j != best and not met[j] and not _beats(pools, p, best, j, values):
                votes = np.empty(len(here), np.int32)
                _votes(pools, p, values, votes)
                best = int(np.argmax(votes))
                break
        out[n] = here[best]
    return out
