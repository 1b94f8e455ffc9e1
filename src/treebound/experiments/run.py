"""Run the pipeline with several stages at a time: what `dvc repro` does, on all cores.

DVC runs one stage after another. Stages of one kind do not depend on each other, nor do those of some kinds, so this
starts a `dvc repro` for each of them, `--jobs` at a time, group after group; DVC's own locks keep them apart. A last
plain `dvc repro` does the rest, and would do whatever had been missed: a run may be killed and started again at any
moment, and what a killed DVC left half-written is mended first.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from treebound.core.errors import TreeboundError
from treebound.experiments import killed, plan
from treebound.experiments.stage import METRICS, say
from treebound.support import warm

#: kinds of stages in order, in groups whose stages may run side by side. `train` stands for `train_peers` as well: what
#: every room of `systems` has
GROUPS = (
    *(("fetch",), ("convert", "derivations"), ("tagger",), ("ccg-treebank",), ("pruner",)),
    ("ccg-train", "train", "steps", "in-the-loop", "cross-validation"),
    ("constraint-analysis", "decode", "confidence"),
    *(("classifiers",), ("classifier-search",), ("tag-correction",), ("ccg",), ("ccg-integration",)),
    *(("benchmark",), ("ablation",), ("arena",), ("approximations",), ("score-time",), ("notebooks",), ("report",)),
)
KINDS = tuple(kind for group in GROUPS for kind in group)
#: kinds whose stages run one by one: they are timed or use all cores themselves
ALONE = frozenset(
    {"tagger", "ccg-treebank", "classifiers", "classifier-search", "tag-correction", "ccg", "ccg-integration"}
    | {"benchmark", "ablation", "arena", "approximations", "score-time"}
)
#: kinds whose stages take hardly longer than an interpreter, a kernel of Jupyter and DVC take to start: they share them
SHORT = frozenset({"notebooks"})
#: stage, seconds by the clock and of CPU, DVC's own among them: a line for each run, the last of a stage counts.
#: It grows once pages have read it, which is no reason to make them again: .dvcignore names it
TIMES = METRICS / "timing" / "stages.csv"
#: the same of the reference run
EXPECTED = Path("results", "reference", *TIMES.parts[1:])
#: what their interpreter imports before it is asked, and for which surroundings
IMPORTED = (
    *("papermill", "nbclient", "ipykernel.kernelapp", "ipykernel.ipkernel", "ipykernel.zmqshell", "pandas"),
    *("treebound.report.show", "treebound.report.claims", "treebound.report.tables", "treebound.report.stepping"),
    "treebound.plots",
)
SURROUNDINGS = {"TQDM_DISABLE": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}


def kind_of(stage: str) -> str:
    """`train` of `train_peers@tr_twt-udpipe`."""
    return stage.partition("@")[0].partition("_")[0]


def named(target: str) -> list[str]:
    """What a target of the command line is called in dvc.yaml: `train` of every room of `systems`."""
    every = yaml.safe_load(Path("dvc.yaml").read_text(encoding="utf-8"))["stages"]
    return [name for name in every if kind_of(name) == target] or [target]


def dvc(*arguments: str, **options: Any) -> subprocess.CompletedProcess:
    """Run the DVC of this interpreter's environment; its stages find the same `python`."""
    return subprocess.run(_command(arguments), env=_environment(), text=True, **options)


def _command(arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "dvc", "--wait-for-lock", *arguments]


def _environment() -> dict[str, str]:
    return os.environ | {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])}


def timed(names: Sequence[str]) -> tuple[int, float, float]:
    """Run stages by one DVC, one after another: its exit status, seconds by the clock, and those of CPU."""
    started = time.perf_counter()
    # DVC's chatter on standard output is dropped, errors of DVC and of the stage are not
    command = _command(("repro", "--single-item", *names))
    process = subprocess.Popen(command, env=_environment(), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, time.perf_counter() - started, used.ru_utime + used.ru_stime


def keep_time(name: str, wall: float, cpu: float) -> None:
    """Append a line to TIMES."""
    TIMES.parent.mkdir(parents=True, exist_ok=True)
    with TIMES.open("a", encoding="utf-8") as file:
        file.write(f"{name},{wall:.1f},{cpu:.1f}\n")


def listed() -> list[str]:
    """Names of all stages."""
    return dvc("stage", "list", "--name-only", stdout=subprocess.PIPE, check=True).stdout.split()


def changed(targets: Sequence[str] = ()) -> list[str]:
    """Names of the stages that would run, as far as can be told now, in the order of dvc.yaml."""
    upstream = ("--with-deps", *targets) if targets else ()
    status = dvc("status", "--json", *upstream, stdout=subprocess.PIPE)
    if status.returncode:
        sys.exit(status.returncode)
    return list(json.loads(status.stdout or "{}"))


def reproduce_groups(targets: Sequence[str], jobs: int) -> None:
    """Run what would run of each group. Ends the process where a stage fails.

    What has run may have changed what was up to date, so DVC is asked again, but not about groups of which all was
    stale from the beginning: in a large pipeline an answer takes half a minute.
    """
    stale, every, ran = set(changed(targets)), listed(), False
    for group in GROUPS:
        of_group = [name for kind in group for name in every if kind_of(name) == kind]
        if ran and not stale.issuperset(of_group):
            stale, ran = set(changed(targets)), False
        stages = [name for name in of_group if name in stale]
        do = reproduce_short if SHORT.issuperset(group) else reproduce
        if stages and not do(stages, jobs if ALONE.isdisjoint(group) else 1):
            sys.exit(f"error: a stage of {', '.join(group)} failed; its message stands above")
        ran |= bool(stages)


def longest_first(stages: Sequence[str]) -> list[str]:
    """Stages in the order that leaves no core idle at their end for long: by the time of each in the reference run.

    Those that it does not have come first, in the order given.
    """
    lines = EXPECTED.read_text(encoding="utf-8").splitlines() if EXPECTED.is_file() else []
    took = {name: float(wall) for name, wall, _ in (line.split(",") for line in lines)}
    return sorted(stages, key=lambda name: -took.get(name, math.inf))


def reproduce(stages: Sequence[str], jobs: int) -> bool:
    """Run these stages, which do not depend on each other, so many at a time; True if all succeeded."""
    return reproduce_parts([[name] for name in longest_first(stages)], jobs)


def reproduce_short(stages: Sequence[str], jobs: int) -> bool:
    """As `reproduce`, for SHORT stages: as many DVCs as jobs, one warm interpreter for all."""
    if len(stages) <= jobs:
        return reproduce(stages, jobs)
    with warm.interpreter(IMPORTED, SURROUNDINGS):
        return reproduce_parts([stages[job::jobs] for job in range(jobs)], jobs)


def reproduce_parts(parts: Sequence[Sequence[str]], jobs: int) -> bool:
    """Run the stages of each part by one DVC, one after another, up to one that fails; True if all succeeded."""

    def some(part: Sequence[str]) -> bool:
        code, wall, cpu = timed(part)
        more = f" and {len(part) - 1} more" * (len(part) > 1)
        say(f"{part[0]}{more}: {'failed' if code else 'done'} in {wall:.0f} s")
        if not code:
            keep_time(part[0], wall, cpu)
        return code == 0

    with ThreadPoolExecutor(jobs) as pool:
        return all(list(pool.map(some, parts)))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", help="stages to stop at, for instance decode; by default everything")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="stages at a time (all cores)")
    parser.add_argument("--check", action="store_true", help="run nothing; fail if anything is out of date")
    arguments = parser.parse_args()
    jobs, targets = arguments.jobs, [name for target in arguments.targets for name in named(target)]
    try:
        killed.mend()
        plan.update()
    except TreeboundError as error:
        sys.exit(f"error: {error}")
    if arguments.check:
        stale = changed(targets)
        sys.exit(f"error: out of date: {', '.join(stale)}; run without --check" if stale else 0)
    try:
        if jobs > 1:
            reproduce_groups(targets, jobs)
        sys.exit(dvc("repro", *targets, stdout=subprocess.DEVNULL if jobs > 1 else None).returncode)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
