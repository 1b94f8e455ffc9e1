"""Figures printed in the papers, as data with their source: `published.toml` of a paper, or of a question.

Nothing of ours is in there.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

import pandas as pd

from treebound.core.errors import InputError

QIAN_LIU = "qian_liu_2013"


@cache
def paper(key: str) -> dict:
    """All that is stored in a folder of `studies` about one paper: title, setting and its tables."""
    file = files("studies") / key / "published.toml"
    if not file.is_file():
        raise InputError(f"no published figures are stored for {key!r}", hint=f"add src/studies/{key}/published.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def table(key: str, name: str) -> pd.DataFrame:
    """A published table; NaN is the paper's N/A. `attrs["source"]` says where in the paper it stands.

    Raises InputError for a table that is not stored.
    """
    stored = paper(key)
    if not isinstance(stored.get(name), dict):
        names = ", ".join(k for k, v in stored.items() if isinstance(v, dict))
        raise InputError(f"{key} has no table {name!r}", hint=f"choose from {names}")
    data = pd.DataFrame(stored[name]["rows"], columns=stored[name]["columns"])
    data.attrs["source"] = f"{stored['cite']}, {stored[name]['source']}"
    return data
