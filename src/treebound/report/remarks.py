"""Sentences about a table, computed from the very data that the table shows. No claim is written down beforehand."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from treebound.report.sentences import ONE_SEED, UNTESTED, Said, about, correlation, each, listing, share, span, told
from treebound.report.tables.repeats import AGAINST


@about()
def conversion(data: pd.DataFrame) -> Said:
    """About `Results.convert` of one or several runs."""
    of = {split: rows.drop_duplicates("corpus").set_index("corpus") for split, rows in data.groupby("split")}
    crossing = 100 * of["test"]["nonprojective_sentences"] / of["test"]["sentences"]
    yield (
        f"{len(crossing)} corpora with training sets of {span(of['train']['tokens'], '{:,}')} tokens; in "
        f"{span(crossing, '{:.1f} %')} of their test sentences arcs of the gold tree cross, so that no projective "
        "parser gets those entirely right."
    )


@about("This run has no baseline to compare with.")
def significance(data: pd.DataFrame) -> Said:
    """About `tables.significance`."""
    yield f"By the bootstrap, {told(data)}."


@about("No row was trained with several seeds: see variants in params.yaml.")
def seeds(data: pd.DataFrame) -> Said:
    """About `tables.seeds`, which may have no rows."""
    yield (
        "A training repeated with another order of the sentences moves UAS by a standard deviation of "
        f"{span(data['UAS', 'deviation'])}, over {span(data['', 'seeds'], '{:.0f}')} seeds."
    )
    yield from over_seeds(data)


def over_seeds(data: pd.DataFrame) -> Said:
    """Every system's mean difference from the baseline over seeds, beside its deviation."""
    gains = data["UAS over the baseline"].assign(seeds=data["", "seeds"]).dropna() if len(data) else data
    listed = listing(
        f"{row['mean']:+.2f} on {corpus} ({system}, {learner}, {row['seeds']:.0f} seeds, standard deviation "
        f"{row['deviation']:.2f})"
        for (_, corpus, learner, system), row in gains.iterrows()
    )
    if len(gains):
        yield f"Trained with several seeds, UAS over the baseline is on average {listed}.", gains


@about("No row was run with gold tags beside predicted ones: see variants in params.yaml.")
def tags(data: pd.DataFrame) -> Said:
    """About `tables.tags`, which may have no rows."""
    yield f"Gold tags bring {span(data['UAS', 'difference'], '{:+.2f}')} UAS. {UNTESTED} {ONE_SEED}"
    gaps = (
        f"{gap['predicted']:+.2f} with predicted tags and {gap['gold']:+.2f} with gold ones ({place[1]}, "
        f"{rows.index[-1]} less {rows.index[0]})"
        for place, rows in each(data["UAS"], [*data.index.names[:3]])
        for gap in [rows.iloc[-1] - rows.iloc[0]]
    )
    yield f"What factors gain: {listing(gaps)}."


@about("No search that gives up was run beside an exact one: see `gold` in params.yaml.")
def errors(data: pd.DataFrame) -> Said:
    """About `tables.errors`, which may have no rows."""
    for search, rows in each(data["the search"], "search"):
        yield (
            f"{search} misses the best tree in {span(rows['search errors, %'], '{:.1f}')} % of the sentences, which "
            f"costs {span(rows['UAS less than exact'])} UAS; the gold tree scores more than the tree found in "
            f"{span(rows['of these, gold scores more, %'], '{:.0f}')} % of those sentences.",
            rows,
        )
    exact = data["the exact tree"].droplevel("search")
    exact = exact[~exact.index.duplicated()]
    yield (
        "The exact search makes no search errors: its wrong trees are errors of the model "
        f"({span(exact['gold scores less, %'], '{:.0f} %')} of the sentences) or have gold trees that it cannot return "
        f"({span(exact['gold out of reach, %'], '{:.0f} %')}). {UNTESTED}"
    )


@about("The reference run has no such part yet (`make reference`).")
def multilingual(data: pd.DataFrame) -> Said:
    """About `tables.multilingual`, which may have no rows."""
    tested = against(data)
    for system, rows in tested:
        yield over_corpora(system, rows), rows
    for system, gain in data["UAS gained over the one before"].items() if not tested else ():
        ends = span(gain.droplevel("language"), "{:+.2f}")
        yield f"{system}, UAS over the system before it: {gain.mean():+.2f} on average of {len(gain)} corpora, {ends}."
    crossing, last = data["", "crossing, %"], data["UAS gained over the one before"].iloc[:, -1]
    if len(data) > 3 and crossing.std() > 0 and last.std() > 0:
        yield (
            f"Between the share of sentences with crossing arcs and what {last.name} gains over the system before it, "
            f"the correlation over corpora is {correlation(crossing, last)}."
        )
    yield ONE_SEED if tested else f"{ONE_SEED} {UNTESTED}"


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


def over_corpora(system: str, rows: pd.DataFrame) -> str:
    """What one of `against` comes to."""
    mean = rows["difference"].mean()
    return f"On {len(rows)} more corpora {system} is {mean:+.2f} UAS from the baseline on average; {told(rows)}."


@about()
def tuning(data: pd.DataFrame) -> Said:
    """About `tables.tunings`."""
    of = data.set_index(["decoder", "corpus"])
    (_, published), *ours = each(of, "decoder")
    times = "; ".join(
        f"{span(published['dp_calls'] / rows['dp_calls'], '{:.1f}')} times the DP calls and "
        f"{span(published['seconds'] / rows['seconds'], '{:.1f}')} times the time of {name}"
        for name, rows in ours
    )
    yield (
        f"On the same scores and sentences of {len(published)} corpora the published search takes {times}. One run, "
        "without a test; calls of one dynamic program cost other times than those of another."
    )
    parts = (
        f"{'the first' if row.sentences < row.of else 'all'} {row.sentences:,}"
        f"{f' of {row.of:,}' if row.sentences < row.of else ''} ({corpus})"
        for corpus, row in zip(published.index, published.itertuples(), strict=True)
    )
    yield f"Test sentences: {listing(parts)}."
    left = of["sentences"] - of["certified"]
    listed = listing(f"{n} ({decoder}, {corpus})" for (decoder, corpus), n in left[left > 0].items())
    yield (
        f"A limit left without proof: {listed}; these would have needed more than is counted."
        if left.any()
        else "Every tree is proved optimal."
    )


@about("Its single sentences are not kept: a run of your own has them.")
def sentence_by_sentence(data: pd.DataFrame) -> Said:
    """About `tables.tuned_sentences`."""
    published, tuned = (data[column] for column in data.columns[1:3])
    yield (
        f"Of {len(data)} sentences {tuned.name} needs fewer calls on {(tuned < published).sum()} and more on "
        f"{(tuned > published).sum()}; the median ratio is {(published / tuned.clip(lower=1)).median():.1f}, the ratio "
        f"of the means {published.mean() / tuned.mean():.1f}."
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
    yield (
        f"The other configurations take {span(others['ms'])} times the time of {first} and {span(others['DP calls'])} "
        f"times its calls (geometric means over {data['corpus'].nunique()} corpora of "
        f"{data['sentences'].max()} sentences each at most, one run, without a test).",
        ranking,
    )
    left = data[data["proved"] < 100].set_index(["configuration", "corpus"])["proved"]
    yield (
        f"A limit on calls left configurations without proof of {span(100 - left, '{:.1f} %')} of the sentences: they "
        "would have needed more than is counted."
        if len(left)
        else "Every configuration proves every tree optimal."
    )


@about()
def confidence(words: pd.DataFrame, measured: pd.Series) -> Said:
    """About `Results.words` and the corpus's row of `Results.confidence`."""
    top = words.loc[words["margin"] >= words["margin"].median(), "correct"]
    low = words.loc[words["margin"] <= words["margin"].quantile(0.1), "correct"]
    lists = {int(k): uas for k, uas in measured["best_of_list"].items()}
    yield (
        f"Margins tell right heads from wrong ones: in {measured['sentences']} test sentences right are "
        f"{share(int(top.sum()), len(top))} words with the larger half of the margins, and "
        f"{share(int(low.sum()), len(low))} with the smallest tenth (95 % intervals that take words for independent)."
    )
    yield (
        f"A marginal is off by {100 * measured['calibration_error']:.1f} points on average, after one number, the "
        f"scale {measured['scale']:g}, was chosen on the development set.",
        measured,
    )
    yield (
        f"The first tree has {lists[1]:.2f} UAS, the best of its {max(lists)} best trees would have "
        f"{lists[max(lists)]:.2f}: that is what a reranker could gain at most. {measured['complete']} of "
        f"{measured['sentences']} lists are proved complete.",
        measured,
    )


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
