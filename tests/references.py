"""Structures of `kernels.reference.by_reference` in tests: opaque objects whose fields can be read.

Compiled code keeps such structures to itself; importing this module lets kernels return them to Python and take them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from numba.experimental import structref

from treebound.kernels.reference import Reference
from treebound.support.jit import kernel


class Opaque(structref.StructRefProxy):
    """A structure in compiled code. Arrays among its fields share their memory with it."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        return _getter(name)(self)


structref.define_boxing(Reference, Opaque)


@cache
def _getter(name: str) -> Any:
    return kernel(eval(f"lambda struct: struct.{name}"))
