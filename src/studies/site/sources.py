"""Record which results a notebook has read, so that each table and figure can name its sources.

A notebook has its own process. The record therefore holds the results that its cells have read so far.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from treebound.plots.svg import ADDITIONS

#: MIME type of the sources of a table or figure: a list with one entry for each run
SOURCES = "application/vnd.treebound.sources+json"
#: stages that have been read, by run: name, date and commit (empty for this run)
_stages: dict[tuple[str, str, str], set[str]] = {}
_shown: list[str] = []  #: names of the runs that the notebook shows side by side


def show(names: Sequence[str]) -> None:
    """Record the names of the runs that the notebook shows side by side."""
    _shown[:] = names


def only_run() -> str | None:
    """Return the name of the run that the notebook shows, or None if it shows several runs or none."""
    return _shown[0] if len(_shown) == 1 else None


def record(name: str, info: Mapping[str, Any], stage: str) -> None:
    """Record that the notebook has read the metrics of a stage.

    name  name of the run as a phrase, for instance "reference run"
    info  description of a reference run, with its date and commit; empty for this run
    """
    run = (name, str(info.get("date", "")), str(info.get("commit", ""))[:12])
    _stages.setdefault(run, set()).add(stage)


@contextmanager
def unrecorded() -> Iterator[None]:
    """Read results inside the `with` statement without recording them, for values that no cell shows by themselves."""
    before = {run: set(stages) for run, stages in _stages.items()}
    try:
        yield
    finally:
        _stages.clear()
        _stages.update(before)


def bundle() -> dict[str, list[dict[str, Any]]]:
    """Return a MIME bundle with one entry: a list of all runs that were read so far, each with its stages.

    The result is empty if nothing was read.
    """
    runs = [
        {"run": name, "date": date, "commit": commit, "stages": sorted(stages)}
        for (name, date, commit), stages in _stages.items()
    ]
    return {SOURCES: runs} if runs else {}


def described(runs: list[dict[str, Any]]) -> str:
    """Return the runs and stages of an entry of `bundle` as text, for instance for the line below a table.

    If all runs were read for the same stages, the stages are named once.
    """
    if not runs:
        return "computed by this notebook"
    names = [_run(run) for run in runs]
    stages = [_stages_of(run) for run in runs]
    if len(set(stages)) == 1:
        return "; ".join([f"metrics of the {stages[0]}", *names])
    return "; ".join(f"{name}, metrics of the {read}" for name, read in zip(names, stages, strict=True))


def _run(run: Mapping[str, Any]) -> str:
    """Return the name of a run with its date and commit."""
    date = f" of {run['date']}" if run["date"] else ""
    return f"{run['run']}{date}" + (f", commit {run['commit']}" if run["commit"] else "")


def _stages_of(run: Mapping[str, Any]) -> str:
    """Return the stages of a run as text."""
    return f"stage{'s' * (len(run['stages']) > 1)} {', '.join(run['stages'])}"


if bundle not in ADDITIONS:
    ADDITIONS.append(bundle)
