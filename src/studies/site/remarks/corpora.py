"""About corpora: what was converted, and what systems gain on many of them."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import ONE_SEED, UNTESTED, Said, about, correlation, span, told
from studies.site.tables.repeats import AGAINST


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
