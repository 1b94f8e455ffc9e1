"""Multi-class support vector machines: their training by LIBSVM, one against one, and their arrays in a file."""

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

#: names and types of the arrays in a file; each array holds the values of all machines, one after another
COLUMNS: dict[str, type] = {
    "classes": np.int32,
    "counts": np.int32,
    "vectors": np.int32,
    "weights": np.float64,
    "rho": np.float64,
}


class Machine(NamedTuple):
    """A support vector machine of k classes, trained by LIBSVM, with l support vectors sorted by class.

    classes  int32[k] numbers of the classes;
    counts   int32[k] number of support vectors of each class;
    vectors  int32[l, m] the support vectors;
    weights  float64[k - 1, l] weights of the support vectors, `sv_coef` of LIBSVM;
    rho      float64[k (k - 1) / 2], the constant of the decision between each two classes;
    model    LIBSVM's own model, if the machine was trained by this process.
    """

    classes: np.ndarray
    counts: np.ndarray
    vectors: np.ndarray
    weights: np.ndarray
    rho: np.ndarray
    model: Any = None


def train_machine(X: np.ndarray, y: np.ndarray, parameters: str) -> Machine:
    """Train a machine on instances int32[N, m] and their classes; `parameters` are options of LIBSVM.

    The instances are sorted by class first, so that LIBSVM keeps the classes in sorted order.
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
    """Return LIBSVM's model, trained in a thread of its own, so that Control-C can interrupt the waiting thread.

    The messages of LIBSVM are passed to the C function `strlen`, which prints nothing. A Python function is not safe
    here: an interrupt in it would get lost, and it could be called after the interpreter has ended.
    """
    done: Future[Any] = Future()
    parameter.print_func = ctypes.cast(ctypes.CDLL(None).strlen, type(parameter.print_func))

    def train() -> None:
        try:
            done.set_result(
                libsvm().svm_train(problem, parameter)
            )  # LIBSVM takes its number of threads from this thread
        except BaseException as error:
            done.set_exception(error)

    Thread(target=train, daemon=True).start()
    return done.result()


def constant(answer: int, m: int) -> Machine:
    """Return a machine that always answers with the same class, for instances of m cells."""
    return Machine(
        np.array([answer], np.int32), np.zeros(1, int), np.zeros((0, m), np.int32), np.zeros((0, 0)), np.zeros(0)
    )


# --- LIBSVM ---


def libsvm() -> Any:
    """Return LIBSVM's module. InputError if it is not installed.

    LIBSVM may be built to share each row of the kernel among threads. Rows are short, and threads that wait for each
    other at every row spin. Beside other work, as in the stage `classifiers`, that takes many times as long as one
    thread. So the number of threads is set to 1.
    """
    with needs("classifiers"):
        from libsvm import svm, svmutil
    with suppress(AttributeError):  # LIBSVM was built without threads
        svm.libsvm.omp_set_num_threads(1)
    return svmutil


def binarised(X: np.ndarray, known: list[np.ndarray]) -> Any:
    """Return the sparse binary matrix of instances X that LIBSVM reads.

    The matrix has one column for each value of each cell in `known`, which lists the sorted values of each cell.
    """
    from scipy.sparse import csr_matrix

    places = np.stack([np.searchsorted(values, column) for values, column in zip(known, X.T, strict=True)], axis=1)
    seen = np.stack([np.isin(column, values) for values, column in zip(known, X.T, strict=True)], axis=1)
    widths = np.array([len(values) for values in known])
    columns = (places + np.cumsum(widths) - widths)[seen]
    starts = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
    return csr_matrix((np.ones(len(columns)), columns, starts), shape=(len(X), int(widths.sum())))


# --- files ---


def sizes_of(machines: Sequence[Machine]) -> list[tuple[int, int]]:
    """Return (classes, support vectors) of every machine."""
    return [(len(machine.classes), len(machine.vectors)) for machine in machines]


def joined(machines: Sequence[Machine]) -> dict[str, np.ndarray]:
    """Return the arrays of all machines, one machine after another."""
    return {
        name: np.concatenate([getattr(machine, name).ravel() for machine in machines]).astype(t)
        for name, t in COLUMNS.items()
    }


def parted(arrays: dict[str, np.ndarray], sizes: Sequence[tuple[int, int]], m: int) -> list[Machine]:
    """Return the machines from the arrays that `joined` made of them, for instances of m cells."""
    ends = {name: np.cumsum([_size(name, *size, m) for size in sizes])[:-1] for name in COLUMNS}
    each = zip(*(np.split(arrays[name], ends[name]) for name in COLUMNS), strict=True)
    return [
        Machine(c, n, vectors.reshape(-1, m), weights.reshape(len(c) - 1, len(vectors) // m), rho)
        for c, n, vectors, weights, rho in each
    ]


def _size(name: str, k: int, vectors: int, m: int) -> int:
    """Return the size of array `name` of a machine with k classes, `vectors` support vectors and m cells."""
    sizes = {"classes": k, "counts": k, "vectors": vectors * m, "weights": (k - 1) * vectors, "rho": k * (k - 1) // 2}
    return sizes[name]


def layouts(sizes: Sequence[tuple[int, int]], m: int) -> dict[str, Layout]:
    """Return the layouts of the arrays in a file of machines. ValueError for impossible sizes.

    sizes  (number of classes, number of support vectors) of each machine
    m      number of cells of a support vector
    """
    if not sizes or min(k for k, _ in sizes) < 1 or min(vectors for _, vectors in sizes) < 0:
        raise ValueError("pools: there are none, or one has no classes")
    return {name: Layout(t, {(sum(_size(name, *size, m) for size in sizes),)}) for name, t in COLUMNS.items()}


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class _Unfinished(Header):
    """The header of a file with the machines of an unfinished training."""

    key: str
    cells: int
    pools: tuple[tuple[int, int], ...]


KEPT = Format("unfinished training", 1, _Unfinished, lambda header: layouts(header.pools, header.cells))


def resume(path: Path, key: str) -> list[Machine]:
    """Return the machines that an interrupted training with the same key has stored, or an empty list."""
    try:
        header, arrays = KEPT.load(path)
    except ModelError:
        return []
    return parted(arrays, header.pools, header.cells) if header.key == key else []
