"""How sure a parser is, and how sure it may be: the tables of the notebook on confidence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from studies.site.collect import Results
from treebound.core.parse import Parse
from treebound.metrics import calibration

#: shares of the words, the most confident ones, whose accuracy the table shows
KEPT = (50, 80, 90, 95, 100)


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
    data = results.confidence()
    rows = {
        row["corpus"]: {
            f"k = {k}": uas for k, uas in sorted(row["best_of_list"].items(), key=lambda item: int(item[0]))
        }
        for row in data.to_dict("records")
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("corpus")


def word_table(words: Sequence[str], parse: Parse, unit: float) -> pd.DataFrame:
    """One row a word of a parse with margins and marginals: its head, how sure it is, and its head in the next tree
    of the k-best list that attaches it elsewhere.
    """
    found = parse.confidence
    if found is None or found.margins is None or found.marginals is None:
        raise ValueError("the parse has no margins and marginals")
    names = ["(root)", *words]
    rows = []
    for m, word in enumerate(words, 1):
        others = [tree.heads[m] for tree in found.trees if tree.heads[m] != parse.heads[m]]
        rows.append(
            {
                "word": word,
                "head": names[parse.heads[m]],
                "margin": float(found.margins[m]) / unit,
                "marginal": float(found.marginals[m]),
                "next head": names[others[0]] if others else "–",
            }
        )
    return pd.DataFrame(rows).set_index("word")


def tree_table(words: Sequence[str], parse: Parse, unit: float) -> pd.DataFrame:
    """One row a tree of the k-best list: what it scores less than the best, and what it attaches elsewhere."""
    if parse.confidence is None or not parse.confidence.trees:
        raise ValueError("the parse has no k-best list")
    names = ["(root)", *words]
    rows = []
    for tree in parse.confidence.trees:
        moved = [m for m in range(1, len(names)) if tree.heads[m] != parse.heads[m]]
        what = ", ".join(f"{names[m]} → {names[tree.heads[m]]}" for m in moved)
        rows.append({"below the best": (parse.value - tree.value) / unit, "words elsewhere": what or "–"})
    return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1, name="tree"))
