"""Sentences about a table, computed from the very data that the table shows. No claim is written down beforehand."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from treebound.report.sentences import UNTESTED, Said, about, correlation, each, listing, span, told
from treebound.report.tables.repeats import AGAINST


@about()
def conversion(data: pd.DataFrame) -> Said:
    """About `Results.convert` of one or several runs."""
    of = {split: rows.drop_duplicates("corpus").set_index("corpus") for split, rows in data.groupby("split")}
    share = 100 * of["test"]["nonprojective_sentences"] / of["test"]["sentences"]
    yield f"Tokens of the training sets: {span(of['train']['tokens'], '{:,}')}."
    yield (
        f"Test sentences with crossing arcs in their gold tree, %: {span(share, '{:.1f}')}; a projective parser cannot "
        "get those entirely right, whatever its scores."
    )


@about("The parsers of every corpus see the treebank's own tags.")
def tagging(data: pd.DataFrame) -> Said:
    """About `tables.tagging`, which may have no rows."""
    gap = data["accuracy, %", "train (jackknifed)"] - data["accuracy, %", "test"]
    yield f"Accuracy of the tags of training less that of test, points: {span(gap, '{:+.1f}')}."
    yield "Corpora that are not in this table keep the treebank's own tags."


@about("No row was run with other tags or another seed: see variants in params.yaml.")
def variants(data: pd.DataFrame) -> Said:
    """About `tables.variants`, which may have no rows."""
    gap = data["difference"]
    yield f"The {len(data)} rows differ from those beside them by {gap.min():+.2f} to {gap.max():+.2f} UAS. {UNTESTED}"


@about()
def pruner(data: pd.DataFrame) -> Said:
    """About `Results.pruner`."""
    test = data[data["split"] == "test"]
    worst = test.loc[test.groupby("k")["recall"].idxmin()].set_index("k")
    lost = listing(f"{100 * (1 - row.recall):.2f} % at k = {k} ({row.corpus})" for k, row in worst.iterrows())
    yield f"Heads that pruning puts out of reach, in the corpus that suffers most: {lost}.", worst


@about("No run here has measured thresholds: see `pruner: thresholds:` in params.yaml, and run `make reproduce`.")
def pruner_thresholds(data: pd.DataFrame) -> Said:
    """About `Results.pruner_thresholds`, which may have no rows."""
    for threshold, found in each(data[data["split"] == "test"], "threshold"):
        rows = found.drop_duplicates("corpus").set_index("corpus")
        lost = 100 * (1 - rows["recall"])
        yield (
            f"At {threshold:g} a word keeps on average {span(rows['heads_a_word'], '{:.1f}')} heads, and "
            f"{span(lost)} % of the gold ones are out of reach.",
            rows,
        )


@about("This run has no baseline to compare with.")
def significance(data: pd.DataFrame) -> Said:
    """About `tables.significance`."""
    yield f"By the bootstrap, {told(data)}."
    agree = int(((data["p"] < 0.05) == (data["p (words)"] < 0.05)).sum())
    yield (
        f"McNemar's test over single words comes to the same verdict in {agree} of {len(data)} cases; it takes words "
        "for independent, so that the bootstrap is the one to trust."
    )


@about("No row was trained with several seeds: see variants in params.yaml.")
def seeds(data: pd.DataFrame) -> Said:
    """About `tables.seeds`, which may have no rows."""
    yield (
        "A training repeated with another order of the sentences moves UAS by a standard deviation of "
        f"{span(data['UAS', 'deviation'])}."
    )
    yield from over_seeds(data)


def over_seeds(data: pd.DataFrame) -> Said:
    """Every system's mean difference from the baseline over seeds, beside its deviation."""
    gains = data["UAS over the baseline"].assign(seeds=data["", "seeds"]).dropna() if len(data) else data
    for (run, corpus, learner, system), row in gains.iterrows():
        verdict = "more" if abs(row["mean"]) > 2 * row["deviation"] else "no more"
        yield (
            f"Over {row['seeds']:.0f} seeds {system} ({learner}) is {row['mean']:+.2f} UAS from the baseline on "
            f"{corpus}, {verdict} than twice the deviation of that difference, {row['deviation']:.2f} ({run}).",
            row,
        )


@about("No row was run with gold tags beside predicted ones: see variants in params.yaml.")
def tags(data: pd.DataFrame) -> Said:
    """About `tables.tags`, which may have no rows."""
    yield f"Gold tags bring {span(data['UAS', 'difference'], '{:+.2f}')} UAS. {UNTESTED}"
    for (run, corpus, learner), rows in each(data["UAS"], [*data.index.names[:3]]):
        if len(rows) > 1:
            gap = rows.iloc[-1] - rows.iloc[0]
            yield (
                f"On {corpus} ({learner}, {run}) {rows.index[-1]} is {gap['predicted']:+.2f} from {rows.index[0]} with "
                f"predicted tags and {gap['gold']:+.2f} with gold ones.",
                rows,
            )


@about("No search that gives up was run beside an exact one: see `gold` in params.yaml.")
def errors(data: pd.DataFrame) -> Said:
    """About `tables.errors`, which may have no rows."""
    for (corpus, system, search), row in data.iterrows():
        found = row["the search"]
        yield (
            f"On {corpus} {search} misses the best tree of {system} in {found['search errors, %']:.1f} % of the "
            f"sentences, which costs {found['UAS less than exact']:+.2f} UAS; in "
            f"{found['of these, gold scores more, %']:.0f} % of those the gold tree was the better one.",
            found,
        )
    exact = data["the exact tree"].droplevel("search")
    exact = exact[~exact.index.duplicated()]
    yield (
        "The exact search makes no search errors: its wrong trees are errors of the model "
        f"({span(exact['gold scores less, %'], '{:.0f} %')}) or have gold trees that it cannot return "
        f"({span(exact['gold out of reach, %'], '{:.0f} %')}). {UNTESTED}"
    )


@about("The reference run has no such part yet (`make reference`).")
def multilingual(data: pd.DataFrame) -> Said:
    """About `tables.multilingual`, which may have no rows."""
    for system, gain in data["UAS gained over the one before"].droplevel("language").items():
        ends = span(gain, "{:+.2f}")
        yield (
            f"{system}, UAS over the system before it: {gain.mean():+.2f} on average of {len(gain)} corpora, {ends}; "
            "not tested."
        )
    for system, rows in against(data):
        mean = rows["difference"].mean()
        yield f"{system} is {mean:+.2f} UAS from the baseline on average of {len(rows)} corpora; {told(rows)}.", rows
    crossing, last = data["", "crossing, %"], data["UAS gained over the one before"].iloc[:, -1]
    if len(data) > 3 and crossing.std() > 0 and last.std() > 0:
        yield (
            f"Between the share of sentences with crossing arcs and what {last.name} gains over the system before it, "
            f"the correlation over corpora is {correlation(crossing, last)}."
        )


def against(more: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """System -> its difference from the baseline and p, by corpus; of `tables.multilingual`, which may have no rows.

    Without a test there is no p, and nothing to be said.
    """
    groups = [group for group in more.columns.unique(0) if group.endswith(AGAINST)] if len(more) else []
    return [
        (
            group.removesuffix(AGAINST),
            more[group].droplevel("language").rename(columns={"UAS": "difference"}).dropna(how="all"),
        )
        for group in groups
    ]


@about()
def tuning(data: pd.DataFrame) -> Said:
    """About `tables.tunings`."""
    for corpus, rows in each(data, "corpus"):
        first, *tuned = rows.itertuples()
        needs = listing(
            f"{row.decoder} needs {_share(first.dp_calls / row.dp_calls)} of the DP calls and "
            f"{_share(first.seconds / row.seconds)} of the time"
            for row in tuned
        )
        part = f"the first {first.sentences:,}" if first.sentences < first.of else "all"
        left = [f"{row.sentences - row.certified} ({row.decoder})" for row in rows.itertuples()]
        proofs = (
            f"a limit left without proof {listing(left)} of {first.sentences}, which would have needed more than is "
            "counted"
            if (rows["certified"] < rows["sentences"]).any()
            else f"all prove all {first.sentences} trees optimal"
        )
        yield (
            f"On {corpus}, {part} of {first.of:,} test sentences, against the published configuration, {needs}; "
            f"{proofs}.",
            rows,
        )


def _share(ratio: float) -> str:
    return f"1/{ratio:.1f}" if ratio >= 1 else f"{1 / ratio:.1f} times"


@about("Its single sentences are not kept: a run of your own has them.")
def sentence_by_sentence(data: pd.DataFrame) -> Said:
    """About `tables.tuned_sentences`."""
    published, tuned = (data[column] for column in data.columns[1:3])
    yield (
        f"{tuned.name} needs fewer calls on {100 * (tuned < published).mean():.0f} % of the {len(data)} sentences and "
        f"more on {100 * (tuned > published).mean():.0f} %; the median ratio is "
        f"{(published / tuned.clip(lower=1)).median():.1f}, the ratio of the means "
        f"{published.mean() / tuned.mean():.1f}."
    )
    both = data[data["proved"]]
    differ = int((~both["same"]).sum())
    yield (
        f"On {differ} of the {len(both)} sentences that both prove, scores differ: a proof must be wrong."
        if differ
        else f"On all {len(both)} sentences that both prove, their trees have the same score."
    )


@about()
def ablation(data: pd.DataFrame, ranking: pd.DataFrame) -> Said:
    """About `tables.ablations` and `tables.ablation_ranking`."""
    first, others = data["configuration"].iloc[0], ranking.drop(data["configuration"].iloc[0])
    for figure, name in (("ms", "time"), ("DP calls", "calls")):
        yield (
            f"Beside {first} the other configurations take {span(others[figure])} times the {name} (geometric means, "
            f"corpora: {data['corpus'].nunique()}).",
            ranking,
        )
    left = data[data["proved"] < 100]
    listed = listing(f"{100 - row.proved:.1f} % ({row.configuration}, {row.corpus})" for row in left.itertuples())
    yield (
        f"Sentences that the limit on calls left without proof: {listed}."
        if len(left)
        else "Every configuration proves every tree optimal."
    )


@about()
def confidence(words: pd.DataFrame, measured: pd.Series) -> Said:
    """About `Results.words` and the corpus's row of `Results.confidence`."""
    top = words[words["margin"] >= words["margin"].median()]
    low = words[words["margin"] <= words["margin"].quantile(0.1)]
    lists = {int(k): uas for k, uas in measured["best_of_list"].items()}
    yield (
        f"Of the words of {measured['sentences']} test sentences, those with the larger half of the margins have "
        f"the right head in {100 * top['correct'].mean():.1f} %, the tenth with the smallest ones in "
        f"{100 * low['correct'].mean():.1f} %."
    )
    yield (
        f"On them a marginal is off by {100 * measured['calibration_error']:.1f} points on average, after one number, "
        f"the scale {measured['scale']:g}, was chosen on the development set.",
        measured,
    )
    yield (
        f"The parser's first tree has {lists[1]:.2f} UAS; the best of its {max(lists)} best trees would have "
        f"{lists[max(lists)]:.2f}: that is what a reranker could gain at most.",
        measured,
    )
    yield f"{measured['complete']} of {measured['sentences']} lists are proved complete.", measured


@about()
def calibration(data: pd.DataFrame, tested: Mapping[str, int], asked: int) -> Said:
    """About `Results.confidence`: the sample behind the figures of every corpus, and how far they differ.

    tested  corpus -> sentences of its test set; asked: how many of them the parameters ask for
    """
    parts = "; ".join(
        f"{row.corpus} {100 * row.calibration_error:.1f} points ({row.sentences:,} of {tested[row.corpus]:,} test "
        f"sentences, {row.scored_words:,} words)"
        for row in data.itertuples()
    )
    yield f"How far a marginal is off on average differs from corpus to corpus: {parts}."
    if less := [row.corpus for row in data.itertuples() if row.sentences < min(asked, tested[row.corpus])]:
        yield f"The parameters ask for {asked} sentences; the metrics of {listing(less)} were computed on fewer."
    yield "No interval is given for these figures; those of few sentences are the less certain ones."
