"""Tags that are chosen with trees: accuracy of tags and trees, before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from studies.site.collect import Results
from studies.zhang_2014.tag_correction.settings import TagCorrection


def measured(results: Results) -> pd.DataFrame:
    """One row a corpus: what the stage wrote, `uas_gain` in difference, low, high and p. May be empty."""
    rows = []
    for corpus in results.params.section(TagCorrection).corpora:
        found = results.read("tag-correction", f"{corpus}.json")
        gain = dict(zip(("difference", "low", "high", "p_uas"), found.pop("uas_gain"), strict=True))
        rows.append({"corpus": corpus, **found, **gain})
    tags = ["tags_predicted", "tags_corrected", "mended", "spoilt", "p_tags"]
    trees = ["uas_predicted", "uas_corrected", "uas_right", "difference", "low", "high", "p_uas"]
    return pd.DataFrame(rows, columns=["corpus", "sentences", "words", *tags, *trees])


def tag_correction(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Index (run, corpus): tags (%) and UAS, predicted, corrected and with right tags; tests. The paper's Table 3."""
    data = pd.concat([measured(r).assign(run=r.name) for r in results], ignore_index=True)
    data = data[data["corpus"].isin(wanted or set(data["corpus"]))].set_index(["run", "corpus"])
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
    """What a correction gains on a corpus: of UAS with a bootstrap's 95 % interval, of tags (%) with McNemar's."""
    for row in measured(results).to_dict("records"):
        if what == "UAS":
            yield row["corpus"], row["difference"], row["low"], row["high"]
        else:
            more, changed, n = row["mended"] - row["spoilt"], row["mended"] + row["spoilt"], row["words"]
            half = 1.96 * np.sqrt(max(changed - more**2 / n, 0.0)) / n
            yield (row["corpus"], *(100 * x for x in (more / n, more / n - half, more / n + half)))
