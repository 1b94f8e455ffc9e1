"""What the metrics of a stage rest on: code and parameters of the stage and of all that it needs, as DVC noted them.

Where none of that differs at a later commit, the metrics are that commit's as well.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import yaml

CODE = "src/"  #: what other dependencies are made of, stages say


class Needs(NamedTuple):
    """Of one stage and one of its items."""

    code: tuple[str, ...]  #: paths
    params: tuple[str, ...]  #: keys
    sha256: str  #: of both


class State:
    """The code and the parameters in a folder, as they are now; files are read once."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.params = yaml.safe_load((folder / "params.yaml").read_text(encoding="utf-8"))
        self.sum = cache(lambda path: hashlib.sha256(path.read_bytes()).hexdigest())
        self.files = cache(lambda name: _files(folder / name))

    def needs(self, names: Sequence[str]) -> dict[str, Needs]:
        """Of finished stages, each with its item if it has some: `stage@item`."""
        lock = yaml.load((self.folder / "dvc.lock").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)["stages"]
        makers = {PurePosixPath(out["path"]): maker for maker, said in lock.items() for out in said.get("outs", ())}
        found = {}
        for name in names:
            waiting, seen, code, keys = [name] if name in lock else [], {name}, set(), set()
            while waiting:
                said = lock[waiting.pop()]
                keys |= {key for keys in said.get("params", {}).values() for key in keys}
                for path in (PurePosixPath(dep["path"]) for dep in said.get("deps", ())):
                    if str(path).startswith(CODE):
                        code.add(str(path))
                    upstream = {maker for out, maker in makers.items() if _overlap(path, out)} - seen
                    seen |= upstream
                    waiting += upstream
            found[name] = Needs(tuple(sorted(code)), tuple(sorted(keys)), self.digest(code, keys))
        return found

    def has(self, noted: Needs) -> bool:
        """Are code and parameters those that were noted?"""
        return noted.sha256 == self.digest(noted.code, noted.params)

    def digest(self, code: Iterable[str], keys: Iterable[str]) -> str:
        """Of files, of all files of folders, and of what stands in params.yaml at these keys."""
        total = hashlib.sha256()
        for path in sorted({file for name in code for file in self.files(name)}):
            total.update(f"{path.relative_to(self.folder)} {self.sum(path)}\n".encode())
        for key in sorted(set(keys)):
            value = self.params
            for part in key.split("."):
                value = value.get(part) if isinstance(value, dict) else None
            total.update(f"{key} {json.dumps(value, sort_keys=True)}\n".encode())
        return total.hexdigest()


def _overlap(one: PurePosixPath, other: PurePosixPath) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)


def _files(path: Path) -> list[Path]:
    """A file, or those of a folder that are no byte code; nothing where there is neither."""
    if path.is_file():
        return [path]
    return [file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
