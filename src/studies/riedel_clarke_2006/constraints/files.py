"""Table of hard constraints that a run stores as a file."""

from __future__ import annotations

from studies.riedel_clarke_2006.constraints import tables
from studies.site.export import Tables

TABLES: Tables = {
    tables.KEPT: (
        f"Sentences under hard constraints that take more than {tables.SLOW:g} s of CPU time",
        lambda r: tables.slow_sentences(r).to_frame(),
    ),
}
