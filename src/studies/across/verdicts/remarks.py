"""Generated sentences about the simulated studies, computed from the data of the simulation."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from studies.across.verdicts.simulation import ABOVE, HOLDS, PREDICTED, STUDIES
from studies.across.verdicts.tables import DECIDED, UNDECIDED
from studies.site.claims.judge import (
    BELOW,
    CONTRADICTED,
    DIFFERS,
    NO_EFFECT,
    NO_INTERVAL,
    NOT_TESTED,
    REPLICATED,
    UNPROVED,
    WIDE,
    Judged,
    of_papers,
)
from studies.site.claims.show import contradicted
from studies.site.sentences import Sentences, about, joined, span

#: reasons for which a claim stays undecided, in words that follow "in 3 the"
WORDS = {
    DIFFERS: "test differs from the claim",
    UNPROVED: "search left sentences without a proof",
    BELOW: "interval contains the threshold but not the published effect",
    WIDE: "interval is too wide",
    NO_INTERVAL: "value has no interval",
}


@about()
def decided(table: pd.DataFrame, judged: Sequence[Judged]) -> Sentences:
    """Say how many claims are decided, which are contradicted, and what keeps most others undecided.

    table   `tables.reasons`
    judged  the verdicts that it counts
    """
    total, counts = int(table["", "claims"].sum()), table.sum()
    verbs = {
        (DECIDED, REPLICATED): ("is", "are"),
        (DECIDED, NO_EFFECT): ("shows", "show"),
        (DECIDED, CONTRADICTED): ("is", "are"),
        ("", NOT_TESTED): ("is", "are"),
    }
    listed = joined(
        [f"{counts[key]:.0f} {verb[int(counts[key] > 1)]} {key[1]}" for key, verb in verbs.items() if counts.get(key)]
    )
    claimed = f"Of {total} claims of {len(table)} paper{'s' * (len(table) > 1)}, {listed or 'none is decided'}."
    texts = (claimed, contradicted(of_papers(judged)), undecided(table))
    yield " ".join(text for text in texts if text), table


def undecided(table: pd.DataFrame) -> str:
    """Say why claims are undecided, and name the papers for which one reason keeps several claims undecided.

    The text is empty if all claims are decided. table: `tables.reasons`
    """
    if UNDECIDED not in table:
        return ""
    rows = table[UNDECIDED]
    counts = rows.sum().sort_values(ascending=False, kind="stable")
    parts = []
    for reason, count in counts.items():
        alone = rows[(rows[reason] > 1) & (rows[reason] == rows.sum(axis=1))]
        named = [f"all {row[reason]} of {paper}" for paper, row in alone.iterrows()]
        parts.append(f"in {count} the {WORDS[reason]}{f' (among them {joined(named)})' if named else ''}")
    return f"{counts.sum()} are undecided: {joined(parts)}."


@about()
def simulated(data: pd.DataFrame) -> Sentences:
    """Describe how often the simulated intervals contain the true effect. data: `simulation.coverage`."""
    designs = f"{len(data)} designs of {STUDIES:,} simulated studies each"
    yield (
        f"In {designs}, the 95 % interval of the pooled effect contains the true effect in {_range(data[HOLDS])} of "
        f"the studies; with weights by precision, in {_range(data[f'{HOLDS}, weighted'])}. The prediction interval "
        f"contains the estimate of one more treebank in {_range(data[PREDICTED])}.",
        data,
    )
    none = data.xs(0.0, level="effect")
    yield (
        f"Without an effect, {_range(none[ABOVE])} of the studies would report *replicated* (2.5 % are allowed; "
        f"a share of {STUDIES:,} studies has a standard error of {100 * (0.025 * 0.975 / STUDIES) ** 0.5:.2f} %); with "
        f"weights by precision, {_range(none[f'{ABOVE}, weighted'])}.",
        none,
    )


def _range(shares: pd.Series) -> str:
    """Return the smallest and the largest of several shares (%) as a phrase."""
    return f"{shares.min():.1f} to {shares.max():.1f} %"


@about()
def found(data: pd.DataFrame) -> Sentences:
    """Describe the smallest effects that at least 80 % of the studies detect. data: `simulation.detected`."""
    effects = data["smallest effect detected"]
    if effects.notna().any():
        yield (
            f"At least 80 % of the studies detect an effect of {span(effects)} UAS points, depending on the numbers of "
            "treebanks and seeds.",
            data,
        )
    if missing := list(effects.index[effects.isna()]):
        yield (
            f"No effect up to {data['largest effect tested'].max():.2f} UAS points is detected so often with "
            f"{'; '.join(missing)}.",
            data,
        )
