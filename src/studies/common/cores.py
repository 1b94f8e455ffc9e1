"""Count the cores that a stage may use."""

from __future__ import annotations


def cores() -> int:
    """Return the number of cores that this process may use, which is at least 1.

    The number respects the affinity of the process and the CPU limit of its container. `os.cpu_count` returns all cores
    of the machine, and a stage that started as many processes could have too little memory.
    """
    from joblib import cpu_count  # takes a quarter of a second, which stages without processes do not need

    return int(cpu_count())
