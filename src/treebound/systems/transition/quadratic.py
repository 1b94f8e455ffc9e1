"""Support vector machines with the kernel (gamma x.x' + r)^2: trained by LIBSVM, decided exactly and fast here.

As Hall, Nivre & Nilsson (2006, section 3.2): one against one, one machine for every tag of the next word, tags with few
instances pooled. An instance has one binary feature for each cell, so that x.x' is the number of cells that agree. A
class that beats every other has all the votes it can get: losers are knocked out one after the other, the last one left
meets the others, and only if it loses to one of them are all votes counted. Every decision is that of LIBSVM.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from treebound.core.errors import TreeboundError

#: decisions nearer to 0 are added up in LIBSVM's order, so that rounding falls as it does there
CLOSE = 1e-6


class Pools(NamedTuple):
    """The machines of P pools, one after the other. Pool p has k classes and l support vectors, sorted by class.

    pool     int32[V] the pool of every value of the cell that splits; greater values belong to pool 0
    classes  int32[sum of k], from classes_at[p] to classes_at[p + 1]: what its classes are, in LIBSVM's order
    ends     int32[sum of k]: behind the last support vector of each, counted over all pools
    cells    int32[m, sum of l] the support vectors, from cells_at[p]
    weights  float64[sum of (k - 1) l], from weights_at[p]: LIBSVM's sv_coef, by its rows
    rho      float64[sum of k (k - 1) / 2], from rho_at[p]
    kernel   float64[m + 1] value of the kernel by how many cells agree
    """

    split: int
    pool: np.ndarray
    classes: np.ndarray
    classes_at: np.ndarray
    ends: np.ndarray
    cells: np.ndarray
    cells_at: np.ndarray
    weights: np.ndarray
    weights_at: np.ndarray
    rho: np.ndarray
    rho_at: np.ndarray
    kernel: np.ndarray


@njit(cache=True, nogil=True)
def pool_of(pools, x):
    """The pool that decides about an instance."""
    value = x[pools.split]
    return pools.pool[value] if value < len(pools.pool) else 0


@njit(cache=True, nogil=True, inline="always")
def _span(pools, p, i):
    """(first, behind the last) support vector of class number i of pool p."""
    at = pools.classes_at[p] + i
    return (pools.ends[at - 1] if i > 0 else pools.cells_at[p]), pools.ends[at]


@njit(cache=True, nogil=True)
def compare(pools, p, x, agreeing, values):
    """Write the kernel of x and every support vector s of pool p to values[s]. O(m l).

    agreeing  uint8[sum of l], values float64[sum of l]: memory that is used again
    """
    a, b = pools.cells_at[p], pools.cells_at[p + 1]
    here, out = agreeing[a:b], values[a:b]
    here[:] = 0
    for cell in range(len(x)):
        column, value = pools.cells[cell, a:b], x[cell]
        for s in range(b - a):
            here[s] += column[s] == value
    for s in range(b - a):
        out[s] = pools.kernel[here[s]]


@njit(cache=True, nogil=True, fastmath=True)
def _product(weights, values):
    """Their scalar product, in any order."""
    total = 0.0
    for s in range(len(weights)):
        total += weights[s] * values[s]
    return total


@njit(cache=True, nogil=True)
def decision(pools, p, i, j, values):
    """LIBSVM's decision value for classes number i < j of pool p: i wins if it is above 0. O(l_i + l_j).

    values  as `compare` writes them
    """
    first, vectors = pools.cells_at[p], pools.cells_at[p + 1] - pools.cells_at[p]
    classes = pools.classes_at[p + 1] - pools.classes_at[p]
    of_i, of_j = pools.weights_at[p] + (j - 1) * vectors - first, pools.weights_at[p] + i * vectors - first
    a, b = _span(pools, p, i)
    c, d = _span(pools, p, j)
    rho = pools.rho[pools.rho_at[p] + i * (2 * classes - i - 1) // 2 + j - i - 1]
    total = _product(pools.weights[of_i + a : of_i + b], values[a:b])
    total += _product(pools.weights[of_j + c : of_j + d], values[c:d]) - rho
    if abs(total) < CLOSE:
        total = 0.0
        for s in range(a, b):
            total += pools.weights[of_i + s] * values[s]
        for s in range(c, d):
            total += pools.weights[of_j + s] * values[s]
        total -= rho
    return total


@njit(cache=True, nogil=True)
def _beats(pools, p, i, j, values):
    """Whether class number i wins against j."""
    if i < j:
        return decision(pools, p, i, j, values) > 0
    return not decision(pools, p, j, i, values) > 0


@njit(cache=True, nogil=True)
def _votes(pools, p, values, out):
    """How often each class of pool p wins, to out int32[k]."""
    out[:] = 0
    for i in range(len(out)):
        for j in range(i + 1, len(out)):
            out[i if decision(pools, p, i, j, values) > 0 else j] += 1


@njit(cache=True, nogil=True)
def all_votes(pools, X, classes):
    """int32[N, classes]: the votes of all instances; -1 for classes that an instance's pool does not have."""
    out = np.full((len(X), classes), -1, np.int32)
    agreeing, values = np.empty(pools.cells.shape[1], np.uint8), np.empty(pools.cells.shape[1])
    for n in range(len(X)):
        p = pool_of(pools, X[n])
        here = pools.classes[pools.classes_at[p] : pools.classes_at[p + 1]]
        votes = np.empty(len(here), np.int32)
        compare(pools, p, X[n], agreeing, values)
        _votes(pools, p, values, votes)
        for i in range(len(here)):
            out[n, here[i]] = votes[i]
    return out


@njit(cache=True, nogil=True)
def winners(pools, X):
    """int64[N]: the class with most votes, of several the first in LIBSVM's order, for all instances."""
    out = np.empty(len(X), np.int64)
    agreeing, values = np.empty(pools.cells.shape[1], np.uint8), np.empty(pools.cells.shape[1])
    for n in range(len(X)):
        p = pool_of(pools, X[n])
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


class QuadraticSVM:
    """A classifier (see `classifiers.Classifier`); `best` is the class with most votes, which `scores` counts.

    split      the cell whose values have machines of their own, p(t0) in the paper
    gamma, r   of the kernel
    C          cost of an error of training
    tolerance  at which training stops
    least      instances that a value must have, or it is pooled
    """

    pools: Pools  #: what `fit` learnt

    def __init__(
        self, split: int, gamma: float = 0.2, r: float = 0.0, C: float = 0.5, tolerance: float = 0.1, least: int = 1000
    ):
        self.split, self.gamma, self.r, self.C = split, gamma, r, C
        self.tolerance, self.least = tolerance, least

    def fit(self, X: np.ndarray, y: np.ndarray, classes: int) -> None:
        """See `classifiers.Classifier`. TreeboundError where LIBSVM is not installed."""
        machines = list(self.train_pools(X, y))
        values, counts = np.unique(X[:, self.split], return_counts=True)
        pool = np.zeros(int(values.max()) + 1, np.int32)
        pool[values[counts >= self.least]] = 1 + np.arange((counts >= self.least).sum())
        m = X.shape[1]
        vectors = [len(machine["vectors"]) for machine in machines]
        at = {
            name: np.cumsum([0, *(machine[name].size for machine in machines)]) for name in ("labels", "weights", "rho")
        }
        cells_at = np.cumsum([0, *vectors])
        ends = [first + np.cumsum(machine["counts"]) for first, machine in zip(cells_at, machines, strict=False)]
        self.classes = classes
        self.pools = Pools(
            self.split,
            pool,
            np.concatenate([machine["labels"] for machine in machines]).astype(np.int32),
            at["labels"],
            np.concatenate(ends).astype(np.int32),
            np.ascontiguousarray(X[np.concatenate([machine["vectors"] for machine in machines])].T),
            cells_at,
            np.concatenate([machine["weights"].ravel() for machine in machines]),
            at["weights"],
            np.concatenate([machine["rho"] for machine in machines]),
            at["rho"],
            (self.gamma * np.arange(m + 1) + self.r) ** 2,
        )

    def train_pools(self, X: np.ndarray, y: np.ndarray) -> Iterator[dict[str, Any]]:
        """The machines, of the pooled values first: labels, counts and numbers of support vectors, weights, rho.

        `model` is LIBSVM's own; a pool that has one class or no instance has none.
        """
        values, counts = np.unique(X[:, self.split], return_counts=True)
        often = values[counts >= self.least]
        yield self._machine(X, y, np.flatnonzero(~np.isin(X[:, self.split], often)))
        for value in often:
            yield self._machine(X, y, np.flatnonzero(X[:, self.split] == value))

    def _machine(self, X: np.ndarray, y: np.ndarray, rows: np.ndarray) -> dict[str, Any]:
        """Train on some of the instances, sorted by class: so that LIBSVM's order of classes is ours."""
        try:
            from libsvm.svmutil import svm_parameter, svm_problem, svm_train
        except ImportError:
            raise TreeboundError("LIBSVM is not installed", hint="install libsvm-official, or use another") from None
        seen = np.unique(y[rows] if len(rows) else y)
        if len(rows) == 0 or len(seen) == 1:  # nothing to decide; where there is no instance, the most frequent class
            label = seen if len(rows) else np.array([np.bincount(y).argmax()])
            none = np.zeros(0)
            return {
                "labels": label,
                "counts": np.zeros(1, int),
                "vectors": none.astype(int),
                "weights": none,
                "rho": none,
            }
        rows = rows[np.argsort(y[rows], kind="stable")]
        parameters = f"-q -s 0 -t 1 -d 2 -g {self.gamma!r} -r {self.r!r} -c {self.C!r} -e {self.tolerance!r} -m 500"
        features = binarised(X[rows], [np.unique(column) for column in X.T])
        model = svm_train(svm_problem(y[rows].astype(float), features), svm_parameter(parameters))
        k = model.get_nr_class()
        return {
            "labels": np.array(model.get_labels()),
            "counts": np.array(model.nSV[:k]),
            "vectors": rows[np.array(model.get_sv_indices()) - 1],
            "weights": np.array(model.get_sv_coef()).reshape(-1, k - 1).T,
            "rho": np.array(model.rho[: k * (k - 1) // 2]),
            "model": model,
        }

    def best(self, X: np.ndarray) -> np.ndarray:
        """int64[K] the class of each instance."""
        return winners(self.pools, X)

    def scores(self, X: np.ndarray) -> np.ndarray:
        """int32[K, classes] votes."""
        return all_votes(self.pools, X, self.classes)


def binarised(X: np.ndarray, known: list[np.ndarray]) -> Any:
    """A sparse matrix with one column for each known (sorted) value of each cell: what LIBSVM learns from."""
    from scipy.sparse import csr_matrix

    places = np.stack([np.searchsorted(values, column) for values, column in zip(known, X.T, strict=True)], axis=1)
    seen = np.stack([np.isin(column, values) for values, column in zip(known, X.T, strict=True)], axis=1)
    widths = np.array([len(values) for values in known])
    columns = (places + np.cumsum(widths) - widths)[seen]
    starts = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
    return csr_matrix((np.ones(len(columns)), columns, starts), shape=(len(X), int(widths.sum())))
