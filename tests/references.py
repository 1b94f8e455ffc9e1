"""Give tests access to structures of `kernels.reference.by_reference`, as opaque objects with readable fields.

Compiled code does not expose these structures. Importing this module lets kernels return them to Python and accept
them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from numba.experimental import structref

from treebound.kernels.reference import Reference
from treebound.support.jit import kernel


class Opaque(structref.StructRefProxy):
    """A structure of compiled code; arrays among its fields share memory with the structure."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        return _getter(name)(self)


structref.define_boxing(Reference, Opaque)


@cache
def _getter(name: str) -> Any:
    return kernel(eval(f"lambda struct: struct.{name}"))
