"""Tools for compiled functions: structs passed by reference, optional first arguments, and read-only arrays.

A NamedTuple is passed by value with everything that it contains: every call increments and decrements the reference
counts of all its arrays. A struct passed by reference avoids this cost.
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
    """The numba type of structs passed by reference. It depends on the types of the fields, not on the class."""

    def preprocess_fields(self, fields):
        """Return the fields with types that admit any value, instead of literal types."""
        return tuple((name, types.unliteral(kind)) for name, kind in fields)  # type: ignore[attr-defined]


def by_reference(declared: Class) -> Class:
    """Register the dataclass `declared`, so that compiled functions can construct instances and pass them by reference.

    Instances exist in compiled code only.
    """
    structref.define_constructor(declared, Reference, [field.name for field in fields(declared)])
    return declared


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a read-only view of an array.

    For numba, whether an array is writable is part of its type. Without this function, kernels would be compiled again
    for every combination of writable and read-only arguments.
    """
    view = array.view()
    view.flags.writeable = False
    return view


def where_none(otherwise: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator for a function whose first argument may be None; `otherwise` is then called instead.

    The result can be called from compiled code. With a plain `if x is None`, numba compiles the unreachable branch as
    well, and all functions that it calls.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def dispatch(first: Any, *arguments: Any) -> Any:
            return (otherwise if first is None else function)(first, *arguments)

        def choose(first: Any, *arguments: Any) -> Any:
            return otherwise if first is types.none else function

        overload(dispatch, strict=False)(choose)
        return dispatch

    return declare
