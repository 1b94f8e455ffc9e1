"""Sentences about gains on many treebanks, generated from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.qian_liu_2013.comparison.remarks import against
from studies.qian_liu_2013.comparison.tables import BASELINE
from studies.qian_liu_2013.languages.tables import CROSSING
from studies.site.sentences import (
    LEVEL,
    UNTESTED,
    Sentences,
    about,
    correlation,
    from_to,
    joined,
    listing,
    mean_with_interval,
    span,
    wins,
)

#: systems that the answer of the page describes
ANSWERED = ("combined", CROSSING)
PROJECTIVE = ANSWERED[0]  #: the system with the same factors whose trees do not cross
#: system -> description
SYSTEMS = {
    BASELINE: "the Carreras baseline",
    "carreras+sibling": "all pairs of siblings in addition",
    PROJECTIVE: "all grandchildren, all siblings, combs, and patterns if a corpus has any",
    CROSSING: "the factors of `combined` over trees whose arcs may cross",
    "second-order-crossing": "second-order factors over trees whose arcs may cross",
}
#: fewest corpora for a correlation over corpora
FEWEST = 8
MANY = 20  #: smallest share of test sentences with crossing arcs (%) that counts as many


@about()
def systems(data: pd.DataFrame) -> Sentences:
    """Name the systems of `tables.multilingual`, which may have no rows."""
    if len(data):
        names = [f"`{name}` ({SYSTEMS[name]})" if name in SYSTEMS else f"`{name}`" for name in data["UAS"]]
        yield f"The systems are {joined(names)}.", data["UAS"]


@about("The reference run has no such part yet (`make reference`).")
def multilingual(data: pd.DataFrame) -> Sentences:
    """Describe `tables.multilingual`, which may have no rows: gains, and their correlation with crossing arcs.

    The first sentence is about the systems ANSWERED. `tables.pooled` has the gains of all systems as a table.
    """
    tested = against(data)
    main = [(system, rows) for system, rows in tested if system in ANSWERED]
    if tested:
        learner = data.attrs.get("learner", "")
        yield (
            f"Mean gains in UAS over the baseline {BASELINE} on {len(data)} more corpora, with 95 % intervals over "
            f"treebanks ({f'learner {learner}, ' if learner else ''}single corpora at the {100 * LEVEL:g} % level): "
            f"{listing(f'{system} {_gain(rows)}' for system, rows in main or tested)}.",
            data,
        )
    uas, crossing = data["UAS"], data["", "crossing, %"]
    for system in uas.columns.drop(BASELINE) if not tested else ():
        gain = uas[system] - uas[BASELINE]
        ends = span(gain.droplevel("language"), "{:+.2f}")
        yield f"{system}, UAS over {BASELINE}: {gain.mean():+.2f} on average of {len(gain)} corpora, {ends}."
    gain = uas[CROSSING] - uas[PROJECTIVE] if {CROSSING, PROJECTIVE} <= set(uas) else crossing * 0
    if len(data) >= FEWEST and crossing.std() > 0 and gain.std() > 0:
        language = pd.Series(data.index.get_level_values("language"), data.index, name="language")
        yield (
            f"The share of test sentences with crossing arcs and what {CROSSING} gains over {PROJECTIVE} have a rank "
            f"correlation over corpora of {correlation(crossing, gain, language)}."
        )
    if not tested:
        yield UNTESTED


def crossing_in_brief(data: pd.DataFrame) -> str:
    """Say on how many corpora the system CROSSING is significantly better than the baseline, and by how much.

    The text is empty if no corpus has its gain. data: `tables.multilingual`, which may have no rows
    """
    gains = dict(against(data)).get(CROSSING)
    if gains is None:
        return ""
    better, worse = gains[gains["low"] > 0], int((gains["high"] < 0).sum())
    languages = joined(list(dict.fromkeys(better.index.get_level_values("language"))))
    ends = f" ({languages}: {from_to(better['difference'], '{:+.2f}')})" * bool(len(better))
    return f"{len(gains)} more corpora: gains on {len(better) or 'none'}{ends}, losses on {worse or 'none'}"


@about()
def crossing(data: pd.DataFrame) -> Sentences:
    """Compare the gains of the system CROSSING on corpora with many and with few crossing trees.

    data  `tables.multilingual`, which may have no rows
    """
    gains = dict(against(data)).get(CROSSING)
    if gains is None:
        return
    gains = gains.assign(share=data["", "crossing, %"]).droplevel("language").sort_values("share", ascending=False)
    many, few = gains[gains["share"] >= MANY], gains[gains["share"] < MANY]
    named = listing(
        f"{row.difference:+.2f} [{row.low:+.2f}, {row.high:+.2f}] on {row.Index} ({row.share:.0f} %)"
        for row in many.itertuples()
    )
    if len(many):
        yield (
            f"Where at least {MANY} % of the test sentences have crossing arcs, {CROSSING} gains {named}"
            + f"; on the other {len(few)} corpora it changes UAS by {few['difference'].mean():+.2f} on average "
            f"({from_to(few['difference'], '{:+.2f}')})" * bool(len(few)) + ".",
            gains,
        )


def _gain(rows: pd.DataFrame) -> str:
    """Return the mean gain of a system with its interval, and the numbers of corpora with a significant gain or loss.

    rows  one table of the result of `against`
    """
    better, worse = wins(rows.drop(columns="p", errors="ignore"))
    return (
        f"{mean_with_interval(rows)} (significantly better on {better or 'none'} of {len(rows)} corpora, "
        f"worse on {worse or 'none'})"
    )


@about()
def limits(maximum: int) -> Sentences:
    """Say when the search over trees whose arcs may cross gives up. maximum: `tables.limit`."""
    if maximum:
        yield (
            f"The search over trees whose arcs may cross gives up after {maximum:,} calls of the tree oracle for a "
            "sentence. The share of proved sentences shows how often it gives up."
        )
