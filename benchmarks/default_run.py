"""What does `make reproduce` cost on a fresh machine, beside an older commit? Seconds by the clock, stage by stage.

    python benchmarks/default_run.py 64b772b HEAD --folder build/default-run

clones this repository twice into the folder, sets both up, and runs `make reproduce` in one after the other, without
treebanks at hand, compiled kernels or a cache of packages; setting up is not counted. A clone whose log is there is not
run again. Printed are the whole runs and, of the kinds of stages that both have, the sums: stages run on all cores at a
time, so their sum is more than the run. One run each, so without a spread: do nothing else on the machine meanwhile.
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

from goals import Row, option, told

HERE = Path(__file__).parents[1]
LESS = 0.6  #: target: time of the stages that both have, to that of the older commit
READY = ".venv/.installed"  #: what `make` sets up before a run
APART = {"notebooks", "report"}  #: kinds of which the newer commit has more by intent
LOG, WHOLE = "default-run.log", "whole run: {wall:.0f} s, {cpu:.0f} CPU s"
DONE = re.compile(r"^(\w[\w-]*)(?:@\S+)?(?: and \d+ more)?: done in (\d+) s$", re.MULTILINE)
ENDED = re.compile(r"^whole run: (\d+) s, (\d+) CPU s$", re.MULTILINE)


class Run(NamedTuple):
    """Seconds by the clock and of CPU of a whole run, and those by the clock of each kind of stage."""

    wall: float
    cpu: float
    stages: Counter[str]


def of_log(text: str) -> Run:
    """What a run has said. Raises ValueError where it did not end."""
    ended = ENDED.search(text)
    if not ended:
        raise ValueError("no whole run")
    stages: Counter[str] = Counter()
    for kind, seconds in DONE.findall(text):
        stages[kind] += int(seconds)
    return Run(float(ended[1]), float(ended[2]), stages)


def run(commit: str, folder: Path) -> Run:
    """`make reproduce` in a clone of its own, or what it has said before. Ends the process where it fails."""
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
    """The environment without what this machine has at hand."""
    own = {"PIP_CACHE_DIR": f"{folder}.packages", "UV_CACHE_DIR": f"{folder}.packages"}
    gone = {"PYTHONPATH", "TREEBANK_MIRROR", "NUMBA_CACHE_DIR", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV"}
    return {name: value for name, value in os.environ.items() if name not in gone} | own


def compared(old: Run, new: Run) -> list[tuple[str, float, float]]:
    """Rows of the table: what, of the older run, of the newer one."""
    both = sorted((old.stages.keys() & new.stages.keys()) - APART, key=lambda kind: -old.stages[kind])
    rows = [("whole run", old.wall, new.wall), ("CPU seconds of it", old.cpu, new.cpu)]
    rows.append(("stages that both have", *(float(sum(one.stages[kind] for kind in both)) for one in (old, new))))
    return rows + [(f"  {kind}", float(old.stages[kind]), float(new.stages[kind])) for kind in both]


def main() -> None:
    """Print the table and the ratio beside its target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", help="commit to compare with")
    parser.add_argument("new", nargs="?", default="HEAD", help="commit (HEAD)")
    parser.add_argument("--folder", type=Path, default=Path("build/default-run"), help="of clones and logs")
    option(parser)
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    of = {name: _commit(name) for name in (arguments.old, arguments.new)}
    old, new = (run(commit, folder / commit[:7]) for commit in of.values())
    rows = compared(old, new)
    print(f"{'seconds':26}{of[arguments.old][:7]:>10}{of[arguments.new][:7]:>10}{'ratio':>8}")
    for what, before, after in rows:
        print(f"{what:26}{before:10,.0f}{after:10,.0f}{after / before:8.2f}")
    ratio = rows[2][2] / rows[2][1]
    told([Row(f"default run, stages of both: times of {arguments.old}", ratio, LESS, more=False)], arguments.keep)


def _commit(name: str) -> str:
    return subprocess.run(
        ["git", "-C", HERE, "rev-parse", name], text=True, stdout=subprocess.PIPE, check=True
    ).stdout.strip()


if __name__ == "__main__":
    main()
