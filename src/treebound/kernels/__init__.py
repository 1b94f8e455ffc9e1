"""Compiled kernels: arrays and NamedTuples in and out.

Importing this package points numba's on-disk cache at a folder of its own for every state of the sources that compile
functions, and has it checked (`kernels.cache`). Modules elsewhere that compile functions import this package first; any
file that imports numba counts.
"""

from __future__ import annotations

from pathlib import Path

from treebound.kernels.cache import install

CACHE_DIR = install(Path(__file__).parents[1])  #: where compiled kernels are kept
