"""Kernels that only kernels call get no machine code of their own.

Numba compiles a function that another one calls as if Python called it, too: a wrapper that unpacks its arguments, a
module optimised and translated; and again as a part of its caller, and of every caller of that one. Half of what a
first use cost went there. Here a function that is compiled for the sake of another one, an *inner* one, stays the
intermediate code that callers link, and is optimised and translated once, within the function that Python calls.

Where Python calls an inner one after all, it is compiled anew, whole; the cache keeps both under keys of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import llvmlite.binding as llvm
from numba.core import caching, codegen, cpu, dispatcher, sigutils
from numba.core.compiler_lock import global_compiler_lock

from treebound.support.jit.compiler import without_collector

PACKAGES = {"treebound"}  #: whose functions are compiled so, with what these call; functions of others are left alone
_INNER = "inner"
_depth = 0  #: functions that are being compiled, each for the one before; changed under numba's lock


class Library(codegen.JITCodeLibrary):
    """The code of one function; without machine code where it is inner."""

    def __init__(self, *args: Any):
        super().__init__(*args)
        self.inner = _depth > 1

    def _optimize_final_module(self) -> None:
        if not self.inner:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if self.inner:
            self._finalize_dynamic_globals()
            self._finalized = True
        else:
            super()._finalize_final_module()

    def serialize_using_object_code(self) -> Any:
        """What the cache keeps."""
        if self.inner:
            return self.name, _INNER, self._get_module_for_linking().as_bitcode()
        return super().serialize_using_object_code()

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> Any:
        name, kind, data = state
        if kind != _INNER:
            return super()._unserialize(codegen, state)
        library = codegen.create_library(name)
        library._final_module = library._shared_module = llvm.parse_bitcode(data)
        library._finalized = True
        return library


def compile_once() -> None:
    """Have numba compile inner functions as parts of others from now on."""
    codegen.JITCPUCodegen._library_class = Library
    for name in ("create_cpython_wrapper", "create_cfunc_wrapper", "get_executable"):
        _replace(cpu.CPUContext, name, _no_entry)
    _replace(codegen.JITCPUCodegen, "set_env", _set_env)
    _replace(caching.Cache, "_index_key", _index_key)
    _replace(dispatcher.Dispatcher, "compile", _compile)
    _replace(dispatcher.Dispatcher, "add_overload", _add_overload)


def _replace(kind: type, name: str, method: Callable[..., Any]) -> None:
    """Let `method`, which is given the old one first, take the place of a method."""
    old = getattr(kind, name)
    setattr(kind, name, lambda *args, **options: method(old, *args, **options))


def _no_entry(old: Callable[..., Any], context: Any, library: Any, *args: Any, **options: Any) -> Any:
    """The ways in from Python: none into an inner function, but something by which callers know it."""
    if not library.inner:
        return old(context, library, *args, **options)

    def entry(*_: Any) -> NoReturn:
        raise TypeError("an inner function has no entry")

    return entry


def _set_env(old: Callable[..., Any], codegen: Any, name: str, env: Any) -> None:
    """The Python objects of a function stand where its machine code does: for inner ones, in their callers'."""
    if _depth <= 1:
        old(codegen, name, env)


def _index_key(old: Callable[..., Any], cache: Any, *args: Any) -> Any:
    key = old(cache, *args)
    return (*key, _INNER) if _depth > 1 else key


def _compile(old: Callable[..., Any], function: Any, sig: Any) -> Any:
    """Compile for Python, or for the function that is being compiled."""
    global _depth
    with global_compiler_lock:
        if _depth == 0:
            args = tuple(sigutils.normalize_signature(sig)[0])
            known = function.overloads.get(args)
            if known is not None and known.library.inner:
                del function.overloads[args]
            if function.py_func.__module__.partition(".")[0] not in PACKAGES:
                return old(function, sig)
        _depth += 1
        try:
            with without_collector():
                entry = old(function, sig)
            if _depth == 1:
                made = function.overloads[args]
                for env in made._find_referenced_environments():
                    made.codegen.set_env(env.env_name, env)
            return entry
        finally:
            _depth -= 1


def _add_overload(old: Callable[..., Any], function: Any, compiled: Any) -> None:
    """Inner versions are none that a call from Python could choose."""
    if compiled.library.inner:
        function.overloads[tuple(compiled.signature.args)] = compiled
    else:
        old(function, compiled)
