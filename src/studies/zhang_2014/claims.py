"""Measures for the claims of Zhang et al. (2014): parsers that sample, and sampling decoders against proved optima."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any

from studies.common.params import Params
from studies.site.claims.measured import Measure, Measured, Scale, of_pairs, pairs
from studies.site.collect import Results
from studies.zhang_2014.comparison import tables as comparison_tables
from studies.zhang_2014.score_time import tables as score_time_tables
from studies.zhang_2014.tag_correction import tables as tag_correction_tables
from studies.zhang_2014.tag_correction.tables import OURS, PUBLISHED


def samplers(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Measure the UAS of one parser minus the UAS of another, as a mean over seeds.

    The values come from `comparison.tables.gains`. `rows` names the parsers. Several pairs are measured on the same
    corpora.
    """
    wanted = pairs(rows, compare)
    for corpus, gained in comparison_tables.gains(results, wanted).groupby(level="corpus", sort=False):
        if len(gained) == len(wanted):
            values = gained[["difference", "low", "high"]].to_numpy()
            yield from of_pairs(str(corpus), wanted, values, int(gained["seeds"].min()))


def searches(results: Results, rows: Sequence[str], compare: str, table: Callable[..., Any]) -> Iterator[Measured]:
    """Measure sampling methods or corrections with the function `table`.

    table  function that takes the results and the names in `rows`, and yields corpus, value, low, high; for a share it
           also yields the numerator and the denominator
    """
    for place, value, low, high, *counts in table(results, *rows):
        part, whole = counts or (0, 0)
        yield Measured(place, value, low, high, part=part, whole=whole)


def _methods(params: Params) -> Collection[str]:
    """Return the names of the sampling methods. Claims about these methods use them as row names."""
    return score_time_tables.METHODS


def _sampled(results: Results) -> set[str]:
    """Return the names of parsers that a run trains on any corpus, with sampling or with exact search."""
    return {name for corpus in results.corpora for name in comparison_tables.rows_of(results, corpus)}


def _searched(results: Results) -> set[str]:
    """Return the sampling methods that a run compares with proved optima."""
    return set(score_time_tables.measured(results)["method"])


#: accuracies whose gains claims measure: with our method of tag correction, and with the method of the paper
_CORRECTED = tuple(f"{figure}, {method}" for method in (OURS, PUBLISHED) for figure in ("tags", "UAS"))

MEASURES: dict[str, Measure] = {
    "UAS of samplers": Measure(samplers, "{:+.2f} UAS points", comparison_tables.names, held=_sampled),
    "score at equal time": Measure(
        partial(searches, table=score_time_tables.equal_time), "{:+.4f} %", _methods, held=_searched
    ),
    "score in the end": Measure(
        partial(searches, table=score_time_tables.in_the_end), "{:+.4f} %", _methods, held=_searched
    ),
    "gain of tag correction": Measure(
        partial(searches, table=tag_correction_tables.corrected),
        "{:+.2f} points (% of words)",
        lambda _: _CORRECTED,
        held=lambda results: _CORRECTED if len(tag_correction_tables.measured(results)) else (),
    ),
    "optima found": Measure(
        partial(searches, table=score_time_tables.optima), "{:.2f} %", _methods, Scale.ODDS, _searched
    ),
}
