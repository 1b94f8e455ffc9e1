"""Random and damaged `.npz` files of scores for `treebound decode`."""

from __future__ import annotations

import io
import random
from typing import Any

import numpy as np
from mutants import claims, flipped

DTYPES = ("f8", "f4", "f2", ">f8", "i8", "i4", "u1", ">i2", "?", "c16", "U3", "S3", "O", "M8[s]", "g", "V8")
VALUES = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e30, -1e9, 5e-324, -0.0, 2.0**62, 1e-300)


def _matrix(rng: random.Random, *shape: int) -> Any:
    """Return random scores, often with an odd value, dtype, order or shape."""
    generator = np.random.default_rng(rng.getrandbits(32))
    array: Any = generator.normal(size=shape) if rng.random() < 0.6 else generator.integers(-3, 4, shape).astype(float)
    if rng.random() < 0.4:
        for _ in range(rng.choice((1, 3, array.size))):
            array[tuple(rng.randrange(size) for size in array.shape)] = rng.choice(VALUES)
    if rng.random() < 0.25:
        with np.errstate(all="ignore"):
            array = _as(array, rng.choice(DTYPES))
    change = rng.randrange(12)
    if change == 0:
        return array[:-1]
    if change == 1:
        return array[None]
    if change == 2:
        return np.asfortranarray(array)
    if change == 3:
        return array[..., :0]
    return array.ravel() if change == 4 else array


def _as(array: np.ndarray, dtype: str) -> Any:
    """Return an array of another dtype; an array of zeros if numpy cannot convert the numbers."""
    try:
        return array.astype(dtype)
    except (TypeError, ValueError, OverflowError):
        return np.zeros(array.shape, dtype)


def _listed(rng: random.Random) -> dict[str, Any]:
    """Return arrays that are named by sentence."""
    arrays: dict[str, Any] = {}
    for i in range(rng.choice((0, 1, 1, 2, 3))):
        n = rng.choice((1, 1, 2, 3, 4, 6))
        arrays[f"{rng.choice(('arc', 'arc', 'arc', 'arr'))}_{i}"] = _matrix(rng, n + 1, n + 1)
        if rng.random() < 0.3:
            arrays[f"labels_{i}"] = _matrix(rng, n + 1, n + 1, rng.choice((1, 2, 2, 3)))
        for name in ("siblings", "grandparents", "adjacent_siblings"):
            if rng.random() < 0.1:
                arrays[f"{name}_{i}"] = (
                    np.triu(_matrix(rng, n + 1, n + 1, n + 1)) if rng.random() < 0.5 else np.zeros(3)
                )
        if rng.random() < 0.1:
            arrays[f"allowed_{i}"] = np.random.default_rng(i).random((n + 1, n + 1)) < 0.7
    return arrays


def _packed(rng: random.Random) -> dict[str, Any]:
    """Return arrays that hold all sentences one after another."""
    lengths = [rng.choice((1, 2, 3, 0, -1, 5)) if rng.random() < 0.2 else rng.randint(1, 4) for _ in range(3)]
    rows = sum((n + 1) ** 2 for n in lengths) + rng.choice((0, 0, 0, 1))
    arrays = {
        "n": np.array(lengths).astype(rng.choice(("i8", "i8", "i4", "u1", "f8", "u8"))),
        "arc": _matrix(rng, rows),
    }
    if rng.random() < 0.3:
        arrays["labels"] = _matrix(rng, rows, 2)
    return arrays


def odd_scores(rng: random.Random) -> bytes:
    """Return the content of a file of scores, valid or not."""
    arrays = _listed(rng) if rng.random() < 0.75 else _packed(rng)
    if any("labels" in name for name in arrays) or rng.random() < 0.1:
        names = rng.choice(
            (["a", "b"], ["a", "b"], ["a"], ["a", "b", "c"], [], ["a", "a"], ["a\tb", "x"], ["", "\0"], [1, 2])
        )
        arrays["label_names"] = np.array(names)
    if rng.random() < 0.2:
        forms = ["w"] * rng.choice((1, 3, 5)) if rng.random() < 0.5 else ["\ud800", "a b", "\u2028", "#"]
        arrays["forms"] = np.array(forms)
    if rng.random() < 0.1:
        arrays[rng.choice(("x", "arc_01", "arc_-1", "arc_9", "n", "arc"))] = np.zeros(3)
    if rng.random() < 0.1 and arrays:
        del arrays[rng.choice(sorted(arrays))]
    out = io.BytesIO()
    write = np.savez_compressed if rng.random() < 0.3 else np.savez
    write(out, **arrays)
    content = out.getvalue()
    chance = rng.random()
    if chance < 0.2:
        return flipped(content, rng)
    if chance < 0.25:
        return claims(np.zeros(4), rng.choice(("(4,)", "(-1,)", "(1099511627776,)", "'x'")))
    return content
