"""Sentences about parsers by transitions, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import ONE_SEED, UNTESTED, Said, about, each, listing, ranked, share, span

NOT_KEPT = "No run here has {} of parsers by transitions: run `python -m studies.pipeline.run`."


@about("No row of params.yaml parses by transitions.")
def parsers(data: pd.DataFrame) -> Said:
    """About `tables.parsers`, one sentence for each kind of tags."""
    for (run, corpus, tags), of in each(data.set_index("tags", append=True), ["run", "corpus", "tags"]):
        yield f"UAS on {corpus} ({run}, {tags} tags, whole test set): {ranked(of['UAS'].astype(float))}", of


@about(NOT_KEPT.format("the sentences"))
def mended(data: pd.DataFrame, corpus: str, seen: pd.DataFrame | None = None) -> Said:
    """About `tables.mended`; seen: `tables.seen` of the same parsers, the one whose errors are mended first."""
    tags, first = "", "the greedy parser"
    if seen is not None and len(seen):
        tags, first = f" with {seen['tags'].iloc[0]} tags", str(seen.index[0])
    for name, row in data.iterrows():
        of = int(row["errors of greedy"])
        more = _sees_more(str(name), seen) if seen is not None and len(seen) else ""
        right = share(round(of * row["of these mended, %"] / 100), of)
        yield (
            f"On {corpus}{tags} {name} mends {right} words that {first} attaches wrongly (95 % interval over "
            f"words), and makes {row['new errors']:.0f} errors of its own. "
            f"{ONE_SEED}{more}",
            row,
        )


def _sees_more(name: str, seen: pd.DataFrame) -> str:
    """A sentence about what a parser sees and the first one does not, if anything."""
    greedy, other = seen.iloc[0], seen.loc[name]
    known = greedy["attributes"].split(", ")
    more = [attribute for attribute in other["attributes"].split(", ") if attribute not in known]
    if not more and other["features"] == greedy["features"]:
        return ""
    reads = f"reads {listing(more)} of words, which {seen.index[0]} does not, and " if more else ""
    return f" It {reads}has other features ({other['features']}), so that not all of the difference is search."


@about("No run here has a parser by transitions with gold tags on a corpus that MaltParser was measured on.")
def maltparser(data: pd.DataFrame, source: str) -> Said:
    """About `tables.beside_maltparser`; source: how MaltParser's figures were measured."""
    for (run, corpus), of in each(data, ["run", "corpus"]):
        parts = [f"{row} {gain:+.2f}" for row, gain in of["difference"].items()]
        yield (
            f"On {corpus} ({run}, gold tags, whole test set) MaltParser has {of['UAS of MaltParser'].iloc[0]:.2f} UAS. "
            f"Parsers by transitions less MaltParser, in points: {listing(parts)}. {ONE_SEED} {UNTESTED}",
            of,
        )
    yield f"Source of the figures of MaltParser: {source}."


@about(NOT_KEPT.format("a model"))
def linear(data: pd.DataFrame, corpus: str) -> Said:
    """About a table of times by length on a corpus: how the time grows from the shortest to the longest."""
    first, last, growth = data.index[0], data.index[-1], data.iloc[-1] / data.iloc[0]
    yield (
        f"On {corpus} sentences of {last} words, {last / first:g} times as many as {first}, take "
        f"{span(growth, '{:.1f}')} times the CPU time (the least of three runs each)."
    )
