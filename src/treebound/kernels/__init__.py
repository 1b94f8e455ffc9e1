"""Compiled kernels: arrays and NamedTuples in and out.

Importing this package points numba's on-disk cache at a folder of its own for every state of the sources that compile
functions. Numba notices when the file of a cached function changes, but not when a function that it calls, in another
file, does: without this, an edited kernel would go on running inside its old callers. Modules elsewhere that compile
functions import this package first; any file that imports numba counts.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import numba

_IMPORT = rb"(?m)^\s*(from|import) numba\b"


def _sources(package: Path) -> list[Path]:
    """The files of a package that compile functions, and those of folders of such files, whose constants they use."""
    files = sorted(package.rglob("*.py"))
    return [p for p in files if p.parent.name in ("kernels", "compiled") or re.search(_IMPORT, p.read_bytes())]


def _cache_dir() -> Path:
    """The cache folder of these sources: under NUMBA_CACHE_DIR, else the checkout, else the user's cache."""
    here = Path(__file__).parent
    digest = hashlib.blake2b(digest_size=8)
    for source in _sources(here.parent):
        digest.update(str(source.relative_to(here.parent)).encode() + b"\0" + source.read_bytes())
    project = here.parents[2]
    if numba.config.CACHE_DIR:
        base = Path(numba.config.CACHE_DIR)
    elif (project / "pyproject.toml").is_file():
        base = project / ".numba_cache"
    else:
        base = Path.home() / ".cache" / "treebound"
    return base / digest.hexdigest()


CACHE_DIR = _cache_dir()  #: where compiled kernels are kept
numba.config.CACHE_DIR = str(CACHE_DIR)
