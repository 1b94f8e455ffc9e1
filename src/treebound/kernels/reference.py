"""What compiled functions are spared: structs handed on by reference, what `None` rules out, versions of one type.

A NamedTuple is handed on as all that it holds: every call counts the references of all its arrays up and down.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numba.core import types
from numba.experimental import structref
from numba.extending import overload

Class = TypeVar("Class", bound=type)


@structref.register
class Reference(types.StructRef):  # type: ignore[name-defined]
    """The type of such structs in compiled code: what their fields are, not which class they are of."""

    def preprocess_fields(self, fields):
        """Fields of any value of their types."""
        return tuple((name, types.unliteral(kind)) for name, kind in fields)  # type: ignore[attr-defined]


def by_reference(declared: Class) -> Class:
    """Let compiled functions make instances of a dataclass, which stay in compiled code."""
    structref.define_constructor(declared, Reference, [field.name for field in fields(declared)])
    return declared


def read_only(array: np.ndarray) -> np.ndarray:
    """A read-only view, of the array of a checked problem or of anybody.

    For numba, whether an array may be written is part of its type: a kernel is compiled for every mixture that it gets.
    """
    view = array.view()
    view.flags.writeable = False
    return view


def where_none(otherwise: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A plain function for compiled code whose first argument may be None: `otherwise` takes its place then.

    Of `if x is None`, numba compiles what can not be reached as well, with all that is called there.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def either(first: Any, *others: Any) -> Any:
            return (otherwise if first is None else function)(first, *others)

        def chosen(first: Any, *others: Any) -> Any:
            return otherwise if first is types.none else function

        overload(either, strict=False)(chosen)
        return either

    return declare
