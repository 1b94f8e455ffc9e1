"""Support vector machines of many classes: trained by LIBSVM, one against one, and as arrays of a file."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as checked

from treebound.core.errors import ModelError
from treebound.learning.storage import Format, Header, Layout
from treebound.support.extras import needs

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


def train_machine(X: np.ndarray, y: np.ndarray, parameters: str) -> Machine:
    """LIBSVM's machine of instances int32[N, m] and their classes, by its own options.

    They are sorted by class first: so LIBSVM's order of classes is ours.
    """
    svmutil = libsvm()
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    problem = svmutil.svm_problem(y.astype(float), binarised(X, [np.unique(column) for column in X.T]))
    model = _trained(problem, svmutil.svm_parameter(parameters))
    k = model.get_nr_class()
    return Machine(
        np.array(model.get_labels(), np.int32),
        np.array(model.nSV[:k]),
        X[np.array(model.get_sv_indices()) - 1],
        np.array(model.get_sv_coef()).reshape(-1, k - 1).T,
        np.array(model.rho[: k * (k - 1) // 2]),
        model,
    )


def _trained(problem: Any, parameter: Any) -> Any:
    """LIBSVM's model, trained in a thread of its own: waiting for it ends with Control-C, LIBSVM itself does not.

    What it prints goes to a function of C: an interrupt in one of Python, which it calls back, would be lost, and at
    the end of the program there is no Python any more.
    """
    done: Future[Any] = Future()
    parameter.print_func = ctypes.cast(ctypes.CDLL(None).strlen, type(parameter.print_func))

    def train() -> None:
        try:
            done.set_result(libsvm().svm_train(problem, parameter))  # the number of threads is that of this one
        except BaseException as error:
            done.set_exception(error)

    Thread(target=train, daemon=True).start()
    return done.result()


def constant(answer: int, m: int) -> Machine:
    """What always gives the same class, of instances of m cells."""
    return Machine(
        np.array([answer], np.int32), np.zeros(1, int), np.zeros((0, m), np.int32), np.zeros((0, 0)), np.zeros(0)
    )


# --- LIBSVM ---


def libsvm() -> Any:
    """LIBSVM's module. InputError if it is not installed.

    It may be built to share each row of the kernel among threads. Rows are short, and threads that wait for each other
    at every one of them spin: beside other work, as in the stage `classifiers`, for many times what one thread takes.
    """
    with needs("classifiers"):
        from libsvm import svm, svmutil
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


# --- files ---


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


def resume(path: Path, key: str) -> list[Machine]:
    """The machines that a training that was interrupted had kept; none of another one."""
    try:
        header, arrays = KEPT.load(path)
    except ModelError:
        return []
    return parted(arrays, header.pools, header.cells) if header.key == key else []
