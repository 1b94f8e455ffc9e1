"""Timing: wall and CPU seconds of repeated calls, and their medians."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

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


def measure(work: Callable[[], object], *, repeats: int = 5, warmup: int = 1) -> pd.DataFrame:
    """One row a repeat: wall, cpu (seconds). The `warmup` calls before them (compilation, caches) are not timed."""
    import pandas as pd

    for _ in range(warmup):
        work()
    rows = []
    for _ in range(repeats):
        with Stopwatch() as watch:
            work()
        rows.append({"wall": watch.wall, "cpu": watch.cpu})
    return pd.DataFrame(rows)


def medians(runs: pd.DataFrame) -> dict[str, float]:
    """Median of every column of `measure`'s table, and its spread as <column>_spread: (max - min) / median."""
    middle = runs.median()
    spread = (runs.max() - runs.min()) / middle
    return middle.to_dict() | {f"{name}_spread": float(value) for name, value in spread.items()}
