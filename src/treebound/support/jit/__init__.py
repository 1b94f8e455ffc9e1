"""The compiler of this package's own functions: the decorator `kernel` replaces `numba.njit`.

The numba of the host program is left as it is: its configuration is not changed, and none of its parts is replaced.
Kernels have a target of their own, `target.KernelTarget`, which compiles functions that only kernels call as parts of
their callers. They also have a cache of their own, `cache.KernelCache`, which checks every file before use. A function
that the host program compiles with numba is compiled and cached by numba alone.

`target` and `cache` derive from classes of numba that may change between versions. They are used with the versions of
numba that the tests were run with, `TESTED`. With any other version kernels are plain numba functions, which every
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
    """Return whether kernels are plain numba functions. Report an untested version of numba in one line."""
    if os.environ.get(PLAIN):
        return True
    version = ".".join(numba.__version__.split(".")[:2])
    if version in TESTED:
        return False
    from treebound.support.jit.files import report

    report(
        f"numba {numba.__version__} is not one of the tested versions ({', '.join(TESTED)}): every process compiles "
        f"kernels anew, which takes a minute; set {PLAIN}=1 to accept this without a message"
    )
    return True


if _is_plain():

    def kernel(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
        """Compile a function with plain numba, so that it runs without the interpreter's lock."""
        declare = numba.njit(nogil=True, **options)
        return declare if function is None else declare(function)

else:
    from treebound.support.jit.target import kernel

__all__ = ["PLAIN", "TESTED", "kernel"]
