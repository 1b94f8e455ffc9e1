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
    """The hand-written patterns of a model: their name, digest and text."""

    name: str
    digest: str
    text: str


@checked(config=ConfigDict(extra="forbid"))
class Templates:
    """The feature templates of a model file.

    A loaded model is compiled from these templates, even if the templates of the program have changed since.
    """

    digest: str
    lines: Lines

    def __post_init__(self) -> None:
        if digest(self.lines) != self.digest:
            raise ValueError("its feature templates do not match their digest")


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class ModelHeader(Header):
    """The header of a graph-based model file: everything except the arrays of weights."""

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
            raise ValueError("its list of labels contradicts its setting of labels")


def _layouts(header: ModelHeader) -> dict[str, Layout]:
    """Return the shapes and dtypes of the arrays of a model file, from its header."""
    labelling = Labelling(header.spec, header.labels, frozenset())
    return {"weights": Layout(np.int32, {(labelling.weights,)}), "pruner": Layout(np.float32, tables(8, 28))}


def _complete(header: dict[str, Any]) -> None:
    """Add settings that did not exist when a file was written, with the values that training used at that time."""
    if isinstance(header.get("spec"), dict):
        header["spec"] = {"threshold": 0.0, "pruner_folds": 0, "averaging": "uniform", **header["spec"]}


#: version 1 stored no templates, and `meta` without validation
FORMAT = Format("model", 2, ModelHeader, _layouts, _complete, sparse=("weights", "pruner"))


def templates_for(spec: Settings) -> Lines:
    """Return the feature templates of a model with these settings. The pruner has its own templates."""
    return templates_of(spec.families) | (OF_LABELS if spec.labels != "none" else {})


class Model:
    """A graph-based model. Its weights are integers, so that every score is an exact integer sum.

    weights    int32: 2 ** bits weights of arcs and factors, followed by the weights of the labellers
    unit       integer units per 1.0 of score (perceptron: examples seen in training; MIRA: 2 ** 16)
    pruner     the first-order model that chooses candidate heads
    labels     the labels that the model knows, in the order of their numbers
    spec       the settings of the training
    meta       the conventions of the training treebank (tag, coarse, attributes, single_root, punctuation)
    patterns   the hand-written patterns of the training, if any
    templates  feature templates of arcs, families and labels. None means the result of `templates_for`
    key        digest of settings, templates, patterns and treebanks (`treebound.learning.checkpoint.key_of`)
    history    one dictionary of scores and counts per epoch
    seconds    (CPU, wall) seconds of training; (0, 0) for a loaded model
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
        """Return the n labels of a parse as strings. All labels are `_` if the parse has no labels."""
        names = self.labelling.names
        return ["_"] * (len(parse.heads) - 1) if parse.labels is None else [names[i] for i in parse.labels[1:]]

    def save(self, path: str | Path) -> None:
        """Write the model to one file, atomically."""
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
        """Read a model that `save` has written. Raises ModelError for any other file."""
        header, arrays = FORMAT.load(path)
        try:
            lines = header.templates.lines
            expected = {*templates_for(header.spec), *PRUNER}
            if lines.keys() != expected:
                raise ValueError("its feature templates do not match its factor families")
            pruner = Pruner(arrays["pruner"], frozenset(header.attributes), templates=lines)
            stored = header.patterns
            patterns = parse_patterns(stored.text, stored.name, path) if stored else None
            if stored and patterns and patterns.digest != stored.digest:
                raise ValueError("its patterns do not match their digest")
            templates = {name: lines[name] for name in templates_for(header.spec)}
            meta = header.meta.as_meta()
            arguments = header.spec, arrays["weights"], header.unit, pruner, meta, header.history, header.labels
            return cls(*arguments, patterns=patterns, templates=templates, key=header.key)
        except (ValueError, InputError) as error:
            raise ModelError(f"damaged model file ({error})", path=path, hint="train it again") from None
