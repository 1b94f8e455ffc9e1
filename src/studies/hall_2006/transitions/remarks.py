"""Generated sentences about transition-based parsers, computed from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import ONE_SEED, UNTESTED, Sentences, about, from_to, joined, listing, span

#: why a page lacks the section about times
NOT_STORED = (
    "The time against the length of a sentence is measured with the models of a run, and no run on this page stores "
    "its models. Run `python -m studies.pipeline.run`."
)
#: name of a feature model -> description
FEATURES = {
    "F5": "the richest feature model of Hall et al. (2006)",
    "F6": "`F5` with the coarse tags of universal treebanks",
    "zhang-nivre": "the feature model of Zhang & Nivre (2011)",
    "zhang-nivre-coarse": "the feature model of Zhang & Nivre (2011) with coarse tags",
    "zhang-nivre-morphology": "`zhang-nivre-coarse` with lemmas and morphological features",
    "auto": "`zhang-nivre-morphology` without columns that a corpus lacks, or `zhang-nivre-coarse` if it lacks both",
}


@about("params.yaml has no row with a transition-based parser.")
def parsers(data: pd.DataFrame) -> Sentences:
    """Count the corpora on which the most accurate parser leads, and compare its speed with the fastest parser.

    data  `tables.parsers`; the sentence is about its last run
    """
    last = data.xs(data.index[-1][0], level="run").dropna(subset="UAS")
    if not len(last):
        yield "The transition-based parsers of this run need packages that are not installed: run `make classifiers`."
        return
    winners = last["UAS"].astype(float).groupby(level="corpus", sort=False).idxmax().map(lambda place: place[-1])
    name = winners.value_counts().index[0]
    rows = last.xs(name, level="parser").loc[list(winners[winners == name].index)]
    speeds = last["words / CPU s"].astype(float)
    fastest = speeds.groupby(level="corpus").max().reindex(rows.index)
    slower = (fastest / rows["words / CPU s"].astype(float)).dropna()
    quickest = speeds.dropna().groupby(level="corpus", sort=False).idxmax().reindex(slower.index)
    names = listing(dict.fromkeys(parser for _, parser in quickest))
    speed = (
        f" The fastest parser of each corpus ({names}) is {from_to(slower, '{:.1f}')} times as fast."
        if len(slower)
        else ""
    )
    yield (
        f"The parser {name} has the highest UAS of the transition-based parsers on {len(rows)} of {len(winners)} "
        f"corpora ({from_to(rows['UAS'].astype(float), '{:.2f}')} %; whole test sets).{speed} {ONE_SEED} {UNTESTED}",
        data,
    )


@about()
def features(data: pd.DataFrame) -> Sentences:
    """Explain the feature models in the column `features` of `tables.parsers`."""
    texts = [f"`{name}` is {FEATURES[name]}" for name in dict.fromkeys(data["features"]) if name in FEATURES]
    if texts:
        yield f"{joined(texts)}.", data[["features"]]


@about()
def mended(data: pd.DataFrame, corpus: str, seen: pd.DataFrame | None = None) -> Sentences:
    """Report how many errors of the first parser the other parsers correct, if `data` has rows.

    data  `tables.mended`
    seen  `tables.seen` of the same parsers; its first row is the first parser
    """
    if not len(data):
        return
    tags, first, caveat = "", "the greedy parser", ""
    if seen is not None and len(seen):
        tags, first, caveat = (
            f" with {seen['tags'].iloc[0]} tags",
            str(seen.index[0]),
            _sees_more(list(data.index), seen),
        )
    yield (
        f"On {corpus}{tags}, the other parsers ({len(data)}) correct {span(data['corrected, %'], '{:.1f} %')} of the "
        f"{data['errors of greedy'].iloc[0]:,.0f} words that {first} attaches wrongly, and make "
        f"{span(data['new errors'], '{:,.0f}')} new errors. {ONE_SEED}",
        data,
    )
    if caveat:
        yield caveat, seen


def _sees_more(parsers: list[str], seen: pd.DataFrame) -> str:
    """Name the parsers that read other attributes or features of words than the first parser.

    The text is empty if all parsers read the same attributes and features.
    """
    first, columns = seen.iloc[0], ["attributes", "features"]
    others = [name for name in parsers if not seen.loc[name, columns].equals(first[columns])]
    if not others:
        return ""
    return (
        f"Compared with {seen.index[0]}, these parsers read other attributes of words or have other features, so "
        f"their differences are not due to search alone: {listing(others)}."
    )


@about("No run on this page has a transition-based parser with gold tags on a corpus with figures of MaltParser.")
def maltparser(data: pd.DataFrame, source: str) -> Sentences:
    """Compare transition-based parsers with MaltParser.

    data    `tables.compared_with_maltparser`
    source  description of how the figures of MaltParser were measured
    """
    places = listing(dict.fromkeys(data.index.get_level_values("corpus")))
    yield (
        f"UAS of a parser minus UAS of MaltParser ({places}; gold tags, whole test set): "
        f"{span(data['difference'], '{:+.2f}')}. {ONE_SEED} {UNTESTED}",
        data,
    )
    yield f"Source of the figures of MaltParser: {source}."


@about(NOT_STORED)
def linear(data: pd.DataFrame, corpus: str) -> Sentences:
    """Report how the parsing time grows from the shortest to the longest sentences. data: `tables.times`."""
    first, last, growth = data.index[0], data.index[-1], data.iloc[-1] / data.iloc[0]
    yield (
        f"On {corpus}, sentences of {last} words are {last / first:g} times as long as sentences of {first} words, and "
        f"take {span(growth, '{:.1f}')} times the CPU time (minimum of three runs each)."
    )
