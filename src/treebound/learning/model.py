"""A trained model: fixed-point weights, pruner and configuration in one file without pickle."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from treebound.core.errors import ModelError
from treebound.features.scorer import Scorer
from treebound.learning.pruner import Pruner
from treebound.learning.spec import ModelSpec
from treebound.learning.storage import load_arrays, save_arrays

VERSION = 1
FIXED_BITS = 16  #: binary digits after the point for learners with real-valued updates


class Model:
    """Weights as integers, `unit` of them to 1.0: every score is an exact integer sum.

    spec     how it was trained
    weights  int32[2 ** bits]
    unit     integer units per 1.0 of score (N T for the averaged perceptron, 2 ** FIXED_BITS for MIRA)
    meta     the treebank conventions that it was trained with (tag, coarse, attributes, single_root, punctuation)
    history  one record per epoch
    """

    def __init__(
        self, spec: ModelSpec, weights: np.ndarray, unit: float, pruner: Pruner, meta: dict, history: list[dict]
    ):
        self.spec, self.weights, self.unit, self.pruner, self.meta, self.history = (
            spec,
            weights,
            unit,
            pruner,
            meta,
            history,
        )
        self.scorer = Scorer(spec.families, pruner.attributes, spec.bits)

    def save(self, path: str | Path) -> None:
        """Write one file, atomically."""
        header = {
            "kind": "model",
            "version": VERSION,
            "spec": self.spec.as_dict(),
            "unit": self.unit,
            "meta": self.meta,
            "history": self.history,
            "attributes": sorted(self.pruner.attributes),
        }
        save_arrays(path, header, {"weights": self.weights, "pruner": self.pruner.weights})

    @classmethod
    def load(cls, path: str | Path) -> Model:
        """Read what `save` wrote. ModelError for anything else."""
        header, arrays = load_arrays(path, "model", VERSION)
        try:
            spec = ModelSpec(**header["spec"])
            weights = arrays["weights"]
            pruner = Pruner(arrays["pruner"], frozenset(header["attributes"]))
            if weights.dtype != np.int32 or weights.shape != (1 << spec.bits,):
                raise ValueError("weight table of another shape")
            return cls(spec, weights, float(header["unit"]), pruner, header["meta"], header["history"])
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"damaged model file ({error})", path=path, hint="train it again") from None
