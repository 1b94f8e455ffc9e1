"""Run the stages of the pipeline like `dvc repro`, but several at the same time.

DVC runs one stage after another. This module asks DVC which stages would run and which stages each stage waits for. It
runs every stage in a separate process as soon as the stages before it have ended. DVC's own locks coordinate the
processes. A stage that dvc.yaml marks with `meta: {alone: true}` is timed, or uses all cores: it runs without other
stages. A run may be killed and started again at any time; files that DVC left half-written are repaired first.

On two cores, the default run takes two thirds of the time of `dvc repro`.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, NamedTuple

from studies.common.cores import cores
from studies.common.stage import say
from studies.pipeline import killed, lockfile, warm
from treebound.core.errors import TreeboundError

#: file with a line for each run of a stage: name, wall seconds, CPU seconds; the last line of a stage is valid.
#: Lines are added after the pages have read the file. .dvcignore names it, so that DVC does not make the pages again
TIMES = Path("results", "stages.csv")
#: the file TIMES of the reference run
EXPECTED = Path("results", "reference", "stages.csv")
#: modules that the shared interpreter of short stages imports in advance, and environment variables that it sets
IMPORTED = (
    *("papermill", "nbclient", "ipykernel.kernelapp", "ipykernel.ipkernel", "ipykernel.zmqshell", "pandas"),
    *("studies.site.show", "studies.site.claims", "studies.site.charts", "studies.site.stepping"),
)
ENVIRONMENT = {"TQDM_DISABLE": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}


class Job(NamedTuple):
    """A stage that may have to run.

    - waits_for: names of the stages that have to end before this stage starts.
    - alone: True if no other stage may run at the same time as this stage.
    - first: True if this stage and the stages that it waits for run before all others. Most stages wait for the
      tagger, which runs alone: long stages that do not wait for it would keep the other cores idle.
    - together: True for a short stage. Several short stages run one after another in one process, and their commands
      are started from one interpreter.
    """

    waits_for: frozenset[str]
    alone: bool = False
    first: bool = False
    together: bool = False


def jobs_of(repo: Any, targets: Sequence[str], allow_missing: bool = False) -> dict[str, Job]:
    """Return, by name, the stages that DVC would run now and the stages that depend on their outputs.

    targets        names of the last stages; empty: all stages
    allow_missing  as for `dvc repro`: a stage whose files are missing does not run if nothing else has changed, unless
                   a stage that runs reads these files
    """
    from dvc.repo import lock_repo

    with lock_repo(repo):
        graph = repo.index.graph  # edges lead from a stage to the stages that it waits for
        named = {target: [stage for stage in graph if target in _names(stage)] for target in targets}
        # DVC reads dvc.lock once for each name that it looks up: a quarter of an hour for a thousand stages. Only names
        # of neither a stage nor a group are looked up, for instance names of files
        requested = {stage for name, stages in named.items() for stage in stages or repo.stage.collect(name)}
        requested = requested or set(graph)
        needed = {upstream for stage in requested for upstream in (stage, *_reachable(graph, stage))}
        stale = {stage for stage in needed if stage.changed(allow_missing, list(graph.successors(stage)))}
        to_run = {stage for stage in needed if stage in stale or not stale.isdisjoint(_reachable(graph, stage))}
        waiting = list(to_run) if allow_missing else []
        while waiting:
            stage = waiting.pop()
            lacking = {upstream for upstream in graph.successors(stage) if _lacks(stage, upstream)} - to_run
            waiting += lacking
            to_run |= lacking
    return {
        stage.addressing: Job(
            frozenset(upstream.addressing for upstream in _reachable(graph, stage) if upstream in to_run),
            bool((stage.meta or {}).get("alone")),
            bool((stage.meta or {}).get("first")),
            bool((stage.meta or {}).get("together")),
        )
        for stage in to_run
    }


def _names(stage: Any) -> tuple[str, str]:
    """Return the name of a stage of dvc.yaml, and the name of its group: `train@tr_twt-arc` and `train`."""
    return stage.addressing, stage.addressing.partition("@")[0]


def _lacks(stage: Any, upstream: Any) -> bool:
    """Return True if a file is missing that `upstream` writes and `stage` reads, alone or with the folder around it."""
    missing = [Path(out.fs_path) for out in upstream.outs if not out.exists]
    read = [Path(dep.fs_path) for dep in stage.deps]
    return any(a.is_relative_to(b) or b.is_relative_to(a) for a in missing for b in read)


def _reachable(graph: Any, stage: Any) -> set[Any]:
    """Return all stages that `stage` waits for, directly or indirectly.

    graph  DVC's graph, whose edges lead from a stage to the stages that it waits for
    """
    reached: set[Any] = set()
    waiting = list(graph.successors(stage))
    while waiting:
        if (upstream := waiting.pop()) not in reached:
            reached.add(upstream)
            waiting += graph.successors(upstream)
    return reached


def ready(jobs: Mapping[str, Job], ended: set[str], free: int, busy: bool) -> list[list[str]]:
    """Return the stages to start now: a list of names for each new process, longest stages first.

    jobs   stages that have not started
    ended  names of the stages that have ended
    free   largest number of processes to start
    busy   True if other stages are running; a stage that must run alone then waits
    """
    first = {name for name, job in jobs.items() if job.first}
    first = first.union(*(jobs[name].waits_for for name in first)) or set(jobs)
    names = longest_first([name for name, job in jobs.items() if job.waits_for <= ended and name in first])
    parallel = [name for name in names if not jobs[name].alone and not jobs[name].together]
    if parallel:
        return [[name] for name in parallel[:free]]
    if together := [name for name in names if jobs[name].together]:
        return [part for i in range(free) if (part := together[i::free])]
    return [[name] for name in names[:1] if free and not busy]


def longest_first(stages: Sequence[str]) -> list[str]:
    """Sort stages by their time in the reference run, longest first, so that no core is idle at the end for long.

    Stages that are not in the reference run come first, in their given order.
    """
    lines = EXPECTED.read_text(encoding="utf-8").splitlines() if EXPECTED.is_file() else []
    seconds = {name: float(wall) for name, wall, _ in (line.split(",") for line in lines)}
    return sorted(stages, key=lambda name: -seconds.get(name, math.inf))


def start(names: Sequence[str]) -> int:
    """Start a process that runs stages by DVC, one after another; return its process id."""
    if pid := os.fork():
        return pid
    status = 1
    try:
        from dvc.exceptions import DvcException
        from dvc.repo import Repo
        from dvc.stage.exceptions import StageCmdFailedError

        lockfile.install(names)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # hide the messages of DVC; errors of a stage stay visible
        try:
            with Repo(_wait_for_lock=True) as repo:
                repo.reproduce(list(names), single_item=True)
            status = 0
        except DvcException as error:
            cause = error.__cause__  # a command that failed has written its own message
            reason = "" if cause is None or isinstance(cause, StageCmdFailedError) else f": {cause}"
            print(f"error: {error}{reason}", file=sys.stderr)
    except KeyboardInterrupt:
        status = 130
    finally:
        sys.stderr.flush()
        os._exit(status)


def keep_time(name: str, wall: float, cpu: float) -> None:
    """Append the wall and CPU seconds of a stage to the file TIMES."""
    TIMES.parent.mkdir(parents=True, exist_ok=True)
    with TIMES.open("a", encoding="utf-8") as file:
        file.write(f"{name},{wall:.1f},{cpu:.1f}\n")


def reproduce(jobs: dict[str, Job], workers: int) -> bool:
    """Run stages, at most `workers` at the same time; return True if all succeeded.

    After a stage has failed, no other stage starts.
    """
    pending, ended, failed = dict(jobs), set[str](), False
    running: dict[int, tuple[list[str], float]] = {}
    short = any(job.together for job in jobs.values())
    with warm.interpreter(IMPORTED, ENVIRONMENT) if short else nullcontext():
        while pending or running:
            alone = any(jobs[name].alone for names, _ in running.values() for name in names)
            free = 0 if failed or alone else workers - len(running)
            for names in ready(pending, ended, free, bool(running)):
                running[start(names)] = names, time.perf_counter()
                for name in names:
                    del pending[name]
            if not running:
                break
            pid, status, usage = os.wait3(0)
            if pid not in running:
                continue  # the ended process is not a stage but the shared interpreter of short stages
            names, started = running.pop(pid)
            wall, cpu = time.perf_counter() - started, usage.ru_utime + usage.ru_stime
            others = f" and {len(names) - 1} more" * (len(names) > 1)
            say(f"{names[0]}{others}: {'failed' if status else 'done'} in {wall:.0f} s")
            failed |= bool(status)
            if not status:
                keep_time(names[0], wall, cpu)
            ended.update(names)
    return not failed


def main() -> None:
    """Run the command line and exit with a status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", help="last stages to run, for instance decode (default: all stages)")
    parser.add_argument(
        "--jobs",
        type=int,
        default=cores(),
        help="number of stages that run at the same time (default: number of cores that it may use)",
    )
    parser.add_argument(
        "--allow-missing",
        action="store_true",
        help="do not run a stage only because its files are missing, unless a stage that runs reads them",
    )
    parser.add_argument(
        "--check", action="store_true", help="run nothing; exit with status 1 if a stage is out of date"
    )
    arguments = parser.parse_args()
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    try:
        killed.repair()
        from dvc.exceptions import DvcException, PrettyDvcException
        from dvc.repo import Repo

        try:
            with Repo() as repo:
                jobs = jobs_of(repo, arguments.targets, arguments.allow_missing)
        except DvcException as error:
            where = "; run `dvc status`, which shows the lines" if isinstance(error, PrettyDvcException) else ""
            sys.exit(f"error: {error}{where}")
        if arguments.check:
            sys.exit(f"error: out of date: {', '.join(jobs)}; run without --check" if jobs else 0)
        if not reproduce(jobs, max(1, arguments.jobs)):
            sys.exit("error: a stage failed; see its message above")
    except TreeboundError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:  # Control-C reaches the stages as well, perhaps while DVC is writing dvc.lock
        with suppress(ChildProcessError, KeyboardInterrupt):
            while True:
                os.wait()
        killed.repair()
        say("interrupted; the same command continues the run")
        sys.exit(130)


if __name__ == "__main__":
    main()
