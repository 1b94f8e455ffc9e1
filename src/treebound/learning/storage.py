"""Model files: named arrays and a JSON header in one file, without pickle, checked on load, written atomically.

A file is a zip archive (numpy's .npz layout). Its member `header` is JSON, and its member `digest` covers header and
arrays. A file that was changed after it was written is refused, even if the checksums of the zip archive were computed
anew. Files of early versions have no digest. Kernels index with the contents of a file and do not check them, so
everything is checked here. The header must match a schema, and the arrays must have the types and shapes that the
header implies, before they take any memory.

Tables of weights are mostly zeros. If a table `x` is declared sparse, the file holds its nonzero entries, `x`, and a
bit mask `x.kept` that marks their positions. One more bit, which is set, marks the end of the mask. Neither array is
compressed, because compressing the zeros of whole tables took longer than all other work on a file. A file that holds
the whole table can be read, too.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import stat
import zipfile
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

import numpy as np
from pydantic import AfterValidator, ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked

from treebound.core import cells
from treebound.core.errors import InputError, ModelError, TreeboundError
from treebound.support.atomic import replacing

FORMAT = "treebound"
#: bytes of the longest header that is read; the header of a tagger is long, since it holds a dictionary
LONGEST_HEADER = 1 << 28
KEPT = ".kept"  #: suffix of the name of the bit mask of a sparse table
_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True)
class Layout:
    """The required type of an array in a file, and its possible shapes; an empty collection allows any shape."""

    dtype: type
    shapes: Collection[tuple[int, ...]] = ()


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names unchanged. Raises ValueError if a name occurs twice."""
    if len(set(names)) < len(names):
        raise ValueError("a name occurs twice")
    return names


# --- types of header fields ---

#: a string that fits into a column of a treebank
Entry = Annotated[str, Field(pattern=cells.PATTERN)]
Names = Annotated[tuple[Entry, ...], AfterValidator(_distinct)]
#: attributes of words that templates may use, in a model's header
Attributes = Annotated[
    tuple[Literal["form", "lower", "tag", "coarse", "prefix", "suffix", "length", "feats", "lemma"], ...],
    AfterValidator(_distinct),
]
#: number of integer steps in a weight of 1.0
Unit = Annotated[float, Field(ge=2.0**-64, le=2.0**62, allow_inf_nan=False)]
#: one record per epoch
History = list[dict[str, bool | int | FiniteFloat | str | None]]


def tables(least: int, most: int, beyond: int = 0) -> set[tuple[int, ...]]:
    """Return the possible shapes of a weight table: 2**least to 2**most entries, plus `beyond` entries at the end."""
    return {((1 << bits) + beyond,) for bits in range(least, most + 1)}


def save_arrays(
    path: str | Path,
    meta: dict,
    arrays: dict[str, np.ndarray],
    *,
    compressed: bool = True,
    sparse: Collection[str] = (),
) -> None:
    """Write `meta` (JSON values) and `arrays` to `path`, by way of a temporary file in the same folder.

    compressed  whether the header and the arrays that are not sparse are compressed
    sparse      names of one-dimensional arrays whose nonzero entries alone are written

    Raises TreeboundError if the file cannot be written.
    """
    kind = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    header = json.dumps({"format": FORMAT, **meta}, sort_keys=True, allow_nan=False).encode()
    stored: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        if name in sparse:
            from treebound.kernels.entries import taken

            stored[name + KEPT], stored[name] = taken(array)
        else:
            stored[name] = np.ascontiguousarray(array)
    stored = dict(sorted(stored.items()))
    try:
        with replacing(path) as file, zipfile.ZipFile(file, "w") as z:
            _add(z, "header", header, kind)
            for name, array in stored.items():
                buffer = io.BytesIO()
                np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
                plain = name.removesuffix(KEPT) in sparse
                _add(z, name + ".npy", buffer.getbuffer(), zipfile.ZIP_STORED if plain else kind)
            _add(z, "digest", _digest(header, stored), kind)
    except OSError as error:
        raise TreeboundError(
            f"cannot be written: {error.strerror or error}", path=path, hint="free some space"
        ) from None


def _add(z: zipfile.ZipFile, name: str, content: bytes | memoryview, kind: int) -> None:
    """Add a member to the zip archive `z` with a fixed date, so that files of equal content are byte-identical.

    kind  compression method of `zipfile`
    """
    z.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), content, kind, 1)


def _digest(header: bytes, arrays: dict[str, np.ndarray]) -> bytes:
    """Return the digest of a header and its arrays."""
    digest = hashlib.blake2b(header, digest_size=32)
    for name, array in sorted(arrays.items()):
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(_bytes(array))
    return digest.hexdigest().encode()


def _bytes(array: np.ndarray) -> Any:
    """Return the bytes of an array as a view, without a copy."""
    return memoryview(array.reshape(-1).view(np.uint8))  # type: ignore[arg-type]  # an array is a buffer


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class Header:
    """The fields that the header of every file has; each kind of file adds its own."""

    format: str
    kind: str
    version: int


H = TypeVar("H", bound=Header)


@dataclass(frozen=True)
class Format(Generic[H]):
    """A kind of file: the class of its header, and the arrays that a file with a valid header must hold.

    Attributes
    ----------
    kind
        Name of the kind, as the header states it.
    version
        Version of the format.
    header
        Class of the header.
    layouts
        Function from a header to the layouts of all arrays by name.
    complete
        Function that adds to a header the fields that early files of this version lack.
    sparse
        One-dimensional arrays that are mostly zeros; their layouts must list the possible shapes.
    """

    kind: str
    version: int
    header: type[H]
    layouts: Callable[[H], dict[str, Layout]]
    complete: Callable[[dict], None] | None = None
    sparse: Collection[str] = ()

    @cached_property
    def _schema(self) -> TypeAdapter:
        return TypeAdapter(self.header)

    def save(self, path: str | Path, fields: dict, arrays: dict[str, np.ndarray], *, compressed: bool = True) -> None:
        """Write the format's own fields of the header (JSON values) and the arrays; see `save_arrays`."""
        meta = {"kind": self.kind, "version": self.version, **fields}
        save_arrays(path, meta, arrays, compressed=compressed, sparse=self.sparse)

    def load(self, path: str | Path) -> tuple[H, dict[str, np.ndarray]]:
        """Return (header, arrays) of a file of this kind and version.

        Raises ModelError with the reason for any other file: foreign or damaged files, arrays of another type or shape,
        and numbers that are not finite.
        """
        hint = f"train it again, or name a treebound {self.kind} file"

        def read(z: zipfile.ZipFile, members: Members) -> tuple[H, dict[str, np.ndarray]]:
            raw = z.read(members["header"])
            meta = json.loads(raw)
            if not isinstance(meta, dict) or meta.get("format") != FORMAT or meta.get("kind") != self.kind:
                raise ModelError(f"not a treebound {self.kind}", path=path, hint=hint)
            if meta.get("version") != self.version:
                versions = f"version {repr(meta.get('version'))[:30]}, this program reads {self.version}"
                raise ModelError(f"{self.kind} of {versions}", path=path, hint=hint)
            if self.complete is not None:
                self.complete(meta)
            header = self._schema.validate_json(raw if self.complete is None else json.dumps(meta), strict=True)
            layouts = self.layouts(header)
            files = {name[:-4]: info for name, info in members.items() if name.endswith(".npy")}
            tables = [name for name in self.sparse if name + KEPT in files]
            if files.keys() != {*layouts, *(name + KEPT for name in tables)}:
                raise _DamagedError("its arrays are not those that its header announces")
            expected = layouts | {name: Layout(layouts[name].dtype) for name in tables}
            expected |= {name + KEPT: _bits_of(layouts[name]) for name in tables}
            stored = {name: _array(z, info, name, expected[name]) for name, info in files.items()}
            if "digest" in members and z.read(members["digest"]) != _digest(raw, stored):
                raise _DamagedError("changed after it was written")
            whole = {name: _whole(name, stored[name], stored[name + KEPT], layouts[name]) for name in tables}
            return header, {name: whole[name] if name in whole else stored[name] for name in layouts}

        return _reading(path, self.kind, hint, read)


def _bits_of(layout: Layout) -> Layout:
    """Return the layout of the bit mask that marks the nonzero entries of a sparse table with this layout."""
    return Layout(np.uint8, {(size // 8 + 1,) for (size,) in layout.shapes})


def _whole(name: str, entries: np.ndarray, kept: np.ndarray, layout: Layout) -> np.ndarray:
    """Return the whole table `name` from its nonzero `entries` and the bit mask `kept` that marks their positions."""
    from treebound.kernels.entries import restored

    last = int(kept[-1]) if len(kept) else 0
    size = 8 * len(kept) - 1 - ((last & -last).bit_length() - 1)
    set_bits = int(np.bitwise_count(kept).sum(dtype=np.int64))
    if not last or (size,) not in layout.shapes or entries.ndim != 1 or set_bits != len(entries) + 1:
        raise _DamagedError(f"{name}: the number of entries does not match the bit mask")
    return restored(kept, entries, size)


def kind_of(path: str | Path, wanted: str = "model") -> str:
    """Return the kind of a file, which its header states.

    Raises ModelError for a file that treebound did not write; the message names the kind `wanted`.
    """

    def read(z: zipfile.ZipFile, members: Members) -> str:
        header = json.loads(z.read(members["header"]))
        if not isinstance(header, dict) or header.get("format") != FORMAT or not isinstance(header.get("kind"), str):
            raise ModelError(f"not a treebound {wanted}", path=path, hint="name a file that treebound wrote")
        return header["kind"]

    return _reading(path, wanted, f"train it again, or name a treebound {wanted} file", read)


Members = dict[str, zipfile.ZipInfo]


def _reading(path: str | Path, kind: str, hint: str, read: Callable[[zipfile.ZipFile, Members], Any]) -> Any:
    """Open a file and return the result of `read`, a function of the zip archive and its members by name.

    kind  kind of file that messages name
    hint  advice for the user if the file is damaged

    Every error becomes a ModelError.
    """
    try:
        # a zip archive needs random access, which pipes and folders do not offer
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ModelError("not a regular file", path=path, hint=f"name a treebound {kind} file")
        with zipfile.ZipFile(path) as z:
            return read(z, _members(z))
    except FileNotFoundError:
        raise ModelError(f"no such {kind} file", path=path, hint="train one with: treebound train") from None
    except ModelError:
        raise
    except InputError as error:  # raised by a class that the schema names
        raise ModelError(f"damaged {kind} file ({error.reason})", path=path, hint=hint) from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"])[:60] + ": " if first["loc"] else ""
        reason = repr(where + first["msg"].removeprefix("Value error, "))[1:-1]  # keys of the file may be any text
        raise ModelError(f"damaged {kind} file ({reason})", path=path, hint=hint) from None
    except _DamagedError as error:
        raise ModelError(f"damaged {kind} file ({error})", path=path, hint=hint) from None
    except MemoryError:
        raise ModelError("does not fit into memory", path=path, hint="train it with fewer --bits") from None
    except Exception as error:  # zipfile, zlib, json and numpy raise many types of errors for damaged bytes
        raise ModelError(f"truncated or foreign file ({type(error).__name__})", path=path, hint=hint) from None


class _DamagedError(Exception):
    """Raised when the content of a file does not match its header, or is of another form."""


def _members(z: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the members of a zip archive by name. Refuse duplicate names, unknown members and overlong headers."""
    members = {info.filename: info for info in z.infolist()}
    if "header" not in members:
        raise KeyError("header")
    if len(members) < len(z.infolist()):
        raise _DamagedError("a member occurs twice")
    for name, info in members.items():
        if name in ("header", "digest"):
            if info.file_size > LONGEST_HEADER:
                raise _DamagedError(f"a {name} of {info.file_size} bytes")
        elif not name.endswith(".npy"):
            raise _DamagedError("it has an unknown member")
        if info.compress_type not in _PLAIN:
            raise _DamagedError("unknown method of compression")
    return members


def _array(z: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, layout: Layout) -> np.ndarray:
    """Read the array `name` of an open file, after its type and shape have been checked against `layout`.

    A damaged file therefore takes no memory.
    """
    with z.open(info) as stream:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise _DamagedError(f"{name}: another version of numpy's format")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
        if fortran or dtype.hasobject or dtype.kind not in "iuf" or any(length < 0 for length in shape):
            raise _DamagedError(f"{name}: not an array of numbers in C order")
        if dtype != np.dtype(layout.dtype):
            raise _DamagedError(f"{name}: numbers of type {dtype}, not {np.dtype(layout.dtype)}")
        if layout.shapes and shape not in layout.shapes:
            raise _DamagedError(f"{name}: unexpected shape {str(shape)[:40]}")
        if stream.tell() + math.prod(shape) * dtype.itemsize != info.file_size:
            raise _DamagedError(f"{name}: its size does not match its shape")
        array = np.empty(shape, dtype)
        content = _bytes(array)
        while len(content):
            read = stream.readinto(content)  # type: ignore[attr-defined]  # ZipExtFile is a BufferedIOBase
            if not read:
                raise EOFError
            content = content[read:]
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise _DamagedError(f"{name}: a number that is not finite")
    return array
