"""Tags that are chosen with trees: accuracy of tags and trees, before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from studies.site.collect import Results
from studies.zhang_2014.tag_correction.settings import TagCorrection

#: the two methods of correction: of this project, and of the paper
OURS, PUBLISHED = "ours", "as published"


def measured(results: Results) -> pd.DataFrame:
    """One row a corpus and method: what the stage wrote, `uas_gain` in difference, low, high and p. May be empty.

    Rows of the paper's method are there where `published` of the section names the corpus and the results have them.
    """
    rows = []
    section = results.params.section(TagCorrection)
    for corpus in section.corpora:
        found = results.read("tag-correction", f"{corpus}.json")
        published = found.get("published") if corpus in section.published else None
        methods = {OURS: {key: value for key, value in found.items() if key != "published"}, PUBLISHED: published}
        rows += [_row(corpus, method, own) for method, own in methods.items() if own]
    tags = ["tags_predicted", "tags_corrected", "mended", "spoilt", "p_tags"]
    trees = ["uas_predicted", "uas_corrected", "uas_right", "difference", "low", "high", "p_uas"]
    return pd.DataFrame(rows, columns=["corpus", "method", "sentences", "words", *tags, *trees])


def _row(corpus: str, method: str, found: dict) -> dict:
    """Return what one method did to a corpus, with the gain of UAS in four columns."""
    gain = dict(zip(("difference", "low", "high", "p_uas"), found["uas_gain"], strict=True))
    return {"corpus": corpus, "method": method, **{k: v for k, v in found.items() if k != "uas_gain"}, **gain}


def tag_correction(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Index (run, corpus, method): tags (%) and UAS, predicted, corrected and with right tags; tests.

    The paper's Table 3.
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
    shown |= {"low": "gain from", "high": "to", "p_uas": "p, UAS", "words": "words"}
    return data.rename(columns=shown)[list(shown.values())]


def corrected(results: Results, what: str) -> Iterator[tuple[str, float, float, float]]:
    """What a correction gains on a corpus: of UAS with a bootstrap's 95 % interval, of tags (%) with McNemar's.

    what  `UAS` or `tags` of our method; `UAS, as published` or `tags, as published`
    """
    quantity, _, method = what.partition(", ")
    data = measured(results)
    for row in data[data["method"] == (method or OURS)].to_dict("records"):
        if quantity == "UAS":
            yield row["corpus"], row["difference"], row["low"], row["high"]
        else:
            more, changed, n = row["mended"] - row["spoilt"], row["mended"] + row["spoilt"], row["words"]
            half = 1.96 * np.sqrt(max(changed - more**2 / n, 0.0)) / n
            yield (row["corpus"], *(100 * x for x in (more / n, more / n - half, more / n + half)))
