"""What the metrics of a stage rest on: code and parameters of the stage and of all that it needs, as DVC noted them.

Where none of that differs at a later commit, the metrics are that commit's as well.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

CODE = "src/"  #: what other dependencies are made of, stages say


def needs(folder: Path, name: str) -> dict[str, Any]:
    """Paths of the code and keys of the parameters that a finished stage in `folder` needs, and their `digest`.

    name  of the stage, with all that it is made for, or with one: `stage@item`
    """
    lock = yaml.safe_load((folder / "dvc.lock").read_text(encoding="utf-8"))["stages"]
    makers = [(PurePosixPath(out["path"]), maker) for maker, said in lock.items() for out in said.get("outs", ())]
    waiting = [one for one in lock if name in (one, one.partition("@")[0])]
    seen, code, keys = set(waiting), set(), set()
    while waiting:
        said = lock[waiting.pop()]
        keys |= {key for keys in said.get("params", {}).values() for key in keys}
        for path in (PurePosixPath(dep["path"]) for dep in said.get("deps", ())):
            if str(path).startswith(CODE):
                code.add(str(path))
            upstream = {maker for out, maker in makers if path.is_relative_to(out) or out.is_relative_to(path)} - seen
            seen |= upstream
            waiting += upstream
    return {"code": sorted(code), "params": sorted(keys), "sha256": digest(folder, code, keys)}


def unchanged(folder: Path, noted: dict[str, Any] | None) -> bool:
    """Are code and parameters in `folder` those that were noted by `needs`, if they were?"""
    return noted is not None and noted["sha256"] == digest(folder, noted["code"], noted["params"])


def digest(folder: Path, code: Iterable[str], keys: Iterable[str]) -> str:
    """Of files, of all files of folders, and of what stands in params.yaml at these keys."""
    total = hashlib.sha256()
    for path in sorted(file for name in set(code) for file in _files(folder / name)):
        total.update(f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    params = yaml.safe_load((folder / "params.yaml").read_text(encoding="utf-8"))
    for key in sorted(set(keys)):
        value = params
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        total.update(f"{key} {json.dumps(value, sort_keys=True)}\n".encode())
    return total.hexdigest()


def _files(path: Path) -> list[Path]:
    """A file, or those of a folder that are no byte code; nothing where there is neither."""
    if path.is_file():
        return [path]
    return [file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
