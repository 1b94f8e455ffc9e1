"""Files that are either whole or not there, and outputs that destroy nothing else."""

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

#: where /dev/stdout, /dev/stderr and /dev/fd/N lead on Linux: an open file of this very process
_OWN = r"/proc/(?:self|thread-self|{})/fd/(\d+)"
#: the name of an object in a cache of DVC: the checksum of its content, for instance .../md5/ab/cdef0123...
_CACHED = re.compile(r".*/[0-9a-f]{2}/[0-9a-f]{30}(\.dir)?", re.DOTALL)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """A binary file that becomes `path` when the block ends well and vanishes when it does not.

    The temporary file lies in the same folder, so that `os.replace` is a rename and a kill leaves the old file; other
    hard links to it keep its content. Where `path` is a symbolic link, the file that it leads to is replaced. But a
    link to a file that is protected from writing, or to an object in a cache of DVC, is replaced itself. What is no
    regular file - a device, a named pipe, /dev/stdout - cannot be replaced and is written to as the block goes on.

    Raises InputError where the folder or the file cannot be written, or the disk is full.
    """
    try:
        stream = _stream(path)
        if stream is None:
            target, mode = _target(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None
    if stream is not None:
        with _named(path), stream:
            yield stream
        return
    try:
        with _named(path), os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(name, mode)  # mkstemp makes files that only their owner may read
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def check_writable(path: str | Path) -> None:
    """Fail now rather than after an hour of work. Raises InputError where `replacing` would, or a folder is missing."""
    try:
        if not _is_stream(path):
            target, _ = _target(path)
            if not target.parent.is_dir():
                raise FileNotFoundError(None, "there is no such folder")
            if not os.access(target.parent, os.W_OK):
                raise PermissionError(None, "the folder may not be written")
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None


def check_distinct(inputs: Iterable[str | Path | None], outputs: Iterable[str | Path | None]) -> None:
    """Raise InputError where an output is an input or another output, under whatever name: it would be overwritten.

    None stands for standard input or output. What is no regular file is nobody's loss.
    """
    taken: dict[object, str] = {}
    for path in inputs:
        taken[_place(path, 0)] = f"{path or 'standard input'}, which is read"
    for path in outputs:
        place = _place(path, 1)
        if place is not None and place in taken:
            where = path or "standard output"
            raise InputError(f"is the same file as {taken[place]}", path=where, hint="name another one to write")
        taken[place] = f"{path or 'standard output'}, which is written as well"


def _place(path: str | Path | None, standard: int) -> object:
    """What identifies a regular file, there or not; None for anything else."""
    try:
        found = os.fstat(standard) if path is None else os.stat(path)
    except FileNotFoundError:
        return os.path.realpath(str(path))
    except (OSError, ValueError):
        return None  # it cannot be opened either
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def _target(path: str | Path) -> tuple[Path, int]:
    """Return the file that is replaced when `path` is written, and the permissions of the new file.

    Content that a cache shares with this place is left alone: there, the new file has permissions of its own. Raises
    OSError where the file must not be replaced.
    """
    target = Path(os.path.realpath(path))
    try:
        status = target.stat()
    except FileNotFoundError:
        status = None
    if status is not None and not stat.S_ISREG(status.st_mode):
        raise IsADirectoryError(None, "it is a folder")
    protected = status is not None and not status.st_mode & 0o222
    if os.path.islink(path) and (protected or _CACHED.fullmatch(str(target))):
        folder, name = os.path.split(path)
        return Path(os.path.realpath(folder)) / name, _new_mode()
    if status is None or (protected and status.st_nlink > 1):
        return target, _new_mode()
    if protected or not os.access(target, os.W_OK):
        raise PermissionError(None, "it is protected from writing")
    return target, stat.S_IMODE(status.st_mode)


def _new_mode() -> int:
    """Return the permissions of a file that is not there yet."""
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _is_stream(path: str | Path) -> bool:
    """Whether a path leads to something that is written to and not replaced. OSError where it may not be written."""
    if _own(path) is not None:
        return True
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return False
    if not os.access(path, os.W_OK):
        raise PermissionError(None, "it may not be written")
    return True


def _stream(path: str | Path) -> BinaryIO | None:
    """What is no regular file, open for writing; None for what is one, or can become one."""
    if not _is_stream(path):
        return None
    own = _own(path)
    if own is not None:  # opened by name, a file would be written from its beginning, whatever stands in it
        return os.fdopen(os.dup(own), "wb")
    return open(path, "wb")


def _own(path: str | Path) -> int | None:
    """The number of this process's open file that a path leads to, if it leads to one."""
    place = os.path.abspath(path)
    for _ in range(40):  # as far as Linux follows links
        place = os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))
        if found := re.fullmatch(_OWN.format(os.getpid()), place):
            return int(found[1])
        if not os.path.islink(place):
            return None
        place = os.path.join(os.path.dirname(place), os.readlink(place))
    return None


@contextmanager
def _named(path: str | Path) -> Iterator[None]:
    """Say which file a full disk has no space for: the error itself does not."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise InputError(f"cannot be written: {error.strerror}", path=path, hint="free some space") from None
        raise


def _unwritable(path: str | Path, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or error
    return InputError(
        f"cannot be written: {reason}", path=path, hint="name a file in a folder that you may write, or a device"
    )
