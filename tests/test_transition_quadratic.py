"""The quadratic kernel: it decides like LIBSVM, if LIBSVM is installed, and parses with any classifier."""

from __future__ import annotations

import signal
import subprocess
import sys

import numpy as np
import pytest
from synthetic import synthetic_treebank
from test_transition_training import MODELS, machine_and_words

from treebound.core.treebank import Treebank
from treebound.systems.transition.encoding import Encoding
from treebound.systems.transition.greedy import Machine, parse_in_parallel
from treebound.systems.transition.machines import binarised
from treebound.systems.transition.quadratic import all_votes, compare, decision, pool_of, winners
from treebound.systems.transition.quadratic_svm import QuadraticSVM

svmutil = pytest.importorskip("libsvm.svmutil", reason="LIBSVM is not installed")

TRAIN: Treebank = synthetic_treebank(120, seed=5)
SPLIT = MODELS["F5"].cells.index("p t0")


@pytest.fixture(scope="module", params=["combined", "branching"])
def trained(request: pytest.FixtureRequest) -> tuple[Machine, np.ndarray, np.ndarray, QuadraticSVM]:
    machine, _, X, y = machine_and_words("arc-eager", TRAIN)
    branches = machine.classes.kind if request.param == "branching" else None
    svm = QuadraticSVM(SPLIT, r=0.5, least=150, branches=branches)
    svm.fit(X, y, len(machine.classes.kind))
    return machine, X, y, svm


def others(X: np.ndarray, seed: int = 1) -> np.ndarray:
    """Return instances that mix the values of several other instances and contain unknown values."""
    rng = np.random.default_rng(seed)
    mixed = np.stack([rng.permutation(column)[:600] for column in X.T], axis=1)
    return np.where(rng.random(mixed.shape) < 0.1, 999, mixed).astype(np.int32)


def test_every_decision_is_that_of_libsvm(trained: tuple[Machine, np.ndarray, np.ndarray, QuadraticSVM]) -> None:
    _, X, y, svm = trained
    seen = np.concatenate([X[::5], others(X)])
    problems, steps = svm.problems(X, y), 1 + len(svm.branching)
    machines = [svm.machine(X, problem) for problem in problems]
    assert len(machines) == len(svm.pools.classes_at) - 1 > 2 * steps
    compared = 0
    for step in range(steps):
        pools = np.array([pool_of(svm.pools, x, step) for x in seen])
        best, votes = winners(svm.pools, seen, step), all_votes(svm.pools, seen, svm.classes, step)
        for p in np.unique(pools):
            its, rows, k = machines[p], seen[pools == p], len(machines[p].classes)
            if k == 1:
                assert set(best[pools == p]) == set(its.classes.tolist())
                continue
            known = [np.unique(column) for column in X[problems[p].rows].T]
            answers, _, values = svmutil.svm_predict([], binarised(rows, known), its.model, "-q")
            assert best[pools == p].tolist() == [int(a) for a in answers]
            pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
            for x, theirs, counted in zip(rows, values, votes[pools == p], strict=True):
                kernel = np.empty(svm.pools.cells.shape[1])
                compare(svm.pools, p, x, np.empty(len(kernel), np.uint8), kernel)
                ours = [decision(svm.pools, p, i, j, kernel) for i, j in pairs]
                assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-12)
                expected = np.full(len(counted), -1)
                expected[its.classes] = 0
                for (i, j), value in zip(pairs, theirs, strict=True):
                    expected[its.classes[i if value > 0 else j]] += 1
                assert counted.tolist() == expected.tolist()
                compared += len(pairs)
    assert compared > 10000


INTERRUPTED = """
import os, signal
from threading import Timer
import numpy as np
from treebound.systems.transition.machines import train_machine

rng = np.random.default_rng(1)
X, y = rng.integers(5, size=(200, 6), dtype=np.int32), rng.integers(2, size=200)

kernel = "-q -s 0 -t 1 -d 2 -g 0.2 -r 0.6 -c 1e6"
train_machine(X[:20], y[:20], f"{kernel} -e 1")  # the package compiles something first
Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
train_machine(X, y, f"{kernel} -e 1e-300")
"""


def test_an_interrupt_in_libsvm_is_not_lost() -> None:
    """An interrupt during training by LIBSVM ends the process. Training takes ten million steps.

    The test uses a separate process. Otherwise, callbacks of other tests that Python runs during garbage collection
    would swallow the interrupt.
    """
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True)
    assert ended.returncode == -signal.SIGINT
    assert ended.stderr.rstrip().endswith("KeyboardInterrupt")


def test_branches_are_decided_first(trained: tuple[Machine, np.ndarray, np.ndarray, QuadraticSVM]) -> None:
    machine, X, _, svm = trained
    seen = np.concatenate([X[::5], others(X)])
    best, scores, kinds = svm.best(seen), svm.scores(seen), machine.classes.kind
    assert (scores[np.arange(len(seen)), best] == scores.max(axis=1)).all()
    assert (scores.argmax(axis=1) == best).mean() > 0.99  # if votes are equal, another rule may choose another class
    if svm.branches is not None:
        assert (kinds[best] == winners(svm.pools, seen, 0)).all()
        assert len(np.unique(best)) > len(np.unique(kinds))


def test_it_parses(trained: tuple[Machine, np.ndarray, np.ndarray, QuadraticSVM]) -> None:
    machine, X, y, svm = trained
    dev = synthetic_treebank(40, seed=6)
    words = Encoding.learn(TRAIN, MODELS["F5"]).words(dev)
    assert (svm.best(X) == y).mean() > 0.9
    heads, labels = parse_in_parallel(machine, svm, words)
    assert (heads == dev.head).mean() > 0.8

    class Slow:
        """A classifier with the scores of `svm` but without the method `best`, which makes parsing slower."""

        scores = staticmethod(svm.scores)

    slow = parse_in_parallel(machine, Slow(), words)
    assert (heads.tolist(), labels.tolist()) == (slow[0].tolist(), slow[1].tolist())
