"""Read the scores of many sentences from one `.npz` file, the input of `treebound decode`.

A file has one of two layouts. Either each sentence has its own arrays:

    arc_0, arc_1, ..        float [n + 1, n + 1], head first; arr_0, arr_1, .. mean the same, because
                            np.savez("scores.npz", *matrices) uses these names
    labels_0, ..            [n + 1, n + 1, L]; optional, for all sentences or for some of them

The arrays adjacent_siblings_0, siblings_0, grandparents_0 and allowed_0 are optional too. They hold the arguments of
`treebound.problem` with these names. Or all sentences share the arrays, which is faster to read and to write:

    n                       int[S] number of words of each sentence
    arc                     float[sum of (n + 1)^2]: the matrices one after another, each row by row
    labels                  [sum of (n + 1)^2, L]; optional

Both layouts have two further arrays:

    label_names             str[L], required if there are labels
    forms                   str[sum of n]: the words of all sentences; without this array, every form is _

Reading a file executes nothing: arrays of Python objects, which are pickles, are refused.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from treebound.core.cells import HINT as CELLS
from treebound.core.cells import is_cell
from treebound.core.errors import InputError
from treebound.scores.statement import TENSORS

ARRAYS = ("arc", "labels", "allowed", *TENSORS)
_HINT = "`python -m pydoc treebound.scores.archive` describes the file"
_FAULTS = (OSError, ValueError, KeyError, EOFError, NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True)
class Archive:
    """The contents of a file of scores.

    Attributes
    ----------
    sentences : list of dict
        The arguments of `treebound.problem` for each sentence.
    forms : list of list of str
        The n words of each sentence.
    label_names : tuple of str
        The names of the labels; empty if the file has no labels.
    """

    sentences: list[dict[str, Any]]
    forms: list[list[str]]
    label_names: tuple[str, ...]


def read(path: str | Path) -> Archive:
    """Read the scores in a file. Raises InputError, which names the file and the array. O(bytes) time and space."""
    arrays = _arrays(path)
    names = _strings(path, arrays, "label_names")
    forms = _strings(path, arrays, "forms")
    sentences = _packed(path, arrays) if "n" in arrays else _listed(path, arrays)
    if not names and any("labels" in scores for scores in sentences):
        raise InputError("labels without label_names", path=path, hint=_HINT)
    for i, scores in enumerate(sentences):
        if scores["arc"].ndim != 2 or len(scores["arc"]) < 2:
            raise InputError(f"arc_{i} is {_shape(scores['arc'])}", path=path, hint="give [n + 1, n + 1], heads first")
        labels = scores.get("labels")
        if labels is not None and (labels.ndim != 3 or labels.shape[2] != len(names)):
            reason = f"labels of sentence {i} are {_shape(labels)}, and there are {len(names)} label_names"
            raise InputError(reason, path=path, hint="give [n + 1, n + 1, L]")
    words = [len(scores["arc"]) - 1 for scores in sentences]
    if forms and len(forms) != sum(words):
        raise InputError(
            f"{len(forms)} forms for {sum(words)} words", path=path, hint="give one form for each word, in order"
        )
    ends = np.cumsum([0, *words]).tolist()
    split = [list(forms[a:b]) if forms else ["_"] * (b - a) for a, b in pairwise(ends)]
    return Archive(sentences, split, names)


def _arrays(path: str | Path) -> dict[str, np.ndarray]:
    """Return all arrays of a file by name."""
    name = ""
    try:
        if not zipfile.is_zipfile(path) and Path(path).is_file():
            raise zipfile.BadZipFile
        with np.load(path, allow_pickle=False) as members:
            arrays = {}
            for name in members.files:
                arrays[name] = members[name]
            return arrays
    except FileNotFoundError:
        raise InputError("no such file", path=path, hint="name a .npz file") from None
    except IsADirectoryError:
        raise InputError("is a folder", path=path, hint="name a .npz file") from None
    except _FAULTS as error:
        if name and "pickle" in str(error):
            reason = f"array {name!r} holds Python objects, which are not read"
        else:
            reason = f"array {name!r} is damaged: {str(error)[:100]}" if name else "not a .npz file, or incomplete"
        raise InputError(reason, path=path, hint="write numbers and strings only, with np.savez") from None


def _strings(path: str | Path, arrays: dict[str, np.ndarray], name: str) -> tuple[str, ...]:
    """Remove an array of strings from `arrays` and return its strings; return () if there is no such array."""
    array = arrays.pop(name, np.empty(0, "U1"))
    if array.dtype.kind != "U" or array.ndim != 1:
        raise InputError(f"{name} is {_shape(array)}", path=path, hint="give a one-dimensional array of strings")
    strings = tuple(array.tolist())
    for i, string in enumerate(strings):
        if not is_cell(string):
            reason = f"{name}[{i}], {string[:30]!r}, does not fit into a column"
            raise InputError(reason, path=path, hint=CELLS)
    return strings


def _packed(path: str | Path, arrays: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """Return the scores of each sentence as views of arrays that hold all sentences one after another."""
    if unknown := arrays.keys() - {"n", "arc", "labels"}:
        raise InputError(f"array {min(unknown)!r} beside n and arc", path=path, hint=_HINT)
    n = arrays["n"]
    if n.ndim != 1 or n.dtype.kind not in "iu" or np.any((n < 1) | (n >= 2**20)):
        raise InputError(f"n is {_shape(n)}, or a sentence has no words", path=path, hint="give the numbers of words")
    ends = np.cumsum(np.concatenate(([0], (n.astype(np.int64) + 1) ** 2)))
    for name in ("arc", "labels"):
        array = arrays.get(name, np.empty(0))
        if (name in arrays or name == "arc") and (len(array.shape) != 1 + (name == "labels") or len(array) != ends[-1]):
            reason = f"{name} is {_shape(array)}, but n requires {ends[-1]} rows"
            raise InputError(reason, path=path, hint="give the sum of (n + 1)^2 rows, all matrices row by row")
    sentences = []
    for size, (a, b) in zip((n + 1).tolist(), pairwise(ends.tolist()), strict=True):
        scores: dict[str, Any] = {"arc": arrays["arc"][a:b].reshape(size, size)}
        if "labels" in arrays:
            scores["labels"] = arrays["labels"][a:b].reshape(size, size, -1)
        sentences.append(scores)
    return sentences


def _listed(path: str | Path, arrays: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """Return the scores of each sentence from arrays that are named by sentence."""
    sentences: dict[int, dict[str, Any]] = {}
    for member, array in arrays.items():
        match = re.fullmatch(r"([a-z_]+)_(0|[1-9][0-9]{0,8})", member)
        name = "arc" if match and match[1] == "arr" else match[1] if match else ""
        if match is None or name not in ARRAYS or name in sentences.get(int(match[2]), {}):
            raise InputError(f"unknown array {member!r}", path=path, hint=_HINT)
        sentences.setdefault(int(match[2]), {})[name] = array
    for i in range(len(sentences)):
        if "arc" not in sentences.get(i, {}):
            raise InputError(f"arc_{i} is missing", path=path, hint="number sentences from 0 without gaps")
    return [sentences[i] for i in range(len(sentences))]


def _shape(array: np.ndarray) -> str:
    """Return the dtype and the shape of an array, for messages."""
    return f"{array.dtype}{list(array.shape)}"
