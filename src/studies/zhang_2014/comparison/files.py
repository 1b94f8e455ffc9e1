"""Tables of the comparison of sampling parsers that a run stores as files."""

from __future__ import annotations

from studies.site.export import Tables
from studies.zhang_2014.comparison import tables

TABLES: Tables = {
    tables.KEPT: (
        "Parsers that sample against others, UAS on test",
        lambda r: tables.gains(r, tables.PAIRS).assign(interval=tables.unit_of_intervals(r)),
    ),
}
