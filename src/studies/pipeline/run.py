"""Run the pipeline with several stages at a time: what `dvc repro` does, on all cores.

DVC runs one stage after another. This asks DVC which stages would run and which ones each of them waits for, and runs
every stage in a process of its own as soon as those have ended. DVC's own locks keep the processes apart. A stage
that dvc.yaml marks with `meta: {alone: true}` is timed, or uses all cores: nothing runs beside it. A run may be killed
and started again at any moment; files that DVC left half-written are mended first.

What it gains over `dvc repro`: on two cores the default run takes two thirds of the time.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from studies.common.stage import say
from studies.pipeline import killed, warm
from treebound.core.errors import TreeboundError

#: stage, seconds by the clock and of CPU: a line for each run, the last of a stage counts. It grows after pages have
#: read it, which is no reason to make them again: .dvcignore names it
TIMES = Path("results", "stages.csv")
#: the same of the reference run
EXPECTED = Path("results", "reference", "stages.csv")
#: what the interpreter of short stages imports before they start, and its environment
IMPORTED = (
    *("papermill", "nbclient", "ipykernel.kernelapp", "ipykernel.ipkernel", "ipykernel.zmqshell", "pandas"),
    *("studies.site.show", "studies.site.claims", "studies.site.charts", "studies.site.stepping"),
)
ENVIRONMENT = {"TQDM_DISABLE": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}


class Job(NamedTuple):
    """A stage that may have to run.

    waits_for  jobs that have to end before it
    alone      nothing may run beside it
    together   short: it shares DVC and an interpreter with others of its kind
    """

    waits_for: frozenset[str]
    alone: bool
    together: bool


def jobs_of(repo: Any, targets: Sequence[str]) -> dict[str, Job]:
    """The stages that would run, or may have to after others have run, by name."""
    wanted = {stage for target in targets for stage in repo.stage.collect(target)} or set(repo.index.graph)
    graph = repo.index.graph  # from a stage to those that it waits for
    needed = {upstream for stage in wanted for upstream in (stage, *_reachable(graph, stage))}
    changed = repo.status([stage.addressing for stage in needed])
    stale = {stage for stage in needed if stage.addressing in changed}
    run = {stage for stage in needed if stage in stale or not stale.isdisjoint(_reachable(graph, stage))}
    return {
        stage.addressing: Job(
            frozenset(upstream.addressing for upstream in _reachable(graph, stage) if upstream in run),
            bool((stage.meta or {}).get("alone")),
            bool((stage.meta or {}).get("together")),
        )
        for stage in run
    }


def _reachable(graph: Any, stage: Any) -> set[Any]:
    seen: set[Any] = set()
    waiting = list(graph.successors(stage))
    while waiting:
        if (upstream := waiting.pop()) not in seen:
            seen.add(upstream)
            waiting += graph.successors(upstream)
    return seen


def ready(jobs: Mapping[str, Job], ended: set[str], free: int, busy: bool) -> list[list[str]]:
    """Names of the stages that start now, a list for each process: at most `free`, those that take longest first.

    jobs   stages that have not started; ended: stages that have ended
    busy   whether other stages are running: then none starts that has to be alone
    """
    names = longest_first([name for name, job in jobs.items() if job.waits_for <= ended])
    beside = [name for name in names if not jobs[name].alone and not jobs[name].together]
    if beside:
        return [[name] for name in beside[:free]]
    if together := [name for name in names if jobs[name].together]:
        return [part for i in range(free) if (part := together[i::free])]
    return [[name] for name in names[:1] if free and not busy]


def longest_first(stages: Sequence[str]) -> list[str]:
    """Stages in the order that leaves no core idle at their end for long: by the time of each in the reference run.

    Stages that it does not have come first, in the order given.
    """
    lines = EXPECTED.read_text(encoding="utf-8").splitlines() if EXPECTED.is_file() else []
    took = {name: float(wall) for name, wall, _ in (line.split(",") for line in lines)}
    return sorted(stages, key=lambda name: -took.get(name, math.inf))


def start(names: Sequence[str]) -> int:
    """Run stages by DVC, one after another, in a process of their own; return its number."""
    if pid := os.fork():
        return pid
    status = 1
    try:
        from dvc.exceptions import DvcException
        from dvc.repo import Repo

        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # no list of what DVC does; errors of a stage are shown
        try:
            with Repo(_wait_for_lock=True) as repo:
                repo.reproduce(list(names), single_item=True)
            status = 0
        except DvcException as error:
            print(f"error: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        status = 130
    finally:
        sys.stderr.flush()
        os._exit(status)


def keep_time(name: str, wall: float, cpu: float) -> None:
    """Append a line to TIMES."""
    TIMES.parent.mkdir(parents=True, exist_ok=True)
    with TIMES.open("a", encoding="utf-8") as file:
        file.write(f"{name},{wall:.1f},{cpu:.1f}\n")


def reproduce(jobs: dict[str, Job], most: int) -> bool:
    """Run stages, at most so many at a time; True if all succeeded. None starts after one has failed."""
    left, ended, failed = dict(jobs), set[str](), False
    running: dict[int, tuple[list[str], float]] = {}
    short = any(job.together for job in jobs.values())
    with warm.interpreter(IMPORTED, ENVIRONMENT) if short else nullcontext():
        while left or running:
            alone = any(jobs[name].alone for names, _ in running.values() for name in names)
            free = 0 if failed or alone else most - len(running)
            for names in ready(left, ended, free, bool(running)):
                running[start(names)] = names, time.perf_counter()
                for name in names:
                    del left[name]
            if not running:
                break
            pid, status, used = os.wait3(0)
            if pid not in running:
                continue  # the interpreter of short stages
            names, began = running.pop(pid)
            wall, cpu = time.perf_counter() - began, used.ru_utime + used.ru_stime
            more = f" and {len(names) - 1} more" * (len(names) > 1)
            say(f"{names[0]}{more}: {'failed' if status else 'done'} in {wall:.0f} s")
            failed |= bool(status)
            if not status:
                keep_time(names[0], wall, cpu)
            ended.update(names)
    return not failed


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", help="stages to stop at, for instance decode; by default everything")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="stages at a time (all cores)")
    parser.add_argument("--check", action="store_true", help="run nothing; fail if anything is out of date")
    arguments = parser.parse_args()
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    try:
        killed.mend()
        from dvc.exceptions import DvcException
        from dvc.repo import Repo

        try:
            with Repo() as repo:
                jobs = jobs_of(repo, arguments.targets)
        except DvcException as error:
            sys.exit(f"error: {error}")
        if arguments.check:
            sys.exit(f"error: out of date: {', '.join(jobs)}; run without --check" if jobs else 0)
        if not reproduce(jobs, max(1, arguments.jobs)):
            sys.exit("error: a stage failed; its message stands above")
    except TreeboundError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
