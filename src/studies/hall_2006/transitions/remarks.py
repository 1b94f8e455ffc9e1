"""Generated sentences about transition-based parsers, computed from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import ONE_SEED, UNTESTED, Sentences, about, each, listing, ranked, share, span

NOT_KEPT = "No run on this page stores {} of transition-based parsers. Run `python -m studies.pipeline.run`."


@about("params.yaml has no row with a transition-based parser.")
def parsers(data: pd.DataFrame) -> Sentences:
    """Rank the transition-based parsers by UAS, in one sentence per kind of tags. data: `tables.parsers`."""
    for (run, corpus, tags), rows in each(data.set_index("tags", append=True), ["run", "corpus", "tags"]):
        yield f"UAS on {corpus} ({run}, {tags} tags, whole test set): {ranked(rows['UAS'].astype(float))}", rows


@about(NOT_KEPT.format("the sentences"))
def mended(data: pd.DataFrame, corpus: str, seen: pd.DataFrame | None = None) -> Sentences:
    """Report how many errors of the first parser the other parsers correct.

    data  `tables.mended`
    seen  `tables.seen` of the same parsers; its first row is the first parser
    """
    tags, first = "", "the greedy parser"
    if seen is not None and len(seen):
        tags, first = f" with {seen['tags'].iloc[0]} tags", str(seen.index[0])
    for name, row in data.iterrows():
        errors = int(row["errors of greedy"])
        caveat = _sees_more(str(name), seen) if seen is not None and len(seen) else ""
        corrected = share(round(errors * row["corrected, %"] / 100), errors)
        yield (
            f"On {corpus}{tags}, {name} corrects {corrected} words that {first} attaches wrongly (95 % interval over "
            f"words), and makes {row['new errors']:.0f} new errors. "
            f"{ONE_SEED}{caveat}",
            row,
        )


def _sees_more(name: str, seen: pd.DataFrame) -> str:
    """Name the word attributes that a parser reads and the first parser ignores, and the features of the parser.

    name  name of the parser
    seen  `tables.seen`; its first row is the first parser

    The text is empty if the parser reads no additional attributes and has the features of the first parser.
    """
    greedy, reader = seen.iloc[0], seen.loc[name]
    known = greedy["attributes"].split(", ")
    additional = [attribute for attribute in reader["attributes"].split(", ") if attribute not in known]
    if not additional and reader["features"] == greedy["features"]:
        return ""
    reads = f"reads {listing(additional)} of words, which {seen.index[0]} ignores, and " if additional else ""
    return f" It {reads}has other features ({reader['features']}), so the difference is not due to search alone."


@about("No run on this page has a transition-based parser with gold tags on a corpus with figures of MaltParser.")
def maltparser(data: pd.DataFrame, source: str) -> Sentences:
    """Compare transition-based parsers with MaltParser.

    data    `tables.compared_with_maltparser`
    source  description of how the figures of MaltParser were measured
    """
    for (run, corpus), rows in each(data, ["run", "corpus"]):
        parts = [f"{row} {gain:+.2f}" for row, gain in rows["difference"].items()]
        yield (
            f"On {corpus} ({run}, gold tags, whole test set), MaltParser has {rows['UAS of MaltParser'].iloc[0]:.2f} "
            f"UAS. UAS of each parser minus UAS of MaltParser: {listing(parts)}. {ONE_SEED} {UNTESTED}",
            rows,
        )
    yield f"Source of the figures of MaltParser: {source}."


@about(NOT_KEPT.format("a model"))
def linear(data: pd.DataFrame, corpus: str) -> Sentences:
    """Report how the parsing time grows from the shortest to the longest sentences. data: `tables.times`."""
    first, last, growth = data.index[0], data.index[-1], data.iloc[-1] / data.iloc[0]
    yield (
        f"On {corpus}, sentences of {last} words are {last / first:g} times as long as sentences of {first} words, and "
        f"take {span(growth, '{:.1f}')} times the CPU time (minimum of three runs each)."
    )
