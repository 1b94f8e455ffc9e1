"""Sentences about speed, pruning, length and single searches, generated from the data of tables on the same page."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from studies.common.params import Row
from studies.qian_liu_2013.speed.all_heads import PASSES
from studies.site.rows import pruning as heads_in_words
from studies.site.seen import NAMES, in_words
from studies.site.sentences import (
    ONE_SEED,
    UNTESTED,
    Sentences,
    about,
    difference,
    each,
    from_to,
    how_many_corpora,
    joined,
    listing,
    percent,
    short_labels,
    span,
)
from treebound.systems.graph.parser import REDUCED_K

#: fewest sentences in a length bin that the text describes
ENOUGH = 10


@about()
def pruning(uas: pd.DataFrame, speed: pd.DataFrame, trained: Mapping[str, object]) -> Sentences:
    """Compare k = 10 candidate heads per word with no pruning in accuracy and speed (Table 3).

    uas, speed  results of `tables.pruning_table` for UAS and for speed
    trained     run -> k in training
    """
    ten, none = "branch and bound, k = 10", "branch and bound, no pruning"
    has_both = ten in uas.index and none in uas.index
    columns = [column for column in uas.columns if column[0]]
    compared = pd.DataFrame(
        {
            "UAS": uas.loc[ten, columns] - uas.loc[none, columns],
            "speed": speed.loc[ten, columns] / speed.loc[none, columns],
            "unpruned": speed.loc[none, columns],
        }
        if has_both
        else {},
        dtype=float,
    ).dropna()
    compared.index = pd.MultiIndex.from_tuples([(corpus, run) for run, corpus in compared.index], names=["", "run"])
    printed = compared.index.get_level_values("run") == "published"
    if printed.all():
        yield "No k was compared with no pruning here."
    for rows, label in (
        (compared[~printed], "Pruning with k = 10"),
        (compared[printed], "In the paper, pruning with k = 10"),
    ):
        if len(rows):
            own = label == "Pruning with k = 10"
            tested = "; one seed, tested by a claim below" if own else "; not tested"
            gains = (
                f"{label} multiplies speed by {span(rows['speed'], '{:.1f}')} and changes UAS by "
                f"{span(rows['UAS'], '{:+.2f}')} points "
                f"({how_many_corpora(rows.index.get_level_values(0))}{tested})."
            )
            yield f"{gains}{_unpruned(rows['unpruned'])}{_trained(trained)}" if own else gains, rows
    if (compared[~printed]["UAS"] > 0).any():
        yield (
            "Pruning in training may be why UAS is sometimes lower without pruning: the weights were learnt without "
            "the heads that pruning drops."
        )


def _unpruned(speeds: pd.Series) -> str:
    """State the speed without pruning in words per CPU second, with a space before the sentence."""
    return f" Without pruning, the speed is {span(speeds, '{:,.0f}')} words per CPU second."


def _trained(trained: Mapping[str, object]) -> str:
    """State the k with which the models of each run were trained, with a space before the sentence.

    trained  run -> k in training, or "none"
    """
    pruned = {name: f"k = {k}" if str(k) != "none" else "no pruning" for name, k in trained.items()}
    if len(set(pruned.values())) == 1:
        ours = f"All models were trained with {next(iter(pruned.values()))}"
    else:
        ours = f"Training: {listing(f'{how} ({name})' for name, how in pruned.items())}"
    return f" {ours}; the paper prunes in testing only."


@about()
def frontier(points: pd.DataFrame, beaten: pd.DataFrame) -> Sentences:
    """Count the parsers of other projects that some of our rows beat in both accuracy and speed.

    points  `tables.accuracy_and_speed`
    beaten  `tables.beaten` of `points`
    """
    some = beaten[beaten["more accurate and faster"] > 0] if len(beaten) else beaten
    yield (
        f"On the test sets, at least one of our rows beats {len(some)} of {len(beaten)} parsers of others in both "
        "accuracy and speed. The rows include every decoder and every k that was timed on whole test sets. "
        f"{_seeds(points)} No difference was tested here.",
        beaten,
    )


def _seeds(points: pd.DataFrame) -> str:
    """State over how many trainings the accuracies of `points` are averaged."""
    several = points[points["seeds"] > 1]
    if several.empty:
        return ONE_SEED
    return (
        f"Accuracies of {len(several)} of {len(points)} rows (ours and others) are means over "
        f"{from_to(several['seeds'])} seeds; the others come from one training each."
    )


#: training (in the stage `steps`) that leaves out a column of the treebank -> name of the column in a sentence
WITHOUT = {"no-lemmas": NAMES["lemma"], "no-features": NAMES["feats"]}


@about("No parser of others was run: name some under peers in params.yaml.")
def peers(data: pd.DataFrame, seen: Mapping[str, list[str]], steps: pd.DataFrame) -> Sentences:
    """Describe the treebank columns that peers see, and the columns that only our parsers see.

    data   `comparison.others.peers`, which may have no rows
    seen   corpus -> columns of the treebank that graph-based and sampling parsers see
    steps  `steps.tables.step_tests`, which show the loss of a graph-based parser without such columns
    """
    corpora = list(dict.fromkeys(data.index.get_level_values("corpus")))
    if equal_view := [corpus for corpus in corpora if not seen.get(corpus)]:
        yield f"On {listing(equal_view)} our parsers and the peers see forms and tags only."
    for corpus in (corpus for corpus in corpora if seen.get(corpus)):
        worth = [
            f"{figure} without {WITHOUT[training]} {difference(row)}"
            for (place, figure, training), row in steps.iterrows()
            if str(place).startswith(f"{corpus}, ") and training in WITHOUT
        ]
        loss = (
            f" On the development set, the base model of the steps of learning changes (one training each): "
            f"{'; '.join(worth)}."
            if worth
            else ""
        )
        yield (
            f"On {corpus} the peers see forms and tags only. Our graph-based and sampling parsers also see the "
            f"treebank's own {in_words(seen[corpus])}, so the difference is not due to the parsers alone. We "
            f"did not train our parsers again on the columns that the peers see.{loss}",
            steps if worth else data,
        )


@about()
def repeats(data: pd.DataFrame) -> Sentences:
    """Describe `tables.benchmarked`: the number of repeats behind the median times, and their spread."""
    once, many = int((data["repeats"] == 1).sum()), data.loc[data["repeats"] > 1, "spread, %"]
    notes = f"; {once} of the {len(data)} rows were timed once and have no spread" if once else ""
    notes += f"; the largest spread is {many.max():.1f} %" if len(many) else ""
    yield f"Times are medians over the repeats, after a first run that compiles{notes}."


@about()
def length(data: pd.DataFrame) -> Sentences:
    """Describe `tables.lengths`: the growth of the mean time with the length of sentences, with and without pruning.

    Growth is measured between bins that hold enough sentences: from the first bin to the last bin, and from the last
    but one to the last. Each figure names the lengths of its bins.
    """
    steps = []
    for (corpus, k), rows in data[data["k"].isin(_shown(data))].groupby(["corpus", "k"], sort=False):
        curve = rows[rows["sentences"] >= ENOUGH].sort_values("lo")
        if len(curve) > 1:
            first, next_to_last, last = curve.iloc[0], curve.iloc[-2], curve.iloc[-1]
            step = {"whole": power(first, last), "end": power(next_to_last, last), "longest": 1e3 * last["mean_s"]}
            bins = [f"{row['lo']:.0f}-{row['hi']:.0f}" for row in (first, next_to_last, last)]
            step |= {"whole lengths": f"{bins[0]} to {bins[2]} words", "end lengths": f"{bins[1]} to {bins[2]} words"}
            step["longest lengths"] = f"{bins[2]} words"
            steps.append({"k": "without pruning" if k == "none" else f"at k = {k}", "corpus": corpus, **step})
    if not steps:
        yield f"No two bins of lengths hold {ENOUGH} sentences: too few for a trend."
        return
    grown = pd.DataFrame(steps).set_index(["k", "corpus"])
    powers = "; ".join(f"{_span(rows, 'whole', '{:.1f}')} {name}" for name, rows in each(grown, "k"))
    steeper = int((grown["end"] > grown["whole"]).sum())
    yield (
        f"Whether growth is exponential stays open. From the first to the last bin of at least {ENOUGH} sentences "
        f"(filled marks), the mean time grows as a power of the length with the exponent {powers}.",
        grown,
    )
    yield (
        f"For {steeper} of the {len(grown)} curves described here, growth is steeper between the last two bins than "
        "from the first to the last. Exponential growth would look like that, and so would a few hard sentences in a "
        "small bin.",
        grown,
    )
    for name, rows in each(grown, "k"):
        yield (
            f"Between the last two such bins, {name}, the exponent is {_span(rows, 'end', '{:.1f}')}. In the last such "
            f"bin, a sentence takes {_span(rows, 'longest', '{:,.0f} ms')}.",
            rows,
        )
    others = [k for k in dict.fromkeys(data["k"]) if k not in _shown(data)]
    curves = f"the curves for {listing(map(heads_in_words, others))} and " if others else ""
    yield f"This text leaves out {curves}bins of fewer than {ENOUGH} sentences (empty marks)."


@about("Every sentence that these runs store has a proof.")
def without_proof(data: pd.DataFrame) -> Sentences:
    """Describe the lengths of the sentences that have no proof. data: `tables.without_proof`."""
    for k, rows in data.groupby("k", sort=False):
        places = joined(
            [
                f"{row['unproved']:,} of {row['sentences']:,} sentences of {row['corpus']} "
                f"({from_to(pd.Series([row['shortest'], row['longest']]))} words)"
                for row in rows.to_dict("records")
            ]
        )
        why = (
            f" They are too large to be searched without pruning, so they keep at most {REDUCED_K} heads per word."
            if k == "none"
            else ""
        )
        yield f"{'Without pruning' if k == 'none' else f'With k = {k}'}, {places} have no proof.{why}", rows
    yield "Every other sentence that these runs store has a proof."


def _span(rows: pd.DataFrame, figure: str, text: str) -> str:
    """Describe the smallest and the largest value of a figure, with their corpora and the lengths of their sentences.

    rows  one row per corpus, with the columns `figure` and `figure lengths`
    """
    places = zip(short_labels(rows.index), rows[f"{figure} lengths"], strict=True)
    return span(rows[figure].set_axis([f"{corpus}, {lengths}" for corpus, lengths in places]), text)


def _shown(data: pd.DataFrame) -> list[str]:
    """Return the pruning settings to describe: k = 10 and no pruning, or else the last setting in the data."""
    settings = list(dict.fromkeys(data["k"]))
    return [k for k in ("10", "none") if k in settings] or settings[-1:]


def power(low: pd.Series, high: pd.Series) -> float:
    """Return the exponent p of `time ~ length ** p`, estimated between the middles of two length bins.

    low, high  rows of the two bins in a table of mean times by sentence length
    """
    middle = [(row["lo"] + row["hi"]) / 2 for row in (low, high)]
    return math.log(high["mean_s"] / low["mean_s"]) / math.log(middle[1] / middle[0])


@about()
def proofs(searched: pd.DataFrame, corpus: str, row: Row) -> Sentences:
    """Describe the searches of one row: the number of proved trees, and the largest work for a sentence.

    searched  `frames.sentences` of the row
    """
    proved, once = int((searched["status"] == "optimal").sum()), int((searched["dp_calls"] <= 1).sum())
    yield (
        f"Of {len(searched):,} test sentences of {corpus}, parsed with {row.model} ({row.learner}, k = {row.k}, "
        f"decoder {row.decoder}), {proved:,} come with a proof that no other tree scores more, "
        f"{once:,} at the first call of the dynamic program. The largest number of calls for a sentence is "
        f"{searched['dp_calls'].max():,.0f}, and the largest search tree has {searched['nodes'].max():,.0f} nodes.",
        searched[["n", "status", "dp_calls", "nodes"]],
    )


@about()
def largest_search(searched: pd.DataFrame, number: int, corpus: str, longest: int) -> Sentences:
    """Count the test sentences that are solved without branching, and say why one sentence is shown.

    searched  one row per test sentence of at most `longest` words: dp_calls, nodes; the index is the sentence, from 0
    number    the sentence that is shown, which has the most nodes and, among sentences with equal nodes, the most calls
    """
    once, shown = int((searched["nodes"] <= 1).sum()), searched.loc[number].astype(int)
    yield (
        f"{once:,} of {len(searched):,} test sentences of {corpus} with at most {longest} words are solved in the "
        f"first node, without branching. Sentence {number + 1} is shown. None of the others has more nodes "
        f"({shown['nodes']:,}) or, with as many nodes, more calls of the dynamic program ({shown['dp_calls']:,}).",
        searched,
    )


@about()
def own_scores(table: pd.DataFrame, sentences: int) -> Sentences:
    """Describe UAS and shares of best trees when the same scores are decoded in several ways.

    table      one row per way of decoding: UAS, the best tree, %; the first row is not a search over trees
    sentences  number of test sentences
    """
    first, trees = table.iloc[0], table.iloc[1:]
    yield (
        f"In {first['the best tree, %']:.1f} % of {sentences:,} test sentences, the best heads of the words already "
        f"form the best non-projective tree ({first['UAS']:.2f} UAS)."
    )
    proved = trees["the best tree, %"]
    shares = "all of them are" if (proved == 100).all() else f"{from_to(proved, '{:.1f}')} % of them are"
    listed = joined([f"{uas:.2f} ({name})" for name, uas in trees["UAS"].items()])
    yield f"Searched trees have {listed} UAS; {shares} proved to be the best. {ONE_SEED} {UNTESTED}"


@about()
def beyond_arcs(table: pd.DataFrame) -> Sentences:
    """Say how the scores of grandparents change UAS, in the table of `own_scores`."""
    before, after = (table.loc[name, "UAS"] for name in ("projective tree", "projective tree with grandparents"))
    change = "raise" if after > before else "lower" if after < before else "do not change"
    values = f" from {before:.2f} to {after:.2f}" if after != before else f", which is {before:.2f}"
    yield f"Here the scores of grandparents {change} the UAS of the projective tree{values}. {ONE_SEED} {UNTESTED}"


@about()
def all_heads(searches: pd.DataFrame) -> Sentences:
    """Compare a search over all heads with a search over a few heads for each word, with the same scores.

    searches  `all_heads.searches`
    """
    few, everything = searches.loc["allowed heads"], searches.loc["all heads"]
    times, other = everything["CPU s"] / few["CPU s"], int(everything["other trees"])
    yield (
        f"On {everything['sentences']:,.0f} evenly spaced test sentences, the search over all heads takes {times:.1f} "
        f"times the CPU time of the search over the allowed heads (the fastest of {PASSES} passes each). It finds "
        f"another tree for {percent(other, int(few['sentences']))} of the sentences."
    )
