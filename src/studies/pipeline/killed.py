"""What a killed DVC may leave half-written, made whole again.

DVC writes two files in place: `.dvc/tmp/rwlock`, which says who reads and writes what, at the beginning and end of
every stage; and `dvc.lock`, for seconds in a large pipeline. Killed within, it leaves a part, and every later DVC stops
there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import yaml

from studies.common.stage import say
from treebound.support import atomic

TMP = Path(".dvc/tmp")
#: who has locked what
LOCKED = TMP / "rwlock"
#: what stages were made from
MADE = Path("dvc.lock")


def mend() -> None:
    """Make both files of the pipeline in the current folder whole, each with DVC's own lock held; say so.

    Of `rwlock` nothing is kept: whoever held a lock beside the killed one goes on without it. `dvc.lock` loses the
    entry that it breaks off in: DVC's run cache has what it and any after it have made, and nothing runs again.
    """
    _mend(MADE, "lock", _whole, _cut)
    _mend(LOCKED, "rwlock.lock", json.loads, Path.unlink)


def _mend(path: Path, lock: str, parse: Callable[[str], Any], repair: Callable[[Path], None]) -> None:
    """Repair a file that cannot be parsed, and is not just now being written."""
    if _broken(path, parse):
        with _locked(lock):
            if _broken(path, parse):
                repair(path)
                say(f"{path} was half-written: {'its last entry is dropped' if path.exists() else 'removed'}")


def _broken(path: Path, parse: Callable[[str], Any]) -> bool:
    try:
        parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return False
    except (ValueError, yaml.YAMLError):
        return True
    return False


def _entries(text: str) -> list[int]:
    """Where the entries of a `dvc.lock` begin."""
    return [match.start() for match in re.finditer(r"^  \S", text, re.MULTILINE)]


def _whole(text: str) -> None:
    """Raises ValueError or YAMLError where DVC would refuse a `dvc.lock` that breaks off here: only its end can."""
    begins = _entries(text)
    entry = yaml.load(text[begins[-1] :], Loader=yaml.CSafeLoader) if begins else None
    last = next(iter(entry.values())) if isinstance(entry, dict) else None
    if not text.endswith("\n") or not isinstance(last, dict) or None in last.values():
        raise ValueError("breaks off")
    if any(None in made.values() for made in last.get("outs", []) + last.get("deps", [])):
        raise ValueError("breaks off in what a stage has read or made")


def _cut(path: Path) -> None:
    """Drop the last entry of a `dvc.lock`, or the file where there is no other."""
    text = path.read_text(encoding="utf-8", errors="ignore")
    begins = _entries(text)
    if len(begins) > 1:
        with atomic.replacing(path) as file:
            file.write(text[: begins[-1]].encode())
    else:
        path.unlink()


def _locked(name: str) -> AbstractContextManager:
    from dvc.lock import make_lock  # half a second, where something is broken only

    return make_lock(str(TMP / name), wait=True)
