"""Repair files that a killed DVC process has left half-written.

DVC writes two files in place. `.dvc/tmp/rwlock` records which process reads and writes which files; it is written at
the beginning and end of every stage. `dvc repro` needs seconds to write the `dvc.lock` of a large pipeline; `lockfile`
replaces the file at once. A process that is killed while it writes leaves an incomplete file, and every later DVC
process stops when it reads the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import yaml

from studies.common.stage import say
from studies.pipeline.lockfile import ENTRY
from treebound.support import atomic

TMP = Path(".dvc/tmp")
#: file with the locks of running stages
LOCKED = TMP / "rwlock"
#: file with the dependencies and outputs of the stages
MADE = Path("dvc.lock")


def repair() -> None:
    """Repair both files in the current folder, while holding the locks of DVC, and report each repair.

    A broken `rwlock` is removed; other running processes continue without their locks. If `dvc.lock` is incomplete, its
    last entry is removed. The stages of this entry and of missing entries run again. DVC restores only stages whose
    outputs are all cached or metrics.
    """
    _repair_file(MADE, "lock", _check_end, _drop_last_entry)
    _repair_file(LOCKED, "rwlock.lock", json.loads, Path.unlink)


def _repair_file(path: Path, lock: str, parse: Callable[[str], Any], repair: Callable[[Path], None]) -> None:
    """Repair a file that cannot be parsed. Wait for the lock first, since another process may be writing the file.

    lock    name of the lock of DVC that protects the file
    parse   function that raises an error if the text of the file is incomplete
    repair  function that repairs the file at a path
    """
    if _broken(path, parse):
        with _lock(lock):
            if _broken(path, parse):
                repair(path)
                say(f"{path} was half-written: {'its last entry is dropped' if path.exists() else 'removed'}")


def _broken(path: Path, parse: Callable[[str], Any]) -> bool:
    """Return True if a file exists and cannot be parsed."""
    try:
        parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return False
    except (ValueError, yaml.YAMLError):
        return True
    return False


def _entries(text: str) -> list[int]:
    """Return the positions where the entries of a `dvc.lock` begin."""
    return [match.start() for match in ENTRY.finditer(text)]


def _check_end(text: str) -> None:
    """Raise ValueError or YAMLError if the text of a `dvc.lock` is incomplete. Only its last entry is checked."""
    starts = _entries(text)
    entry = yaml.load(text[starts[-1] :], Loader=yaml.CSafeLoader) if starts else None
    last = next(iter(entry.values())) if isinstance(entry, dict) else None
    if not text.endswith("\n") or not isinstance(last, dict) or None in last.values():
        raise ValueError("breaks off")
    if any(None in file.values() for file in last.get("outs", []) + last.get("deps", [])):
        raise ValueError("breaks off in the dependencies or outputs of a stage")


def _drop_last_entry(path: Path) -> None:
    """Drop the last entry of a `dvc.lock`, or remove the file if it has no other entry."""
    text = path.read_text(encoding="utf-8", errors="ignore")
    starts = _entries(text)
    if len(starts) > 1:
        with atomic.replacing(path) as file:
            file.write(text[: starts[-1]].encode())
    else:
        path.unlink()


def _lock(name: str) -> AbstractContextManager:
    """Return the lock of DVC with this name; entering it waits for other processes."""
    from dvc.lock import make_lock  # a slow import, only needed if a file is broken

    return make_lock(str(TMP / name), wait=True)
