"""A trained parser that samples in one file without pickle."""

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
    """What stands in a model file beside its weights."""

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
            raise ValueError("labels of a model that has none, or none of one that has them")
        if digest(self.templates) != self.digest:
            raise ValueError("other templates than it was trained with")


def layouts(header: SamplingHeader) -> dict[str, Layout]:
    """Of the arrays of a model file."""
    return {
        "weights": Layout(np.int32, {(Labelling(header.spec, header.labels, frozenset()).weights,)}),
        "pruner": Layout(np.float32, tables(8, 28)),
    }


#: version 1 had no labels
FORMAT = Format(KIND, 2, SamplingHeader, layouts, sparse=("weights", "pruner"))


def templates_for(spec: Settings) -> Lines:
    """What a model with these settings is trained with; its pruner brings its own."""
    return templates_of(spec.families) | (OF_LABELS if spec.labels != "none" else {})


class SamplingModel:
    """Weights of local factors and global features in one table, as integers, `unit` of them to 1.0.

    spec     how it was trained, and how it searches
    weights  int32[2 ** bits], behind them those of labels
    meta     the treebank conventions that it was trained with
    history  one record an epoch
    labels   the labels that it knows, in the order of their numbers
    key      identifies what it was trained by and on
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
        #: as global features read them; integers still, if not all of the largest ones to the last digit
        self.reals = weights[: 1 << spec.bits].astype(np.float32)

    def save(self, path: str | Path) -> None:
        """Write one file, atomically."""
        FORMAT.save(path, self.header(), self.arrays)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """Its weights and those of its pruner."""
        return {"weights": self.weights, "pruner": self.pruner.weights}

    def header(self) -> dict[str, Any]:
        """All but the weights, as JSON values."""
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
        """Read what `save` wrote. ModelError for anything else."""
        return cls.restored(*FORMAT.load(path), path)

    @classmethod
    def restored(cls, header: SamplingHeader, arrays: dict[str, np.ndarray], path: str | Path) -> SamplingModel:
        """From a header that was checked, and the weights. ModelError for templates that are none."""
        try:
            lines, own = header.templates, templates_for(header.spec)
            if lines.keys() != {*own, *OF_THE_PRUNER}:
                raise ValueError("templates of other families than it has")
            pruner = Pruner(arrays["pruner"], frozenset(header.attributes), templates=lines)
            given = header.spec, arrays["weights"], header.unit, pruner, header.meta.as_meta(), header.history
            templates = {name: lines[name] for name in own}
            return cls(*given, labels=header.labels, templates=templates, key=header.key)
        except (ValueError, InputError) as error:
            raise ModelError(f"damaged model file ({error})", path=path, hint="train it again") from None
