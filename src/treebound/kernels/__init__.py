"""Compiled kernels: arrays and NamedTuples in and out.

Importing this package points numba's on-disk cache at a folder of its own for every state of the kernel sources.
Numba notices when the file of a cached function changes, but not when a function that it calls, in another file, does:
without this, an edited kernel would go on running inside its old callers. Modules elsewhere that compile functions
import this package first.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numba


def _cache_dir() -> Path:
    """The cache folder of these sources: under NUMBA_CACHE_DIR, else the checkout, else the user's cache."""
    here = Path(__file__).parent
    digest = hashlib.blake2b(digest_size=8)
    for source in sorted(here.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
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
