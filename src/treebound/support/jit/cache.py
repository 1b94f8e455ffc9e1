"""The cache of compiled kernels: one checked file for every compiled version of a kernel."""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numba
from numba.core import sigutils
from numba.core.compiler import CompileResult
from numba.core.errors import NumbaWarning
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from treebound.support.imports import PACKAGE, path_of
from treebound.support.jit.files import Turn, folder_of, read, usable, write

INNER = "inner"  #: marks a version that is compiled only for another kernel


#: functions that are called after each compilation in this process, but not after loading compiled code
compiled_one: list[Callable[[], None]] = []


class KernelCache:
    """The cache of the compiled versions of one kernel, with the interface that numba's dispatchers expect of a cache.

    The file of a version stores its key: argument types, processor, versions of Python and numba, closure variables,
    and whether the version is inner. An inner version is compiled only for another kernel that calls it. The file name
    contains a digest of the key. The key is compared when the file is read.

    `is_inner` returns whether the version that is being compiled is inner.
    """

    def __init__(self, function: Any, is_inner: Callable[[], bool]):
        self._function = function
        self._is_inner = is_inner
        path = self._source = Path(function.__code__.co_filename)
        self._name = f"{path.stem}.{function.__qualname__}".replace("<", "").replace(">", "")
        self._turns: dict[Path, Turn] = {}

    @cached_property
    def _folder(self) -> Path:
        """The folder of the files, determined on first use, because many kernels are never called in a process."""
        return usable(folder_of(self._source))

    @property
    def cache_path(self) -> str:
        """The folder of the files."""
        return str(self._folder)

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """Load a compiled version. If there is none, take the lock for compiling it (`Turn`) and return None.

        Compiled code needs numba's runtime and no other part of the compiler. Numba's own cache also declares all
        built-in functions here (`refresh`), which took half a second in every process. The compiler declares them
        itself when it is used.
        """
        rtsys.initialize(target_context)
        key = self._key(sig, target_context.codegen())
        path = self._path(key)
        state = self._read(path, key)
        if state is None:
            turn = self._turns.setdefault(path, Turn(path.with_suffix(".lock")))
            turn.take()
            state = self._read(path, key)
            if state is None:
                return None
            turn.end()
        return CompileResult._rebuild(target_context, *state)

    def save_overload(self, sig: Any, data: CompileResult) -> None:
        """Store a compiled version and release the lock that `load_overload` took for compiling it."""
        key = self._key(sig, data.codegen)
        path = self._path(key)
        try:
            if data.library.has_dynamic_globals or any(not lifted.can_cache for lifted in data.lifted):
                message = f"{self._name} refers to addresses of this process, so it is not cached"
                warnings.warn(message, NumbaWarning, stacklevel=2)
                return
            write(path, dumps((key, data._reduce())))
        finally:
            turn = self._turns.pop(path, None)
            if turn is not None:
                turn.end()
            for call in compiled_one:
                call()

    def flush(self) -> None:
        """Remove all compiled versions of the kernel."""
        for path in self._folder.glob(f"{self._name}-*.kernel"):
            path.unlink(missing_ok=True)

    def _key(self, sig: Any, codegen: Any) -> tuple:
        """Return the key of a version; the docstring of the class lists the parts of a key."""
        args, result = sigutils.normalize_signature(sig)
        cells = tuple(cell.cell_contents for cell in self._function.__closure__ or ())
        captured = hashlib.blake2b(dumps(cells), digest_size=16).hexdigest() if cells else ""
        code = hashlib.blake2b(self._function.__code__.co_code, digest_size=16).hexdigest()
        versions = numba.__version__, sys.version_info[:2], getattr(sys, "abiflags", "")
        kind = INNER if self._is_inner() else ""
        return tuple(args), result, codegen.magic_tuple(), versions, code, captured, kind

    def _path(self, key: tuple) -> Path:
        """Return the path of the file for a key."""
        digest = hashlib.blake2b(repr(key).encode(), digest_size=8).hexdigest()
        return self._folder / f"{self._name}-{digest}.kernel"

    def _read(self, path: Path, key: tuple) -> Any:
        """Return the compiled version that a file stores for a key, or None if there is no intact file for this key."""
        content = read(path)
        return content[1] if content is not None and content[0] == key else None


def is_compiled(*functions: str) -> bool:
    """Return whether the cache of this machine has compiled versions of all functions, named `module.function`.

    Raises ValueError if a function does not exist.
    """
    return all(map(_is_compiled, functions))


def _is_compiled(function: str) -> bool:
    """Return whether the cache has a compiled version of one function."""
    module, _, name = function.rpartition(".")
    path = path_of(module)
    if path is None or name not in path.read_text(encoding="utf-8"):
        raise ValueError(f"no function {function} in {PACKAGE.name}")
    return any(folder_of(path).glob(f"{path.stem}.{name}-*.kernel"))
