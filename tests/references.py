"""Readable access to structures of `kernels.reference.by_reference`, which are opaque to Python.

Importing this module lets kernels return these structures to Python and accept them as arguments.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from numba.experimental import structref

from treebound.kernels.reference import Reference
from treebound.support.jit import kernel


class Opaque(structref.StructRefProxy):
    """A structure in compiled code. Its array fields share their memory with the structure."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        return _getter(name)(self)


structref.define_boxing(Reference, Opaque)


@cache
def _getter(name: str) -> Any:
    return kernel(eval(f"lambda struct: struct.{name}"))
