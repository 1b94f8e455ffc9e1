"""Where compiled kernels are kept, and what is done when they are damaged.

Numba unpickles its cache and runs the machine code in it unseen: a damaged file raises anything, or crashes. Here every
file begins with a checksum, which an exception handler around the loading could not replace - a flipped bit in machine
code raises nothing. What is damaged, or was written for something else, is compiled again, with one line on standard
error; so is everything where the folder cannot be written.

Of several processes that want a function that nobody has compiled, one compiles it and the others wait.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import pickle
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, BinaryIO

import numba
from numba.core import caching

from treebound.support.imports import closure, module_of, path_of

try:
    import fcntl
except ImportError:  # not on Windows: there every process compiles for itself
    fcntl = None  # type: ignore[assignment]

_CHECKSUM = 16  #: bytes
_PATIENCE = 600.0  #: seconds, after which a function is compiled that another process seems to compile
_PACKAGE = Path(__file__).parents[2]
_said: set[str] = set()
_content = functools.cache(Path.read_bytes)


def sources_of(path: Path, package: Path = _PACKAGE) -> list[Path]:
    """A file that compiles functions, and all whose functions, constants and types these use: those that it imports."""
    used = closure([module_of(path, package)], package, packages=False)
    return sorted(found for module in used if (found := path_of(module, package)))


def folder_of(path: Path, package: Path = _PACKAGE) -> Path:
    """Where the compiled functions of a file are kept.

    Numba notices when the file of a cached function changes, but not when a function that it calls, in another file,
    does: every state of what the file imports has a folder of its own, the same one for every copy of the package.
    """
    return Path(numba.config.CACHE_DIR, f"{module_of(path, package)}-{_state(path, package)}")


@functools.cache
def _state(path: Path, package: Path) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for source in sources_of(path, package):
        digest.update(str(source.relative_to(package)).encode() + b"\0" + _content(source))
    return digest.hexdigest()


class Locator(caching.UserProvidedCacheLocator):
    """Tells numba where the functions of this package are kept; of other packages it knows nothing."""

    def __init__(self, py_func: Any, py_file: str):
        super().__init__(py_func, py_file)
        self._cache_path = str(_usable(folder_of(Path(py_file))))

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        """See numba's class."""
        return super().from_function(py_func, py_file) if Path(py_file).is_relative_to(_PACKAGE) else None


def base_for(package: Path) -> Path:
    """The folder of all compiled code: NUMBA_CACHE_DIR, else one in the checkout, else in the user's cache.

    Where none can be written, it is one for this run.
    """
    project, user = package.parents[1], Path(os.path.expanduser("~"), ".cache", "treebound")
    if numba.config.CACHE_DIR:
        wanted = Path(numba.config.CACHE_DIR)
    elif (project / "pyproject.toml").is_file():
        wanted = project / ".numba_cache"
    else:
        wanted = user
    for base in (wanted, user):
        if _writable(base):
            return base
        _say(f"compiled code cannot be kept in {base}; it is compiled again, which takes minutes")
    return _temporary()


@functools.cache
def _usable(folder: Path) -> Path:
    """The folder, or one for this run if nothing can be kept there."""
    if _writable(folder):
        return folder
    _say(f"compiled code cannot be kept in {folder.parent}; it is compiled again, which takes minutes")
    return _temporary() / folder.name


@functools.cache
def _temporary() -> Path:
    """A folder that is gone with the process."""
    folder = tempfile.mkdtemp(prefix="treebound-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _writable(folder: Path) -> bool:
    """Whether files can be written there; it is made if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _say(what: str) -> None:
    """One line, once in a process; none where nobody can read it."""
    if what not in _said and sys.stderr is not None:
        _said.add(what)
        print(f"treebound: {what}", file=sys.stderr, flush=True)


class Turn:
    """Whose turn it is to compile a function: a lock of a process, which ends with it.

    Processes take the turns of a function and of those that it calls in this order, so none waits for another in a
    circle. Where locks do not work, it is always everybody's turn.
    """

    def __init__(self, path: str):
        self._path = path
        self._file: BinaryIO | None = None

    def take(self) -> None:
        """Wait until no other process has the turn. It may be taken again by the process that has it."""
        if self._file is not None or fcntl is None:
            return
        until = time.monotonic() + _PATIENCE  # a process whose compilation failed has the turn as long as it lives
        try:
            file = open(self._path, "ab")  # noqa: SIM115 - closing it is giving the turn
            while True:
                try:
                    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except (BlockingIOError, PermissionError):
                    if time.monotonic() > until:
                        break
                    time.sleep(0.05)
            self._file = file
        except OSError:
            pass

    def give(self) -> None:
        """Let others have the turn."""
        if self._file is not None:
            self._file.close()
            self._file = None


class CheckedFile(caching.IndexDataCacheFile):
    """The cached code of one function, with a checksum ahead of every file.

    A data file also says what it was compiled for: where there are no locks, of two processes that fill the cache
    together, one may write the index and the other the data.
    """

    def __init__(self, cache_path: str, filename_base: str, source_stamp: Any):
        super().__init__(cache_path, filename_base, source_stamp)
        self._turn = Turn(f"{self._index_path}.lock")

    def load(self, key: Any) -> Any:
        """The code for a signature. None where there is none or it cannot be used: it is this process's to compile."""
        found = self._kept(key)
        if found is None:
            self._turn.take()
            found = self._kept(key)
            if found is not None:
                self._turn.give()
        return found

    def _kept(self, key: Any) -> Any:
        found = super().load(key)
        return found[1] if found is not None and found[0] == key else None

    def save(self, key: Any, data: Any) -> None:
        """Keep the code for a signature, as far as the disk allows."""
        self._turn.take()
        try:
            super().save(key, (key, data))
        except OSError as error:
            _say(f"compiled code cannot be kept in {self._cache_path}: {error.strerror or error}")
        finally:
            self._turn.give()

    def _load_index(self) -> dict:
        version, stamp, overloads = self._read(self._index_path) or (None, None, {})
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: dict) -> None:
        self._write(self._index_path, (self._version, self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        return self._read(self._data_path(name))

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _read(self, path: str) -> Any:
        """What `_write` wrote; None where there is no such file or it is damaged."""
        try:
            content = Path(path).read_bytes()
        except FileNotFoundError:
            return None
        except OSError:
            content = b""
        checksum, content = content[:_CHECKSUM], content[_CHECKSUM:]
        if checksum != _checksum(content):
            _say(f"damaged compiled code in {self._cache_path}; it is compiled again")
            return None
        return pickle.loads(content)

    def _write(self, path: str, value: Any) -> None:
        content = self._dump(value)
        with self._open_for_write(path) as file:
            file.write(_checksum(content) + content)


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_CHECKSUM).digest()


def install() -> Path:
    """Make numba keep the functions that are compiled from now on in files with checksums; the folder of all."""
    numba.config.CACHE_DIR = str(base_for(_PACKAGE))
    caching.IndexDataCacheFile = CheckedFile
    caching.CacheImpl._locator_classes.insert(0, Locator)
    return Path(numba.config.CACHE_DIR)
