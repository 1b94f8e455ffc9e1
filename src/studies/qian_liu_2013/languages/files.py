"""Tables of gains on many treebanks that a run stores as files."""

from __future__ import annotations

from studies.qian_liu_2013.languages import tables
from studies.site import collect
from studies.site.export import Tables

TABLES: Tables = {
    "multilingual": ("More corpora, %", lambda r: tables.multilingual(collect.multilingual(r.folder.parent))),
}
