"""Tables of the ablation of the search that a run stores as files."""

from __future__ import annotations

from studies.qian_liu_2013.ablation import tables
from studies.site.export import Tables

TABLES: Tables = {
    "ablation": ("Configurations of the search", lambda r: tables.ablation_table(tables.ablations([r]))),
}
