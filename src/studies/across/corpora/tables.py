"""Tables about corpora and the pruner."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from studies.site import frames
from studies.site.collect import Results
from studies.site.rows import agreed, corpora_of, stacked


def tagging(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Accuracy of predicted tags. Rows (run, corpus, column); one column a split, unknown words, seconds, speed."""
    data = stacked(results, wanted, frames.tagging)
    index = ["provenance", "corpus", "column"]
    by_split = {split: data[data["split"] == split].set_index(index) for split in SPLIT_NAMES}
    out = {("accuracy, %", name): by_split[split]["accuracy"] for split, name in SPLIT_NAMES.items()}
    test = by_split["test"]
    out["unknown words, test", "share, %"] = 100 * test["unknown_words"] / test["words"]
    out["unknown words, test", "accuracy, %"] = test["unknown_accuracy"]
    out["", "training, CPU s"] = test["train_cpu_s"]
    out["", "jackknifing, wall s"] = test["jackknife_wall_s"]
    out["", "words / CPU s"] = test["words_per_cpu_s"]
    return pd.DataFrame(out).rename_axis(index=["", "corpus", "tags"])


SPLIT_NAMES = {"train": "train (jackknifed)", "dev": "dev", "test": "test"}


def sources(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Corpus -> title, language, licence."""
    keep = corpora_of(results, wanted)
    found = {c: s for r in results for c, s in frames.convert(r).attrs["sources"].items() if c in keep[r.name]}
    return pd.DataFrame.from_dict(found, orient="index").rename_axis("corpus")


def conversion(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """The conversion table. Rows (corpus, split): sizes, crossing arcs, tags, labels, what was dropped."""
    data = stacked(results, wanted, frames.convert)
    share = 100 * data["nonprojective_sentences"] / data["sentences"].clip(lower=1)
    names = {
        "provenance": "provenance",
        "corpus": "corpus",
        "split": "split",
        "sentences": "sentences",
        "tokens": "tokens",
        "mean_length": "mean length",
        "max_length": "longest",
        "crossing_arcs": "crossing arcs",
        "share": "non-projective, %",
        "multi_root_sentences": "several roots",
        "xpos": "tags",
        "deprel": "labels",
        "dropped": "dropped",
        "also_in_train": "also in train",
    }
    data = data.assign(share=share.round(2)).reindex(columns=list(names)).rename(columns=names)
    data["also in train"] = data["also in train"].astype("Int64")
    return agreed(data).set_index(["corpus", "split"])


def pruner(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Oracle recall in %. Rows (corpus, split), one column a k."""
    data = stacked(results, wanted, frames.pruner).assign(recall=lambda d: 100 * d["recall"])
    wide = data.pivot(index=["provenance", "corpus", "split"], columns="k", values="recall").reset_index()
    wide.columns = pd.Index([f"k = {name}" if isinstance(name, int) else name for name in wide.columns])
    return agreed(wide.sort_values(["corpus", "split"], kind="stable")).set_index(["corpus", "split"])


def pruner_thresholds(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """What a threshold leaves: rows (corpus, split), for each threshold oracle recall in % and heads a word.

    No rows where no run measured it.
    """
    data = stacked(results, wanted, frames.pruner_thresholds)
    if data.empty:
        return pd.DataFrame()
    data = data.assign(**{"recall, %": 100 * data["recall"], "heads a word": data["heads_a_word"]})
    wide = data.pivot(
        index=["provenance", "corpus", "split"], columns="threshold", values=["recall, %", "heads a word"]
    )
    wide.columns = pd.Index([f"{what}, {threshold:g}" for what, threshold in wide.columns])
    wide = wide[sorted(wide.columns, key=lambda name: float(name.rpartition(" ")[2]))].reset_index()
    return agreed(wide.sort_values(["corpus", "split"], kind="stable")).set_index(["corpus", "split"])
