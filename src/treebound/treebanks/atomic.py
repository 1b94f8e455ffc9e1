"""Files that are either whole or not there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from treebound.core.errors import InputError


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """A binary file that becomes `path` when the block ends well and vanishes when it does not.

    The temporary file lies in the same folder, so that `os.replace` is a rename and a kill leaves the old file.
    Raises InputError where the folder or the file cannot be written.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}", path=path, hint="choose a folder that you may write"
        ) from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)  # mkstemp makes files that only their owner may read
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
