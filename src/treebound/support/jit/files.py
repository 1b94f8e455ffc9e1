"""Folders of compiled code, and files that are used only if they are intact.

Numba unpickles its cache files and runs the machine code in them without checks: a damaged file raises arbitrary
errors, or crashes the process. Here every file begins with a checksum. A damaged file is reported in one line on
standard error, and its code is compiled again. If no folder is writable, compiled code lasts for one process only.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import inspect
import os
import pickle
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, BinaryIO

import numba

from treebound.support.imports import PACKAGE, closure, imported, module_of, path_of

try:
    import fcntl
except ImportError:  # Windows has no fcntl, so every process compiles for itself
    fcntl = None  # type: ignore[assignment]

_CHECKSUM = 16  #: length of the checksum in bytes
#: end of the message that no folder for compiled code is writable
_UNSTORED = "it is compiled again, which takes minutes; set NUMBA_CACHE_DIR to a folder that you can write to"
_PATIENCE = 600.0  #: seconds to wait for another process that seems to compile a function, before compiling it here
_reported: set[str] = set()
_content = functools.cache(Path.read_bytes)


def report(message: str) -> None:
    """Print a message on standard error, at most once per process."""
    if message not in _reported and sys.stderr is not None:
        _reported.add(message)
        print(f"treebound: {message}", file=sys.stderr, flush=True)


def sources_of(path: Path, package: Path = PACKAGE) -> list[Path]:
    """Return a source file and the files of all modules of the package that it imports, directly or indirectly."""
    inside = path.is_relative_to(package)
    modules = closure([module_of(path, package)] if inside else imported(path, package), package, packages=False)
    return sorted({path, *(source for module in modules if (source := path_of(module, package)))})


def folder_of(path: Path, package: Path = PACKAGE) -> Path:
    """Return the folder for the compiled functions of a file.

    A function is compiled together with the functions that it calls, which may be defined in other files. The name of
    the folder has a digest of all these files, so that each state of the sources has its own folder. All copies of the
    package share it.
    """
    name = module_of(path, package) if path.is_relative_to(package) else path.stem
    return cache_folder() / f"{name}-{_state(path, package)}"


@functools.cache
def _state(path: Path, package: Path) -> str:
    """Return a digest of the sources of a file and of the modules that it imports."""
    digest = hashlib.blake2b(digest_size=8)
    for source in sources_of(path, package):
        name = source.relative_to(package) if source.is_relative_to(package) else source.name
        digest.update(str(name).encode() + b"\0" + _content(source))
    return digest.hexdigest()


def can_cache(function: Any) -> bool:
    """Return whether a function is defined in a file, so that its compiled code can be checked against the source."""
    try:
        return os.path.isfile(inspect.getfile(function))
    except TypeError:
        return False


def cache_folder(package: Path = PACKAGE) -> Path:
    """Return the folder of all compiled code: in NUMBA_CACHE_DIR, else in the checkout, else in the user's cache.

    If no folder is writable, a temporary folder is returned, which is removed when the process ends.
    """
    return _cache_folder(numba.config.CACHE_DIR, package)


@functools.cache
def _cache_folder(configured: str, package: Path) -> Path:
    """Return the first writable folder for compiled code; see `cache_folder`."""
    project = package.parents[1]
    user = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "treebound")
    if configured:
        preferred = Path(configured, "treebound")
    elif (project / "pyproject.toml").is_file():
        preferred = project / ".numba_cache"
    else:
        preferred = user
    for folder in (preferred, user):
        if is_writable(folder):
            return folder
        report(f"compiled code cannot be stored in {folder}; {_UNSTORED}")
    return _temporary_folder()


@functools.cache
def usable(folder: Path) -> Path:
    """Return the folder if it is writable, and otherwise a temporary folder."""
    if is_writable(folder):
        return folder
    report(f"compiled code cannot be stored in {folder.parent}; {_UNSTORED}")
    return _temporary_folder() / folder.name


@functools.cache
def _temporary_folder() -> Path:
    """Create a temporary folder, which is removed when the process ends."""
    folder = tempfile.mkdtemp(prefix="treebound-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def is_writable(folder: Path) -> bool:
    """Return whether files can be created in a folder. The folder is created if necessary."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


class Turn:
    """The turn to compile one version of a function: a file lock, which the system releases when the process ends.

    Of several processes that need the version, one compiles it and the others wait. Processes take turns in the order
    of calls, so there are no deadlocks. Where file locks do not work, every process compiles for itself.
    """

    def __init__(self, path: Path):
        self._path = path
        self._file: BinaryIO | None = None

    def take(self) -> None:
        """Wait until no other process has the turn, but at most _PATIENCE seconds, then take it.

        A process may take its own turn again.
        """
        if self._file is not None or fcntl is None:
            return
        deadline = time.monotonic() + _PATIENCE  # a process whose compilation failed keeps its turn until it ends
        try:
            file = open(self._path, "ab")  # noqa: SIM115 - closing the file ends the turn
            while True:
                try:
                    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except (BlockingIOError, PermissionError):
                    if time.monotonic() > deadline:
                        break
                    time.sleep(0.05)
            self._file = file
        except OSError:
            pass

    def end(self) -> None:
        """Release the turn for other processes."""
        if self._file is not None:
            self._file.close()
            self._file = None


def read(path: Path) -> Any:
    """Return the value that `write` stored, or None if the file is missing or damaged."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError:
        content = b""
    checksum, content = content[:_CHECKSUM], content[_CHECKSUM:]
    if checksum != _checksum(content):
        report(f"damaged compiled code in {path.parent}; it is compiled again")
        return None
    return pickle.loads(content)


def write(path: Path, content: bytes) -> None:
    """Store pickled content with a checksum. If the file cannot be written, report this in one line."""
    try:
        handle, name = tempfile.mkstemp(prefix=path.name, dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_checksum(content) + content)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        report(f"compiled code cannot be stored in {path.parent}: {error.strerror or error}")


def _checksum(content: bytes) -> bytes:
    """Return the checksum of the content of a file."""
    return hashlib.blake2b(content, digest_size=_CHECKSUM).digest()
