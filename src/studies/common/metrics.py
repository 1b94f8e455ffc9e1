"""Read metrics, either from the small JSON files that stages write or from the compressed files of a reference run.

A stage writes `metrics/<stage>/<item>.json`. A committed reference run stores one compressed file per stage,
`metrics/<stage>.json.gz`. It holds an object that maps the path of every small file to its content.
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
    """Read the metrics file at `parts` under the folder of a run, for instance ("train", "tr_twt", "arc.json").

    Raises InputError if the file is missing or damaged.
    """
    path, archive = folder.joinpath("metrics", *parts), folder / "metrics" / f"{parts[0]}.json.gz"
    if archive.is_file():
        name = "/".join(parts[1:])
        content = _content(archive, os.stat(archive).st_mtime_ns)
        if not isinstance(content, dict) or name not in content:
            raise InputError(f"{name}: missing, though params.yaml asks for it", path=archive, hint=RERUN)
        return copy.deepcopy(content[name])  # copy the cached content: callers may change the result
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError("missing, though params.yaml asks for it", path=path, hint=RERUN) from None
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg}", path=path, line=error.lineno, hint=RERUN) from None


def has(folder: Path, *parts: str) -> bool:
    """Return True if a run has a metrics file at the path `parts`, or any metrics file below this path."""
    archive = folder / "metrics" / f"{parts[0]}.json.gz"
    if archive.is_file():
        name = "/".join(parts[1:])
        content = _content(archive, os.stat(archive).st_mtime_ns)
        return any(key == name or not name or key.startswith(f"{name}/") for key in content)
    return folder.joinpath("metrics", *parts).exists()


@lru_cache(maxsize=64)
def _content(path: Path, modified: int) -> Any:
    """Read a compressed metrics file. `modified` is part of the cache key, so that a changed file is read anew."""
    try:
        return json.loads(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise InputError(
            f"not compressed JSON: {error}", path=path, hint="restore the file from the repository"
        ) from None


def gather(source: Path, target: Path) -> None:
    """Write the small JSON files of the folder `source` as one file per stage into the folder `target`.

    Each entry is one line and entries are sorted, so that the same metrics give the same bytes.
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
