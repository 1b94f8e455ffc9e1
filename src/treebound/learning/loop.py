"""The loop of online training: epochs, orders of examples, records, the best epoch, and resumption."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from treebound.learning.checkpoint import Averages, Checkpoint, Result, Trained

ResultOf = TypeVar("ResultOf", covariant=True)
Show = Callable[[Iterable], Iterable]
Progress = Callable[[Iterable, str], Iterable]


class Task(Protocol[ResultOf]):
    """A training task, which holds the state of the learner after the last example."""

    def learn(self, order: np.ndarray, show: Show) -> dict:
        """Learn from all examples once, in the given order, and return the record of the epoch.

        `show` is a function that yields the items of a loop unchanged and reports the progress of the loop.
        """

    def result(self) -> ResultOf:
        """Return the model that would be used if training ended now."""


def shuffled(seed: int, examples: int, first: int = 0) -> Callable[[int], np.ndarray]:
    """Return a function from the number of an epoch to a random order of the examples.

    The order depends only on the seed, the number of examples and the number of the epoch, which counts from `first`.
    """
    return lambda epoch: np.random.default_rng([seed, epoch + first]).permutation(examples)


def train(
    task: Task[Result],
    epochs: int,
    order: Callable[[int], np.ndarray],
    *,
    title: str = "",
    judge: Callable[[Result, list[dict]], dict] | None = None,
    score: Callable[[dict], float] | None = None,
    checkpoint: Checkpoint | None = None,
    progress: Progress | None = None,
) -> Trained[Result]:
    """Train for some epochs and return the result of the best epoch.

    The seconds in the outcome cover learning alone, without `judge`.

    Parameters
    ----------
    task
        The training task.
    epochs
        Number of epochs.
    order
        Function from the number of an epoch, from 0, to the order of the examples.
    title
        Text before the number of the epoch in progress reports.
    judge
        Function from a result and the records of earlier epochs to further entries of the record of the epoch.
    score
        Function from the record of an epoch to its score. The result of the first epoch with the highest score is
        returned. Without `score`, the result of the last epoch is returned.
    checkpoint
        File of a task whose results are averages. It is resumed if it exists, written after every epoch, and deleted at
        the end.
    progress
        Shows the progress of a loop.
    """
    resumed: Trained[Any] | None = checkpoint.resume() if checkpoint else None
    best: Result | None
    best, history, (cpu, wall) = (resumed.best, resumed.history, resumed.seconds) if resumed else (None, [], (0.0, 0.0))
    for epoch in range(len(history), epochs):
        best_so_far = f" (best dev score {max(map(score, history)):.2f})" if score and history else ""
        label = f"{title}epoch {epoch + 1}/{epochs}{best_so_far}"
        cpu, wall = cpu - time.process_time(), wall - time.perf_counter()
        record = {"epoch": epoch + 1, **task.learn(order(epoch), _shown(progress, label))}
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
    assert best is not None, "training needs at least one epoch"
    if checkpoint is not None:
        checkpoint.remove()
    return Trained(best, history, (round(cpu, 2), round(wall, 2)))


def _shown(progress: Progress | None, label: str) -> Show:
    """Return a function that yields items unchanged. If `progress` is given, it reports progress under `label`."""
    return lambda items: progress(items, label) if progress else items
