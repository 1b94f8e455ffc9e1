"""A trained model: fixed-point weights, pruner and configuration in one file without pickle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as checked

from treebound.core.errors import InputError, ModelError
from treebound.core.parse import Parse
from treebound.factors import templates_of
from treebound.factors.pattern_language import PatternSet
from treebound.factors.pattern_language import parse as parse_patterns
from treebound.factors.templates import Lines, digest
from treebound.features.labelling import Labelling
from treebound.features.labels import TEMPLATES as OF_LABELS
from treebound.features.scorer import Scorer
from treebound.learning.conventions import Conventions, conventions
from treebound.learning.pruner import TEMPLATES as PRUNER
from treebound.learning.pruner import Pruner
from treebound.learning.storage import Attributes, Format, Header, History, Layout, Names, Unit, tables
from treebound.systems.graph.settings import Settings


@checked(config=ConfigDict(extra="forbid"))
class Patterns:
    """The hand-crafted patterns of a model."""

    name: str
    digest: str
    text: str


@checked(config=ConfigDict(extra="forbid"))
class Templates:
    """The templates of all features: a model is compiled from these, whatever those of the program are by then."""

    digest: str
    lines: Lines

    def __post_init__(self) -> None:
        if digest(self.lines) != self.digest:
            raise ValueError("other templates than it was trained with")


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class ModelHeader(Header):
    """What stands in a model file beside its weights."""

    key: str
    spec: Settings
    unit: Unit
    meta: Conventions
    history: History
    attributes: Attributes
    templates: Templates
    labels: Names = ()
    patterns: Patterns | None = None

    def __post_init__(self) -> None:
        if (self.spec.labels == "none") != (not self.labels):
            raise ValueError("labels of a model that has none, or none of one that has them")


def _layouts(header: ModelHeader) -> dict[str, Layout]:
    labelling = Labelling(header.spec, header.labels, frozenset())
    return {"weights": Layout(np.int32, {(labelling.weights,)}), "pruner": Layout(np.float32, tables(8, 28))}


def _complete(header: dict[str, Any]) -> None:
    """Add the settings that did not exist when a file was written, as the model was trained."""
    if isinstance(header.get("spec"), dict):
        header["spec"] = {"threshold": 0.0, "pruner_folds": 0, "averaging": "uniform", **header["spec"]}


#: version 1 held no templates and had `meta` as it came
FORMAT = Format("model", 2, ModelHeader, _layouts, _complete, sparse=("weights", "pruner"))


def templates_for(spec: Settings) -> Lines:
    """What a model with these settings is trained with; its pruner brings its own."""
    return templates_of(spec.families) | (OF_LABELS if spec.labels != "none" else {})


class Model:
    """Weights as integers, `unit` of them to 1.0: every score is an exact integer sum.

    spec     how it was trained
    weights  int32[2 ** bits], behind them those of the labellers
    unit     integer units per 1.0 of score (N T for the averaged perceptron, 2 ** 16 for MIRA)
    meta     the treebank conventions that it was trained with (tag, coarse, attributes, single_root, punctuation)
    history  one record per epoch
    labels   the labels that it knows, in the order of their numbers
    patterns the hand-crafted patterns that it was trained with, if any
    templates  of arcs, families and labels, as of `templates_for`; None: those of this program
    key      identifies what it was trained by and on (`treebound.learning.checkpoint.key_of`)
    seconds  (CPU, wall) of learning, where it has just been trained
    """

    def __init__(
        self,
        spec: Settings,
        weights: np.ndarray,
        unit: float,
        pruner: Pruner,
        meta: dict,
        history: list[dict],
        labels: tuple[str, ...] = (),
        *,
        patterns: PatternSet | None = None,
        templates: Lines | None = None,
        key: str = "",
    ):
        self.spec, self.weights, self.unit, self.pruner, self.history = spec, weights, unit, pruner, history
        self.meta = conventions(meta)
        self.patterns, self.key, self.seconds = patterns, key, (0.0, 0.0)
        self.templates = templates_for(spec) if templates is None else templates
        self.scorer = Scorer(spec.families, pruner.attributes, spec.bits, patterns, self.templates)
        self.labelling = Labelling(spec, labels, pruner.attributes, self.templates)

    def label_names(self, parse: Parse) -> list[str]:
        """The n labels of a parse of this model as strings; `_` where the model has none."""
        names = self.labelling.names
        return ["_"] * (len(parse.heads) - 1) if parse.labels is None else [names[i] for i in parse.labels[1:]]

    def save(self, path: str | Path) -> None:
        """Write one file, atomically."""
        lines = {**self.templates, **self.pruner.lines}
        header = {
            "key": self.key,
            "spec": self.spec.as_dict(),
            "unit": self.unit,
            "meta": self.meta,
            "history": self.history,
            "attributes": sorted(self.pruner.attributes),
            "templates": {"digest": digest(lines), "lines": lines},
            "labels": list(self.labelling.names),
        }
        if self.patterns:
            header["patterns"] = {
                "name": self.patterns.name,
                "digest": self.patterns.digest,
                "text": self.patterns.text,
            }
        FORMAT.save(path, header, {"weights": self.weights, "pruner": self.pruner.weights})

    @classmethod
    def load(cls, path: str | Path) -> Model:
        """Read what `save` wrote. ModelError for anything else."""
        header, arrays = FORMAT.load(path)
        try:
            lines = header.templates.lines
            wanted = {*templates_for(header.spec), *PRUNER}
            if lines.keys() != wanted:
                raise ValueError("templates of other families than it has")
            pruner = Pruner(arrays["pruner"], frozenset(header.attributes), templates=lines)
            kept = header.patterns
            patterns = parse_patterns(kept.text, kept.name, path) if kept else None
            if kept and patterns and patterns.digest != kept.digest:
                raise ValueError("other patterns than it was trained with")
            templates = {name: lines[name] for name in templates_for(header.spec)}
            meta = header.meta.as_meta()
            given = header.spec, arrays["weights"], header.unit, pruner, meta, header.history, header.labels
            return cls(*given, patterns=patterns, templates=templates, key=header.key)
        except (ValueError, InputError) as error:
            raise ModelError(f"damaged model file ({error})", path=path, hint="train it again") from None
