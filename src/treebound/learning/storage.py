"""One file of named arrays and a JSON header: no pickle, checked on load, written atomically.

A zip (numpy's .npz layout) whose member `header` is JSON. The zip's own checksums catch truncation and damage.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path

import numpy as np

from treebound.core.errors import ModelError, TreeboundError

FORMAT = "treebound"


def save_arrays(path: str | Path, meta: dict, arrays: dict[str, np.ndarray]) -> None:
    """Write `meta` (JSON values) and `arrays` to `path`, by way of a temporary file in the same folder."""
    path = Path(path)
    temporary = path.with_name(path.name + f".{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as z:
            z.writestr("header", json.dumps({"format": FORMAT, **meta}, sort_keys=True))
            for name, array in sorted(arrays.items()):
                buffer = io.BytesIO()
                np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
                # a fixed date keeps files of equal content byte-identical
                z.writestr(
                    zipfile.ZipInfo(name + ".npy", (2000, 1, 1, 0, 0, 0)), buffer.getvalue(), zipfile.ZIP_DEFLATED, 1
                )
        os.replace(temporary, path)
    except OSError as error:
        raise TreeboundError(
            f"cannot write: {error.strerror or error}", path=path, hint="choose another folder or free some space"
        ) from None
    finally:
        temporary.unlink(missing_ok=True)


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
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, OSError) as error:
        raise ModelError(f"truncated or foreign file ({type(error).__name__})", path=path, hint=hint) from None
