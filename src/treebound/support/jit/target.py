"""A compilation target of numba for kernels, beside numba's own target and without any effect on it.

For every function that another function calls, numba makes a wrapper for Python, a separately optimised module and
machine code. Then numba compiles the function again as a part of each caller. Half of the cost of a first use is spent
there. Here a function that is compiled for a caller is *inner*: it remains the intermediate code that callers link. It
is optimised and translated once, within the function that Python calls. If Python calls an inner function after all,
the function is compiled again, as a whole. The cache keeps both versions under different keys.

Four more savings, which do not change the compiled code:

- The references of a tuple are counted by the fields that hold references, instead of all fields of all arrays.
- The signature by which a built-in function is called is stored for each combination of argument types.
- Sets of compiler flags are compared by the flags that are set, instead of by dictionaries of all flags.
- The garbage collector pauses during a compilation.

Each class derives from numba's class of the same role; `numba.core.target_extension` describes how targets inherit the
functions of other targets. See docs/decisions/017 for measurements.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NoReturn

import llvmlite.binding as llvm
from numba.core import codegen, compiler, config, cpu, sigutils, target_extension, types, typing
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.registry import CPUDispatcher, CPUTarget
from numba.core.runtime.context import NRTContext
from numba.core.targetconfig import ConfigStack

from treebound.support.jit.cache import INNER, KernelCache
from treebound.support.jit.files import can_cache

#: number of kernels that are being compiled, each for its predecessor; changed under numba's lock only
_depth = 0


def compiling_inner() -> bool:
    """Return whether the function that is being compiled is needed only by another kernel."""
    return _depth > 1


#: functions of numba's CPU target that kernels call -> the kernels that replace them
_kernels: dict[Any, KernelDispatcher] = {}


class KernelCPU(target_extension.CPU):
    """The target of kernels: functions that are declared for numba's CPU are available to it."""


TARGET = "treebound"  #: name of the target in numba's tables


class Flags(compiler.Flags):
    """Compiler flags with a fast comparison, which first compares only the flags that were set."""

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, compiler.Flags):
            return NotImplemented
        return self._values == other._values or self.values() == other.values()

    def __hash__(self) -> int:
        return hash(Flags)  # a process has few sets of flags


class Library(codegen.JITCodeLibrary):
    """The code of one function.

    inner     whether the library holds only intermediate code, for callers to link
    linkable  whether callers can link the function; machine code from the cache comes without intermediate code
    """

    def __init__(self, *args: Any):
        super().__init__(*args)
        self.inner = compiling_inner()
        self.linkable = True

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
        """Return the picklable state that the cache stores."""
        if self.inner:
            return self.name, INNER, self._get_module_for_linking().as_bitcode()
        # Numba stores intermediate code beside the machine code, for callers to link, and takes the names of the
        # defined functions from it. Here callers link inner functions, and reading that code was half the cost of
        # loading a kernel: empty functions replace the real ones.
        defined = [f.name for f in self._final_module.functions if not f.is_declaration]
        module = llvm.parse_assembly("\n".join(f'define void @"{name}"() {{ ret void }}' for name in defined))
        return self.name, "object", (self._get_compiled_object(), module.as_bitcode())

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> Any:
        name, kind, data = state
        if kind != INNER:
            library = super()._unserialize(codegen, state)
            library.linkable = False
            return library
        library = codegen.create_library(name)
        library._final_module = library._shared_module = llvm.parse_bitcode(data)
        library._finalized = True
        return library


class Codegen(codegen.JITCPUCodegen):
    """Machine code generation for kernels."""

    _library_class = Library

    def set_env(self, env_name: str, env: Any) -> None:
        """Store the Python objects of a function beside its machine code.

        Do nothing while an inner function is compiled, because inner functions have no machine code.
        """
        if not compiling_inner():
            super().set_env(env_name, env)


class References(NRTContext):
    """Reference counting that visits only the fields that hold references."""

    def __init__(self, *args: Any):
        super().__init__(*args)
        self._has_references: dict[Any, bool] = {}

    def _holds_references(self, kind: Any) -> bool:
        known = self._has_references.get(kind)
        if known is None:
            model = self._context.data_model_manager[kind]
            known = model.has_nrt_meminfo() or any(self._holds_references(member) for member, _ in model.traverse(None))
            self._has_references[kind] = known
        return known

    def get_meminfos(self, builder: Any, ty: Any, val: Any) -> list[tuple[Any, Any]]:
        """Return (type, reference) of all references that a value holds."""
        model = self._context.data_model_manager[ty]
        references = [(ty, model.get_nrt_meminfo(builder, val))] if model.has_nrt_meminfo() else []
        for member, getter in model.traverse(builder):
            if self._holds_references(member):
                references += self.get_meminfos(builder, member, getter(val))
        return references


class TypingContext(typing.Context):
    """A context of type inference that stores the signatures of calls of built-in functions."""

    def __init__(self) -> None:
        self._signatures: dict[tuple, tuple[Any, Any]] = {}
        super().__init__()

    def resolve_value_type(self, val: Any) -> Any:
        """Return the type of a global or captured value. Kernels replace functions of numba's CPU target."""
        kind = super().resolve_value_type(val)
        return as_kernel(kind) if isinstance(kind, types.Dispatcher) else kind

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """Return the signature by which `func` is called with arguments of the given types, or None."""
        function: Any = self._lookup_global(func) or func
        if type(function) is not types.Function:
            return super().resolve_function_type(func, args, kws)
        implementations: dict[Any, Any] = vars(function)["_impl_keys"]
        key = (function, tuple(args), tuple(dict(kws).items()), ConfigStack.top_or_none())
        if key in self._signatures:
            # The type of a built-in function is shared with numba's own contexts, which may have typed the same call
            # in the meantime and stored an implementation that only they can use.
            signature, implementations[signature.args] = self._signatures[key]
            return signature
        signature = super().resolve_function_type(func, args, kws)
        if signature is not None and signature.args in implementations:
            self._signatures[key] = signature, implementations[signature.args]
        return signature


class Context(cpu.CPUContext):
    """The context that lowers kernels to LLVM's intermediate code."""

    def __init__(self, typing_context: TypingContext):
        super().__init__(typing_context, TARGET)

    def init(self) -> None:
        """Create the code generator."""
        super().init()
        self._internal_codegen = Codegen("treebound.kernels")

    @cached_property
    def nrt(self) -> References:
        """The interface to numba's reference counts."""
        return References(self, self.enable_nrt)

    def create_cpython_wrapper(self, library: Any, *args: Any, **options: Any) -> None:
        """Make a function callable from Python unless it is inner."""
        if not library.inner:
            super().create_cpython_wrapper(library, *args, **options)

    def create_cfunc_wrapper(self, library: Any, *args: Any, **options: Any) -> None:
        """Make a function callable from C unless it is inner."""
        if not library.inner:
            super().create_cfunc_wrapper(library, *args, **options)

    def get_executable(self, library: Any, *args: Any) -> Any:
        """Return the entry point of a function.

        For an inner function, the entry point is a placeholder by which callers identify the function.
        """
        if not library.inner:
            return super().get_executable(library, *args)

        def entry_point(*_: Any) -> NoReturn:
            raise TypeError("an inner function has no entry point")

        return entry_point


class KernelTarget(CPUTarget):
    """The target of kernels, whose contexts are created when the first kernel is declared."""

    @cached_property
    def _toplevel_target_context(self) -> Context:
        return Context(self.typing_context)

    @cached_property
    def _toplevel_typing_context(self) -> TypingContext:
        return TypingContext()


class KernelCompiler(_FunctionCompiler):
    """The compiler of one kernel."""

    def _customize_flags(self, flags: Any) -> Flags:
        return Flags(flags)


def as_kernel(function: types.Dispatcher) -> types.Dispatcher:
    """Return the type of the kernel that replaces a function of numba's CPU target, such as numba's merge sort.

    A target can only call functions that were compiled for it.
    """
    dispatcher: Any = function.dispatcher
    if isinstance(dispatcher, KernelDispatcher):
        return function
    if dispatcher not in _kernels:
        _kernels[dispatcher] = KernelDispatcher(dispatcher.py_func, dispatcher.locals, dict(dispatcher.targetoptions))
    return types.Dispatcher(_kernels[dispatcher])


@contextmanager
def paused_collector() -> Iterator[None]:
    """Pause the garbage collector in the block. Afterwards, the collector treats the compiler's objects as old."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if gc.get_freeze_count() == 0:
            gc.freeze()
            gc.unfreeze()
        if enabled:
            gc.enable()


class KernelDispatcher(CPUDispatcher):
    """A kernel. A version of the kernel is compiled for every combination of argument types that occurs in calls."""

    targetdescr = KernelTarget(TARGET)

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None, pipeline_class: Any = None):
        pipeline_class = pipeline_class or compiler.Compiler
        super().__init__(py_func, locals, targetoptions, pipeline_class)
        self._compiler = KernelCompiler(py_func, self.targetdescr, self.targetoptions, self.locals, pipeline_class)
        self._machine_code: list[compiler.CompileResult] = []

    def enable_caching(self) -> None:
        """Store compiled versions on disk."""
        self._cache = KernelCache(self.py_func, compiling_inner)

    def compile(self, sig: Any) -> Any:
        """Compile a version for the argument types `sig`, and return its entry point.

        While another kernel is being compiled, the version is an inner version for this other kernel. At any other
        time, it is a version for calls from Python.
        """
        global _depth
        with global_compiler_lock:
            args = tuple(sigutils.normalize_signature(sig)[0])
            known = self.overloads.get(args)
            if known is not None and (known.library.inner if _depth == 0 else not known.library.linkable):
                # The other version is needed. Python goes on calling the machine code, whose objects must stay alive.
                self._machine_code.append(self.overloads.pop(args))
            _depth += 1
            try:
                with paused_collector(), target_extension.target_override(TARGET):
                    entry_point = super().compile(sig)
                if _depth == 1:
                    result = self.overloads[args]
                    for env in result._find_referenced_environments():
                        result.codegen.set_env(env.env_name, env)
                return entry_point
            finally:
                _depth -= 1

    def add_overload(self, cres: Any) -> None:
        """Add a compiled version. Calls from Python never choose an inner version."""
        if cres.library.inner:
            self.overloads[tuple(cres.signature.args)] = cres
        else:
            super().add_overload(cres)


def _declare(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return the dispatcher of a kernel, or the function itself if compilation is disabled."""
    if config.DISABLE_JIT:
        return function
    return KernelDispatcher(function, targetoptions={"nopython": True, "boundscheck": None, **options})


def kernel(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile a function of this package when it is first called, and store its machine code on disk.

    The options are the options of `numba.njit`, such as `inline` and `fastmath`. Kernels run without the interpreter's
    lock. They can be called from Python and from other kernels, but not from functions that numba compiles for a host
    program.
    """

    def declare(function: Callable[..., Any]) -> Any:
        declared = _declare(function, {"nogil": True, **options})
        if not config.DISABLE_JIT and can_cache(function):
            declared.enable_caching()
        return declared

    return declare if function is None else declare(function)


def _implementation(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Declare an implementation that `numba.extending.overload` makes available to kernels."""
    return lambda function: _declare(function, options)


# The tables by which numba's compiler finds the dispatcher of a target, and the decorator for functions that are
# overloaded for it. The entries of other targets remain.
target_extension.target_registry[TARGET] = KernelCPU
target_extension.dispatcher_registry[KernelCPU] = KernelDispatcher
target_extension.jit_registry[KernelCPU] = _implementation
