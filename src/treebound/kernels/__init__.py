"""Compiled kernels: arrays and NamedTuples in and out.

Importing this package has numba keep compiled functions in a folder of its own for every state of the sources that make
them, and check what it finds there (`kernels.cache`), and compile what only kernels call as parts of those alone
(`kernels.inner`), without needless work (`kernels.compiler`). Modules elsewhere that compile functions import it first.
"""

from __future__ import annotations

from treebound.kernels.cache import install
from treebound.kernels.compiler import hasten
from treebound.kernels.inner import compile_once

compile_once()
hasten()
CACHE_DIR = install()  #: where compiled kernels are kept
