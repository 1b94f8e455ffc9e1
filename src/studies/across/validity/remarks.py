"""Sentences about trees that keep the rules of the validator, computed from the tables of the page."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from studies.across.validity.example import Example
from studies.across.validity.settings import ValidTrees
from studies.across.validity.tables import gains, stored
from studies.site.collect import Results
from studies.site.sentences import Said, about, each, listing, share, span, told
from studies.site.show import Remarks

NONE = "No run here has parses with and without rules: list corpora under `validity:` in params.yaml."
WORST = 1.3  #: the target for the time with rules, as a multiple of the time without them


def _errors(count: int) -> str:
    return f"{count:,} error" if count == 1 else f"{count:,} errors"


@about(NONE)
def answer(data: pd.DataFrame) -> Said:
    """Describe `tables.measured`: errors of the validator before and after, and what they cost in accuracy."""
    for (run, tags), rows in each(data, ["run", "tags"]):
        own = listing(
            f"{corpus} {row['before']:,} to {row['after']:,} ({row['sentences']:,} sentences)"
            for corpus, row in rows.iterrows()
        )
        yield (
            f"With rules, the validator's errors under {tags} tags ({run}) fall from {int(rows['before'].sum()):,} to "
            f"{int(rows['after'].sum()):,}: {own}.",
            rows,
        )
    of = int(data["sentences"].sum())
    proved, named = int(data["proved"].sum()), int(data["named"].sum())
    yield (
        f"{proved:,} of {of:,} parses with rules are proved to be the best valid ones"
        + (
            f"; {named:,} sentences have no valid tree and are named."
            if named
            else "; every sentence has a valid tree."
        )
    )


@about()
def accuracy(data: pd.DataFrame) -> Said:
    """Describe what rules do to UAS and LAS, corpus by corpus: a paired bootstrap over sentences."""
    for score in ("uas", "las"):
        if len(data):
            yield f"{score.upper()} with rules less {score.upper()} without rules: {told(gains(data, score))}.", data


@about()
def cost(data: pd.DataFrame) -> Said:
    """Describe the time of parsing with rules, and how many sentences the parser searches again."""
    if not len(data):
        return
    ratios = data["cpu_s_valid"] / data["cpu_s"]
    over = int((ratios > WORST).sum())
    yield (
        f"Parsing with rules takes {span(ratios, '{:.2f}')} times the CPU time of parsing without them (median of the "
        f"runs, all stages but reading); more than {WORST} times in {over} of {len(ratios)} cases."
    )
    searched, of = int(data["searched"].sum()), int(data["sentences"].sum())
    yield f"The first tree breaks a rule, so that the parser searches again, in {share(searched, of)} sentences."


@about()
def models(results: Sequence[Results]) -> Said:
    """Name the model and the training sentences of every corpus."""
    for run in results:
        spec = run.params.section(ValidTrees).model
        sizes = listing(f"{c} {m['training_sentences']:,}" for _, c, m in stored([run]) if "gold" in m)
        if sizes != "none":
            families = ", ".join(spec.families) or "arcs alone"
            yield (
                f"{run.title.capitalize()}: models of {families} ({spec.epochs} epochs, 2^{spec.bits} weights, seed "
                f"{spec.seed}), learnt from gold tags; training sentences: {sizes}."
            )


@about()
def uncovered(data: pd.DataFrame) -> Said:
    """Describe `tables.uncovered`: corpora to whose tags or labels some rules cannot be applied."""
    for (run, corpus), row in data.iterrows():
        end = "; nothing was parsed" if row["refused"] else ""
        yield f"{corpus} ({run}): {row['note']}{end}.", row


def example(shown: Example | None, corpus: str) -> Remarks:
    """Say which rules the first tree of a sentence breaks, and how the best valid tree differs."""
    if shown is None:
        return Remarks(
            (f"There is no model of {corpus} here, so that no sentence is parsed: run the stage `validity`.",)
        )
    if not shown.broken:
        return Remarks((f"The best tree of the model of {corpus} keeps all rules: the two trees are the same.",))
    proof = "no valid tree scores more (proved)" if shown.valid.certified else "this is not proved to be the best"
    gap = (shown.plain.value - shown.valid.value) / shown.unit
    return Remarks(
        (
            f"The best tree of the model of {corpus} breaks {listing(shown.broken)}.",
            f"The best valid tree has another head or label for {len(shown.changed)} of {shown.sentence.words} words. "
            f"It scores {gap:.2f} less; {proof}.",
        )
    )


def peers(results: Sequence[Results], table: pd.DataFrame) -> Remarks:
    """Say whose output stands in `tables.peers`, and which parsers are not installed."""
    asked = {name for run in results for name in run.params.section(ValidTrees).peers}
    if not asked:
        return Remarks(("These runs name no parsers of other projects under `peers` in params.yaml.",))
    shown = set(table.index.get_level_values("parser")) if len(table) else set()
    missing = sorted(asked - shown)
    return Remarks((f"Without a result, because their packages are not installed: {listing(missing)}.",))
