"""Sentences about a table, computed from the very data that the table shows. No claim is written down beforehand."""

from __future__ import annotations

import math

import pandas as pd

from treebound.plots.figures import pareto
from treebound.report.show import Remarks
from treebound.report.tables.comparison import PEERS
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
    both = "B&B + all grandchild + all sibling"
    for part, kind in (("all sibling + comb", "The combined system"), (both, "All grandchildren and siblings alone")):
        rows = ours[ours.index == part] if part == both else ours[[part in label for label in ours.index]]
        gains = (rows.iloc[0] - base).dropna() if len(rows) else base.iloc[:0]
        if len(gains):
            listed = ", ".join(f"{gain:+.2f} on {corpus} ({name})" for (name, corpus), gain in gains.items())
            said.append(f"{kind} of ours: {listed}.")
    single = {name: _row(ours, f"B&B + {name}") - base for name in FAMILIES}
    gains = pd.DataFrame(single).T.dropna(axis=1, how="all")
    if gains.empty:
        return Remarks((*said, "No run of ours has a family alone beside the baseline."))
    best = gains.idxmax()
    said.append(
        "Of the single families the most is brought by "
        + ", ".join(
            f"{best[column]} on {column[1]} ({column[0]}, {gains[column].max():+.2f})" for column in gains.columns
        )
        + "."
    )
    worse = [
        f"{family} on {column[1]} ({column[0]}, {gain:+.2f})"
        for column in gains.columns
        for family, gain in gains[column].dropna().items()
        if gain < 0
    ]
    said.append(
        f"Below the baseline stay {', '.join(worse)}." if worse else "No single family stays below the baseline."
    )
    return Remarks(tuple(said))


#: the rows of the paper that add one family to the baseline
FAMILIES = (
    "all grandchild",
    "all great-grandchild",
    "all sibling",
    "all tri-sibling",
    "comb",
    "hand-crafted",
)


def learners(perceptron: pd.DataFrame, mira: pd.DataFrame) -> Remarks:
    """About the tables of two learners: the same systems on the same corpora."""
    tables = (data[data.index.get_level_values(0) != PEERS] for data in (perceptron, mira))
    ours = [data.drop(columns=["published", ""], level=0) for data in tables]
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
        said.append(f"With {len(data)} tests about {max(1, round(0.05 * len(data)))} would pass 5 % by chance alone.")
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
    said = [f"Gold tags bring {gain.min():+.2f} to {gain.max():+.2f} UAS."]
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
        f"{lost.max():.0f} %)."
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
            f"{system} is better than the system before it on {(gain > 0).sum()} of {len(gain)} corpora; its gain is "
            f"{gain.mean():+.2f} UAS on average, from {gain.min():+.2f} ({worst}) to {gain.max():+.2f} ({best})."
        )
    for group in data.columns.unique(0):
        if not group.endswith(AGAINST):
            continue
        system, gain, p = group.removesuffix(AGAINST), data[group, "UAS"], data[group, "p"]
        sure = gain[(p < 0.05) & (gain.abs() >= 0.5)]
        better, worse = (", ".join(part.index.get_level_values("corpus")) for part in (sure[sure > 0], sure[sure < 0]))
        said.append(
            f"Half a point or more from the baseline, with p < 0.05: {system} is better on {better or 'none'}, "
            f"worse on {worse or 'none'}."
        )
    crossing = data["", "crossing, %"]
    last = data["UAS gained over the one before"].iloc[:, -1]
    if len(data) > 2 and crossing.std() > 0 and last.std() > 0:
        said.append(
            f"Between the share of sentences with crossing arcs and what the last system gains, the correlation over "
            f"corpora is {crossing.corr(last):+.2f}."
        )
    return Remarks(tuple(said))


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


def calls(total: pd.DataFrame) -> Remarks:
    """About Table 3's total of DP calls (`tables.pruning_table`): what pruning saves the search."""
    said = []
    for name, corpus in (c for c in total.columns if c[0]):
        swept = total[name, corpus].dropna()
        if len(swept) > 1 and swept.min() > 0:
            said.append(
                f"{corpus} ({name}): from {swept.min():,.0f} calls ({swept.idxmin()}) to {swept.max():,.0f} "
                f"({swept.idxmax()}), a factor of {swept.max() / swept.min():.1f}."
            )
    return Remarks(tuple(said) or ("Nothing was decoded with several k.",))


def frontier(points: pd.DataFrame) -> Remarks:
    """About `tables.accuracy_and_speed`: what no other system beats in both, and where others' parsers stand."""
    said = []
    for corpus, rows in points.groupby("corpus", sort=False):
        best = pareto(rows)
        names = [f"{r.system} ({r.label})" if r.label and r.label != r.system else r.system for r in best.itertuples()]
        said.append(f"On {corpus} nothing beats, from slow to fast: {', '.join(names)}.")
        for other in rows[rows["group"] == "others"].itertuples():
            better = rows[
                (rows["group"] != "others")
                & (rows["uas"] >= other.uas)
                & (rows["words_per_cpu_s"] >= other.words_per_cpu_s)
            ]
            verdict = f"beaten in both by {len(better)} of ours" if len(better) else "beaten in both by none of ours"
            said.append(f"{other.system} ({other.uas:.2f} UAS, {other.words_per_cpu_s:,.0f} words/s) is {verdict}.")
    return Remarks(tuple(said))


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
