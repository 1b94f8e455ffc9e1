"""Compare searches over all heads of each word with searches over a few allowed heads, with the same scores."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

import treebound
from treebound.core.parse import Parse

#: number of times that the sentences are decoded; the fastest pass counts, because the first may compile code
PASSES = 3


def searches(scores: Sequence[Mapping[str, Any]], sentences: int = 100) -> pd.DataFrame:
    """Decode evenly spaced sentences with and without the restriction to allowed heads.

    scores     arguments of `treebound.decode` for each sentence, among them `allowed`
    sentences  approximate number of sentences to decode

    Rows: `allowed heads` and `all heads`. Columns: CPU s; other trees (number of trees that differ from the trees of
    the search over the allowed heads); sentences.
    """
    few = scores[:: max(1, len(scores) // sentences)]
    whole = [{name: value for name, value in sentence.items() if name != "allowed"} for sentence in few]
    (seconds, restricted), (seconds_all, unrestricted) = _decoded(few), _decoded(whole)
    pairs = zip(restricted, unrestricted, strict=True)
    other = sum(not np.array_equal(first.heads, second.heads) for first, second in pairs)
    columns = {"CPU s": [seconds, seconds_all], "other trees": [0, other], "sentences": len(few)}
    return pd.DataFrame(columns, index=["allowed heads", "all heads"])


def _decoded(scores: Sequence[Mapping[str, Any]]) -> tuple[float, list[Parse]]:
    """Return the CPU seconds of the fastest of PASSES passes over the sentences, and their parses."""
    times = []
    for _ in range(PASSES):
        started = time.process_time()
        parses = treebound.decode_all(scores)
        times.append(time.process_time() - started)
    return min(times), parses
