"""Generated sentences about trees that follow the rules of the validator, computed from the tables of the page."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from studies.across.validity.example import Example
from studies.across.validity.measure import MISTYPED
from studies.across.validity.settings import ValidTrees
from studies.across.validity.tables import gains, stored
from studies.site.collect import Results, title
from studies.site.sentences import (
    Sentences,
    about,
    each,
    from_to,
    how_many_corpora,
    joined,
    listing,
    share,
    significance_text,
    span,
    wins,
)
from studies.site.show import Remarks

NONE = "No run on this page has parses with and without rules. List corpora under `validity:` in params.yaml."
WORST = 1.3  #: the target for the time with rules, as a multiple of the time without them


@about(NONE)
def answer(data: pd.DataFrame) -> Sentences:
    """Describe what the rules bring and cost in each run: errors, accuracy and time. data: `tables.measured`."""
    for run, rows in each(data, "run"):
        sums = rows.groupby(level="tags", sort=False)[["before", "after"]].sum()
        falls = " and ".join(
            f"from {row['before']:,.0f} to {row['after']:,.0f} under {tags} tags" for tags, row in sums.iterrows()
        )
        corpora = how_many_corpora(rows.index.unique("corpus"))
        yield (
            f"With rules, errors of the validator (levels 2 and 3) on {corpora} ({title(run)}) fall {falls}.",
            rows,
        )
        yield _effect_on_accuracy(rows), rows
        ratios = rows["cpu_s_valid"] / rows["cpu_s"]
        yield f"Parsing takes {from_to(ratios, '{:.1f}')} times the CPU time of parsing without rules.", rows


def _effect_on_accuracy(rows: pd.DataFrame) -> str:
    """Say how often the rules cost accuracy significantly, with the range of the differences and of their intervals."""
    scores = {score.upper(): gains(rows, score) for score in ("uas", "las")}
    changes = joined(
        [
            f"{name} changes by {from_to(gain['difference'], '{:+.2f}')} points (95 % intervals within "
            f"[{gain['low'].min():+.2f}, {gain['high'].max():+.2f}])"
            for name, gain in scores.items()
        ]
    )
    tests, losses = sum(len(gain) for gain in scores.values()), sum(wins(gain)[1] for gain in scores.values())
    return f"A loss of accuracy is significant in {losses or 'none'} of {tests} tests: {changes}."


@about()
def proofs(data: pd.DataFrame) -> Sentences:
    """Count the test sentences, and the parses with rules that are proved to be best. data: `tables.measured`."""
    if not len(data):
        return
    for run, rows in each(data, "run"):
        sizes = rows.groupby(level="tags", sort=False)["sentences"].sum()
        counts = joined([f"{size:,} under {tags} tags" for tags, size in sizes.items()])
        yield f"Test sentences of {title(run)}: {counts}.", rows
    sentences = int(data["sentences"].sum())
    proved, named = int(data["proved"].sum()), int(data["named"].sum())
    yield (
        f"{proved:,} of {sentences:,} parses with rules are proved to be the best valid ones"
        + (
            f"; sentences without a valid tree, which are listed: {named:,}."
            if named
            else "; every sentence has a valid tree."
        )
    )


@about()
def accuracy(data: pd.DataFrame) -> Sentences:
    """Describe the effect of the rules on UAS and LAS for each corpus, tested by a paired bootstrap over sentences."""
    for score in ("uas", "las"):
        if len(data):
            yield (
                f"{score.upper()} with rules minus {score.upper()} without rules: "
                f"{significance_text(gains(data, score))}.",
                data,
            )


@about()
def cost(data: pd.DataFrame) -> Sentences:
    """Describe the time of parsing with rules, and the share of sentences that need a second search."""
    if not len(data):
        return
    ratios = data["cpu_s_valid"] / data["cpu_s"]
    over = int((ratios > WORST).sum())
    yield (
        f"Parsing with rules takes {span(ratios, '{:.2f}')} times the CPU time of parsing without rules (median of the "
        f"runs, all stages except reading); it takes more than {WORST} times as long in {over} of {len(ratios)} cases."
    )
    searched, sentences = int(data["searched"].sum()), int(data["sentences"].sum())
    yield (
        "The best tree breaks a rule with the labels that are chosen together with it, so that a second search is "
        f"needed, in {share(searched, sentences)} parses."
    )


@about()
def models(results: Sequence[Results]) -> Sentences:
    """Name the model and the training sentences of every corpus."""
    for run in results:
        spec = run.params.section(ValidTrees).model
        sizes = listing(f"{c} {m['training_sentences']:,}" for _, c, m in stored([run]) if "gold" in m)
        if sizes != "none":
            families = ", ".join(spec.families) or "arcs alone"
            yield (
                f"{run.title.capitalize()}: models of {families} ({spec.epochs} epochs, 2^{spec.bits} weights, seed "
                f"{spec.seed}), trained with gold tags; training sentences: {sizes}."
            )


@about()
def uncovered(data: pd.DataFrame) -> Sentences:
    """Say how tags and labels that are not universal change the rules of each corpus. data: `tables.uncovered`."""
    for (run, corpus), row in data.iterrows():
        kinds = [kind for kind in ("tags", "labels") if row[kind]]
        counts = joined([f"{row[kind]} {kind if row[kind] > 1 else kind.removesuffix('s')}" for kind in kinds])
        verb = "is" if row[kinds].sum() == 1 else "are"
        yield f"{corpus} has {counts} that {verb} not universal.", data.loc[[(run, corpus)]]
        if row["parsed"] == "no":
            yield (
                f"More than {100 * MISTYPED:g} % of the training words of {corpus} have such labels, so it is not "
                "parsed."
            )
            continue
        if row["labels"]:
            yield (
                f"At most {100 * MISTYPED:g} % of the training words of {corpus} have such a label, so it counts as a "
                "typing error: the rules are applied all the same, and no valid tree has the label."
            )
        if row["tags"]:
            yield "In a sentence with such a tag, the rules that read tags are left out."


def example(shown: Example | None, corpus: str) -> Remarks:
    """Name the rules that the best tree of a sentence breaks, and describe how the best valid tree differs."""
    if shown is None:
        return Remarks(
            (f"There is no model of {corpus}, so no sentence is parsed. Run the stage `validity`.",),
            absent=True,
            listed=False,
        )
    if not shown.broken:
        return Remarks((f"The best tree of the model of {corpus} follows all rules, so the two trees are the same.",))
    proof = "this is proved to be the best valid tree" if shown.valid.certified else "this is not proved to be the best"
    gap = (shown.plain.value - shown.valid.value) / shown.unit
    return Remarks(
        (
            f"The best tree of the model of {corpus} breaks the rule{'s' * (len(shown.broken) > 1)} "
            f"{listing(shown.broken)}.",
            f"The best valid tree has another head or label for {len(shown.changed)} of {shown.sentence.words} words. "
            f"It scores {gap:.2f} less; {proof}.",
        )
    )


def peers(results: Sequence[Results], table: pd.DataFrame) -> Remarks:
    """Name the parsers of other projects, if any, that have no result because their packages are not installed.

    table  `tables.peers`
    """
    named = {name for run in results for name in run.params.section(ValidTrees).peers}
    if not named:
        return Remarks(("These runs list no parsers of other projects under `peers` in params.yaml.",))
    shown = set(table.index.get_level_values("parser")) if len(table) else set()
    missing = sorted(named - shown)
    if not missing:
        return Remarks(())
    return Remarks((f"Without a result, because their packages are not installed: {listing(missing)}.",))
