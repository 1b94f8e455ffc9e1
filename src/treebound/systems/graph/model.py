"""A trained model: fixed-point weights, pruner and configuration in one file without pickle."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass as checked

from treebound.core.errors import InputError, ModelError
from treebound.core.parse import Parse
from treebound.factors.pattern_language import PatternSet
from treebound.factors.pattern_language import parse as parse_patterns
from treebound.features.scorer import Scorer
from treebound.learning.storage import Attributes, History, Layout, Names, Unit, load_arrays, save_arrays, tables
from treebound.systems.graph.labelling import Labelling
from treebound.systems.graph.pruner import Pruner
from treebound.systems.graph.spec import ModelSpec

VERSION = 1
Column = Literal["form", "lemma", "upos", "xpos", "feats", "deprel"]


@checked(config=ConfigDict(extra="forbid"))
class Punctuation:
    """Words with these tags in this column are left out of UAS."""

    column: Column
    tags: list[str]


@checked(config=ConfigDict(extra="allow"))
class Meta:
    """What a model must know of its treebank. There may be more, which parsing does not look at."""

    single_root: bool
    tag: Literal["xpos", "upos"]
    coarse: Literal["upos", "xpos", "tag2"]
    attributes: Attributes
    punctuation: Punctuation | None = None


@checked(config=ConfigDict(extra="forbid"))
class Patterns:
    """The hand-crafted patterns of a model."""

    name: str
    digest: str
    text: str


@checked(config=ConfigDict(extra="forbid"))
class Header:
    """What stands in a model file beside its weights."""

    format: str
    kind: str
    version: int
    spec: ModelSpec
    unit: Unit
    meta: Meta
    history: History
    attributes: Attributes
    labels: Names = ()
    patterns: Patterns | None = None

    def __post_init__(self) -> None:
        if (self.spec.labels == "none") != (not self.labels):
            raise ValueError("labels of a model that has none, or none of one that has them")


HEADER = TypeAdapter(Header)


def layouts(header: dict) -> dict[str, Layout]:
    """The arrays of a model with this header."""
    labelling = Labelling(ModelSpec(**header["spec"]), tuple(header.get("labels", ())), frozenset())
    return {"weights": Layout(np.int32, {(labelling.weights,)}), "pruner": Layout(np.float32, tables(8, 28))}


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
        header, arrays = load_arrays(path, "model", VERSION, HEADER, layouts)
        try:
            spec = ModelSpec(**header["spec"])
            pruner = Pruner(arrays["pruner"], frozenset(header["attributes"]))
            labels = tuple(header.get("labels", ()))  # files of before there were labels have none
            kept = header.get("patterns")
            patterns = parse_patterns(kept["text"], kept["name"], path) if kept else None
            if kept and patterns and patterns.digest != kept["digest"]:
                raise ValueError("other patterns than it was trained with")
            meta, history = header["meta"], header["history"]
            return cls(spec, arrays["weights"], float(header["unit"]), pruner, meta, history, labels, patterns)
        except (ValueError, InputError) as error:
            raise ModelError(f"damaged model file ({error})", path=path, hint="train it again") from None
