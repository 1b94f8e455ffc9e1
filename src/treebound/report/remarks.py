"""Sentences about a table, computed from the very data that the table shows. No claim is written down beforehand."""

from __future__ import annotations

import math

import pandas as pd

from treebound.report.show import Remarks


def conversion(data: pd.DataFrame) -> Remarks:
    """About `Results.convert` of one or several runs."""
    test = data[data["split"] == "test"].drop_duplicates("corpus")
    share = 100 * test["nonprojective_sentences"] / test["sentences"]
    most = test.loc[share.idxmax()]
    train = data[data["split"] == "train"].drop_duplicates("corpus").set_index("corpus")["tokens"]
    return Remarks(
        (
            f"The training sets have between {train.min():,} ({train.idxmin()}) and {train.max():,} tokens "
            f"({train.idxmax()})."
            if len(train) > 1
            else f"The training set has {train.iloc[0]:,} tokens.",
            f"In {most['corpus']} {share.max():.1f} % of the test sentences have crossing arcs in their gold tree: "
            "a projective parser cannot get those entirely right, whatever its scores.",
        )
    )


def tagging(data: pd.DataFrame) -> Remarks:
    """About `tables.tagging`, which may have no rows."""
    if not len(data):
        return Remarks(("The parsers of every corpus see the treebank's own tags.",))
    said = ["Corpora that are not in this table keep the treebank's own tags."]
    for (_, corpus, column), row in data.iterrows():
        gap = row["accuracy, %", "train (jackknifed)"] - row["accuracy, %", "test"]
        said.append(
            f"{corpus}, {column}: the tags of training are {abs(gap):.1f} points {'better' if gap > 0 else 'worse'}"
            " than those of test."
        )
    return Remarks(tuple(said))


def peers(data: pd.DataFrame) -> Remarks:
    """About `tables.peers`, which may have no rows."""
    if not len(data):
        return Remarks(("No parser of others was run: name some under peers in params.yaml.",))
    return Remarks(
        (
            "Parsers of others see the same splits and tags, run on one thread and are timed without loading their "
            "model; their training picks the epoch on the same development set.",
        )
    )


def variants(data: pd.DataFrame) -> Remarks:
    """About `tables.variants`, which may have no rows."""
    if not len(data):
        return Remarks(("No row was run with other tags or another seed: see variants in params.yaml.",))
    return Remarks(
        (
            f"The {len(data)} rows differ from those beside them by {data['difference'].min():+.2f} to "
            f"{data['difference'].max():+.2f} UAS.",
        )
    )


def pruner(data: pd.DataFrame) -> Remarks:
    """About `Results.pruner`."""
    test = data[data["split"] == "test"]
    worst = test.loc[test.groupby("k")["recall"].idxmin()].set_index("k")
    said = [f"{100 * (1 - row.recall):.2f} % at k = {k} ({row.corpus})" for k, row in worst.iterrows()]
    return Remarks(("Heads that pruning puts out of reach, in the corpus that suffers most: " + ", ".join(said) + ".",))


def headline(data: pd.DataFrame) -> Remarks:
    """About `tables.headline`."""
    said = []
    for name, rows in data.groupby(level=0, sort=False):
        best = rows.loc[rows["UAS, all factors"].idxmax()]
        proved = rows["proved optimal, %"].min()
        said.append(
            f"In {_run(name)} "
            + (
                "every tree is proved optimal"
                if proved >= 100
                else f"at least {proved:.1f} % of the trees are proved optimal"
            )
            + f" and the fastest of these rows parses {rows['words per CPU second'].max():,.0f} words per CPU second; "
            f"the highest accuracy is {best['UAS, all factors']:.2f} ({best.name[1]}, {best.name[2]})."
        )
    gain = (data["UAS, all factors"] - data["UAS, Carreras"]).dropna()
    if len(gain):
        said.append(f"All factors against the Carreras backbone: from {gain.min():+.2f} to {gain.max():+.2f} UAS.")
    return Remarks(tuple(said))


def comparison(data: pd.DataFrame) -> Remarks:
    """About `tables.comparison`: what the factors bring in the paper and here, and which single family brings most."""
    printed = data["published"].droplevel(0)
    every = _row(printed, "all sibling + comb") - _row(printed, "baseline")
    said = [
        f"In the paper all non-local factors together bring {every['PTB']:+.2f} UAS over the baseline on English and "
        f"{every['CTB']:+.2f} on Chinese, and of the single families all-sibling brings most."
    ]
    ours = data.drop(columns=["published", ""], level=0).droplevel(0)
    base = _row(ours, "baseline")
    gains = (_row(ours, "all sibling + comb") - base).dropna()
    if gains.empty:
        return Remarks((*said, "No run of ours has both rows."))
    listed = ", ".join(f"{gain:+.2f} on {corpus} ({name})" for (name, corpus), gain in gains.items())
    said.append(f"Ours, without combs and hand-crafted factors: {listed}.")
    grandchild, sibling = _row(ours, "B&B + all grandchild") - base, _row(ours, "B&B + all sibling") - base
    both = grandchild.notna() & sibling.notna()
    if both.any():
        said.append(
            f"All-sibling brings more than all-grandchild in {(sibling > grandchild)[both].sum()} of our {both.sum()} "
            "columns."
        )
    return Remarks(tuple(said))


def learners(perceptron: pd.DataFrame, mira: pd.DataFrame) -> Remarks:
    """About the tables of two learners: the same systems on the same corpora."""
    ours = [data.drop(columns=["published", ""], level=0) for data in (perceptron, mira)]
    difference = (ours[1] - ours[0]).stack([0, 1], future_stack=True).dropna()
    if difference.empty:
        return Remarks(("The learners have no system in common.",))
    return Remarks(
        (
            f"Over the {len(difference)} pairs of the same system on the same corpus, MIRA minus perceptron is "
            f"{difference.mean():+.2f} UAS on average, from {difference.min():+.2f} to {difference.max():+.2f}. "
            "Each figure is one training run with one seed.",
        )
    )


def significance(data: pd.DataFrame) -> Remarks:
    """About `tables.significance`."""
    if data.empty:
        return Remarks(("This run has no baseline to compare with.",))
    clear = data[data["p"] < 0.05]
    if clear.empty:
        return Remarks(("None of these differences is significant at 5 %.",))
    return Remarks((f"{len(clear)} of these {len(data)} differences are significant at 5 %.",))


def pruning(uas: pd.DataFrame, speed: pd.DataFrame) -> Remarks:
    """About the accuracy and the speed half of Table 3 (`tables.pruning_table`): k = 10 against no pruning."""
    said = []
    for name, corpus in (c for c in uas.columns if c[0]):
        ten, none = "branch and bound, k = 10", "branch and bound, no pruning"
        if ten not in uas.index or none not in uas.index:
            continue
        loss = uas.loc[ten, (name, corpus)] - uas.loc[none, (name, corpus)]
        ratio = speed.loc[ten, (name, corpus)] / speed.loc[none, (name, corpus)]
        if not (math.isnan(loss) or math.isnan(ratio)):
            said.append(f"{corpus} ({name}): {ratio:.1f} times the speed at {loss:+.2f} UAS.")
    return Remarks(("k = 10 against no pruning.", *said)) if said else Remarks(("No k was compared with no pruning.",))


def speeds() -> Remarks:
    """What a words-per-second figure is, and what it may not be used for."""
    return Remarks(
        (
            "Published speeds are of 2013, in C++ on another machine and with other features; ours count CPU seconds "
            "on one core from features to heads, without reading files and without compilation. "
            "Compare ratios within a column, not figures across columns.",
        )
    )


def length(data: pd.DataFrame) -> Remarks:
    """About `tables.lengths`: how the work grows between the bins that hold enough sentences."""
    said = []
    for corpus, rows in data.groupby("corpus", sort=False):
        k = rows["k"].iloc[-1] if "10" not in set(rows["k"]) else "10"
        curve = rows[(rows["k"] == k) & (rows["sentences"] >= 10)].sort_values("lo")
        if len(curve) < 2:
            said.append(f"{corpus} has too few sentences for a trend.")
            continue
        low, high = curve.iloc[0], curve.iloc[-1]
        middle = [(row["lo"] + row["hi"]) / 2 for row in (low, high)]
        power = math.log(high["mean_s"] / low["mean_s"]) / math.log(middle[1] / middle[0])
        said.append(
            f"On {corpus} at k = {k} the mean time grows from {1e3 * low['mean_s']:.2g} ms ({low['lo']}-{low['hi']} "
            f"words) to {1e3 * high['mean_s']:.2g} ms ({high['lo']}-{high['hi']} words), about as the power "
            f"{power:.1f} of the length."
        )
        few = rows[(rows["k"] == k) & (rows["sentences"] < 10)]
        if len(few):
            bins = ", ".join(f"{row.lo}-{row.hi}" for row in few.itertuples())
            said.append(f"Fewer than ten sentences stand behind the bins {bins}.")
    return Remarks(tuple(said))


def tuning(data: pd.DataFrame) -> Remarks:
    """About `tables.tunings`."""
    said = []
    for corpus, rows in data.groupby("corpus", sort=False):
        published, *tuned = rows.itertuples()
        needs = [
            f"{row.decoder} needs {_share(published.dp_calls / row.dp_calls)} of the DP calls and "
            f"{_share(published.seconds / row.seconds)} of the time"
            for row in tuned
        ]
        said.append(f"On {corpus}, against the published configuration, " + "; ".join(needs) + ".")
        unproved = [f"{row.sentences - row.certified} ({row.decoder})" for row in rows.itertuples()]
        if (rows["certified"] < rows["sentences"]).any():
            said.append(
                f"Of its {published.sentences} sentences a limit left without proof: " + ", ".join(unproved) + "."
            )
        else:
            said.append(f"All prove all {published.sentences} trees optimal.")
    return Remarks(tuple(said))


def sentence_by_sentence(data: pd.DataFrame) -> Remarks:
    """About `tables.tuned_sentences`."""
    published, tuned = (data[column] for column in data.columns[1:3])
    fewer, more = (tuned < published).mean(), (tuned > published).mean()
    median = (published / tuned.clip(lower=1)).median()
    both = data[data["proved"]]
    differ = int((~both["same"]).sum())
    return Remarks(
        (
            f"{tuned.name} needs fewer calls on {100 * fewer:.0f} % of the {len(data)} sentences and more on "
            f"{100 * more:.0f} %; the median ratio is {median:.1f}, and the ratio of the means "
            f"{published.mean() / tuned.mean():.1f}.",
            f"On all {len(both)} sentences that both prove, their trees have the same score."
            if not differ
            else f"On {differ} of the {len(both)} sentences that both prove, scores differ: a proof must be wrong.",
        )
    )


def ablation(data: pd.DataFrame, ranking: pd.DataFrame) -> Remarks:
    """About `tables.ablations` and `tables.ablation_ranking`."""
    first = data["configuration"].iloc[0]
    others = ranking.drop(first)
    best, worst = others.iloc[0], others.iloc[-1]
    said = [
        f"Of the other configurations {best.name} takes least time, {best['ms']:.2f} times that of {first}, and "
        f"{worst.name} most, {worst['ms']:.2f} times (geometric means over {data['corpus'].nunique()} "
        f"{'corpora' if data['corpus'].nunique() > 1 else 'corpus'})."
    ]
    calls = others["DP calls"]
    said.append(
        f"DP calls: from {calls.min():.2f} times ({calls.idxmin()}) to {calls.max():.2f} times ({calls.idxmax()})."
    )
    left = data[data["proved"] < 100]
    if left.empty:
        said.append("Every configuration proves every tree optimal.")
    else:
        listed = ", ".join(f"{100 - row.proved:.1f} % ({row.configuration}, {row.corpus})" for row in left.itertuples())
        said.append(f"Sentences that the limit on calls left without proof: {listed}.")
    return Remarks(tuple(said))


def _run(name: object) -> str:
    return "this run" if name == "this run" else f"the {name}"


def _share(ratio: float) -> str:
    return f"1/{ratio:.1f}" if ratio >= 1 else f"{1 / ratio:.1f} times"


def _row(data: pd.DataFrame | pd.Series, part: str) -> pd.Series:
    """The row whose label contains `part`."""
    return data[[part in label for label in data.index]].iloc[0]


def confidence(words: pd.DataFrame, measured: pd.Series) -> Remarks:
    """About `Results.words` and the corpus's row of `Results.confidence`."""
    top = words[words["margin"] >= words["margin"].median()]
    low = words[words["margin"] <= words["margin"].quantile(0.1)]
    error = 100 * measured["calibration_error"]
    lists = {int(k): uas for k, uas in measured["best_of_list"].items()}
    longest = max(lists)
    return Remarks(
        (
            "Of the half of the words with the larger margins "
            f"{100 * top['correct'].mean():.1f} % have the right head, "
            f"of the tenth with the smallest ones {100 * low['correct'].mean():.1f} %.",
            f"A marginal is off by {error:.1f} points on average, after one number, the scale {measured['scale']:g}, "
            "was chosen on the development set.",
            f"The parser's first tree has {lists[1]:.2f} UAS; the best of its {longest} best trees would have "
            f"{lists[longest]:.2f}: that is what a reranker could gain at most.",
            f"{measured['complete']} of {measured['sentences']} lists are proved complete.",
        )
    )
