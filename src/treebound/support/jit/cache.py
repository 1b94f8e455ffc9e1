"""The cache of compiled kernels: one checked file for every version of a kernel."""

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

INNER = "inner"  #: marks a version that is compiled for the sake of another kernel


#: called after each function that this process has compiled; loading compiled code calls nobody
compiled_one: list[Callable[[], None]] = []


class KernelCache:
    """Compiled versions of one kernel, with the interface that numba's dispatchers expect of a cache.

    The file of a version stores the key that it was compiled for: argument types, processor, versions of Python and
    numba, closure variables, and whether it is inner. Its name holds a digest of the key, and the key is compared when
    the file is read.

    `is_inner` tells whether the version at hand is compiled for the sake of another kernel.
    """

    def __init__(self, function: Any, is_inner: Callable[[], bool]):
        self._function = function
        self._is_inner = is_inner
        path = self._source = Path(function.__code__.co_filename)
        self._name = f"{path.stem}.{function.__qualname__}".replace("<", "").replace(">", "")
        self._turns: dict[Path, Turn] = {}

    @cached_property
    def _folder(self) -> Path:
        """The folder of the files. A process that never calls the kernel does not look for it."""
        return usable(folder_of(self._source))

    @property
    def cache_path(self) -> str:
        """The folder of the files."""
        return str(self._folder)

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """Load a compiled version. Return None if there is none: then it is this process's turn to compile it.

        Compiled code needs numba's runtime and nothing else of the compiler. Numba's own cache also declares all
        built-in functions here (`refresh`), which took half a second of every process; the compiler does that itself
        when it is used.
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
        """Store a compiled version."""
        key = self._key(sig, data.codegen)
        path = self._path(key)
        try:
            if data.library.has_dynamic_globals or any(not lifted.can_cache for lifted in data.lifted):
                message = f"{self._name} refers to addresses of this process, so it is not kept"
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
        """Remove all versions."""
        for path in self._folder.glob(f"{self._name}-*.kernel"):
            path.unlink(missing_ok=True)

    def _key(self, sig: Any, codegen: Any) -> tuple:
        args, result = sigutils.normalize_signature(sig)
        cells = tuple(cell.cell_contents for cell in self._function.__closure__ or ())
        captured = hashlib.blake2b(dumps(cells), digest_size=16).hexdigest() if cells else ""
        code = hashlib.blake2b(self._function.__code__.co_code, digest_size=16).hexdigest()
        versions = numba.__version__, sys.version_info[:2], getattr(sys, "abiflags", "")
        kind = INNER if self._is_inner() else ""
        return tuple(args), result, codegen.magic_tuple(), versions, code, captured, kind

    def _path(self, key: tuple) -> Path:
        digest = hashlib.blake2b(repr(key).encode(), digest_size=8).hexdigest()
        return self._folder / f"{self._name}-{digest}.kernel"

    def _read(self, path: Path, key: tuple) -> Any:
        content = read(path)
        return content[1] if content is not None and content[0] == key else None


def is_compiled(*functions: str) -> bool:
    """Return whether this machine has compiled some functions, given by module and name.

    Raises ValueError if there is no such function.
    """
    return all(map(_is_compiled, functions))


def _is_compiled(function: str) -> bool:
    module, _, name = function.rpartition(".")
    path = path_of(module)
    if path is None or name not in path.read_text(encoding="utf-8"):
        raise ValueError(f"no function {function} in {PACKAGE.name}")
    return any(folder_of(path).glob(f"{path.stem}.{name}-*.kernel"))
