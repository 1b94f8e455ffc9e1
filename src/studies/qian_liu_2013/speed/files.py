"""Tables and figures of speed that a run stores as files."""

from __future__ import annotations

import pandas as pd

from studies.qian_liu_2013.speed import figures, tables
from studies.site import charts, provenance
from studies.site.collect import Results
from studies.site.export import Figures, Tables

TABLES: Tables = {
    "table-3-uas": ("Table 3, UAS in %", lambda r: tables.pruning_table([r], "UAS")),
    "table-3-las": ("Table 3, LAS in %", lambda r: tables.pruning_table([r], "LAS")),
    "table-3-speed": ("Table 3, words per (CPU) second", lambda r: tables.pruning_table([r], "w/s")),
    "dp-calls": ("DP calls per sentence", lambda r: tables.pruning_table([r], "DP calls")),
    "dp-calls-total": ("DP calls of the test sets", lambda r: tables.pruning_table([r], "total DP calls")),
    "length": ("Work against sentence length", lambda r: tables.length_table(tables.lengths([r]))),
    "benchmark": ("Every row of the benchmark", tables.benchmarked),
    # only page 20 shows the share at the limit, because tables of older references lack it
    "training": (
        "Every trained model",
        lambda r: provenance.training([r]).drop(columns=provenance.CAPPED, errors="ignore"),
    ),
}


def _milliseconds(results: Results) -> pd.DataFrame:
    """Return `tables.lengths` of a run with the mean time in milliseconds in the column `ms`."""
    curves = tables.lengths([results])
    return curves.assign(ms=1e3 * curves["mean_s"])


FIGURES: Figures = {
    "accuracy-speed": (
        "UAS against words per CPU second, one panel a corpus",
        lambda r: charts.accuracy_speed(tables.accuracy_and_speed(r)),
    ),
    "figure-4-time": (
        "Mean parsing time against sentence length",
        lambda r: figures.against_length(_milliseconds(r), "ms", "mean time, ms"),
    ),
    "figure-5-calls": (
        "Mean number of DP calls against sentence length",
        lambda r: figures.against_length(tables.lengths([r]), "mean_dp_calls", "mean DP calls"),
    ),
}
