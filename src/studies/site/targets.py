"""Read the measured figures and targets of the benchmarks from results/reference/targets.json."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd

from treebound.core.errors import InputError

KEPT = Path("results/reference/targets.json")
COLUMNS = ["measured", "wanted", "unit", "met", "how"]
TIMES = "times"  #: unit of a ratio
#: (end of the name of a stored figure, words that replace it in the table, unit of the figure); the first match counts
NAMES = (
    (r": training, CPU seconds to (\w+)", r": training time relative to commit \1", TIMES),
    (r": new, words per CPU second to (\w+)", r": speed of parsing relative to commit \1", TIMES),
    (r": (.*), words per CPU second to (\w+)", r": speed of \1 relative to commit \2", TIMES),
    (r", CPU s, ratio to (\w+)", r": CPU time relative to commit \1", TIMES),
    (r", parsing to bare look-ups, (.*), CPU", r": CPU time of parsing relative to its look-ups (\1)", TIMES),
    (r"[:,] two workers to one, (?:wall|by the clock)", ": speed of two workers relative to one, by the clock", TIMES),
    (r": (.*) to the parser's", r": \1 relative to the parser alone", TIMES),
    (r": (.*) to LIBSVM's", r": \1 relative to LIBSVM", TIMES),
    (r": crossing to projective, CPU", ": CPU time over crossing trees relative to projective trees", TIMES),
    (r": (one .*) to none, CPU", r": CPU time with \1 relative to none", TIMES),
    (r"[:,] (words|sentences) per CPU second", ": speed", r"\1 per CPU second"),
    (r": UAS above (.*?), mean", r": UAS minus the UAS of \1, mean over corpora, one seed", "UAS points"),
    (r": UAS above (.*?)(?:'s)?", r": UAS minus the UAS of \1", "UAS points"),
    (r" test UAS (.*)", r" test: UAS \1", "%"),
    (r": corpora with better uas, significantly", ": corpora with significantly better UAS", "corpora"),
    (r": corpora with better tags, significantly", ": corpora with significantly better tags", "corpora"),
    (r", DP calls per sentence", ": calls of the dynamic program", "calls a sentence"),
    (r", (CPU minutes|MiB|CPU s|wall s|us|%)", "", r"\1"),
)


def targets(root: Path) -> pd.DataFrame:
    """Return one row per benchmark result: measured, wanted, unit, met ("yes" or "no"), how (the command).

    The index is the name of the benchmark result. `wanted` is the target in words, for instance `at most 0.5`. The
    table is empty if no results are stored. Raises InputError if the file is not a list of targets.
    """
    path = root / KEPT
    try:
        entries = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
        rows = {}
        for entry in entries:
            name, unit = described(entry["name"])
            rows[name] = [entry["measured"], _wanted(entry), unit, ("no", "yes")[entry["met"]], entry["how"]]
    except (ValueError, KeyError, TypeError, IndexError):
        raise InputError("not a list of targets", path=path, hint="restore the file from the repository") from None
    table = pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS).rename_axis("target")
    return table.astype({"measured": float})


def described(name: str) -> tuple[str, str]:
    """Return the name of a stored figure in plain words, and its unit, which is empty for a count."""
    for pattern, words, unit in NAMES:
        if match := re.search(f"{pattern}$", name):
            return name[: match.start()] + match.expand(words), match.expand(unit)
    return name, ""


def short(value: float) -> str:
    """Format a number with four significant digits, or without decimals from 1,000."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _wanted(entry: dict[str, Any]) -> str:
    """Return the target of a stored figure in words.

    Older files do not store whether larger values are better; it follows from the figure and `met`. A figure that
    equals its target says nothing about it; then 100 % is a lower limit, and another target has no words.
    """
    measured, target = entry["measured"], entry["target"]
    if measured != target:
        more = entry.get("more", (measured > target) == entry["met"])
    else:
        more = entry.get("more", True if target == 100 and entry["name"].endswith(", %") else None)
    words = "" if more is None else "at least " if more else "at most "
    return f"{words}{short(target)}"
