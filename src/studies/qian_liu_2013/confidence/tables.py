"""Tables of confidence: accuracy by margin and by marginal, and the accuracy of lists of best trees."""

from __future__ import annotations

import numpy as np
import pandas as pd

from studies.site import frames
from studies.site.collect import Results
from treebound.metrics import calibration

#: shares (%) of the most confident words whose accuracy the table shows
KEPT = (50, 80, 90, 95, 100)


def measured(results: Results) -> pd.DataFrame:
    """Return one row per corpus with the metrics of the stage `confidence`.

    The metrics are the scale of the probabilities, the accuracy, and the numbers of proved trees and of k-best lists
    that are proved complete. `best_of_list` maps k to the UAS if the most accurate of the k best trees is chosen.
    """
    rows = [{"corpus": corpus, **results.read("confidence", f"{corpus}.json")} for corpus in results.corpora]
    return frames.frame(rows, results.folder / "metrics" / "confidence")


def words_of(results: Results, corpus: str) -> pd.DataFrame:
    """Return one row per word of the stage `confidence`, without words that are not scored, such as punctuation.

    Columns: sentence, word, scored, gold, head, margin, marginal, correct. A reference does not store these rows.
    """
    data = results.predicted(corpus, "confidence.csv")
    data = data[data["scored"] == 1].reset_index(drop=True)
    return data.assign(correct=data["head"] == data["gold"])


def kept_table(words: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy (%) of the most confident words.

    There is a row for each kind of confidence (margin and marginal), and a column for each share of words in KEPT.
    """
    correct = words["correct"].to_numpy()
    rows = {}
    for name in ("margin", "marginal"):
        curve = calibration.coverage(words[name].to_numpy(), correct, points=1000)
        index = np.searchsorted(curve["kept"], [share / 100 - 1e-9 for share in KEPT])
        rows[name] = 100 * curve["accuracy"][index]
    return pd.DataFrame.from_dict(rows, orient="index", columns=[f"{share} %" for share in KEPT])


def list_table(results: Results) -> pd.DataFrame:
    """Return the UAS of the most accurate of the k best trees: one row per corpus, one column per k."""
    data = measured(results)
    rows = {
        row["corpus"]: {
            f"k = {k}": uas for k, uas in sorted(row["best_of_list"].items(), key=lambda item: int(item[0]))
        }
        for row in data.to_dict("records")
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("corpus")
