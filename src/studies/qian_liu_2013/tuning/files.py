"""Tables and figures of the tuned search that a run stores as files."""

from __future__ import annotations

from studies.qian_liu_2013.tuning import figures, tables
from studies.site.export import Figures, Tables

TABLES: Tables = {
    "tuning": ("The published search and the tuned one", lambda r: tables.tuning_table(tables.tunings([r]))),
}
WORK = {"dp_calls": "DP calls", "nodes": "nodes", "seconds": "seconds"}
FIGURES: Figures = {
    "tuning": (
        "Work of the published search and of the tuned one",
        lambda r: figures.tuning(tables.tunings([r]), WORK),
    ),
}
