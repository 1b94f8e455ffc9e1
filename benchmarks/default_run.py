"""Compare the cost of `make reproduce` at two commits, on a fresh machine: wall-clock seconds per stage.

    python benchmarks/default_run.py 64b772b HEAD --folder build/default-run

The benchmark clones this repository twice into the folder, sets up both clones, and runs `make reproduce` first in one
clone, then in the other. The clones have no downloaded treebanks, no compiled kernels and no cache of packages. The
time of the set-up does not count. A clone that has the log of a run is not run again. The benchmark prints the times of
the whole runs, and sums for the kinds of stages that both commits have. Stages run on all cores at a time, so their sum
exceeds the time of the run. Each commit is run once, so the figures have no spread. Do nothing else on the machine
meanwhile.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from goals import Row, option, report

HERE = Path(__file__).parents[1]
LESS = 0.6  #: target: time ratio of the newer to the older commit, for the stages that both have
READY = ".venv/.installed"  #: file that `make` creates when the set-up is complete
APART = {
    "notebooks",
    "report",
}  #: kinds of stages that are not compared, because the newer commit has more of them by intent
LOG, WHOLE = "default-run.log", "whole run: {wall:.0f} s, {cpu:.0f} CPU s"
DONE = re.compile(r"^(\w[\w-]*)(?:@\S+)?(?: and \d+ more)?: done in (\d+) s$", re.MULTILINE)
ENDED = re.compile(r"^whole run: (\d+) s, (\d+) CPU s$", re.MULTILINE)


class Run(NamedTuple):
    """Wall-clock and CPU seconds of a whole run, and wall-clock seconds of each kind of stage."""

    wall: float
    cpu: float
    stages: Counter[str]


def of_log(text: str) -> Run:
    """Read the times of a run from its log. ValueError is raised for a run that did not end."""
    ended = ENDED.search(text)
    if not ended:
        raise ValueError("The log has no line about the whole run; the run did not end.")
    stages: Counter[str] = Counter()
    for kind, seconds in DONE.findall(text):
        stages[kind] += int(seconds)
    return Run(float(ended[1]), float(ended[2]), stages)


def run(commit: str, folder: Path) -> Run:
    """Run `make reproduce` in a clone of its own, or read the log of an earlier run.

    The process ends with an error message if the run fails.
    """
    log = folder / LOG
    if not log.is_file():
        environment = _bare(folder)
        if not folder.is_dir():
            subprocess.run(["git", "clone", "-q", "--no-checkout", HERE, folder], check=True)
            subprocess.run(["git", "-C", folder, "checkout", "-q", commit], check=True)
        subprocess.run(["make", READY], cwd=folder, env=environment, stdout=sys.stderr, check=True)
        part, started = log.with_suffix(".part"), time.perf_counter()
        with part.open("w", encoding="utf-8") as out:
            process = subprocess.Popen(
                ["make", "reproduce"], cwd=folder, env=environment, stdout=out, stderr=subprocess.STDOUT
            )
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                sys.exit(f"error: make reproduce failed in {folder}; see {part}")
            wall, cpu = time.perf_counter() - started, used.ru_utime + used.ru_stime
            out.write(f"\n{WHOLE.format(wall=wall, cpu=cpu)}\n")
        part.rename(log)
    return of_log(log.read_text(encoding="utf-8"))


def _bare(folder: Path) -> dict[str, str]:
    """Return the environment without the caches and treebanks of this machine."""
    own = {"PIP_CACHE_DIR": f"{folder}.packages", "UV_CACHE_DIR": f"{folder}.packages"}
    removed = {"PYTHONPATH", "TREEBANK_MIRROR", "NUMBA_CACHE_DIR", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV"}
    return {name: value for name, value in os.environ.items() if name not in removed} | own


def compared(old: Run, new: Run) -> list[tuple[str, float, float]]:
    """Return rows of the table: label, seconds of the older run, seconds of the newer run."""
    both = sorted((old.stages.keys() & new.stages.keys()) - APART, key=lambda kind: -old.stages[kind])
    rows = [("whole run", old.wall, new.wall), ("CPU seconds of the run", old.cpu, new.cpu)]
    rows.append(("stages that both have", *(float(sum(side.stages[kind] for kind in both)) for side in (old, new))))
    return rows + [(f"  {kind}", float(old.stages[kind]), float(new.stages[kind])) for kind in both]


def main() -> None:
    """Print the table, and the ratio with its target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", help="Older commit to compare with.")
    parser.add_argument("new", nargs="?", default="HEAD", help="Newer commit. Default: HEAD.")
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path("build/default-run"),
        help="Folder for clones and logs. Default: build/default-run.",
    )
    option(parser)
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    commits = {name: _commit(name) for name in (arguments.old, arguments.new)}
    old, new = (run(commit, folder / commit[:7]) for commit in commits.values())
    rows = compared(old, new)
    print(f"{'seconds':26}{commits[arguments.old][:7]:>10}{commits[arguments.new][:7]:>10}{'ratio':>8}")
    for label, before, after in rows:
        print(f"{label:26}{before:10,.0f}{after:10,.0f}{after / before:8.2f}")
    ratio = rows[2][2] / rows[2][1]
    report(
        [Row(f"default run, stages of both: times of {arguments.old}", ratio, LESS, more=False)],
        arguments.keep,
    )


def _commit(name: str) -> str:
    return subprocess.run(
        ["git", "-C", HERE, "rev-parse", name], text=True, stdout=subprocess.PIPE, check=True
    ).stdout.strip()


if __name__ == "__main__":
    main()
