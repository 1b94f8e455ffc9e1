"""Scores of many sentences in one `.npz` file, as numpy writes it: what `treebound decode` reads.

Either one array a sentence,

    arc_0, arc_1, ..        float [n + 1, n + 1], head first; arr_0, arr_1, .. are the same, as they are called by
                            np.savez("scores.npz", *matrices)
    labels_0, ..            [n + 1, n + 1, L], and likewise adjacent_siblings_0, siblings_0, grandparents_0, allowed_0,
                            ..: the arguments of `treebound.problem`, of all sentences or of some

or all in one, which is read and written faster:

    n                       int[S] words in each sentence
    arc                     float[sum of (n + 1)^2]: the matrices one after the other, each row by row
    labels                  [sum of (n + 1)^2, L]

and in either

    label_names             str[L], needed where there are labels
    forms                   str[sum of n]: the words of all sentences; without it they are _

Nothing in a file is executed: arrays of objects, which are pickles, are refused.
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
_HINT = "treebound.scores.archive describes the file"
_FAULTS = (OSError, ValueError, KeyError, EOFError, NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True)
class Archive:
    """What stands in a file.

    sentences    the arguments of `treebound.problem` for each
    forms        per sentence its n words
    label_names  empty where there are no labels
    """

    sentences: list[dict[str, Any]]
    forms: list[list[str]]
    label_names: tuple[str, ...]


def read(path: str | Path) -> Archive:
    """The scores in a file. InputError names the file and the array that is wrong. O(bytes) time and space."""
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
        raise InputError(f"{len(forms)} forms for {sum(words)} words", path=path, hint="give one a word, in order")
    ends = np.cumsum([0, *words]).tolist()
    split = [list(forms[a:b]) if forms else ["_"] * (b - a) for a, b in pairwise(ends)]
    return Archive(sentences, split, names)


def _arrays(path: str | Path) -> dict[str, np.ndarray]:
    """All arrays of a file by their names."""
    name = ""
    try:
        if not zipfile.is_zipfile(path) and Path(path).is_file():
            raise zipfile.BadZipFile
        with np.load(path, allow_pickle=False) as members:
            found = {}
            for name in members.files:
                found[name] = members[name]
            return found
    except FileNotFoundError:
        raise InputError("no such file", path=path, hint="name a .npz file") from None
    except IsADirectoryError:
        raise InputError("a folder", path=path, hint="name a .npz file") from None
    except _FAULTS as error:
        if name and "pickle" in str(error):
            reason = f"array {name!r} holds Python objects, which are not read"
        else:
            reason = f"array {name!r} is damaged: {str(error)[:100]}" if name else "no .npz file, or not whole"
        raise InputError(reason, path=path, hint="write it with np.savez, numbers and strings alone") from None


def _strings(path: str | Path, arrays: dict[str, np.ndarray], name: str) -> tuple[str, ...]:
    """Take the strings of an array; none where it is not there."""
    array = arrays.pop(name, np.empty(0, "U1"))
    if array.dtype.kind != "U" or array.ndim != 1:
        raise InputError(f"{name} is {_shape(array)}", path=path, hint="give strings in one dimension")
    strings = tuple(array.tolist())
    for i, string in enumerate(strings):
        if not is_cell(string):
            reason = f"{name}[{i}], {string[:30]!r}, does not fit into a column"
            raise InputError(reason, path=path, hint=CELLS)
    return strings


def _packed(path: str | Path, arrays: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """Sentences whose matrices stand one after the other; views of them."""
    if strange := arrays.keys() - {"n", "arc", "labels"}:
        raise InputError(f"array {min(strange)!r} beside n and arc", path=path, hint=_HINT)
    n = arrays["n"]
    if n.ndim != 1 or n.dtype.kind not in "iu" or np.any((n < 1) | (n >= 2**20)):
        raise InputError(f"n is {_shape(n)}, or a sentence has no words", path=path, hint="give numbers of words")
    ends = np.cumsum(np.concatenate(([0], (n.astype(np.int64) + 1) ** 2)))
    for name in ("arc", "labels"):
        array = arrays.get(name, np.empty(0))
        if (name in arrays or name == "arc") and (len(array.shape) != 1 + (name == "labels") or len(array) != ends[-1]):
            reason = f"{name} is {_shape(array)}, but n asks for {ends[-1]} numbers"
            raise InputError(reason, path=path, hint="give the sum of (n + 1)^2, all matrices row by row")
    out = []
    for size, (a, b) in zip((n + 1).tolist(), pairwise(ends.tolist()), strict=True):
        scores: dict[str, Any] = {"arc": arrays["arc"][a:b].reshape(size, size)}
        if "labels" in arrays:
            scores["labels"] = arrays["labels"][a:b].reshape(size, size, -1)
        out.append(scores)
    return out


def _listed(path: str | Path, arrays: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """Sentences with an array each."""
    found: dict[int, dict[str, Any]] = {}
    for member, array in arrays.items():
        match = re.fullmatch(r"([a-z_]+)_(0|[1-9][0-9]{0,8})", member)
        name = "arc" if match and match[1] == "arr" else match[1] if match else ""
        if match is None or name not in ARRAYS or name in found.get(int(match[2]), {}):
            raise InputError(f"unknown array {member!r}", path=path, hint=_HINT)
        found.setdefault(int(match[2]), {})[name] = array
    for i in range(len(found)):
        if "arc" not in found.get(i, {}):
            raise InputError(f"arc_{i} is missing", path=path, hint="number sentences from 0 without gaps")
    return [found[i] for i in range(len(found))]


def _shape(array: np.ndarray) -> str:
    return f"{array.dtype}{list(array.shape)}"
