"""Decoders on the same scored sentences: their CPU time, and whether one contradicts another."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.protocols import Decoder

#: proved values of one sentence may differ by this share of its largest score: what solvers in floating point promise
TOLERANCE = 1e-6
#: a sentence that is solved faster is solved again, up to so many times, and the median is kept
SECONDS, REPEATS = 0.02, 5
#: upper ends of the bins of sentence lengths; the last bin is open
LENGTHS = (10, 20, 30)


def timed(decoder: Decoder, problem: Problem) -> tuple[Parse, float]:
    """The parse and its CPU seconds."""
    taken: list[float] = []
    while not taken or (sum(taken) < SECONDS and len(taken) < REPEATS):
        started = time.process_time()
        parse = decoder.decode(problem)
        taken.append(time.process_time() - started)
    return parse, float(np.median(taken))


def disagreement(data: pd.DataFrame) -> str:
    """Which two solvers contradict each other, where any do: proved values that differ, or a tree above a bound."""
    for sentence, rows in data.groupby("sentence"):
        slack = rows["tolerance"].max()
        proved, found = rows[rows["proved"]], rows[rows["found"]]
        if len(proved) and proved["value"].max() - proved["value"].min() > slack:
            high, low = proved.loc[proved["value"].idxmax()], proved.loc[proved["value"].idxmin()]
            return (
                f"sentence {sentence}: {high['solver']} proves {high['value']:.6f}, "
                f"{low['solver']} proves {low['value']:.6f}"
            )
        if len(found) and found["value"].max() - rows["bound"].min() > slack:
            high, low = found.loc[found["value"].idxmax()], rows.loc[rows["bound"].idxmin()]
            return (
                f"sentence {sentence}: {high['solver']} has a tree of {high['value']:.6f}, "
                f"{low['solver']} proves that none is above {low['bound']:.6f}"
            )
    return ""
