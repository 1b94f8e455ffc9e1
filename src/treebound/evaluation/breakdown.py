"""Where the errors are: by sentence length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

#: upper ends of the length bins, inclusive; the last bin is open
LENGTH_BINS = (10, 20, 30, 40, 60)


def bin_labels(bins: Sequence[int]) -> list[str]:
    """`(1, 3)` gives `["1", "2-3", "4+"]`."""
    starts = [1, *(b + 1 for b in bins)]
    return [str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, bins, strict=False)] + [f"{starts[-1]}+"]


def by_length(sentences: pd.DataFrame, bins: Sequence[int] = LENGTH_BINS) -> pd.DataFrame:
    """Rows: bins of sentence length. Columns: sentences, scored, uas, complete (per cent), and the mean of every other
    numeric column of the table (seconds, dp_calls, nodes ... where the caller has joined them on), as mean_<name>.

    sentences  `Evaluation.sentences`, possibly with more columns. Empty bins are left out.
    """
    import pandas as pd

    labels = bin_labels(bins)
    length = pd.Categorical.from_codes(np.searchsorted(bins, sentences.n), labels, ordered=True)
    groups = sentences.groupby(length, observed=True)
    out = pd.DataFrame({"sentences": groups.size(), "scored": groups.scored.sum()})
    out["uas"] = 100.0 * groups.correct.sum() / out.scored
    out["complete"] = 100.0 * groups.complete.mean()
    ours = {"n", "scored", "correct", "correct_all", "complete", "complete_all"}
    for name in sentences.select_dtypes("number").columns:
        if name not in ours:
            out[f"mean_{name}"] = groups[name].mean()
    return out.rename_axis("length")
