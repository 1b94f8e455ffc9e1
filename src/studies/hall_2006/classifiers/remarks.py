"""Generated sentences about learners and feature models, computed from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.hall_2006.classifiers.tables import LEVEL, MBL, SVM
from studies.site.sentences import ONE_SEED, Sentences, about, from_to, joined, listing, pooled_mean, short_labels

HOW = (
    "No run on this page compares classifiers, which the default run leaves out. Run `make classifiers`, and list "
    "corpora under `classifiers:` in params.yaml."
)


@about()
def duel(data: pd.DataFrame) -> Sentences:
    """Compare memory-based learning with support vector machines. data: `tables.duel`, which may have no rows."""
    if data.empty:
        yield HOW
        return
    last = data.xs(data.index[-1][0], level="run")
    uas = last[f"UAS, {SVM}"] - last[f"UAS, {MBL}"]
    cost = last[f"training, CPU s, {SVM}"] / last[f"training, CPU s, {MBL}"]
    speed = last[f"words / CPU s, {SVM}"] / last[f"words / CPU s, {MBL}"]
    features = dict.fromkeys(last.index.get_level_values("features"))
    yield (
        "Support vector machines (SVM) have a higher UAS than memory-based learning (MBL) on "
        f"{int((uas > 0).sum())} of {len(last)} corpora with the richest features of this page ({listing(features)}): "
        f"{from_to(uas, '{:+.2f}')} points.{_significance(last)} Training takes {from_to(cost, '{:.1f}')} times as "
        f"long, and parsing is {from_to(speed, '{:,.0f}')} times as fast. {_trained(last)}",
        data,
    )


def _significance(rows: pd.DataFrame) -> str:
    """Describe, after a space, the tests on single corpora and the pooled difference; no text without tests.

    rows  `tables.duel` of one run
    """
    tested = rows.dropna(subset="p") if "p" in rows else rows.iloc[:0]
    if tested.empty:
        return ""
    tested = tested.rename(columns={"SVM minus MBL, UAS": "difference"})
    better = int(((tested["p"] < LEVEL) & (tested["difference"] > 0)).sum())
    text = (
        f" The UAS of SVM is significantly higher on {better} of {len(tested)} corpora (McNemar's test over the words "
        f"of each corpus, {100 * LEVEL:g} % level)."
    )
    if len(tested) < 2:
        return text
    mean, low, high = pooled_mean(tested)
    verdict = "SVM is better" if low > 0 else "MBL is better" if high < 0 else "the comparison is undecided"
    return (
        f"{text} Over treebanks, each of which counts once, {verdict}: the mean difference is {mean:+.2f} points "
        f"[{low:+.2f}, {high:+.2f}]."
    )


def _trained(rows: pd.DataFrame) -> str:
    """State how many seeds and trainings are behind the figures. rows: `tables.duel` of one run."""
    if rows["trainings"].max() == 1:
        return ONE_SEED
    return (
        f"Each UAS comes from one seed, and each training time is the mean of {from_to(rows['trainings'])} trainings."
    )


@about(HOW)
def accuracy(best: pd.DataFrame) -> Sentences:
    """Name the learner with the highest UAS on each corpus, and report the training times. best: `tables.best`."""
    labels = dict(zip(best.index, short_labels(best.index), strict=True))
    winners = [
        f"{name} with {features} ({listing(f'{uas:.2f} on {labels[place]}' for place, uas in rows['UAS'].items())})"
        for (name, features), rows in best.groupby(["best learner", "features"], sort=False)
    ]
    tested, worse = int(best["other learners"].sum()), int(best["significantly worse"].sum())
    significance = (
        f" The best learner of each corpus was compared with the other learners with the same features. Its UAS is "
        f"significantly higher in {worse} of {tested} comparisons (McNemar's test over words, {100 * LEVEL:g} % level)."
        if tested
        else " The heads of the best learner were not compared with the heads of other learners."
    )
    yield (
        f"The highest UAS of each corpus, of all learners and feature models, comes from {joined(winners)}; one "
        f"seed.{significance}",
        best,
    )
    shortest, longest = best["fastest, CPU s"].idxmin(), best["slowest, CPU s"].idxmax()
    repeats = best["trainings"]
    most = "one training" if repeats.max() == 1 else f"mean of {from_to(repeats)} trainings"
    yield (
        f"Training with the features of the best learner takes {best['fastest, CPU s'].min():,.0f} CPU s "
        f"({best.loc[shortest, 'fastest training']}, {labels[shortest]}) to {best['slowest, CPU s'].max():,.0f} CPU s "
        f"({best.loc[longest, 'slowest training']}, {labels[longest]}; {most} each).",
        best,
    )


@about("The learners use the parameters of params.yaml for all corpora. No parameters were searched for in these runs.")
def parameters(data: pd.DataFrame) -> Sentences:
    """Describe how the parameters of the learners were chosen. data: `tables.chosen`."""
    places, sizes = data.groupby(level=["run", "corpus"], sort=False).first(), ["training sentences", "dev sentences"]
    trained, tested = (from_to(places[name]) for name in sizes)
    yield (
        f"Successive halving chose the parameters in the table on {listing(places.index.get_level_values('corpus'))}. "
        "The other learners use the parameters of params.yaml.",
        data,
    )
    yield (
        f"Every point was trained with {listing(dict.fromkeys(data['features']))} on up to {trained} sentences and "
        f"tested on {tested} other sentences that no cell of the tables parses.",
        data,
    )
