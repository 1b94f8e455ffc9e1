"""What the benchmarks measured beside its target: results/reference/targets.json, which each of them adds to."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from treebound.core.errors import InputError

KEPT = Path("results/reference/targets.json")
COLUMNS = ["measured", "target", "met", "how"]


def targets(root: Path) -> pd.DataFrame:
    """A row a figure, by its name: measured, target, met ("yes" or "no"), how (the command). None where none is kept.

    InputError for a file that is no such list.
    """
    path = root / KEPT
    try:
        kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
        rows = {row["name"]: [row["measured"], row["target"], ("no", "yes")[row["met"]], row["how"]] for row in kept}
    except (ValueError, KeyError, TypeError, IndexError):
        raise InputError("not a list of targets", path=path, hint="take it from the repository again") from None
    table = pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS).rename_axis("")
    return table.astype({"measured": float, "target": float})
