"""The one loop of online training: epochs, orders, records, the best epoch, taking up what was interrupted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from treebound.learning.checkpoint import Averages, Checkpoint, Kept, Trained

KeptBy = TypeVar("KeptBy", covariant=True)
Show = Callable[[Iterable], Iterable]
Progress = Callable[[Iterable, str], Iterable]


class Task(Protocol[KeptBy]):
    """What is trained: its state is that of the last example seen."""

    def learn(self, order: np.ndarray, show: Show) -> dict:
        """See all examples once, in this order; `show` passes items through and tells how far it is. What to record."""

    def result(self) -> KeptBy:
        """What parses would use if training ended here."""


def shuffled(seed: int, examples: int, first: int = 0) -> Callable[[int], np.ndarray]:
    """The order of the examples in each epoch, whose number counts from `first`: it depends on nothing else."""
    return lambda epoch: np.random.default_rng([seed, epoch + first]).permutation(examples)


def train(
    task: Task[Kept],
    epochs: int,
    order: Callable[[int], np.ndarray],
    *,
    title: str = "",
    judge: Callable[[Kept, list[dict]], dict] | None = None,
    score: Callable[[dict], float] | None = None,
    checkpoint: Checkpoint | None = None,
    progress: Progress | None = None,
) -> Trained[Kept]:
    """Train for some epochs; the first of those that `score` best is kept, without a judge the last one.

    title       before the number of the epoch, where progress is told
    judge       what to record of a result, given the records of the epochs before; score: of a record, the more the
                better
    checkpoint  of a task whose results are averages: written after every epoch; training goes on from it and removes
                it at the end
    """
    found: Trained[Any] | None = checkpoint.resume() if checkpoint else None
    best: Kept | None
    best, history, (cpu, wall) = (found.best, found.history, found.seconds) if found else (None, [], (0.0, 0.0))
    for epoch in range(len(history), epochs):
        before = f" (dev so far {max(map(score, history)):.2f})" if score and history else ""
        what = f"{title}epoch {epoch + 1}/{epochs}{before}"
        cpu, wall = cpu - time.process_time(), wall - time.perf_counter()
        record = {"epoch": epoch + 1, **task.learn(order(epoch), _shown(progress, what))}
        cpu, wall = cpu + time.process_time(), wall + time.perf_counter()
        if judge is not None or checkpoint is not None or epoch + 1 == epochs:
            result = task.result()
            record |= judge(result, history) if judge else {}
            if best is None or score is None or score(record) > max(map(score, history)):
                best = result
        history.append(record)
        if checkpoint is not None:
            assert best is not None
            checkpoint.save(cast("Trained[Averages]", Trained(best, history, (cpu, wall))))
    assert best is not None, "at least one epoch"
    if checkpoint is not None:
        checkpoint.remove()
    return Trained(best, history, (round(cpu, 2), round(wall, 2)))


def _shown(progress: Progress | None, what: str) -> Show:
    return lambda items: progress(items, what) if progress else items
