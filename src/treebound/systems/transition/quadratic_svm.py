"""Support vector machines with the kernel (gamma x.x' + r)^2, trained by LIBSVM and split by the tag of the next word.

The design follows Hall, Nivre & Nilsson (2006, section 3.2): classes are separated one against one. Every tag that
the next word has in at least `LEAST` instances has a pool of machines of its own, and one pool serves all other tags.
The decisions are in `quadratic`.

A class is a transition with its label. If all classes are separated one against one, a transition without a label, such
as SHIFT, is compared with the instances of one label at a time, and never with all instances of LEFT-ARC together. A
decision may therefore have two steps. The first step chooses the kind of transition, and the second its label.
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

LEAST = 1000  #: number of instances from which a value has machines of its own; rarer values are pooled
SPLITS = ("p t0", "c t0")  #: cells whose values may have machines of their own; the first one in the model is used
MOST = 255  #: largest number of cells, because agreeing cells are counted in bytes
SAVED = 30.0  #: seconds between two writes of the checkpoint


def split_of(features: FeatureModel) -> int:
    """Return the number of the cell whose values have machines of their own.

    InputError if the feature model has no cell of `SPLITS`, or more than `MOST` cells: agreeing cells are counted in
    bytes (`quadratic.compare`).
    """
    if len(features.cells) > MOST:
        raise InputError(
            f"{len(features.cells)} cells are too many for a quadratic kernel",
            hint=f"choose a feature model with at most {MOST} cells",
        )
    for cell in SPLITS:
        if cell in features.cells:
            return features.cells.index(cell)
    raise InputError("a quadratic kernel needs the tag of the next word", hint="add the cell p t0 to the features")


class Problem(NamedTuple):
    """The training data of a machine: the indices `rows` of its instances, and the right answer y for each of them.

    `other` is the answer of the machine if it has no instances.
    """

    rows: np.ndarray
    y: np.ndarray
    other: int


class QuadraticSVM:
    """A classifier with a quadratic kernel (`classifiers.Classifier`). `best` is the class with most votes in `scores`.

    split      the cell whose values have machines of their own, p(t0) in the paper;
    gamma, r   parameters of the kernel;
    C          cost of a training error;
    tolerance  stopping tolerance of the training;
    least      number of instances from which a value has machines of its own; rarer values are pooled;
    branches   int[classes] the branch (group of classes) to which every class belongs. The branch is decided first,
               and then the class in it. With None, the class is decided at once.
    """

    pools: Pools  #: the machines that `fit` has trained
    sizes: list[tuple[int, int]]  #: (classes, support vectors) of every machine
    arrays: dict[str, np.ndarray]  #: the arrays of a model file: `machines.layouts`, and int32[steps, V + 1] `pool`

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
        self.branching = np.flatnonzero(
            sizes > 1
        )  #: branches of several classes; step 1 + i decides in the branch with index i

    def fit(self, X: np.ndarray, y: np.ndarray, classes: int) -> None:
        """Train the machines on instances and their classes. TreeboundError if LIBSVM is not installed."""
        self.learn(X, y, classes)

    def learn(
        self,
        X: np.ndarray,
        y: np.ndarray,
        classes: int,
        *,
        checkpoint: Path | None = None,
        key: str = "",
        progress: Callable[[Sequence, str], Any] | None = None,
    ) -> None:
        """Train the machines as `fit` does, from a checkpoint if there is one.

        checkpoint  file with the machines that are finished, removed at the end; an interrupted training continues from
                    it
        key         identifies the training; a file with another key is ignored
        """
        machines, saved_at = resume(checkpoint, key) if checkpoint else [], time.monotonic()
        problems = self.problems(X, y)[len(machines) :]
        for problem in progress(problems, "support vector machines") if progress else problems:
            machines.append(self.machine(X, problem)._replace(model=None))
            if checkpoint and time.monotonic() - saved_at > SAVED:
                KEPT.save(checkpoint, {"key": key, "cells": X.shape[1], "pools": sizes_of(machines)}, joined(machines))
                saved_at = time.monotonic()
        self.assemble(self._pool(X, y), machines, classes)
        if checkpoint:
            checkpoint.unlink(missing_ok=True)

    def assemble(self, pool: np.ndarray, machines: Sequence[Machine], classes: int) -> None:
        """Set the machines that make decisions.

        `pool` int32[steps, V + 1] is the index in `machines` for each decision step and each value of the cell `split`.
        """
        m = machines[0].vectors.shape[1]
        self.sizes, self.classes = sizes_of(machines), classes
        self.arrays = {"pool": pool.astype(np.int32), **(flat := joined(machines))}
        at = {name: np.cumsum([0, *(getattr(machine, name).size for machine in machines)]) for name in COLUMNS}
        cells, cells_at = np.ascontiguousarray(flat["vectors"].reshape(-1, m).T), at["vectors"] // max(m, 1)
        if cells.max(initial=0) <= np.iinfo(np.uint16).max:
            cells = cells.astype(np.uint16)
        each = [_decisions(machine, first) for machine, first in zip(machines, cells_at, strict=False)]
        start = np.cumsum(np.concatenate([[0], *(lengths for lengths, _, _ in each)]))
        vector, weight = (np.concatenate([decision[i] for decision in each]) for i in (1, 2))
        kernel = (self.gamma * np.arange(m + 1) + self.r) ** 2
        of_classes, of_rho = (flat["classes"], at["classes"]), (flat["rho"], at["rho"])
        self.pools = Pools(
            self.split, self.arrays["pool"], *of_classes, cells, cells_at, *of_rho, start, vector, weight, kernel
        )

    def _steps(self, y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (indices of the training instances, right answers of all instances) for each decision step.

        The first step decides the branch, and each further step decides the class in one branch. Without branches,
        there is a single step, which decides the class.
        """
        everything = np.arange(len(y))
        if self.branches is None:
            yield everything, y
            return
        yield everything, self.branches[y]
        for branch in self.branching:
            yield np.flatnonzero(self.branches[y] == branch), y

    def problems(self, X: np.ndarray, y: np.ndarray) -> list[Problem]:
        """Return the training data of all machines, step by step. In each step, the pooled values come first."""
        out = []
        for examples, answers in self._steps(y):
            values, other = X[examples, self.split], int(np.bincount(answers[examples]).argmax())
            frequent = self._often(values)
            rows = [examples[~np.isin(values, frequent)], *(examples[values == value] for value in frequent)]
            out += [Problem(subset, answers[subset], other) for subset in rows]
        return out

    def _often(self, values: np.ndarray) -> np.ndarray:
        """Return the values that have machines of their own."""
        seen, counts = np.unique(values, return_counts=True)
        return seen[counts >= self.least]

    def _pool(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return int32[steps, V + 1], the index in `problems` of each value's machine (see `quadratic.Pools`)."""
        rows, first = [], 0
        for examples, _ in self._steps(y):
            frequent = self._often(X[examples, self.split])
            rows.append(np.full(int(X[:, self.split].max()) + 2, first, np.int32))
            rows[-1][frequent] += 1 + np.arange(len(frequent), dtype=np.int32)
            first += 1 + len(frequent)
        return np.stack(rows)

    def machine(self, X: np.ndarray, problem: Problem) -> Machine:
        """Train one machine. If only one answer is possible, return a machine that always gives it."""
        seen = np.unique(problem.y)
        if len(seen) < 2:
            return constant(int(seen[0]) if len(seen) else problem.other, X.shape[1])
        kernel = f"-t 1 -d 2 -g {self.gamma!r} -r {self.r!r}"
        return train_machine(X[problem.rows], problem.y, f"-q -s 0 {kernel} -c {self.C!r} -e {self.tolerance!r} -m 500")

    def best(self, X: np.ndarray) -> np.ndarray:
        """Return int64[K], the class of each instance."""
        winner = winners(self.pools, X, 0)
        if self.branches is None:
            return winner
        best = np.searchsorted(
            self.branches, winner
        )  # the first class of the branch, which is final if the branch has no other
        for step, branch in enumerate(self.branching, 1):
            members = np.flatnonzero(winner == branch)
            best[members] = winners(self.pools, X[members], step)
        return best

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return int32[K, classes], the votes for each class. A class that an instance's pool lacks has -1 votes.

        With branches, the votes for a branch count more than all votes for its classes. Among branches with equal
        votes, the first one counts most.
        """
        if self.branches is None:
            return all_votes(self.pools, X, self.classes, 0)
        count = int(self.branches.max()) + 1
        ranks = all_votes(self.pools, X, count, 0) * count + np.arange(count, dtype=np.int32)[::-1]
        scores = ranks[:, self.branches] * (self.classes + 1)
        for step, branch in enumerate(self.branching, 1):
            members = self.branches == branch
            scores[:, members] += all_votes(self.pools, X, self.classes, step)[:, members]
        return scores

    # --- files ---

    def restore(self, arrays: dict[str, np.ndarray], sizes: Sequence[tuple[int, int]], m: int, classes: int) -> None:
        """Restore the machines from the arrays of a model file. ValueError for numbers out of range.

        sizes  (classes, support vectors) of every machine
        m      number of cells of an instance
        """
        machines, pool = parted(arrays, sizes, m), arrays["pool"]
        if pool.shape[:-1] != (1 + len(self.branching),) or not pool.size:
            raise ValueError("pool: the number of rows is not the number of decisions")
        if pool.min() < 0 or pool.max() >= len(machines):
            raise ValueError("pool: a number is beyond the machines")
        for machine in machines:
            if (np.diff(machine.classes) <= 0).any():
                raise ValueError("classes: not sorted")
            if machine.counts.min() < 0 or machine.counts.sum() != len(machine.vectors):
                raise ValueError("counts: the sum is not the number of support vectors")
        for row, (examples, answers) in zip(pool, self._steps(np.arange(classes)), strict=True):
            if not all(np.isin(machines[p].classes, answers[examples]).all() for p in np.unique(row)):
                raise ValueError("classes: a number is beyond the transitions")
        self.assemble(pool, machines, classes)


def _decisions(machine: Machine, first: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the decisions of a machine as (number of support vectors of each decision, vectors, weights).

    The vectors of all decisions follow each other. A vector is its number in the machine plus `first`, as in
    `quadratic.Pools`. Vectors of weight 0 are left out.
    """
    k, class_of = len(machine.classes), np.repeat(np.arange(len(machine.counts)), machine.counts)
    row, vector = np.nonzero(machine.weights)
    own = class_of[vector]
    opponent = row + (row >= own)  # weights have k - 1 rows: a class has no row against itself
    i, j = np.minimum(own, opponent), np.maximum(own, opponent)
    pair = i * (2 * k - i - 1) // 2 + j - i - 1
    order = np.lexsort((vector, pair))
    lengths = np.bincount(pair, minlength=k * (k - 1) // 2)
    return lengths, (first + vector[order]).astype(np.int32), machine.weights[row[order], vector[order]]
