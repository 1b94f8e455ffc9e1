"""Measures of parsers that sample, and of sampling decoders beside proved optima."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any

from studies.common.params import Params
from studies.site.claims.measured import Measure, Measured, Scale, least, pairs
from studies.site.collect import Results
from studies.zhang_2014.comparison import tables as comparison_tables
from studies.zhang_2014.score_time import tables as score_time_tables
from studies.zhang_2014.tag_correction import tables as tag_correction_tables


def samplers(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """UAS of a parser less another's, by names of rows, means over seeds: `comparison.tables.gains`."""
    wanted = pairs(rows, compare)
    for corpus, found in comparison_tables.gains(results, wanted).groupby(level="corpus", sort=False):
        if len(found) == len(wanted):
            yield least(str(corpus), found[["difference", "low", "high"]].to_numpy(), int(found["seeds"].min()))


def searches(results: Results, rows: Sequence[str], compare: str, of: Callable[..., Any]) -> Iterator[Measured]:
    """Measure methods by a function of their tables, which gives place, value, low, high, and counts of a share."""
    for place, value, low, high, *counts in of(results, *rows):
        part, whole = counts or (0, 0)
        yield Measured(place, value, low, high, part=part, whole=whole)


def _methods(params: Params) -> Collection[str]:
    return score_time_tables.METHODS


#: what a correction is judged by: our method, and the paper's
_CORRECTED = ("tags", "UAS", "tags, as published", "UAS, as published")

MEASURES: dict[str, Measure] = {
    "UAS of samplers": Measure(samplers, "{:+.2f} UAS", comparison_tables.names),
    "score at equal time": Measure(partial(searches, of=score_time_tables.equal_time), "{:+.4f} %", _methods),
    "score in the end": Measure(partial(searches, of=score_time_tables.in_the_end), "{:+.4f} %", _methods),
    "gain of tag correction": Measure(
        partial(searches, of=tag_correction_tables.corrected), "{:+.2f}", lambda _: _CORRECTED
    ),
    "optima found": Measure(partial(searches, of=score_time_tables.optima), "{:.2f} %", _methods, Scale.ODDS),
}
