"""Run the pipeline with several stages at a time: what `dvc repro` does, on all cores.

DVC runs one stage after another. Stages of one kind do not depend on each other, so this starts a `dvc repro` for each
of them, `--jobs` at a time, kind after kind; DVC's own locks keep them apart. A last plain `dvc repro` does the rest
and would also do whatever had been missed, so a run may be killed and started again at any moment.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from treebound.experiments.stage import say

#: kinds of stages in order; the members of each may run side by side, but for those of ALONE, which are timed
KINDS = ("fetch", "convert", "pruner", "train", "decode", "benchmark", "notebooks")
ALONE = ("benchmark",)


def dvc(*arguments: str, **options: Any) -> subprocess.CompletedProcess:
    """Run the DVC of this interpreter's environment; its stages find the same `python`."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    command = [sys.executable, "-m", "dvc", "--wait-for-lock", *arguments]
    return subprocess.run(command, env=os.environ | {"PATH": path}, **options)


def without_git() -> None:
    """Tell DVC that the project was unpacked rather than cloned, where that is so."""
    local = Path(".dvc/config.local")
    if not Path(".git").exists() and not local.exists():
        local.write_text("[core]\n    no_scm = true\n", encoding="utf-8")


def changed(targets: Sequence[str] = ()) -> list[str]:
    """Names of the stages that would run, as far as can be told now, in the order of dvc.yaml."""
    upstream = ("--with-deps", *targets) if targets else ()
    status = dvc("status", "--json", *upstream, stdout=subprocess.PIPE, text=True)
    if status.returncode:
        sys.exit(status.returncode)
    return list(json.loads(status.stdout or "{}"))


def reproduce(stage: str) -> int:
    """Run one stage; its exit status."""
    started = time.perf_counter()
    done = dvc("repro", "--quiet", "--single-item", stage)
    say(f"{stage}: {'failed' if done.returncode else 'done'} in {time.perf_counter() - started:.0f} s")
    return done.returncode


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", help="stages to stop at, for instance decode; by default everything")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="stages at a time (all cores)")
    parser.add_argument("--check", action="store_true", help="run nothing; fail if anything is out of date")
    arguments = parser.parse_args()
    jobs, targets = arguments.jobs, arguments.targets
    without_git()
    if arguments.check:
        stale = changed(targets)
        sys.exit(f"error: out of date: {', '.join(stale)}; run `dvc repro`" if stale else 0)
    try:
        for kind in KINDS if jobs > 1 else ():
            stages = [name for name in changed(targets) if name.partition("@")[0] == kind]
            with ThreadPoolExecutor(1 if kind in ALONE else jobs) as pool:
                if any(list(pool.map(reproduce, stages))):
                    sys.exit(f"error: a {kind} stage failed; its message stands above")
        sys.exit(dvc("repro", *targets).returncode)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
