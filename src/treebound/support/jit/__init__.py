"""Compiled functions of this package: `kernel` in the place of `numba.njit`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

from treebound.support.jit.cache import install
from treebound.support.jit.compiler import hasten
from treebound.support.jit.inner import compile_once

compile_once()
hasten()
CACHE_DIR = install()  #: the folder of all compiled code


def kernel(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile a function when it is first called, without the interpreter's lock, and keep its machine code."""
    declare = njit(cache=True, nogil=True, **options)
    return declare if function is None else declare(function)
