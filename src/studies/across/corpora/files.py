"""Tables about the corpora that a run exports as files."""

from __future__ import annotations

from studies.across.corpora import tables
from studies.site.export import Tables

TABLES: Tables = {
    "corpora": ("Sizes and properties of the converted corpora", lambda r: tables.conversion([r])),
    "pruner": ("Oracle recall of the pruner, %", lambda r: tables.pruner([r])),
    "tagging": ("Accuracy of predicted tags", lambda r: tables.tagging([r])),
}
