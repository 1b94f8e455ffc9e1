"""The compiler of this package's own functions: `kernel` in the place of `numba.njit`.

Numba stays as its host program has it: nothing of it is replaced, configured or warned about. Kernels have a target of
their own, `target.KernelTarget`, which compiles functions that only kernels call as parts of their callers, and a cache
of their own, `cache.KernelCache`, which checks every file before it is used. A function that the host compiles with
numba is compiled and cached by numba alone.

`target` and `cache` derive from classes of numba that numba's authors may change. They are used with the versions of
numba that the tests were run with, `TESTED`; with any other version kernels are plain numba functions, which every
process compiles anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numba

TESTED = ("0.67", "0.68")  #: versions of numba whose compiler `target` derives from
PLAIN = "TREEBOUND_PLAIN_NUMBA"  #: environment variable; if it is set, kernels are plain numba functions


def _is_plain() -> bool:
    """Return whether kernels are compiled by numba as it comes. Report an unknown version in one line."""
    if os.environ.get(PLAIN):
        return True
    version = ".".join(numba.__version__.split(".")[:2])
    if version in TESTED:
        return False
    from treebound.support.jit.files import report

    report(
        f"numba {numba.__version__} is not one of the tested versions ({', '.join(TESTED)}): every process compiles "
        f"anew, which takes a minute; set {PLAIN}=1 to accept this without a message"
    )
    return True


if _is_plain():

    def kernel(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
        """Compile a function by plain numba."""
        declare = numba.njit(nogil=True, **options)
        return declare if function is None else declare(function)

else:
    from treebound.support.jit.target import kernel

__all__ = ["PLAIN", "TESTED", "kernel"]
