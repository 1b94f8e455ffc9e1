"""Metrics files: small JSON files of stages, and the form in which a reference keeps them.

A stage writes `metrics/<stage>/<item>.json`. A reference is committed and keeps one compressed file a stage instead,
`metrics/<stage>.json.gz`: an object with the content of every small file under its path.
"""

from __future__ import annotations

import copy
import gzip
import json
import os
import zlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from treebound.core.errors import InputError
from treebound.support.atomic import replacing

RERUN = "run python -m studies.pipeline.run"


def read(folder: Path, *parts: str) -> Any:
    """Content of the metrics file at `parts` under a run's folder, for instance ("train", "tr_twt", "arc.json").

    Raises InputError where it is missing or damaged.
    """
    path, kept = folder.joinpath("metrics", *parts), folder / "metrics" / f"{parts[0]}.json.gz"
    if kept.is_file():
        name = "/".join(parts[1:])
        content = _content(kept, os.stat(kept).st_mtime_ns)
        if not isinstance(content, dict) or name not in content:
            raise InputError(f"{name}: missing, though params.yaml asks for it", path=kept, hint=RERUN)
        return copy.deepcopy(content[name])  # callers may change it
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError("missing, though params.yaml asks for it", path=path, hint=RERUN) from None
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg}", path=path, line=error.lineno, hint=RERUN) from None


def has(folder: Path, *parts: str) -> bool:
    """Whether a run has metrics at `parts`: a file, or any file below them."""
    kept = folder / "metrics" / f"{parts[0]}.json.gz"
    if kept.is_file():
        name = "/".join(parts[1:])
        content = _content(kept, os.stat(kept).st_mtime_ns)
        return any(key == name or not name or key.startswith(f"{name}/") for key in content)
    return folder.joinpath("metrics", *parts).exists()


@lru_cache(maxsize=64)
def _content(path: Path, changed: int) -> Any:
    try:
        return json.loads(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise InputError(f"not compressed JSON: {error}", path=path, hint="take it from the repository") from None


def gather(source: Path, target: Path) -> None:
    """Write the small JSON files of the folder `source` as one file a stage into the folder `target`.

    An entry a line, sorted: the same metrics give the same bytes.
    """
    stages: dict[str, dict[str, Any]] = {}
    for path in sorted(source.rglob("*.json")):
        stage, *rest = path.relative_to(source).parts
        stages.setdefault(stage, {})["/".join(rest)] = json.loads(path.read_text(encoding="utf-8"))
    for stage, entries in stages.items():
        lines = [
            f"{json.dumps(name)}: {json.dumps(content, sort_keys=True, separators=(',', ':'))}"
            for name, content in sorted(entries.items())
        ]
        with replacing(target / f"{stage}.json.gz") as file:
            file.write(gzip.compress(("{\n" + ",\n".join(lines) + "\n}\n").encode(), mtime=0))
