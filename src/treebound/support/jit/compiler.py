"""What Numba's compiler does more often than it needs: a fifth of what compiling our kernels costs.

- To count the references of a tuple, numba takes every field of every array in it out, seven instructions of which one
  is used: more than a third of all that LLVM was handed.
- What a sum of two integers is, numba finds out by trying some seventy rules, for every sum.
- A set of compiler flags is compared, as part of a key, by making dictionaries of all its fields.
- Python's garbage collector walks over all that the compiler made, again and again, and finds next to nothing.

None of this changes what is compiled.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import targetconfig, types
from numba.core.runtime import context as runtime

_resolved: dict[tuple, Any] = {}  #: signatures of functions that numba has compiled before
_resolve = types.Function.get_call_type


@functools.cache
def _holds(models: Any, kind: Any) -> bool:
    """Whether values of a type hold references that are counted."""
    model = models[kind]
    return model.has_nrt_meminfo() or any(_holds(models, member) for member, _ in model.traverse(None))


def _references(nrt: Any, builder: Any, kind: Any, value: Any) -> list[tuple[Any, Any]]:
    """(type, reference) of all that are held by a value."""
    models = nrt._context.data_model_manager
    model = models[kind]
    found = [(kind, model.get_nrt_meminfo(builder, value))] if model.has_nrt_meminfo() else []
    for member, getter in model.traverse(builder):
        if _holds(models, member):
            found += _references(nrt, builder, member, getter(value))
    return found


def _call_type(function: Any, context: Any, args: Any, options: Any) -> Any:
    """The signature by which a function is called with arguments of these types."""
    key = (function, context, tuple(args), tuple(options.items()), targetconfig.ConfigStack.top_or_none())
    found = _resolved.get(key)
    if found is None:
        found = _resolve(function, context, args, options)
        if found is not None:
            _resolved[key] = found
    return found


def _same_flags(flags: Any, other: Any) -> Any:
    if not isinstance(other, targetconfig.TargetConfig):
        return NotImplemented
    return flags._values == other._values or flags.values() == other.values()


def _hash_of_flags(flags: Any) -> int:
    return hash(type(flags))  # few are ever told apart


@contextmanager
def without_collector() -> Iterator[None]:
    """No garbage is collected meanwhile; what is there afterwards counts as old, and waits for a full collection."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if gc.get_freeze_count() == 0:
            gc.freeze()
            gc.unfreeze()
        if collecting:
            gc.enable()


def hasten() -> None:
    """Have numba do less from now on."""
    types.Function.get_call_type = _call_type  # type: ignore[assignment, method-assign]
    runtime.NRTContext.get_meminfos = _references
    targetconfig.TargetConfig.__eq__ = _same_flags
    targetconfig.TargetConfig.__hash__ = _hash_of_flags
