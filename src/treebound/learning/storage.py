"""One file of named arrays and a JSON header: no pickle, checked on load, written atomically.

A zip (numpy's .npz layout) whose member `header` is JSON. The zip's own checksums catch truncation and damage.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path

import numpy as np

from treebound.core.errors import ModelError, TreeboundError
from treebound.treebanks.atomic import replacing

FORMAT = "treebound"


def save_arrays(path: str | Path, meta: dict, arrays: dict[str, np.ndarray]) -> None:
    """Write `meta` (JSON values) and `arrays` to `path`, by way of a temporary file in the same folder."""
    try:
        with replacing(path) as file, zipfile.ZipFile(file, "w") as z:
            _add(z, "header", json.dumps({"format": FORMAT, **meta}, sort_keys=True).encode())
            for name, array in sorted(arrays.items()):
                buffer = io.BytesIO()
                np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
                _add(z, name + ".npy", buffer.getvalue())
    except OSError as error:
        raise TreeboundError(
            f"cannot be written: {error.strerror or error}", path=path, hint="free some space"
        ) from None


def _add(z: zipfile.ZipFile, name: str, content: bytes) -> None:
    """A member with a fixed date, so that files of equal content are the same bytes."""
    z.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED, 1)


def load_arrays(path: str | Path, kind: str, version: int) -> tuple[dict, dict[str, np.ndarray]]:
    """(meta, arrays) of a file of this kind and version. ModelError says what is wrong with any other."""
    hint = f"train it again, or name a treebound {kind} file"
    try:
        with zipfile.ZipFile(path) as z:
            meta = json.loads(z.read("header"))
            if meta.get("format") != FORMAT or meta.get("kind") != kind:
                raise ModelError(f"not a treebound {kind}", path=path, hint=hint)
            if meta.get("version") != version:
                raise ModelError(
                    f"{kind} of version {meta.get('version')}, this program reads {version}", path=path, hint=hint
                )
            arrays = {}
            for name in z.namelist():
                if name.endswith(".npy"):
                    arrays[name[:-4]] = np.lib.format.read_array(io.BytesIO(z.read(name)), allow_pickle=False)
            return meta, arrays
    except FileNotFoundError:
        raise ModelError(f"no such {kind} file", path=path, hint="train one with: treebound train") from None
    except (
        zipfile.BadZipFile,
        zlib.error,
        KeyError,
        ValueError,
        AttributeError,
        EOFError,
        OSError,
        NotImplementedError,
        RuntimeError,
    ) as error:
        raise ModelError(f"truncated or foreign file ({type(error).__name__})", path=path, hint=hint) from None
