"""One file of named arrays and a JSON header: no pickle, checked on load, written atomically.

A zip (numpy's .npz layout) whose member `header` is JSON and whose member `digest` covers header and arrays: what was
changed after it was written is refused, even where the zip's own checksums were made anew. Files of before there were
digests have none. Kernels index with what stands in a file and do not check, so everything is checked here: the header
against a schema, the arrays against what the header asks for, before they take any memory.

Tables of weights are mostly zeros. If a table `x` is declared sparse, the file holds its other entries, `x`, and a bit
for each entry that tells which they are, `x.kept`; one more bit, which is set, marks the end. Neither is compressed:
deflating and inflating the zeros took longer than all other work on a file. A file with the whole table is read, too.
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
#: bytes of the longest header that is read: one of a tagger holds its dictionary
LONGEST_HEADER = 1 << 28
KEPT = ".kept"  #: ends the name of the bits of a table of which only some entries are written
_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True)
class Layout:
    """What an array of a file must be: its type and one of these shapes, any where none is named."""

    dtype: type
    shapes: Collection[tuple[int, ...]] = ()


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError("a name stands there twice")
    return names


# --- types of header fields ---

#: a string that fits into a column of a treebank
Entry = Annotated[str, Field(pattern=cells.PATTERN)]
Names = Annotated[tuple[Entry, ...], AfterValidator(_distinct)]
#: what templates may speak about, in a model's header
Attributes = Annotated[
    tuple[Literal["form", "lower", "tag", "coarse", "prefix", "suffix", "length", "feats", "lemma"], ...],
    AfterValidator(_distinct),
]
#: integer weights to 1.0
Unit = Annotated[float, Field(ge=2.0**-64, le=2.0**62, allow_inf_nan=False)]
#: one record an epoch
History = list[dict[str, bool | int | FiniteFloat | str | None]]


def tables(least: int, most: int, beyond: int = 0) -> set[tuple[int, ...]]:
    """Shapes of weight tables of 2**least to 2**most entries, and `beyond` behind them."""
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

    `sparse` names the arrays of one axis of which only the entries that are not zero are written.
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
    """A member with a fixed date, so that files of equal content are the same bytes."""
    z.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), content, kind, 1)


def _digest(header: bytes, arrays: dict[str, np.ndarray]) -> bytes:
    digest = hashlib.blake2b(header, digest_size=32)
    for name, array in sorted(arrays.items()):
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(_bytes(array))
    return digest.hexdigest().encode()


def _bytes(array: np.ndarray) -> Any:
    """The numbers of an array, without a copy."""
    return memoryview(array.reshape(-1).view(np.uint8))  # type: ignore[arg-type]  # an array is a buffer


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class Header:
    """What stands in the header of every file; a kind of file adds its fields."""

    format: str
    kind: str
    version: int


H = TypeVar("H", bound=Header)


@dataclass(frozen=True)
class Format(Generic[H]):
    """A kind of file: the class of its header, and from a header that is right the arrays that must be there.

    complete  puts into a header what files of this version lacked at first
    sparse    arrays of one axis that are mostly zeros, whose layouts name shapes
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
        """Write the other fields of the header (JSON values) and the arrays, as `save_arrays` does."""
        meta = {"kind": self.kind, "version": self.version, **fields}
        save_arrays(path, meta, arrays, compressed=compressed, sparse=self.sparse)

    def load(self, path: str | Path) -> tuple[H, dict[str, np.ndarray]]:
        """(header, arrays) of a file of this kind and version.

        Raises ModelError, which says what is wrong, for everything else: other files, damaged and foreign ones, arrays
        of another type or shape, numbers that are not finite.
        """
        hint = f"train it again, or name a treebound {self.kind} file"

        def read(z: zipfile.ZipFile, members: Members) -> tuple[H, dict[str, np.ndarray]]:
            raw = z.read(members["header"])
            meta = json.loads(raw)
            if not isinstance(meta, dict) or meta.get("format") != FORMAT or meta.get("kind") != self.kind:
                raise ModelError(f"not a treebound {self.kind}", path=path, hint=hint)
            if meta.get("version") != self.version:
                found = f"version {repr(meta.get('version'))[:30]}, this program reads {self.version}"
                raise ModelError(f"{self.kind} of {found}", path=path, hint=hint)
            if self.complete is not None:
                self.complete(meta)
            header = self._schema.validate_json(raw if self.complete is None else json.dumps(meta), strict=True)
            layouts = self.layouts(header)
            files = {name[:-4]: info for name, info in members.items() if name.endswith(".npy")}
            tables = [name for name in self.sparse if name + KEPT in files]
            if files.keys() != {*layouts, *(name + KEPT for name in tables)}:
                raise _DamagedError("other arrays than it has")
            asked = layouts | {name: Layout(layouts[name].dtype) for name in tables}
            asked |= {name + KEPT: _bits_of(layouts[name]) for name in tables}
            stored = {name: _array(z, info, name, asked[name]) for name, info in files.items()}
            if "digest" in members and z.read(members["digest"]) != _digest(raw, stored):
                raise _DamagedError("changed after it was written")
            whole = {name: _whole(name, stored[name], stored[name + KEPT], layouts[name]) for name in tables}
            return header, {name: whole[name] if name in whole else stored[name] for name in layouts}

        return _reading(path, self.kind, hint, read)


def _bits_of(layout: Layout) -> Layout:
    """Return the layout of the bits that tell which entries of a table are written."""
    return Layout(np.uint8, {(size // 8 + 1,) for (size,) in layout.shapes})


def _whole(name: str, entries: np.ndarray, kept: np.ndarray, layout: Layout) -> np.ndarray:
    """Return the table of a layout from its entries that were written, and the bits that tell which they are."""
    from treebound.kernels.entries import restored

    last = int(kept[-1]) if len(kept) else 0
    size = 8 * len(kept) - 1 - ((last & -last).bit_length() - 1)
    set_bits = int(np.bitwise_count(kept).sum(dtype=np.int64))
    if not last or (size,) not in layout.shapes or entries.ndim != 1 or set_bits != len(entries) + 1:
        raise _DamagedError(f"{name}: other entries than it claims")
    return restored(kept, entries, size)


def kind_of(path: str | Path, wanted: str = "model") -> str:
    """What kind of file this is, by its header. ModelError, which names what is wanted, where it is none of ours."""

    def read(z: zipfile.ZipFile, members: Members) -> str:
        header = json.loads(z.read(members["header"]))
        if not isinstance(header, dict) or header.get("format") != FORMAT or not isinstance(header.get("kind"), str):
            raise ModelError(f"not a treebound {wanted}", path=path, hint="name a file that treebound wrote")
        return header["kind"]

    return _reading(path, wanted, f"train it again, or name a treebound {wanted} file", read)


Members = dict[str, zipfile.ZipInfo]


def _reading(path: str | Path, kind: str, hint: str, read: Callable[[zipfile.ZipFile, Members], Any]) -> Any:
    """What `read` finds in the members of a file; whatever goes wrong is a ModelError."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe gives its bytes once and in order, a folder none
            raise ModelError("no regular file", path=path, hint=f"name a treebound {kind} file")
        with zipfile.ZipFile(path) as z:
            return read(z, _members(z))
    except FileNotFoundError:
        raise ModelError(f"no such {kind} file", path=path, hint="train one with: treebound train") from None
    except ModelError:
        raise
    except InputError as error:  # of a class that the schema names
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
    except Exception as error:  # whatever zipfile, zlib, json and numpy raise for bytes that are not theirs
        raise ModelError(f"truncated or foreign file ({type(error).__name__})", path=path, hint=hint) from None


class _DamagedError(Exception):
    """What stands in the file is not what it must be."""


def _members(z: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The members by name. Names that stand there twice, other names, headers of any length are refused."""
    members = {info.filename: info for info in z.infolist()}
    if "header" not in members:
        raise KeyError("header")
    if len(members) < len(z.infolist()):
        raise _DamagedError("a name stands in it twice")
    for name, info in members.items():
        if name in ("header", "digest"):
            if info.file_size > LONGEST_HEADER:
                raise _DamagedError(f"a {name} of {info.file_size} bytes")
        elif not name.endswith(".npy"):
            raise _DamagedError("it holds something else")
        if info.compress_type not in _PLAIN:
            raise _DamagedError("compressed in another way")
    return members


def _array(z: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, layout: Layout) -> np.ndarray:
    """An array of a file, which takes memory only where its type and shape are right."""
    with z.open(info) as stream:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise _DamagedError(f"{name}: another version of numpy's format")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
        if fortran or dtype.hasobject or dtype.kind not in "iuf" or any(length < 0 for length in shape):
            raise _DamagedError(f"{name}: no array of numbers in rows")
        if dtype != np.dtype(layout.dtype):
            raise _DamagedError(f"{name}: numbers of type {dtype}, not {np.dtype(layout.dtype)}")
        if layout.shapes and shape not in layout.shapes:
            raise _DamagedError(f"{name}: an array of shape {str(shape)[:40]}")
        if stream.tell() + math.prod(shape) * dtype.itemsize != info.file_size:
            raise _DamagedError(f"{name}: another size than it claims")
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
