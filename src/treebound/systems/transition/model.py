"""A trained transition-based parser in one file without pickle."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass as checked

from treebound.core.dtypes import INDEX, NO_HEAD
from treebound.core.errors import ModelError
from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.learning.storage import History, Layout, Names, load_arrays, save_arrays
from treebound.systems.transition.beam import make_beam, parse_with_beam
from treebound.systems.transition.configuration import KINDS, LEFT_ARC, SYSTEMS, configuration
from treebound.systems.transition.encoding import Classes, Encoding, classes_of
from treebound.systems.transition.extraction import COLUMNS
from treebound.systems.transition.feature_models import FeatureModel
from treebound.systems.transition.greedy import Machine, parse_greedily
from treebound.systems.transition.linear import Linear, compile_joins

VERSION = 1
KIND = "transition"
Number = Annotated[int, Field(ge=0)]


@dataclass(frozen=True)
class Settings:
    """Hyperparameters.

    system   transition system, one of `configuration.SYSTEMS`
    learner  see `training`
    epochs   passes over the training set, of a perceptron
    bits     log2 of the number of rows of weights
    beam     sequences in the beam; 1 parses greedily
    update   of the beam's learner
    explore  chance of going on with the parser's own choice, of the dynamic oracle after the first epoch
    cost     C of the support vector machine
    seed     of the order of sentences and instances
    """

    system: Annotated[str, Field(pattern=f"^({'|'.join(SYSTEMS)})$")] = "arc-eager"
    learner: Literal["static", "dynamic", "beam", "svm"] = "dynamic"
    epochs: Annotated[int, Field(ge=1)] = 6
    bits: Annotated[int, Field(ge=4, le=24)] = 18
    beam: Annotated[int, Field(ge=1, le=1024)] = 1
    update: Literal["early", "max-violation"] = "max-violation"
    explore: Annotated[float, Field(ge=0, le=1)] = 0.9
    cost: Annotated[float, Field(gt=0)] = 0.1
    seed: int = 1


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class Header:
    """The header of a model file."""

    format: str
    kind: str
    version: int
    settings: Settings
    cells: tuple[str, ...]
    joins: tuple[Annotated[tuple[Number, ...], Field(min_length=2)], ...]
    origins: tuple[str, ...]
    strings: Annotated[tuple[tuple[str, ...], ...], Field(min_length=COLUMNS, max_length=COLUMNS)]
    labels: Names
    root: Number
    transitions: Annotated[tuple[tuple[int, int], ...], Field(min_length=1)]
    stride: Annotated[int, Field(ge=1, le=1 << 16)]
    history: History
    skipped: Number

    def __post_init__(self) -> None:
        self.features.compiled()
        if any(max(join) >= len(self.cells) for join in self.joins) or self.root >= len(self.labels):
            raise ValueError("joins, root: beyond the cells and labels")
        if sorted(set(self.transitions)) != list(self.transitions):
            raise ValueError("transitions: not sorted")
        if not all(
            0 <= kind < len(KINDS) and (0 <= label < len(self.labels) if kind >= LEFT_ARC else label == -1)
            for kind, label in self.transitions
        ):
            raise ValueError("transitions: out of range")
        # every configuration that is not terminal must be able to go on
        needed = {0} if not SYSTEMS[self.settings.system].rooted else {0, len(KINDS) - 1}
        if not needed <= {kind for kind, _ in self.transitions}:
            raise ValueError("transitions: the parser could not go on without some")

    @property
    def features(self) -> FeatureModel:
        """Of the classifier."""
        return FeatureModel(self.cells, self.joins, self.origins)

    @property
    def layout(self) -> Layout:
        """Of the weights."""
        return Layout(np.float32, {((self.stride << self.settings.bits) + len(self.transitions),)})


HEADER = TypeAdapter(Header)


@dataclass(frozen=True)
class TransitionModel:
    """Settings, features, vocabularies, transitions and weights.

    history  one record an epoch
    skipped  sentences of the training set that the transition system does not derive
    """

    settings: Settings
    features: FeatureModel
    encoding: Encoding
    classes: Classes
    linear: Linear | None
    history: tuple[dict, ...] = ()
    skipped: int = 0

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels by the numbers that parses have."""
        return tuple(self.encoding.labels.strings)

    def parse(self, treebank: Treebank, beam: int | None = None) -> list[Parse]:
        """The trees of all sentences, by greedy search or with a beam (by default that of training). O(beam W).

        `value` is the sum of the scores of the transitions. Nothing is proved: the status is `heuristic`.
        """
        words, width = self.encoding.words(treebank), beam or self.settings.beam
        system, longest = SYSTEMS[self.settings.system], int(treebank.lengths.max(initial=0))
        machine = Machine(system, self.features.compiled(), self.classes, self.encoding.root)
        heads, labels = np.empty(treebank.words, INDEX), np.empty(treebank.words, INDEX)
        if width == 1:
            values = parse_greedily(machine, self.linear, words, configuration(longest), heads, labels)
        else:
            values = parse_with_beam(machine, self.linear, words, make_beam(system, width, longest), heads, labels)
        root = np.array([NO_HEAD], INDEX)
        return [
            Parse(
                np.concatenate([root, heads[a:b]]),
                float(value),
                np.inf,
                "heuristic",
                labels=np.concatenate([root, labels[a:b]]),
            )
            for a, b, value in zip(treebank.offsets[:-1], treebank.offsets[1:], values, strict=True)
        ]

    def save(self, path: str | Path) -> None:
        """Write one file, atomically."""
        assert self.linear is not None
        header: dict[str, Any] = {
            "settings": asdict(self.settings),
            "cells": self.features.cells,
            "joins": self.features.joins,
            "origins": self.features.origins,
            "strings": [vocabulary.strings for vocabulary in self.encoding.strings],
            "labels": self.encoding.labels.strings,
            "root": self.encoding.root,
            "transitions": np.stack([self.classes.kind, self.classes.label], axis=1).tolist(),
            "stride": self.linear.stride,
            "history": self.history,
            "skipped": self.skipped,
        }
        save_arrays(path, {"kind": KIND, "version": VERSION, **header}, {"weights": self.linear.weights})

    @classmethod
    def load(cls, path: str | Path) -> TransitionModel:
        """Read what `save` wrote. ModelError for anything else."""
        found: list[Header] = []

        def layouts(meta: dict) -> dict[str, Layout]:
            found.append(HEADER.validate_python(meta))
            return {"weights": found[0].layout}

        _, arrays = load_arrays(path, KIND, VERSION, HEADER, layouts)
        header = found[0]
        strings = tuple(Vocabulary(strings) for strings in header.strings)
        if any(len(v) < len(s) for v, s in zip(strings, header.strings, strict=True)):
            raise ModelError("damaged transition file (a string stands there twice)", path=path, hint="train it again")
        encoding = Encoding(strings, Vocabulary(header.labels), header.root)
        classes = classes_of(np.array(header.transitions, INDEX), len(header.labels))
        mask = (1 << header.settings.bits) - 1
        linear = Linear(compile_joins(header.features), arrays["weights"], mask, header.stride)
        return cls(header.settings, header.features, encoding, classes, linear, tuple(header.history), header.skipped)
