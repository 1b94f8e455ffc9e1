"""The model of a parser by sampling, stored in one file without pickle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as checked

from treebound.core.errors import InputError, ModelError
from treebound.factors import templates_of
from treebound.factors.templates import Lines, digest
from treebound.features.labelling import Labelling
from treebound.features.labels import TEMPLATES as OF_LABELS
from treebound.features.scorer import Scorer
from treebound.learning.conventions import Conventions, conventions
from treebound.learning.pruner import TEMPLATES as OF_THE_PRUNER
from treebound.learning.pruner import Pruner
from treebound.learning.storage import Attributes, Format, Header, History, Layout, Names, Unit, tables
from treebound.systems.sampling.globals.catalogue import codes_of
from treebound.systems.sampling.settings import Settings

KIND = "sampling model"


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class SamplingHeader(Header):
    """The header of a model file: everything except the arrays of weights."""

    key: str
    spec: Settings
    unit: Unit
    meta: Conventions
    history: History
    attributes: Attributes
    templates: Lines
    digest: str
    labels: Names = ()

    def __post_init__(self) -> None:
        if (self.spec.labels == "none") != (not self.labels):
            raise ValueError("labels: they do not agree with the settings")
        if digest(self.templates) != self.digest:
            raise ValueError("templates: they differ from the templates in training")


def layouts(header: SamplingHeader) -> dict[str, Layout]:
    """Return the layouts of the arrays in a model file."""
    return {
        "weights": Layout(np.int32, {(Labelling(header.spec, header.labels, frozenset()).weights,)}),
        "pruner": Layout(np.float32, tables(8, 28)),
    }


#: version 1 of the format had no labels
FORMAT = Format(KIND, 2, SamplingHeader, layouts, sparse=("weights", "pruner"))


def templates_for(spec: Settings) -> Lines:
    """Return the templates of a model with these settings, without the templates of its pruner."""
    return templates_of(spec.families) | (OF_LABELS if spec.labels != "none" else {})


class SamplingModel:
    """A trained model: weights of local factors and global features in one integer table, `unit` steps per 1.0.

    spec     settings of the training, and defaults of the search;
    weights  int32[2 ** bits], followed by the weights of labels;
    meta     treebank conventions that the model was trained with;
    history  one record per epoch;
    labels   labels of the model, in the order of their numbers;
    key      digest of the settings and treebanks of the training run.
    """

    def __init__(
        self,
        spec: Settings,
        weights: np.ndarray,
        unit: float,
        pruner: Pruner,
        meta: dict,
        history: list[dict],
        *,
        labels: tuple[str, ...] = (),
        templates: Lines | None = None,
        key: str = "",
    ):
        self.spec, self.weights, self.unit, self.pruner, self.history = spec, weights, unit, pruner, history
        self.meta, self.key = conventions(meta), key
        self.templates = templates_for(spec) if templates is None else templates
        self.scorer = Scorer(spec.families, pruner.attributes, spec.bits, None, self.templates)
        self.labelling = Labelling(spec, labels, pruner.attributes, self.templates)
        self.codes = codes_of(spec.global_features)
        #: the weights as global features read them; float32 rounds the largest integers
        self.reals = weights[: 1 << spec.bits].astype(np.float32)

    def save(self, path: str | Path) -> None:
        """Write the model to one file, atomically."""
        FORMAT.save(path, self.header(), self.arrays)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The weights of the model and of its pruner."""
        return {"weights": self.weights, "pruner": self.pruner.weights}

    def header(self) -> dict[str, Any]:
        """Return the header of the model file as JSON values: everything except the weights."""
        lines = {**self.templates, **self.pruner.lines}
        return {
            "key": self.key,
            "spec": self.spec.as_dict(),
            "unit": self.unit,
            "meta": self.meta,
            "history": self.history,
            "attributes": sorted(self.pruner.attributes),
            "templates": lines,
            "digest": digest(lines),
            "labels": list(self.labelling.names),
        }

    @classmethod
    def load(cls, path: str | Path) -> SamplingModel:
        """Read a file that `save` wrote. ModelError for any other file."""
        return cls.restored(*FORMAT.load(path), path)

    @classmethod
    def restored(cls, header: SamplingHeader, arrays: dict[str, np.ndarray], path: str | Path) -> SamplingModel:
        """Return the model of a checked header and its weights. ModelError for invalid templates."""
        try:
            lines, own = header.templates, templates_for(header.spec)
            if lines.keys() != {*own, *OF_THE_PRUNER}:
                raise ValueError("templates: they do not match the factor families")
            pruner = Pruner(arrays["pruner"], frozenset(header.attributes), templates=lines)
            arguments = header.spec, arrays["weights"], header.unit, pruner, header.meta.as_meta(), header.history
            templates = {name: lines[name] for name in own}
            return cls(*arguments, labels=header.labels, templates=templates, key=header.key)
        except (ValueError, InputError) as error:
            raise ModelError(f"damaged model file ({error})", path=path, hint="train it again") from None
