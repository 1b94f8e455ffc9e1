"""Sentences about a table, computed from the very data that the table shows. No claim is written down beforehand."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from treebound.report.show import Remarks, by_chance
from treebound.report.tables.repeats import AGAINST


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


def significance(data: pd.DataFrame) -> Remarks:
    """About `tables.significance`."""
    if data.empty:
        return Remarks(("This run has no baseline to compare with.",))
    clear = data[data["p"] < 0.05]
    better, worse = clear[clear["difference"] > 0], clear[clear["difference"] < 0]
    said = [
        f"By the bootstrap {len(clear)} of these {len(data)} differences are significant at 5 %"
        + (f": {len(better)} gains and {len(worse)} losses." if len(clear) else ".")
    ]
    for what, rows in (("Gains", better), ("Losses", worse)):
        if len(rows):
            said.append(f"{what}: {_by_corpus(rows)}.")
    if len(clear) < len(data):
        said.append(f"The other {len(data) - len(clear)} are not told from chance.")
    agree = ((data["p"] < 0.05) == (data["p (words)"] < 0.05)).sum()
    said.append(
        f"McNemar's test over single words comes to the same verdict in {agree} of the {len(data)} cases; it takes "
        "words for independent, so that the bootstrap is the one to trust."
    )
    if len(data) > 1:
        said.append(f"Of {len(data)} tests {by_chance(len(data), 0.05)} would pass 5 % by chance alone.")
    return Remarks(tuple(said))


def _by_corpus(rows: pd.DataFrame) -> str:
    """Rows of `tables.significance`, corpus by corpus: systems, learners and differences."""
    said: dict[str, list[str]] = {}
    for (corpus, learner, system), difference in rows["difference"].items():
        said.setdefault(corpus, []).append(f"{system} ({learner}, {difference:+.2f})")
    return "; ".join(f"on {corpus} {', '.join(systems)}" for corpus, systems in said.items())


def seeds(data: pd.DataFrame) -> Remarks:
    """About `tables.seeds`, which may have no rows."""
    if data.empty:
        return Remarks(("No row was trained with several seeds: see variants in params.yaml.",))
    spread = data["UAS", "deviation"]
    said = [
        f"A training repeated with another order of the sentences moves UAS by a standard deviation of "
        f"{spread.min():.2f} to {spread.max():.2f}."
    ]
    for (run, corpus, learner, system), row in data.iterrows():
        mean, deviation = row["UAS over the baseline", "mean"], row["UAS over the baseline", "deviation"]
        if not math.isnan(deviation):
            verdict = "more" if abs(mean) > 2 * deviation else "no more"
            said.append(
                f"On {corpus} {system} ({learner}) is {mean:+.2f} from the baseline, {verdict} than twice the "
                f"deviation of that difference ({deviation:.2f}) over {row['', 'seeds']:.0f} seeds ({run})."
            )
    return Remarks(tuple(said))


def tags(data: pd.DataFrame) -> Remarks:
    """About `tables.tags`, which may have no rows."""
    if data.empty:
        return Remarks(("No row was run with gold tags beside predicted ones: see variants in params.yaml.",))
    gain = data["UAS", "difference"]
    said = [f"Gold tags bring {gain.min():+.2f} to {gain.max():+.2f} UAS, in one training each; not tested."]
    for (run, corpus, learner), rows in data.groupby(level=[0, 1, 2], sort=False):
        uas = rows["UAS"].droplevel([0, 1, 2])
        if len(uas) > 1:
            first, last = uas.iloc[0], uas.iloc[-1]
            said.append(
                f"On {corpus} ({learner}, {run}) {uas.index[-1]} is {last['predicted'] - first['predicted']:+.2f} from "
                f"{uas.index[0]} with predicted tags and {last['gold'] - first['gold']:+.2f} with gold ones."
            )
    return Remarks(tuple(said))


def errors(data: pd.DataFrame) -> Remarks:
    """About `tables.errors`, which may have no rows."""
    if data.empty:
        return Remarks(("No search that gives up was run beside an exact one: see `gold` in params.yaml.",))
    said = []
    for (corpus, system, search), row in data.iterrows():
        said.append(
            f"On {corpus} {search} misses the best tree of {system} in {row['the search', 'search errors, %']:.1f} % "
            f"of the sentences, which costs {row['the search', 'UAS less than exact']:+.2f} UAS; in "
            f"{row['the search', 'of these, gold scores more, %']:.0f} % of those the gold tree was the better one."
        )
    wrong = data["the exact tree", "gold scores less, %"]
    lost = data["the exact tree", "gold out of reach, %"]
    said.append(
        f"The exact search makes no search errors: its wrong trees are errors of the model ({wrong.min():.0f} to "
        f"{wrong.max():.0f} % of the sentences) or have gold trees that it cannot return ({lost.min():.0f} to "
        f"{lost.max():.0f} %). The losses of UAS were not tested."
    )
    return Remarks(tuple(said))


def multilingual(data: pd.DataFrame) -> Remarks:
    """About `tables.multilingual`, which may have no rows."""
    if data.empty:
        return Remarks(("The reference run has no such part yet (`make reference`).",))
    said = []
    for system, gain in data["UAS gained over the one before"].items():
        best, worst = gain.idxmax()[1], gain.idxmin()[1]
        said.append(
            f"{system} scores more than the system before it on {(gain > 0).sum()} of {len(gain)} corpora; the "
            f"difference is {gain.mean():+.2f} UAS on average, from {gain.min():+.2f} ({worst}) to {gain.max():+.2f} "
            f"({best})."
        )
    for group in data.columns.unique(0):
        if not group.endswith(AGAINST):
            continue
        system, gain, p = group.removesuffix(AGAINST), data[group, "UAS"], data[group, "p"]
        sure = gain[(p < 0.05) & (gain.abs() >= 0.5)]
        better, worse = (", ".join(part.index.get_level_values("corpus")) for part in (sure[sure > 0], sure[sure < 0]))
        said.append(
            f"Half a point or more from the baseline, with p < 0.05: {system} is better on {better or 'none'}, "
            f"worse on {worse or 'none'}; {(p >= 0.05).sum()} of {len(p)} differences are not told from chance."
        )
    crossing = data["", "crossing, %"]
    last = data["UAS gained over the one before"].iloc[:, -1]
    if len(data) > 2 and crossing.std() > 0 and last.std() > 0:
        said.append(
            f"Between the share of sentences with crossing arcs and what the last system gains, the correlation over "
            f"corpora is {crossing.corr(last):+.2f}."
        )
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
        part = f"the first {published.sentences:,}" if published.sentences < published.of else "all"
        said.append(
            f"On {corpus}, {part} of {published.of:,} test sentences, against the published configuration, "
            + "; ".join(needs)
            + "."
        )
        unproved = [f"{row.sentences - row.certified} ({row.decoder})" for row in rows.itertuples()]
        if (rows["certified"] < rows["sentences"]).any():
            said.append(
                f"Of its {published.sentences} sentences a limit left without proof: {', '.join(unproved)}. A search "
                "that the limit stops would have needed more than is counted."
            )
        else:
            said.append(f"All prove all {published.sentences} trees optimal.")
    return Remarks(tuple(said))


def sentence_by_sentence(data: pd.DataFrame) -> Remarks:
    """About `tables.tuned_sentences`."""
    if data.empty:
        return Remarks(("This run keeps no single sentences.",))
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


def _share(ratio: float) -> str:
    return f"1/{ratio:.1f}" if ratio >= 1 else f"{1 / ratio:.1f} times"


def confidence(words: pd.DataFrame, measured: pd.Series) -> Remarks:
    """About `Results.words` and the corpus's row of `Results.confidence`."""
    top = words[words["margin"] >= words["margin"].median()]
    low = words[words["margin"] <= words["margin"].quantile(0.1)]
    error = 100 * measured["calibration_error"]
    lists = {int(k): uas for k, uas in measured["best_of_list"].items()}
    longest = max(lists)
    return Remarks(
        (
            f"Of the words of {measured['sentences']} test sentences, those with the larger half of the margins have "
            f"the right head in {100 * top['correct'].mean():.1f} %, the tenth with the smallest ones in "
            f"{100 * low['correct'].mean():.1f} %.",
            f"On them a marginal is off by {error:.1f} points on average, after one number, the scale "
            f"{measured['scale']:g}, was chosen on the development set.",
            f"The parser's first tree has {lists[1]:.2f} UAS; the best of its {longest} best trees would have "
            f"{lists[longest]:.2f}: that is what a reranker could gain at most.",
            f"{measured['complete']} of {measured['sentences']} lists are proved complete.",
        )
    )


def calibration(data: pd.DataFrame, tested: Mapping[str, int], asked: int) -> Remarks:
    """About `Results.confidence`: the sample behind the figures of every corpus, and how far they differ.

    tested  corpus -> sentences of its test set; asked: how many of them the parameters ask for
    """
    parts = [
        f"{row.corpus} {100 * row.calibration_error:.1f} points ({row.sentences:,} of {tested[row.corpus]:,} test "
        f"sentences, {row.scored_words:,} words)"
        for row in data.itertuples()
    ]
    said = [f"How far a marginal is off on average differs from corpus to corpus: {'; '.join(parts)}."]
    if less := [row.corpus for row in data.itertuples() if row.sentences < min(asked, tested[row.corpus])]:
        said.append(
            f"The parameters ask for {asked} sentences; the metrics of {', '.join(less)} were computed on fewer."
        )
    said.append("No interval is given for these figures; those of few sentences are the less certain ones.")
    return Remarks(tuple(said))
