"""Timing: wall and CPU seconds of repeated calls, and their medians."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


class Stopwatch:
    """`with Stopwatch() as watch: ...`, then `watch.wall` and `watch.cpu` (all threads of the process) in seconds."""

    wall: float = 0.0
    cpu: float = 0.0

    def __enter__(self) -> Stopwatch:
        self._start = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *error: object) -> None:
        self.wall, self.cpu = time.perf_counter() - self._start[0], time.process_time() - self._start[1]


def measure(
    work: Callable[[], object], *, repeats: int = 5, warmup: int = 0, seconds: float = math.inf
) -> pd.DataFrame:
    """One row a repeat: wall, cpu (seconds). The `warmup` calls before them (compilation, caches) are not timed.

    seconds  no repeat is begun once the others have taken this much CPU time
    """
    import pandas as pd

    for _ in range(warmup):
        work()
    rows: list[dict[str, float]] = []
    while len(rows) < repeats and sum(row["cpu"] for row in rows) <= seconds:
        with Stopwatch() as watch:
            work()
        rows.append({"wall": watch.wall, "cpu": watch.cpu})
    return pd.DataFrame(rows)


def speed(runs: pd.DataFrame, words: int) -> dict[str, Any]:
    """What the stages say of `measure`'s table: medians, the range of CPU seconds, words per CPU second."""
    cpu = float(runs["cpu"].median())
    return {
        "repeats": len(runs),
        "cpu_s": cpu,
        "cpu_s_range": [float(runs["cpu"].min()), float(runs["cpu"].max())],
        "wall_s": float(runs["wall"].median()),
        "words_per_cpu_s": words / cpu,
    }
