"""Figures beside their targets, as the benchmarks print them; kept in a file that the report shows.

Every benchmark that has targets takes `--keep`, which writes them to results/reference/targets.json with the command
that measured them. A figure of the same name is replaced, whoever measured it.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from treebound.support.atomic import replacing

KEPT = Path("results/reference/targets.json")  #: [{name, measured, target, met, how}, ...], `how` the command


class Row(NamedTuple):
    """A measured figure beside its target; `more` says whether more is better."""

    name: str
    measured: float
    target: float | None = None
    more: bool = True
    note: str = ""

    @property
    def met(self) -> bool | None:
        """None without a target."""
        if self.target is None:
            return None
        return bool(self.measured >= self.target if self.more else self.measured <= self.target)

    @property
    def ratio(self) -> float | None:
        """At least 1 where the target is met; None without one."""
        if self.target is None:
            return None
        part, whole = (self.measured, self.target) if self.more else (self.target, self.measured)
        return part / whole if whole else float(part >= 0)

    def __str__(self) -> str:
        if self.ratio is None:
            return f"{self.name:54} {self.measured:10.2f} {'':22} {self.note}".rstrip()
        met = "met" if self.met else "MISSED"
        return f"{self.name:54} {self.measured:10.2f} {self.target:10.2f} {self.ratio:6.2f} {met:7}{self.note}".rstrip()


def option(cli: argparse.ArgumentParser) -> None:
    """The option `--keep` of a benchmark."""
    told = f"write the figures that have a target to FILE, too [{KEPT}]"
    cli.add_argument("--keep", nargs="?", type=Path, const=KEPT, metavar="FILE", help=told)


def told(rows: Sequence[Row], path: Path | None) -> None:
    """Print the rows, and keep them where a file is given."""
    for row in rows:
        print(row, flush=True)
    if path is not None:
        keep(rows, path)


def keep(rows: Sequence[Row], path: Path = KEPT, how: str = "") -> None:
    """Write the figures that have a target in the place of those of the same name, or that the same command wrote.

    how  the command; by default the one that runs
    """
    how = how or command(sys.argv)
    entries = [
        {"name": row.name, "measured": float(f"{row.measured:.4g}"), "target": row.target, "met": row.met, "how": how}
        for row in rows
        if row.target is not None and isfinite(row.measured)
    ]
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    named = {entry["name"] for entry in entries}
    others = [entry for entry in known if entry["how"] != how and entry["name"] not in named]
    with replacing(path) as file:
        file.write((json.dumps(others + entries, indent=1) + "\n").encode())


def commit_of(checkout: Path) -> str:
    """Return the first seven digits of a checkout's commit, or "old" where it has none."""
    asked = subprocess.run(["git", "-C", checkout, "rev-parse", "HEAD"], capture_output=True, text=True)
    return asked.stdout[:7] or "old"


def command(arguments: Sequence[str]) -> str:
    """As it would be typed in the checkout, without `--keep` and its file; of paths elsewhere the name alone."""
    script, *given = arguments
    words = ["python", f"benchmarks/{Path(script).name}"]
    for i, word in enumerate(given):
        follows = i > 0 and given[i - 1] == "--keep" and not word.startswith("-")
        if word != "--keep" and not word.startswith("--keep=") and not follows:
            words.append(Path(word).name if Path(word).is_absolute() else word)
    return shlex.join(words)
