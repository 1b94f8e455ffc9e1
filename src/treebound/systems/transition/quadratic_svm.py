"""Support vector machines with the kernel (gamma x.x' + r)^2, trained by LIBSVM, split by the tag of the next word.

As Hall, Nivre & Nilsson (2006, section 3.2): one against one, a pool of machines for every tag that the next word has
in at least `LEAST` instances, one for all other tags together. `quadratic` decides.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as checked

from treebound.core.errors import InputError, ModelError, TreeboundError
from treebound.learning.storage import Format, Header, Layout
from treebound.systems.transition.feature_models import FeatureModel
from treebound.systems.transition.quadratic import Pools, all_votes, winners

LEAST = 1000  #: instances that a value must have, or it is pooled
SPLITS = ("p t0", "c t0")  #: cells whose values have machines of their own: the first that a feature model has
SAVED = 30.0  #: seconds after which machines that are trained are kept for a training that goes on
#: arrays of a file, each that of all machines one after the other
COLUMNS: dict[str, type] = {
    "classes": np.int32,
    "counts": np.int32,
    "vectors": np.int32,
    "weights": np.float64,
    "rho": np.float64,
}


class Machine(NamedTuple):
    """What LIBSVM learnt about one pool of k classes with l support vectors, sorted by class.

    classes  int32[k]
    counts   int32[k] support vectors of each
    vectors  int32[l, m] they themselves
    weights  float64[k - 1, l] sv_coef
    rho      float64[k (k - 1) / 2]
    model    LIBSVM's own, where it was trained here
    """

    classes: np.ndarray
    counts: np.ndarray
    vectors: np.ndarray
    weights: np.ndarray
    rho: np.ndarray
    model: Any = None


def split_of(features: FeatureModel) -> int:
    """The number of the cell that splits. InputError for a feature model that has none."""
    for cell in SPLITS:
        if cell in features.cells:
            return features.cells.index(cell)
    raise InputError("a quadratic kernel needs the tag of the next word", hint="add the cell p t0 to the features")


class QuadraticSVM:
    """A classifier (see `classifiers.Classifier`); `best` is the class with most votes, which `scores` counts.

    split      the cell whose values have machines of their own, p(t0) in the paper
    gamma, r   of the kernel
    C          cost of an error of training
    tolerance  at which training stops
    least      instances that a value must have, or it is pooled
    """

    pools: Pools  #: what `fit` learnt
    sizes: list[tuple[int, int]]  #: (classes, support vectors) of every pool
    arrays: dict[str, np.ndarray]  #: what a model file holds: `layouts`, and int32[V] `pool`

    def __init__(
        self, split: int, gamma: float = 0.2, r: float = 0.0, C: float = 0.5, tolerance: float = 0.1, least: int = LEAST
    ):
        self.split, self.gamma, self.r, self.C = split, gamma, r, C
        self.tolerance, self.least = tolerance, least

    def fit(self, X: np.ndarray, y: np.ndarray, classes: int) -> None:
        """See `classifiers.Classifier`. TreeboundError where LIBSVM is not installed."""
        self.learn(X, y, classes)

    def learn(
        self,
        X: np.ndarray,
        y: np.ndarray,
        classes: int,
        *,
        kept: Path | None = None,
        key: str = "",
        progress: Callable[[Sequence, str], Any] | None = None,
    ) -> None:
        """As `fit`; machines that are trained lie in the file `kept` until all are, from which training goes on.

        key  identifies what is trained: a file of another training is left aside
        """
        found = _resume(kept, key) if kept else []
        parts, last = self.parts(X)[len(found) :], time.monotonic()
        for rows in progress(parts, "support vector machines") if progress else parts:
            found.append(self.machine(X, y, rows)._replace(model=None))
            if kept and time.monotonic() - last > SAVED:
                KEPT.save(kept, {"key": key, "cells": X.shape[1], "pools": sizes_of(found)}, joined(found))
                last = time.monotonic()
        values, counts = np.unique(X[:, self.split], return_counts=True)
        pool = np.zeros(int(values.max()) + 1, np.int32)
        pool[values[counts >= self.least]] = 1 + np.arange((counts >= self.least).sum())
        self.assemble(pool, found, classes)
        if kept:
            kept.unlink(missing_ok=True)

    def assemble(self, pool: np.ndarray, machines: Sequence[Machine], classes: int) -> None:
        """Decide by these machines; pool int32[V] says of every value of the cell that splits which one it has."""
        m = machines[0].vectors.shape[1]
        self.sizes, self.classes = sizes_of(machines), classes
        self.arrays = {"pool": pool.astype(np.int32), **(one := joined(machines))}
        at = {name: np.cumsum([0, *(getattr(machine, name).size for machine in machines)]) for name in COLUMNS}
        cells, cells_at = np.ascontiguousarray(one["vectors"].reshape(-1, m).T), at["vectors"] // max(m, 1)
        if cells.max(initial=0) <= np.iinfo(np.uint16).max:
            cells = cells.astype(np.uint16)
        each = [_decisions(machine, first) for machine, first in zip(machines, cells_at, strict=False)]
        start = np.cumsum(np.concatenate([[0], *(lengths for lengths, _, _ in each)]))
        vector, weight = (np.concatenate([found[i] for found in each]) for i in (1, 2))
        kernel = (self.gamma * np.arange(m + 1) + self.r) ** 2
        of_classes, of_rho = (one["classes"], at["classes"]), (one["rho"], at["rho"])
        self.pools = Pools(
            self.split, self.arrays["pool"], *of_classes, cells, cells_at, *of_rho, start, vector, weight, kernel
        )

    def parts(self, X: np.ndarray) -> list[np.ndarray]:
        """The instances of every pool, those of pooled values first."""
        values, counts = np.unique(X[:, self.split], return_counts=True)
        often = values[counts >= self.least]
        rest = np.flatnonzero(~np.isin(X[:, self.split], often))
        return [rest, *(np.flatnonzero(X[:, self.split] == value) for value in often)]

    def machine(self, X: np.ndarray, y: np.ndarray, rows: np.ndarray) -> Machine:
        """Train on some of the instances, sorted by class: so that LIBSVM's order of classes is ours."""
        svmutil = libsvm()
        seen = np.unique(y[rows] if len(rows) else y)
        if len(rows) == 0 or len(seen) == 1:  # nothing to decide; where there is no instance, the most frequent class
            classes = seen if len(rows) else np.array([np.bincount(y).argmax()])
            return Machine(classes, np.zeros(1, int), X[:0], np.zeros((0, 0)), np.zeros(0))
        rows = rows[np.argsort(y[rows], kind="stable")]
        parameters = f"-q -s 0 -t 1 -d 2 -g {self.gamma!r} -r {self.r!r} -c {self.C!r} -e {self.tolerance!r} -m 500"
        features = binarised(X[rows], [np.unique(column) for column in X[rows].T])
        problem = svmutil.svm_problem(y[rows].astype(float), features)
        model = svmutil.svm_train(problem, svmutil.svm_parameter(parameters))
        k = model.get_nr_class()
        return Machine(
            np.array(model.get_labels(), np.int32),
            np.array(model.nSV[:k]),
            X[rows[np.array(model.get_sv_indices()) - 1]],
            np.array(model.get_sv_coef()).reshape(-1, k - 1).T,
            np.array(model.rho[: k * (k - 1) // 2]),
            model,
        )

    def best(self, X: np.ndarray) -> np.ndarray:
        """int64[K] the class of each instance."""
        return winners(self.pools, X)

    def scores(self, X: np.ndarray) -> np.ndarray:
        """int32[K, classes] votes; -1 for classes that an instance's pool does not have."""
        return all_votes(self.pools, X, self.classes)

    # --- files ---

    def restore(self, arrays: dict[str, np.ndarray], sizes: Sequence[tuple[int, int]], m: int, classes: int) -> None:
        """From the arrays of a file, whose shapes are those of `layouts`. ValueError for numbers that cannot be."""
        machines = parted(arrays, sizes, m)
        pool = arrays["pool"]
        if pool.ndim != 1 or not len(pool) or pool.min() < 0 or pool.max() >= len(machines):
            raise ValueError("pool: beyond the machines")
        for machine in machines:
            its = machine.classes
            if its.min() < 0 or its.max() >= classes or (np.diff(its) <= 0).any():
                raise ValueError("classes: not sorted, or beyond the transitions")
            if machine.counts.min() < 0 or machine.counts.sum() != len(machine.vectors):
                raise ValueError("counts: not those of the support vectors")
        self.assemble(pool, machines, classes)


def _decisions(machine: Machine, first: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(vectors of each decision, their numbers from `first`, weights other than 0) as `quadratic.Pools` has them."""
    k, of = len(machine.classes), np.repeat(np.arange(len(machine.counts)), machine.counts)
    row, vector = np.nonzero(machine.weights)
    own = of[vector]
    other = row + (row >= own)  # the row of an opponent, of whom there is one less
    i, j = np.minimum(own, other), np.maximum(own, other)
    pair = i * (2 * k - i - 1) // 2 + j - i - 1
    order = np.lexsort((vector, pair))
    lengths = np.bincount(pair, minlength=k * (k - 1) // 2)
    return lengths, (first + vector[order]).astype(np.int32), machine.weights[row[order], vector[order]]


# --- machines as arrays ---


def sizes_of(machines: Sequence[Machine]) -> list[tuple[int, int]]:
    """(classes, support vectors) of every machine."""
    return [(len(machine.classes), len(machine.vectors)) for machine in machines]


def joined(machines: Sequence[Machine]) -> dict[str, np.ndarray]:
    """The arrays of all machines, one after the other."""
    return {
        name: np.concatenate([getattr(machine, name).ravel() for machine in machines]).astype(t)
        for name, t in COLUMNS.items()
    }


def parted(arrays: dict[str, np.ndarray], sizes: Sequence[tuple[int, int]], m: int) -> list[Machine]:
    """The machines of `joined`, which see m cells."""
    ends = {name: np.cumsum([_size(name, *size, m) for size in sizes])[:-1] for name in COLUMNS}
    each = zip(*(np.split(arrays[name], ends[name]) for name in COLUMNS), strict=True)
    return [
        Machine(c, n, vectors.reshape(-1, m), weights.reshape(len(c) - 1, len(vectors) // m), rho)
        for c, n, vectors, weights, rho in each
    ]


def _size(name: str, k: int, vectors: int, m: int) -> int:
    """Numbers that a machine of k classes, so many support vectors and m cells has in an array."""
    of = {"classes": k, "counts": k, "vectors": vectors * m, "weights": (k - 1) * vectors, "rho": k * (k - 1) // 2}
    return of[name]


def layouts(sizes: Sequence[tuple[int, int]], m: int) -> dict[str, Layout]:
    """The arrays of a file by what its header says. ValueError for pools that cannot be."""
    if not sizes or min(k for k, _ in sizes) < 1 or min(vectors for _, vectors in sizes) < 0:
        raise ValueError("pools: none, or one without classes")
    return {name: Layout(t, {(sum(_size(name, *size, m) for size in sizes),)}) for name, t in COLUMNS.items()}


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class _Kept(Header):
    """The header of a file of machines that are trained, in a training that goes on."""

    key: str
    cells: int
    pools: tuple[tuple[int, int], ...]


KEPT = Format("unfinished training", 1, _Kept, lambda header: layouts(header.pools, header.cells))


def _resume(path: Path, key: str) -> list[Machine]:
    """The machines that a training that was interrupted had kept; none of another one."""
    try:
        header, arrays = KEPT.load(path)
    except ModelError:
        return []
    return parted(arrays, header.pools, header.cells) if header.key == key else []


def libsvm() -> Any:
    """LIBSVM's module. TreeboundError where it is not installed.

    It may be built to share each row of the kernel among threads. Rows are short, and threads that wait for each other
    at every one of them spin: beside other work, as in the stage `classifiers`, for many times what one thread takes.
    """
    try:
        from libsvm import svm, svmutil
    except ImportError:
        raise TreeboundError("LIBSVM is not installed", hint="pip install libsvm-official, or use another") from None
    with suppress(AttributeError):  # built without threads
        svm.libsvm.omp_set_num_threads(1)
    return svmutil


def binarised(X: np.ndarray, known: list[np.ndarray]) -> Any:
    """A sparse matrix with one column for each known (sorted) value of each cell: what LIBSVM learns from."""
    from scipy.sparse import csr_matrix

    places = np.stack([np.searchsorted(values, column) for values, column in zip(known, X.T, strict=True)], axis=1)
    seen = np.stack([np.isin(column, values) for values, column in zip(known, X.T, strict=True)], axis=1)
    widths = np.array([len(values) for values in known])
    columns = (places + np.cumsum(widths) - widths)[seen]
    starts = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
    return csr_matrix((np.ones(len(columns)), columns, starts), shape=(len(X), int(widths.sum())))
