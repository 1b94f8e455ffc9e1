"""Where the errors are: by sentence length, by the length of the arc."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from treebound.core.treebank import Treebank
from treebound.evaluation.attachment import join_heads, scored_words

if TYPE_CHECKING:
    import pandas as pd

#: upper ends of the length bins, inclusive; the last bin is open
LENGTH_BINS = (10, 20, 30, 40, 60)
#: upper ends of the bins of |head - modifier|, inclusive; arcs of the root have a row of their own
DISTANCE_BINS = (1, 2, 3, 6, 10)


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


def by_distance(gold: Treebank, heads: Sequence[np.ndarray], bins: Sequence[int] = DISTANCE_BINS) -> pd.DataFrame:
    """Rows: root, then bins of |head - modifier|. Columns: gold, predicted, correct (arcs), precision, recall (%).

    Over scored words. A correct arc has the same distance on both sides, so both ratios share their numerator.
    """
    import pandas as pd

    keep = scored_words(gold)
    position = np.arange(gold.words) - np.repeat(gold.offsets[:-1], gold.lengths) + 1
    predicted = join_heads(gold, heads)
    labels = ["root", *bin_labels(bins)]

    def count(head: np.ndarray, which: np.ndarray) -> np.ndarray:
        code = np.where(head == 0, 0, 1 + np.searchsorted(bins, np.abs(head - position)))
        return np.bincount(code[which], minlength=len(labels))

    out = pd.DataFrame(
        {
            "gold": count(gold.head, keep),
            "predicted": count(predicted, keep),
            "correct": count(gold.head, keep & (predicted == gold.head)),
        },
        index=pd.Index(labels, name="distance"),
    )
    out["precision"] = 100.0 * out.correct / out.predicted
    out["recall"] = 100.0 * out.correct / out.gold
    return out
