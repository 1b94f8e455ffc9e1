"""A trained model: fixed-point weights, pruner and configuration in one file without pickle."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from treebound.core.errors import InputError, ModelError
from treebound.core.parse import Parse
from treebound.factors.pattern_language import PatternSet
from treebound.factors.pattern_language import parse as parse_patterns
from treebound.features.scorer import Scorer
from treebound.learning.labels import Labelling
from treebound.learning.pruner import Pruner
from treebound.learning.spec import ModelSpec
from treebound.learning.storage import load_arrays, save_arrays

VERSION = 1


class Model:
    """Weights as integers, `unit` of them to 1.0: every score is an exact integer sum.

    spec     how it was trained
    weights  int32[2 ** bits], behind them those of the labellers
    unit     integer units per 1.0 of score (N T for the averaged perceptron, 2 ** 16 for MIRA)
    meta     the treebank conventions that it was trained with (tag, coarse, attributes, single_root, punctuation)
    history  one record per epoch
    labels   the labels that it knows, in the order of their numbers
    patterns the hand-crafted patterns that it was trained with, if any
    """

    def __init__(
        self,
        spec: ModelSpec,
        weights: np.ndarray,
        unit: float,
        pruner: Pruner,
        meta: dict,
        history: list[dict],
        labels: tuple[str, ...] = (),
        patterns: PatternSet | None = None,
    ):
        self.spec, self.weights, self.unit, self.pruner, self.meta, self.history = (
            spec,
            weights,
            unit,
            pruner,
            meta,
            history,
        )
        self.patterns = patterns
        self.scorer = Scorer(spec.families, pruner.attributes, spec.bits, patterns)
        self.labelling = Labelling(spec, labels, pruner.attributes)

    def label_names(self, parse: Parse) -> list[str]:
        """The n labels of a parse of this model as strings; `_` where the model has none."""
        names = self.labelling.names
        return ["_"] * (len(parse.heads) - 1) if parse.labels is None else [names[i] for i in parse.labels[1:]]

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
            "labels": list(self.labelling.names),
        }
        if self.patterns:
            header["patterns"] = {
                "name": self.patterns.name,
                "digest": self.patterns.digest,
                "text": self.patterns.text,
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
            labels = tuple(header.get("labels", ()))  # files of before there were labels have none
            kept = header.get("patterns")
            patterns = parse_patterns(kept["text"], kept["name"], path) if kept else None
            if kept and patterns and patterns.digest != kept["digest"]:
                raise ValueError("other patterns than it was trained with")
            meta, history = header["meta"], header["history"]
            model = cls(spec, weights, float(header["unit"]), pruner, meta, history, labels, patterns)
            if weights.dtype != np.int32 or weights.shape != (model.labelling.weights,):
                raise ValueError("weight table of another shape")
            return model
        except (KeyError, TypeError, ValueError, InputError) as error:
            raise ModelError(f"damaged model file ({error})", path=path, hint="train it again") from None
