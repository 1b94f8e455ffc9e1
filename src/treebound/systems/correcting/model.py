"""The model of tagger and parser, with the weights that balance them, stored in one file without pickle."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked

from treebound.learning.storage import Format, Layout
from treebound.systems.correcting.balance import BITS
from treebound.systems.correcting.settings import Settings
from treebound.systems.sampling.model import SamplingHeader, SamplingModel, layouts
from treebound.systems.tagging.tagger import Description, Tagger

KIND = "correcting model"


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class CorrectingHeader(SamplingHeader):
    """The header of a model file: the header of a sampling model, extended by a tagger."""

    spec: Settings
    tagger: Description
    gap: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    coarse: dict[str, str]


def _layouts(header: CorrectingHeader) -> dict[str, Layout]:
    return layouts(header) | {"tagger": header.tagger.layout, "balance": Layout(np.float64, {(1 << BITS,)})}


FORMAT = Format(KIND, 1, CorrectingHeader, _layouts, sparse=("weights", "pruner", "tagger"))


class CorrectingModel:
    """A parser and the tagger whose tags it may overrule.

    model    the parser, whose `spec` is the `Settings` of this package;
    tagger   the tagger for the parser's column of fine tags;
    balance  float64[2 ** BITS] weights of `balance.learn`;
    gap      unit of the tagger's deficits (`doubts.doubts`);
    coarse   fine tag -> the coarse tag that belongs to it.
    """

    def __init__(self, model: SamplingModel, tagger: Tagger, balance: np.ndarray, gap: float, coarse: dict[str, str]):
        self.model, self.tagger, self.balance, self.gap, self.coarse = model, tagger, balance, gap, coarse

    @property
    def key(self) -> str:
        """The digest of the settings and treebanks of the training run."""
        return self.model.key

    @property
    def spec(self) -> Settings:
        """The settings of the training of tagger and parser."""
        assert isinstance(self.model.spec, Settings)
        return self.model.spec

    def save(self, path: str | Path) -> None:
        """Write the model to one file, atomically."""
        header = self.model.header() | {"tagger": self.tagger.header(), "gap": self.gap, "coarse": self.coarse}
        FORMAT.save(path, header, self.model.arrays | {"tagger": self.tagger.weights, "balance": self.balance})

    @classmethod
    def load(cls, path: str | Path) -> CorrectingModel:
        """Read a file that `save` wrote. ModelError for any other file."""
        header, arrays = FORMAT.load(path)
        tagger = Tagger.restored(header.tagger, arrays["tagger"], path)
        return cls(SamplingModel.restored(header, arrays, path), tagger, arrays["balance"], header.gap, header.coarse)
