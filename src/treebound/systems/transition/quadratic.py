"""Exact and fast decisions of support vector machines with the kernel (gamma x.x' + r)^2.

The machines follow Hall, Nivre & Nilsson (2006, section 3.2): one against one, one machine for every tag of the next
word, with tags of few instances pooled. An instance has one binary feature for each cell, so that x.x' is the
number of cells that agree.

A class that beats all others has the highest possible number of votes. So classes are first eliminated one by one. The
last remaining class then meets the classes that it has not met. Only if it loses to one of them, all votes are counted.
Every decision agrees with LIBSVM.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.support.jit import kernel

#: decision values nearer to 0 than this are summed in LIBSVM's order, so that rounding errors are the same as there
CLOSE = 1e-6


class Pools(NamedTuple):
    """The support vector machines of P pools. Pool p has k classes, l support vectors and k (k - 1) / 2 decisions.

    split    the cell whose value selects the pool;
    pool     int32[steps, V + 1] the pool for each value of the cell `split`, in each decision step. The last column
             serves all greater values. Step 0 decides the class, or the branch if classes have branches. Further
             steps decide the class in each branch;
    classes  int32[sum of k] the classes of pool p, in LIBSVM's order, from classes_at[p] to before classes_at[p + 1];
    cells    uint16 or int32[m, sum of l] the support vectors as columns; pool p begins at column cells_at[p];
    rho      float64[D] constants of the decisions between classes 0 and 1, 0 and 2, .. of each pool; the constants of
             pool p begin at rho_at[p];
    start    int64[D + 1] decision d is a sum over t from start[d] to before start[d + 1], minus rho[d]. Each term is
             weight[t] times the kernel of the instance and support vector vector[t];
    vector   int32[T] support vectors of each decision in LIBSVM's order, without vectors of weight 0;
    weight   float64[T] weight of each support vector in `vector`;
    kernel   float64[m + 1] value of the kernel for each number of agreeing cells.
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
    """Return the pool that makes a decision about instance x."""
    return pools.pool[step, min(x[pools.split], pools.pool.shape[1] - 1)]


@kernel
def compare(pools, p, x, agreeing, values):
    """Write the kernel of x and each support vector s of pool p to values[s]. O(m l).

    agreeing  uint8[sum of l], working memory
    values    float64[sum of l], the output
    """
    a, b = pools.cells_at[p], pools.cells_at[p + 1]
    counts, out = agreeing[a:b], values[a:b]
    counts[:] = 0
    for cell in range(len(x)):
        column, value = pools.cells[cell, a:b], pools.cells.dtype.type(x[cell])
        if value != x[cell]:  # the number does not fit into the type, so no support vector has it
            continue
        for s in range(b - a):
            counts[s] += column[s] == value
    for s in range(b - a):
        out[s] = pools.kernel[counts[s]]


@kernel(fastmath=True)
def _product(weights, vectors, values):
    """Return the scalar product of weights and the values of some vectors, summed in any order."""
    total = 0.0
    for t in range(len(weights)):
        total += weights[t] * values[vectors[t]]
    return total


@kernel
def decision(pools, p, i, j, values):
    """Return LIBSVM's decision value for the classes with indices i < j in pool p. Class i wins if it is above 0.

    O(support vectors of the two classes). `values` is the output of `compare`.
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
    """Return whether the class with index i in pool p wins against the class with index j."""
    if i < j:
        return decision(pools, p, i, j, values) > 0
    return not decision(pools, p, j, i, values) > 0


@kernel
def _votes(pools, p, values, out):
    """Write the number of wins of each class of pool p to out int32[k]."""
    out[:] = 0
    for i in range(len(out)):
        for j in range(i + 1, len(out)):
            out[i if decision(pools, p, i, j, values) > 0 else j] += 1


@kernel
def all_votes(pools, X, classes, step):
    """Return int32[N, classes], the votes of all instances in one decision step; -1 for classes that a pool lacks."""
    out = np.full((len(X), classes), -1, np.int32)
    agreeing, values = np.empty(pools.cells.shape[1], np.uint8), np.empty(pools.cells.shape[1])
    for n in range(len(X)):
        p = pool_of(pools, X[n], step)
        members = pools.classes[pools.classes_at[p] : pools.classes_at[p + 1]]
        votes = np.empty(len(members), np.int32)
        compare(pools, p, X[n], agreeing, values)
        _votes(pools, p, values, votes)
        for i in range(len(members)):
            out[n, members[i]] = votes[i]
    return out


@kernel
def winners(pools, X, step):
    """Return int64[N], the class with most votes in one decision step, for all instances.

    Ties go to the class that is first in LIBSVM's order.
    """
    out = np.empty(len(X), np.int64)
    agreeing, values = np.empty(pools.cells.shape[1], np.uint8), np.empty(pools.cells.shape[1])
    for n in range(len(X)):
        p = pool_of(pools, X[n], step)
        members = pools.classes[pools.classes_at[p] : pools.classes_at[p + 1]]
        met = np.zeros(len(members), np.bool_)
        compare(pools, p, X[n], agreeing, values)
        best = 0
        for j in range(1, len(members)):
            if _beats(pools, p, best, j, values):
                met[j] = True
            else:
                met[:] = False
                met[best] = True
                best = j
        for j in range(len(members)):
            if j != best and not met[j] and not _beats(pools, p, best, j, values):
                votes = np.empty(len(members), np.int32)
                _votes(pools, p, values, votes)
                best = int(np.argmax(votes))
                break
        out[n] = members[best]
    return out
