"""Read the figures printed in the papers, with their sources: `published.toml` of a paper or a question.

These files hold no results of this project.
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
    """Return the content of `published.toml` in the folder `key` of `studies`: title, setting and tables."""
    file = files("studies") / key / "published.toml"
    if not file.is_file():
        raise InputError(f"no published figures are stored for {key!r}", hint=f"add src/studies/{key}/published.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def table(key: str, name: str) -> pd.DataFrame:
    """Return a published table; NaN stands for N/A in the paper.

    `attrs["source"]` names the place in the paper. Raises InputError for a table that is not stored.
    """
    stored = paper(key)
    if not isinstance(stored.get(name), dict):
        names = ", ".join(k for k, v in stored.items() if isinstance(v, dict))
        raise InputError(f"{key} has no table {name!r}", hint=f"choose from {names}")
    data = pd.DataFrame(stored[name]["rows"], columns=stored[name]["columns"])
    data.attrs["source"] = f"{stored['cite']}, {stored[name]['source']}"
    return data
