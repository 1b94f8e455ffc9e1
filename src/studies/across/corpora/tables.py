"""Tables about the corpora, their predicted tags and the pruner."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from studies.site import frames
from studies.site.collect import Results
from studies.site.rows import agreed, corpora_of, stacked


def tagging(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return the accuracy of predicted tags.

    Rows: (run, corpus, tag column). Columns: accuracy on each split, accuracy on unknown words, training time and
    speed.
    """
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
    """Return the title, language and licence of each corpus, one row per corpus."""
    corpora = corpora_of(results, wanted)
    entries = {c: s for r in results for c, s in frames.convert(r).attrs["sources"].items() if c in corpora[r.name]}
    return pd.DataFrame.from_dict(entries, orient="index").rename_axis("corpus")


def conversion(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return the sizes and properties of the converted corpora.

    Rows: (corpus, split). Columns: sizes, crossing arcs, numbers of tags and labels, and dropped sentences.
    """
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
    """Return the oracle recall of the pruner in %. Rows: (corpus, split); one column per k."""
    data = stacked(results, wanted, frames.pruner).assign(recall=lambda d: 100 * d["recall"])
    wide = data.pivot(index=["provenance", "corpus", "split"], columns="k", values="recall").reset_index()
    wide.columns = pd.Index([f"k = {name}" if isinstance(name, int) else name for name in wide.columns])
    return agreed(wide.sort_values(["corpus", "split"], kind="stable")).set_index(["corpus", "split"])


def pruner_thresholds(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return the oracle recall (%) and the number of candidate heads per word for each threshold of the pruner.

    Rows: (corpus, split). The table is empty if no run measured thresholds.
    """
    data = stacked(results, wanted, frames.pruner_thresholds)
    if data.empty:
        return pd.DataFrame()
    data = data.assign(**{"recall, %": 100 * data["recall"], "heads a word": data["heads_a_word"]})
    wide = data.pivot(
        index=["provenance", "corpus", "split"], columns="threshold", values=["recall, %", "heads a word"]
    )
    wide = wide.sort_index(axis="columns", level="threshold", sort_remaining=False, kind="stable")
    wide.columns = pd.Index([f"threshold {threshold:g}: {measure}" for measure, threshold in wide.columns])
    wide = wide.reset_index()
    return agreed(wide.sort_values(["corpus", "split"], kind="stable")).set_index(["corpus", "split"])
