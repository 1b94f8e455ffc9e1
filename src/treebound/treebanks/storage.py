"""Store a treebank in one `.npz` file of numpy arrays, without pickle.

The arrays for S sentences, W words and V different strings of a column:

header   uint8          JSON in UTF-8 with format, version, name, meta
offsets  int64[S + 1]   offsets of the sentences
head     int32[W]       heads
ids:C    int32[W]       ids of the strings of column C, for each of STRING_COLUMNS
text:C   uint8          all strings of column C in UTF-8, concatenated
ends:C   int64[V]       the end of each string in text:C
"""

from __future__ import annotations

import json
import zipfile
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from treebound.core.cells import is_cell
from treebound.core.dtypes import INDEX, NO_HEAD, OFFSET
from treebound.core.errors import InputError
from treebound.core.treebank import STRING_COLUMNS, Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.support.atomic import replacing

FORMAT = "treebound treebank"
VERSION = 1


def save(treebank: Treebank, path: str | Path) -> None:
    """Write a treebank; equal treebanks give equal bytes. Raises InputError if the file cannot be written."""
    header = {"format": FORMAT, "version": VERSION, "name": treebank.name, "meta": treebank.meta}
    arrays: dict[str, Any] = {
        "header": np.frombuffer(json.dumps(header, sort_keys=True, ensure_ascii=False).encode(), np.uint8),
        "offsets": treebank.offsets.astype(OFFSET),
        "head": treebank.head.astype(INDEX),
    }
    for name in STRING_COLUMNS:
        encoded = [string.encode() for string in treebank.vocab[name].strings]
        arrays[f"ids:{name}"] = treebank.columns[name].astype(INDEX)
        arrays[f"text:{name}"] = np.frombuffer(b"".join(encoded), np.uint8)
        arrays[f"ends:{name}"] = np.cumsum([len(string) for string in encoded], dtype=OFFSET)
    with replacing(path) as file:
        np.savez(file, allow_pickle=False, **arrays)


def load(path: str | Path) -> Treebank:
    """Read a treebank that `save` has written. Raises InputError for a missing, damaged or foreign file."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path, hint="convert the corpus") from None
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error, TypeError, NotImplementedError):
        raise InputError("is truncated or not a treebank", path=path, hint="convert the corpus again") from None
    try:
        header = json.loads(arrays["header"].tobytes())
        if header["format"] != FORMAT:
            raise ValueError("foreign")
        if header["version"] != VERSION:
            raise InputError(
                f"has version {header['version']}, this program reads {VERSION}",
                path=path,
                hint="convert the corpus again",
            )
        vocab = {name: _strings(arrays[f"text:{name}"], arrays[f"ends:{name}"]) for name in STRING_COLUMNS}
        treebank = Treebank(
            name=header["name"],
            offsets=arrays["offsets"],
            columns={name: arrays[f"ids:{name}"] for name in STRING_COLUMNS},
            vocab=vocab,
            head=arrays["head"],
            meta=header["meta"],
        )
        _check(treebank)
    except (KeyError, ValueError, TypeError):
        raise InputError("is damaged or not a treebank", path=path, hint="convert the corpus again") from None
    return treebank


def _strings(text: np.ndarray, ends: np.ndarray) -> Vocabulary:
    """Return the vocabulary of a column. Raises ValueError if it is inconsistent."""
    data = text.tobytes()
    bounds = [0, *ends.tolist()]
    if bounds[-1] != len(data):
        raise ValueError("vocabulary")
    vocabulary = Vocabulary(data[a:b].decode() for a, b in pairwise(bounds))
    if len(vocabulary) != len(ends) or not all(map(is_cell, vocabulary.strings)):
        raise ValueError("vocabulary")
    return vocabulary


def _check(treebank: Treebank) -> None:
    """Raise ValueError if the arrays are inconsistent, because kernels use them as indices without checks."""
    offsets, head = treebank.offsets, treebank.head
    words = len(head)
    columns = treebank.columns.items()
    consistent = (
        offsets.dtype == OFFSET
        and offsets.ndim == 1
        and len(offsets) > 0
        and offsets[0] == 0
        and offsets[-1] == words
        and bool((np.diff(offsets) > 0).all())
        and head.dtype == INDEX
        and all(ids.shape == (words,) and ids.dtype == INDEX for _, ids in columns)
        and all(not words or 0 <= ids.min() <= ids.max() < len(treebank.vocab[name]) for name, ids in columns)
        and not (words and ((head < NO_HEAD) | (head > np.repeat(treebank.lengths, treebank.lengths))).any())
    )
    if not consistent:
        raise ValueError("arrays")
