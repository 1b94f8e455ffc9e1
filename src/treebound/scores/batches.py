"""Accept the sentences of `treebound.decode_all`: a list, an array, or padded tensors with the sentences' lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from treebound.core.errors import InputError
from treebound.scores.arrays import array_of, indices, shown
from treebound.scores.statement import TENSORS

#: arguments of `treebound.decode` that padded tensors may hold, and their numbers of axes
AXES = {"arc": 3, "labels": 4, "allowed": 3, **dict.fromkeys(TENSORS, 4)}
_HINT = "with lengths, give a padded tensor [B, n + 1, n + 1], or a dictionary of such tensors"


class Batch(Sequence[Any]):
    """The sentences of padded tensors; each sentence is a view of the tensors.

    Parameters
    ----------
    tensors : dict of str to ndarray
        Scores by the names of the arguments of `treebound.decode`, as checked by `padded`.
    lengths : list of int
        Number of words of each sentence.
    alone : bool
        Whether a sentence is returned as its matrix of arc scores instead of a dictionary.
    """

    def __init__(self, tensors: Mapping[str, np.ndarray], lengths: list[int], alone: bool):
        self._tensors, self._lengths, self._alone = tensors, lengths, alone

    def __len__(self) -> int:
        return len(self._lengths)

    def __getitem__(self, i: Any) -> Any:
        size = self._lengths[i] + 1
        if self._alone:
            return self._tensors["arc"][i, :size, :size]
        part = slice(size)
        cells = {name: (i, part, part, part) if name in TENSORS else (i, part, part) for name in self._tensors}
        return {name: tensor[cells[name]] for name, tensor in self._tensors.items()}


def padded(sentences: Any, lengths: Any) -> Batch:
    """Return the sentences of padded tensors.

    Parameters
    ----------
    sentences : array or dict of str to array
        Scores of arcs [B, N, N], or a dictionary of "arc" and further tensors, whose first axis is the sentence.
        Entries beyond the words of a sentence are ignored.
    lengths : array of int
        [B] numbers of words, from 1 to N - 1.

    Raises
    ------
    InputError
        If a tensor has another shape, or a length does not fit the tensors.
    """
    alone = not isinstance(sentences, Mapping)
    scores = {"arc": sentences} if alone else sentences
    if unknown := [name for name in scores if name not in AXES]:
        hint = f"only {', '.join(AXES)} can be padded; give other arguments in a dictionary for each sentence"
        raise InputError(f"sentences[{unknown[0]!r}] is given with lengths", hint=hint)
    scores = {"arc": None} | {name: tensor for name, tensor in scores.items() if tensor is not None}
    title = {name: "sentences" if alone else f"sentences[{name!r}]" for name in scores}
    tensors = {name: array_of(title[name], tensor) for name, tensor in scores.items()}
    shape = tensors["arc"].shape
    count, size = shape[:2] if len(shape) == 3 else (0, 0)
    for name, tensor in tensors.items():
        square = (count, *[size] * (2 if name == "labels" else AXES[name] - 1))
        if tensor.ndim != AXES[name] or tensor.shape[: len(square)] != square:
            hint = _HINT if name == "arc" else f"the arcs are {list(shape)}; their sentences and words come first"
            raise InputError(f"{title[name]} is {shown(scores[name], tensor)}", hint=hint)
    numbers = indices("lengths", lengths)
    if numbers.shape != (count,):
        reason = f"lengths is {numbers.dtype}{list(numbers.shape)} for {count} sentences"
        raise InputError(reason, hint="give the number of words of each sentence")
    if np.any(wrong := (numbers < 1) | (numbers >= size)):
        i = int(np.argmax(wrong))
        hint = f"give numbers of words from 1 to {size - 1}: the tensor has {size} rows, one of them for the root"
        raise InputError(f"lengths[{i}] is {numbers[i]}", hint=hint if size > 1 else _HINT)
    return Batch(tensors, numbers.tolist(), alone)


def listed(sentences: Any) -> Sequence[Any]:
    """Return the sentences as a sequence with a length: a generator becomes a list, and a tensor becomes one array."""
    try:
        if isinstance(sentences, str | bytes | memoryview | Mapping):
            raise TypeError
        tensor = hasattr(sentences, "__array__") or hasattr(sentences, "__dlpack__")
        sequence: Any = array_of("sentences", sentences) if tensor else sentences
        iter(sequence)
        return sequence if hasattr(sequence, "__len__") and hasattr(sequence, "__getitem__") else list(sequence)
    except TypeError:
        reason = f"sentences is a {type(sentences).__name__}"
        raise InputError(reason, hint="give a list: a matrix for each sentence") from None
