"""What the metrics of a stage rest on: code and parameters of the stage and of all that it needs, as DVC noted them.

Where none of that differs at a later commit, the metrics are that commit's as well.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

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
        lock = (folder / "dvc.lock").read_text(encoding="utf-8")
        self._lock: dict[str, Any] = yaml.load(lock, Loader=yaml.CSafeLoader)["stages"]
        self._made = [
            (PurePosixPath(out["path"]), by) for by, said in self._lock.items() for out in said.get("outs", ())
        ]
        self._makers = cache(self._makers_of)

    def upstream(self, name: str) -> set[str]:
        """A finished stage, with its item if it has some (`stage@item`), and all stages that it needs."""
        waiting, seen = [name], {name}
        while waiting:
            found = self._makers(waiting.pop()) - seen
            seen |= found
            waiting += found
        return seen

    def _makers_of(self, name: str) -> set[str]:
        """The stages that make what a stage reads."""
        deps = [dep["path"] for dep in self._said(name).get("deps", ())]
        paths = [PurePosixPath(dep) for dep in deps if not dep.startswith(CODE)]
        return {by for out, by in self._made if any(_overlap(path, out) for path in paths)}

    def needs(self, name: str) -> Needs:
        """Of such a stage."""
        every = [self._said(one) for one in self.upstream(name)]
        keys = {key for said in every for keys in said.get("params", {}).values() for key in keys}
        code = {dep["path"] for said in every for dep in said.get("deps", ()) if dep["path"].startswith(CODE)}
        return Needs(tuple(sorted(code)), tuple(sorted(keys)), self.digest(code, keys))

    def has(self, noted: Needs) -> bool:
        """Are code and parameters those that were noted?"""
        return noted.sha256 == self.digest(noted.code, noted.params)

    def _said(self, name: str) -> dict[str, Any]:
        return self._lock.get(name, {})

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
