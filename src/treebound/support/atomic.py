"""Atomic output: a file is written completely or not at all, and no other file is overwritten."""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from treebound.core.errors import InputError

#: target of /dev/stdout, /dev/stderr and /dev/fd/N on Linux: an open file of this process
_OWN_DESCRIPTOR = r"/proc/(?:self|thread-self|{})/fd/(\d+)"
#: the name of an object in a cache of DVC: the checksum of its content, for instance .../md5/ab/cdef0123...
_CACHE_OBJECT = re.compile(r".*/[0-9a-f]{2}/[0-9a-f]{30}(\.dir)?", re.DOTALL)
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """Yield a binary file that replaces `path` if the block succeeds and is deleted if it fails.

    The temporary file lies in the same folder, so that `os.replace` is a rename, and a killed process leaves the old
    file. Other hard links to the old file keep its content. If `path` is a symbolic link, the file that it leads to is
    replaced. The link itself is replaced if the file is write-protected or an object in a cache of DVC. A device, a
    named pipe or /dev/stdout cannot be replaced, and is written to while the block runs.

    Raises InputError if the folder or the file cannot be written, or if the disk is full.
    """
    try:
        stream = _open_stream(path)
        if stream is None:
            target, mode = _target(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None
    if stream is not None:
        with _naming_full_disk(path), stream:
            yield stream
        return
    try:
        with _naming_full_disk(path), os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(name, mode)  # mkstemp makes files that only their owner may read
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def check_writable(path: str | Path) -> None:
    """Check before long work that `path` can be written.

    Raises InputError if `replacing` would fail, or if the folder does not exist.
    """
    try:
        if not _is_stream(path):
            target, _ = _target(path)
            if not target.parent.is_dir():
                raise FileNotFoundError(None, "the folder does not exist")
            if not os.access(target.parent, os.W_OK):
                raise PermissionError(None, "the folder is not writable")
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None


def check_distinct(inputs: Iterable[str | Path | None], outputs: Iterable[str | Path | None]) -> None:
    """Check that no output file is an input file or another output file, under whatever name.

    None stands for standard input or output. A device or pipe may occur several times, because nothing is overwritten.
    Raises InputError for an output file that occurs a second time.
    """
    uses: dict[object, str] = {}
    for path in inputs:
        uses[_identity(path, 0)] = f"{path or 'standard input'}, which is read"
    for path in outputs:
        identity = _identity(path, 1)
        if identity is not None and identity in uses:
            where = path or "standard output"
            raise InputError(f"is the same file as {uses[identity]}", path=where, hint="name another file to write")
        uses[identity] = f"{path or 'standard output'}, which is written as well"


def _identity(path: str | Path | None, standard: int) -> object:
    """Return a key that identifies a regular file, whether it exists or not; None for a device, a pipe or a folder.

    A `path` of None means the open file with the descriptor `standard`: 0 for standard input, 1 for standard output.
    """
    try:
        status = os.fstat(standard) if path is None else os.stat(path)
    except FileNotFoundError:
        return os.path.realpath(str(path))
    except (OSError, ValueError):
        return None  # an invalid path cannot be opened either
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _target(path: str | Path) -> tuple[Path, int]:
    """Return the file that is replaced when `path` is written, and the permissions of the new file.

    Content that a cache shares with this path is left alone; the new file then has default permissions. Raises OSError
    if the file must not be replaced.
    """
    target = Path(os.path.realpath(path))
    try:
        status = target.stat()
    except FileNotFoundError:
        status = None
    if status is not None and not stat.S_ISREG(status.st_mode):
        raise IsADirectoryError(None, "it is a folder")
    protected = status is not None and not status.st_mode & 0o222
    if os.path.islink(path) and (protected or _CACHE_OBJECT.fullmatch(str(target))):
        folder, name = os.path.split(path)
        return Path(os.path.realpath(folder)) / name, _new_mode()
    if status is None or (protected and status.st_nlink > 1):
        return target, _new_mode()
    if protected or not os.access(target, os.W_OK):
        raise PermissionError(None, "it is write-protected")
    return target, stat.S_IMODE(status.st_mode)


def _new_mode() -> int:
    """Return the default permissions of a new file."""
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _is_stream(path: str | Path) -> bool:
    """Return whether a path leads to a device or a pipe, which is written to and not replaced.

    Raises OSError if the device or pipe may not be written.
    """
    if _own_descriptor(path) is not None:
        return True
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return False
    if not os.access(path, os.W_OK):
        raise PermissionError(None, "it is not writable")
    return True


def _open_stream(path: str | Path) -> BinaryIO | None:
    """Open a device or a pipe for writing. Return None for a path that is, or can become, a regular file."""
    if not _is_stream(path):
        return None
    own = _own_descriptor(path)
    if own is not None:  # opening by name would overwrite earlier output
        return os.fdopen(os.dup(own), "wb")
    return open(path, "wb")


def _own_descriptor(path: str | Path) -> int | None:
    """Return the descriptor of an open file of this process that a path leads to, or None."""
    place = os.path.abspath(path)
    for _ in range(40):  # Linux follows 40 links at most
        place = os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))
        if match := re.fullmatch(_OWN_DESCRIPTOR.format(os.getpid()), place):
            return int(match[1])
        if not os.path.islink(place):
            return None
        place = os.path.join(os.path.dirname(place), os.readlink(place))
    return None


@contextmanager
def _naming_full_disk(path: str | Path) -> Iterator[None]:
    """Add the name of the file to the error message if the disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno in _DISK_FULL:
            raise InputError(f"cannot be written: {error.strerror}", path=path, hint="free some space") from None
        raise


def _unwritable(path: str | Path, error: Exception) -> InputError:
    """Return the error for a path that cannot be written."""
    reason = getattr(error, "strerror", None) or error
    return InputError(
        f"cannot be written: {reason}", path=path, hint="name a file in a folder that you can write to, or a device"
    )
