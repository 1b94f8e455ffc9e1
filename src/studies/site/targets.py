"""Read the measured figures and targets of the benchmarks from results/reference/targets.json."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from treebound.core.errors import InputError

KEPT = Path("results/reference/targets.json")
COLUMNS = ["measured", "target", "met", "how"]


def targets(root: Path) -> pd.DataFrame:
    """Return one row per benchmark result: measured, target, met ("yes" or "no"), how (the command).

    The index is the name of the benchmark result. The table is empty if no results are stored. Raises InputError if the
    file is not a list of targets.
    """
    path = root / KEPT
    try:
        entries = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
        rows = {row["name"]: [row["measured"], row["target"], ("no", "yes")[row["met"]], row["how"]] for row in entries}
    except (ValueError, KeyError, TypeError, IndexError):
        raise InputError("not a list of targets", path=path, hint="restore the file from the repository") from None
    table = pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS).rename_axis("")
    return table.astype({"measured": float, "target": float})
