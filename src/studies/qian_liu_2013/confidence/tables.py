"""How sure a parser is, and how sure it may be: the tables of the notebook on confidence."""

from __future__ import annotations

import numpy as np
import pandas as pd

from studies.site import frames
from studies.site.collect import Results
from treebound.metrics import calibration

#: shares of the words, the most confident ones, whose accuracy the table shows
KEPT = (50, 80, 90, 95, 100)


def measured(results: Results) -> pd.DataFrame:
    """One row a corpus: the scale of the probabilities, accuracy, what is proved, `best_of_list` (k -> UAS)."""
    rows = [{"corpus": corpus, **results.read("confidence", f"{corpus}.json")} for corpus in results.corpora]
    return frames.frame(rows, results.folder / "metrics" / "confidence")


def words_of(results: Results, corpus: str) -> pd.DataFrame:
    """One row a word of the stage `confidence`: sentence, word, scored, gold, head, margin, marginal, correct.

    Words that count alone, punctuation left out. A reference does not keep them.
    """
    data = results.predicted(corpus, "confidence.csv")
    data = data[data["scored"] == 1].reset_index(drop=True)
    return data.assign(correct=data["head"] == data["gold"])


def kept_table(words: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of the most confident words: a row for margin and for marginal, a column a share of words (`KEPT`)."""
    correct = words["correct"].to_numpy()
    rows = {}
    for name in ("margin", "marginal"):
        curve = calibration.coverage(words[name].to_numpy(), correct, points=1000)
        at = np.searchsorted(curve["kept"], [share / 100 - 1e-9 for share in KEPT])
        rows[name] = 100 * curve["accuracy"][at]
    return pd.DataFrame.from_dict(rows, orient="index", columns=[f"{share} %" for share in KEPT])


def list_table(results: Results) -> pd.DataFrame:
    """UAS of the best tree among the k best of every sentence, a row a corpus and a column for each k."""
    data = measured(results)
    rows = {
        row["corpus"]: {
            f"k = {k}": uas for k, uas in sorted(row["best_of_list"].items(), key=lambda item: int(item[0]))
        }
        for row in data.to_dict("records")
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("corpus")
