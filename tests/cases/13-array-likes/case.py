"""Decode arrays of neural parsers: batches, half precision, tensors with gradients or on a device, masked arrays."""

import numpy as np

import treebound

arc = np.array([[0.0, 1.5, -1.0], [0.0, 0.0, 2.0], [0.0, 0.5, 0.0]])


class Tensor:
    """A tensor whose conversion to numpy raises a given error."""

    def __init__(self, error: Exception):
        self.error = error

    def __array__(self, *arguments: object, **options: object) -> np.ndarray:
        raise self.error


class Exchanged:
    """An array of another library that offers the DLPack protocol only."""

    def __dlpack__(self, **options: object) -> object:
        return arc.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return arc.__dlpack_device__()


tries = {
    "float16": arc.astype(np.float16),
    "long double": arc.astype(np.longdouble),
    "big endian": arc.astype(">f8"),
    "int8": (arc * 2).astype(np.int8),
    "lists": arc.tolist(),
    "DLPack": Exchanged(),
    "masked array": np.ma.masked_array(arc, arc == 2.0),
    "list of masked arrays": [np.ma.masked_array(row, row == 2.0) for row in arc],
    "bool": arc > 0,
    "complex": arc + 0j,
    "strings": arc.astype(str),
    "objects": arc.astype(object),
    "batch": np.stack([arc, arc]),
    "not square": arc[:2],
    "empty": np.zeros((0, 0)),
    "scalar": 3.0,
    "None": None,
    "ragged": [[1.0], [1.0, 2.0]],
    "generator": (row for row in arc),
    "gradients": Tensor(RuntimeError("Can't call numpy() on Tensor that requires grad.")),
    "device": Tensor(TypeError("can't convert cuda:0 device type tensor to numpy.\nCopy it first.")),
    "NaN": np.where(arc == 2.0, np.nan, arc),
    "+inf": np.where(arc == 2.0, np.inf, arc),
    "all -inf": np.full((3, 3), -np.inf),
    "all masked": np.ma.masked_all((3, 3)),
}
for name, scores in tries.items():
    try:
        parse = treebound.decode(scores)
        print(f"{name}: {parse.heads.tolist()} {parse.value} {parse.status}")
    except treebound.InputError as error:
        print(f"{name}: {error}")
for name, sentences in {"None": None, "scalar": 1, "dictionary": {"arc": arc}, "unknown": [{"arcs": arc}]}.items():
    try:
        treebound.decode_all(sentences)
    except treebound.InputError as error:
        print(f"decode_all, {name}: {error}")
