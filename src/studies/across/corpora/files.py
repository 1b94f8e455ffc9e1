"""Tables and figures that a run keeps as files."""

from __future__ import annotations

from studies.across.corpora import tables
from studies.site.export import Tables

TABLES: Tables = {
    "corpora": ("What the conversion counted", lambda r: tables.conversion([r])),
    "pruner": ("Oracle recall of the pruner, %", lambda r: tables.pruner([r])),
    "tagging": ("Accuracy of predicted tags", lambda r: tables.tagging([r])),
}
