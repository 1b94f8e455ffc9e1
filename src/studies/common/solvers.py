"""Time decoders on the same scored sentences, and check whether one contradicts another."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.protocols import Decoder

#: proved values of one sentence may differ by this fraction of its largest score, since solvers use floating point
TOLERANCE = 1e-6
#: a sentence is decoded repeatedly until SECONDS have passed, but at most REPEATS times; the median time is reported
SECONDS, REPEATS = 0.02, 5
#: upper ends of the bins of sentence lengths; the last bin is open
LENGTHS = (10, 20, 30)


def timed(decoder: Decoder, problem: Problem) -> tuple[Parse, float]:
    """Decode a problem several times; return the parse and the median of the CPU seconds."""
    seconds: list[float] = []
    while not seconds or (sum(seconds) < SECONDS and len(seconds) < REPEATS):
        start = time.process_time()
        parse = decoder.decode(problem)
        seconds.append(time.process_time() - start)
    return parse, float(np.median(seconds))


def disagreement(data: pd.DataFrame) -> str:
    """Describe the first contradiction between two solvers; the text is empty if there is none.

    Solvers contradict each other if their proved values differ, or if the tree of one solver scores more than the bound
    of the other solver.

    data  one row per solver and sentence, with the columns sentence, solver, value, bound, tolerance, found and proved
    """
    for sentence, rows in data.groupby("sentence"):
        tolerance = rows["tolerance"].max()
        proved, with_tree = rows[rows["proved"]], rows[rows["found"]]
        if len(proved) and proved["value"].max() - proved["value"].min() > tolerance:
            high, low = proved.loc[proved["value"].idxmax()], proved.loc[proved["value"].idxmin()]
            return (
                f"sentence {sentence}: {high['solver']} proves {high['value']:.6f}, "
                f"{low['solver']} proves {low['value']:.6f}"
            )
        if len(with_tree) and with_tree["value"].max() - rows["bound"].min() > tolerance:
            high, low = with_tree.loc[with_tree["value"].idxmax()], rows.loc[rows["bound"].idxmin()]
            return (
                f"sentence {sentence}: {high['solver']} has a tree of {high['value']:.6f}, "
                f"{low['solver']} proves that none is above {low['bound']:.6f}"
            )
    return ""
