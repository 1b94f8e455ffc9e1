"""Support vector machines with the kernel (gamma x.x' + r)^2, trained by LIBSVM, split by the tag of the next word.

As Hall, Nivre & Nilsson (2006, section 3.2): one against one, a pool of machines for every tag that the next word has
in at least `LEAST` instances, one for all other tags together. `quadratic` decides.

Told apart one against one, a transition without a label never meets more than the examples of one label at a time. So
there may be branches: one decision for the kind of the transition, another for its label.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from treebound.core.errors import InputError
from treebound.systems.transition.feature_models import FeatureModel
from treebound.systems.transition.machines import (
    COLUMNS,
    KEPT,
    Machine,
    constant,
    joined,
    parted,
    resume,
    sizes_of,
    train_machine,
)
from treebound.systems.transition.quadratic import Pools, all_votes, winners

LEAST = 1000  #: instances that a value must have, or it is pooled
SPLITS = ("p t0", "c t0")  #: cells whose values have machines of their own: the first that a feature model has
MOST = 255  #: cells of a feature model
SAVED = 30.0  #: seconds after which machines that are trained are kept for a training that goes on


def split_of(features: FeatureModel) -> int:
    """The number of the cell that splits. InputError for a feature model that has none, and for one of too many cells.

    Cells that agree are counted in bytes (`quadratic.compare`).
    """
    if len(features.cells) > MOST:
        raise InputError(f"{len(features.cells)} cells for a quadratic kernel", hint=f"name {MOST} at most")
    for cell in SPLITS:
        if cell in features.cells:
            return features.cells.index(cell)
    raise InputError("a quadratic kernel needs the tag of the next word", hint="add the cell p t0 to the features")


class Problem(NamedTuple):
    """What one machine learns: the answers y[rows] to the instances X[rows]; `other` where there is none."""

    rows: np.ndarray
    y: np.ndarray
    other: int


class QuadraticSVM:
    """A classifier (see `classifiers.Classifier`); `best` is the class with most votes, which `scores` counts.

    split      the cell whose values have machines of their own, p(t0) in the paper
    gamma, r   of the kernel
    C          cost of an error of training
    tolerance  at which training stops
    least      instances that a value must have, or it is pooled
    branches   int[classes] the branch of every class: it is decided first, the class in it next; none: at once
    """

    pools: Pools  #: what `fit` learnt
    sizes: list[tuple[int, int]]  #: (classes, support vectors) of every machine
    arrays: dict[str, np.ndarray]  #: what a model file holds: `machines.layouts`, and int32[steps, V + 1] `pool`

    def __init__(
        self,
        split: int,
        gamma: float = 0.2,
        r: float = 0.0,
        C: float = 0.5,
        tolerance: float = 0.1,
        least: int = LEAST,
        branches: np.ndarray | None = None,
    ):
        self.split, self.gamma, self.r, self.C = split, gamma, r, C
        self.tolerance, self.least, self.branches = tolerance, least, branches
        sizes = np.zeros(0, int) if branches is None else np.bincount(branches)
        self.branching = np.flatnonzero(sizes > 1)  #: branches of several classes: step 1 + i decides in number i

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
        found, last = resume(kept, key) if kept else [], time.monotonic()
        problems = self.problems(X, y)[len(found) :]
        for problem in progress(problems, "support vector machines") if progress else problems:
            found.append(self.machine(X, problem)._replace(model=None))
            if kept and time.monotonic() - last > SAVED:
                KEPT.save(kept, {"key": key, "cells": X.shape[1], "pools": sizes_of(found)}, joined(found))
                last = time.monotonic()
        self.assemble(self._pool(X, y), found, classes)
        if kept:
            kept.unlink(missing_ok=True)

    def assemble(self, pool: np.ndarray, machines: Sequence[Machine], classes: int) -> None:
        """Decide by these machines; `pool` as of `quadratic.Pools`."""
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

    def _steps(self, y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(instances, answers of all) of every decision: the class; or the branch, and the class in each one."""
        everything = np.arange(len(y))
        if self.branches is None:
            yield everything, y
            return
        yield everything, self.branches[y]
        for branch in self.branching:
            yield np.flatnonzero(self.branches[y] == branch), y

    def problems(self, X: np.ndarray, y: np.ndarray) -> list[Problem]:
        """What all machines learn, step by step; in each the one of pooled values first."""
        out = []
        for some, answers in self._steps(y):
            values, other = X[some, self.split], int(np.bincount(answers[some]).argmax())
            often = self._often(values)
            rows = [some[~np.isin(values, often)], *(some[values == value] for value in often)]
            out += [Problem(its, answers[its], other) for its in rows]
        return out

    def _often(self, values: np.ndarray) -> np.ndarray:
        """The values that have machines of their own."""
        seen, counts = np.unique(values, return_counts=True)
        return seen[counts >= self.least]

    def _pool(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """int32[steps, V + 1] which of the `problems` each value has, see `quadratic.Pools`."""
        rows, first = [], 0
        for some, _ in self._steps(y):
            often = self._often(X[some, self.split])
            rows.append(np.full(int(X[:, self.split].max()) + 2, first, np.int32))
            rows[-1][often] += 1 + np.arange(len(often), dtype=np.int32)
            first += 1 + len(often)
        return np.stack(rows)

    def machine(self, X: np.ndarray, problem: Problem) -> Machine:
        """Train one; where there is nothing to decide, what always gives the only answer."""
        seen = np.unique(problem.y)
        if len(seen) < 2:
            return constant(int(seen[0]) if len(seen) else problem.other, X.shape[1])
        kernel = f"-t 1 -d 2 -g {self.gamma!r} -r {self.r!r}"
        return train_machine(X[problem.rows], problem.y, f"-q -s 0 {kernel} -c {self.C!r} -e {self.tolerance!r} -m 500")

    def best(self, X: np.ndarray) -> np.ndarray:
        """int64[K] the class of each instance."""
        found = winners(self.pools, X, 0)
        if self.branches is None:
            return found
        best = np.searchsorted(self.branches, found)  # the first of the branch; where it is the only one, the class
        for step, branch in enumerate(self.branching, 1):
            here = np.flatnonzero(found == branch)
            best[here] = winners(self.pools, X[here], step)
        return best

    def scores(self, X: np.ndarray) -> np.ndarray:
        """int32[K, classes] votes; below 0 for classes that an instance's pool does not have.

        With branches those of the branch count more than all of the classes in it; of equal ones the first is best.
        """
        if self.branches is None:
            return all_votes(self.pools, X, self.classes, 0)
        count = int(self.branches.max()) + 1
        ranks = all_votes(self.pools, X, count, 0) * count + np.arange(count, dtype=np.int32)[::-1]
        scores = ranks[:, self.branches] * (self.classes + 1)
        for step, branch in enumerate(self.branching, 1):
            here = self.branches == branch
            scores[:, here] += all_votes(self.pools, X, self.classes, step)[:, here]
        return scores

    # --- files ---

    def restore(self, arrays: dict[str, np.ndarray], sizes: Sequence[tuple[int, int]], m: int, classes: int) -> None:
        """From the arrays of a file, whose shapes are those of `layouts`. ValueError for numbers that cannot be."""
        machines, pool = parted(arrays, sizes, m), arrays["pool"]
        if pool.shape[:-1] != (1 + len(self.branching),) or not pool.size:
            raise ValueError("pool: not one row for every decision")
        if pool.min() < 0 or pool.max() >= len(machines):
            raise ValueError("pool: beyond the machines")
        for machine in machines:
            if (np.diff(machine.classes) <= 0).any():
                raise ValueError("classes: not sorted")
            if machine.counts.min() < 0 or machine.counts.sum() != len(machine.vectors):
                raise ValueError("counts: not those of the support vectors")
        for row, (some, answers) in zip(pool, self._steps(np.arange(classes)), strict=True):
            if not all(np.isin(machines[p].classes, answers[some]).all() for p in np.unique(row)):
                raise ValueError("classes: beyond the transitions")
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
