"""Figures with their targets, as the benchmarks print them and store them in a file that the report shows.

Every benchmark that has targets takes `--keep`. It writes the figures to results/reference/targets.json, with the
command that measured them. A new figure replaces a stored figure of the same name, whichever command measured it.
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

KEPT = Path("results/reference/targets.json")  #: [{name, measured, target, more, met, how}, ...]; `how`: the command


class Row(NamedTuple):
    """A measured figure with its target; `more` tells whether larger values are better."""

    name: str
    measured: float
    target: float | None = None
    more: bool = True
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Return whether the figure meets its target, or None without a target."""
        if self.target is None:
            return None
        return bool(self.measured >= self.target if self.more else self.measured <= self.target)

    @property
    def ratio(self) -> float | None:
        """Return the ratio of figure and target, or None without a target.

        If smaller values are better, it is the ratio of target and figure, so that at least 1 means that the target is
        met.
        """
        if self.target is None:
            return None
        part, whole = (self.measured, self.target) if self.more else (self.target, self.measured)
        return part / whole if whole else float(part >= 0)

    def __str__(self) -> str:
        """Return the line that a benchmark prints for this figure."""
        if self.ratio is None:
            return f"{self.name:54} {self.measured:10.2f} {'':22} {self.note}".rstrip()
        met = "met" if self.met else "MISSED"
        return f"{self.name:54} {self.measured:10.2f} {self.target:10.2f} {self.ratio:6.2f} {met:7}{self.note}".rstrip()


def option(cli: argparse.ArgumentParser) -> None:
    """Add the option `--keep` to the parser of a benchmark."""
    help_text = f"Write the figures that have a target to FILE. Without FILE, use {KEPT}. By default, write nothing."
    cli.add_argument("--keep", nargs="?", type=Path, const=KEPT, metavar="FILE", help=help_text)


def report(rows: Sequence[Row], path: Path | None) -> None:
    """Print the rows, and store them if a file is named."""
    for row in rows:
        print(row, flush=True)
    if path is not None:
        keep(rows, path)


def keep(rows: Sequence[Row], path: Path = KEPT, how: str = "") -> None:
    """Store the figures that have a target.

    They replace stored figures with the same name and stored figures of the same command.

    how  the command; an empty string stands for the running command
    """
    how = how or command(sys.argv)
    entries = [
        {
            "name": row.name,
            "measured": float(f"{row.measured:.4g}"),
            "target": row.target,
            "more": row.more,
            "met": row.met,
            "how": how,
        }
        for row in rows
        if row.target is not None and isfinite(row.measured)
    ]
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    named = {entry["name"] for entry in entries}
    others = [entry for entry in known if entry["how"] != how and entry["name"] not in named]
    with replacing(path) as file:
        file.write((json.dumps(others + entries, indent=1) + "\n").encode())


def commit_of(checkout: Path) -> str:
    """Return the first seven digits of a checkout's commit, or "old" for a folder without a commit."""
    result = subprocess.run(["git", "-C", checkout, "rev-parse", "HEAD"], capture_output=True, text=True)
    return result.stdout[:7] or "old"


def command(arguments: Sequence[str]) -> str:
    """Return the command as a user would type it in the checkout.

    `--keep` and its file are left out. An absolute path is shortened to its last component.
    """
    script, *options = arguments
    words = ["python", f"benchmarks/{Path(script).name}"]
    for i, word in enumerate(options):
        follows = i > 0 and options[i - 1] == "--keep" and not word.startswith("-")
        if word != "--keep" and not word.startswith("--keep=") and not follows:
            words.append(Path(word).name if Path(word).is_absolute() else word)
    return shlex.join(words)
