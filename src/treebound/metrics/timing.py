"""Timing: wall and CPU seconds of repeated calls, and their medians."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


class Stopwatch:
    """A context manager that measures wall seconds (`wall`) and CPU seconds of all threads of the process (`cpu`).

    with Stopwatch() as watch:
        ...
    print(watch.wall, watch.cpu)
    """

    wall: float = 0.0
    cpu: float = 0.0

    def __enter__(self) -> Stopwatch:
        self._start = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *error: object) -> None:
        self.wall, self.cpu = time.perf_counter() - self._start[0], time.process_time() - self._start[1]


def measure(
    work: Callable[[], object], *, repeats: int = 5, warmup: int = 0, seconds: float = math.inf
) -> dict[str, np.ndarray]:
    """Time repeated calls and return the columns wall and cpu in seconds, with one entry per repeat.

    repeats  number of timed calls
    warmup   number of untimed calls before the timed calls, for compilation and caches
    seconds  no further repeat begins once the repeats so far have taken this much CPU time
    """
    for _ in range(warmup):
        work()
    wall: list[float] = []
    cpu: list[float] = []
    while len(cpu) < repeats and sum(cpu) <= seconds:
        with Stopwatch() as watch:
            work()
        wall.append(watch.wall)
        cpu.append(watch.cpu)
    return {"wall": np.array(wall), "cpu": np.array(cpu)}


def speed(runs: Mapping[str, np.ndarray], words: int) -> dict[str, Any]:
    """Summarise the table of `measure`: medians, the range of CPU seconds, and words per CPU second."""
    cpu = float(np.median(runs["cpu"]))
    return {
        "repeats": len(runs["cpu"]),
        "cpu_s": cpu,
        "cpu_s_range": [float(runs["cpu"].min()), float(runs["cpu"].max())],
        "wall_s": float(np.median(runs["wall"])),
        "words_per_cpu_s": words / cpu,
    }
