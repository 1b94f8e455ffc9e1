"""Tables of tags chosen together with trees: accuracy of tags and trees, before and after the correction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from studies.site.collect import Results
from studies.zhang_2014.tag_correction.settings import TagCorrection
from treebound.metrics.calibration import NORMAL_95

#: the two methods of correction: the method of this project, and the method of the paper
OURS, PUBLISHED = "ours", "as published"


def measured(results: Results) -> pd.DataFrame:
    """Return one row per corpus and method with the metrics of the stage. The table may be empty.

    `uas_gain` is split into difference, low, high and p_uas. Rows of the paper's method exist if the setting
    `published` lists the corpus and the results contain this method.
    """
    rows = []
    section = results.params.section(TagCorrection)
    for corpus in section.corpora:
        metrics = results.read("tag-correction", f"{corpus}.json")
        published = metrics.get("published") if corpus in section.published else None
        methods = {OURS: {key: value for key, value in metrics.items() if key != "published"}, PUBLISHED: published}
        rows += [_row(corpus, method, row) for method, row in methods.items() if row]
    tags = ["tags_predicted", "tags_corrected", "mended", "spoilt", "p_tags"]
    trees = ["uas_predicted", "uas_corrected", "uas_right", "difference", "low", "high", "p_uas"]
    return pd.DataFrame(rows, columns=["corpus", "method", "sentences", "words", *tags, *trees])


def _row(corpus: str, method: str, metrics: dict) -> dict:
    """Return the result of one method on a corpus, with the gain of UAS in four columns."""
    gain = dict(zip(("difference", "low", "high", "p_uas"), metrics["uas_gain"], strict=True))
    return {
        "corpus": corpus,
        "method": method,
        **{key: value for key, value in metrics.items() if key != "uas_gain"},
        **gain,
    }


def tag_correction(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return the accuracy of tags (%) and the UAS, before and after the correction and with gold tags, with tests.

    Index: (run, corpus, method).

    This is the paper's Table 3.
    """
    data = pd.concat([measured(r).assign(run=r.name) for r in results], ignore_index=True)
    data = data[data["corpus"].isin(wanted or set(data["corpus"]))].set_index(["run", "corpus", "method"])
    shown = {"tags_predicted": "tags, %", "tags_corrected": "corrected, %", "mended": "mended", "spoilt": "spoilt"}
    shown |= {
        "p_tags": "p, tags",
        "uas_predicted": "UAS",
        "uas_corrected": "UAS corrected",
        "uas_right": "UAS, right tags",
    }
    shown |= {"difference": "UAS gain", "low": "gain from", "high": "to", "p_uas": "p, UAS", "words": "words"}
    return data.rename(columns=shown)[list(shown.values())]


def corrected(results: Results, name: str) -> Iterator[tuple[str, float, float, float]]:
    """Yield (corpus, gain, low, high) of a correction on each corpus, with the ends of the 95 % interval.

    name  `UAS` or `tags`, and the method: `UAS, ours`, or `UAS, as published` for the method of the paper

    The interval of UAS is a bootstrap. The interval of tags (%) is a normal approximation for paired counts, as in
    McNemar's test.
    """
    quantity, _, method = name.partition(", ")
    data = measured(results)
    for row in data[data["method"] == method].to_dict("records"):
        if quantity == "UAS":
            yield row["corpus"], row["difference"], row["low"], row["high"]
        else:
            surplus, changed, n = row["mended"] - row["spoilt"], row["mended"] + row["spoilt"], row["words"]
            half = NORMAL_95 * np.sqrt(max(changed - surplus**2 / n, 0.0)) / n
            yield (row["corpus"], *(100 * x for x in (surplus / n, surplus / n - half, surplus / n + half)))
