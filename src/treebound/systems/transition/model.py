"""The model of a transition-based parser, stored in one file without pickle."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked

from treebound.core.dtypes import INDEX, NO_HEAD
from treebound.core.errors import InputError, ModelError, UnsupportedError
from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.learning.conventions import Conventions, under
from treebound.learning.storage import Format, Header, History, Layout, Names
from treebound.systems.transition import machines, memory
from treebound.systems.transition.beam import make_beam, parse_with_beam
from treebound.systems.transition.configuration import KINDS, LEFT_ARC, RIGHT_ARC, SYSTEMS, configuration
from treebound.systems.transition.encoding import Classes, Encoding, classes_of, column_of
from treebound.systems.transition.extraction import COLUMNS, Words
from treebound.systems.transition.feature_models import FeatureModel
from treebound.systems.transition.greedy import Machine, parse_greedily, parse_in_parallel
from treebound.systems.transition.linear import Linear, compile_joins
from treebound.systems.transition.memory import MemoryBased
from treebound.systems.transition.quadratic_svm import QuadraticSVM, split_of
from treebound.systems.transition.settings import Settings

KIND = "transition model"
#: number of vocabularies in a file whose cells read no morphological features; all older files are of this form
FEWEST = COLUMNS - 1
Number = Annotated[int, Field(ge=0)]


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class TransitionHeader(Header):
    """The header of a model file, with the checks of its consistency."""

    key: str
    spec: Settings
    meta: Conventions
    cells: tuple[str, ...]
    joins: tuple[Annotated[tuple[Number, ...], Field(min_length=2)], ...]
    origins: tuple[str, ...]
    strings: Annotated[tuple[tuple[str, ...], ...], Field(min_length=FEWEST, max_length=COLUMNS)]
    labels: Names
    root: Number
    transitions: Annotated[tuple[tuple[int, int], ...], Field(min_length=1)]
    stride: Annotated[int, Field(ge=1, le=1 << 16)]
    history: History
    skipped: Number
    pools: tuple[tuple[Number, Number], ...] = ()
    instances: Number = 0

    def __post_init__(self) -> None:
        self.features.compiled()
        if max(self.features.columns(), default=0) >= len(self.strings):
            raise ValueError("strings: a cell reads a column that has no vocabulary")
        _ = self.layouts
        if any(max(join) >= len(self.cells) for join in self.joins) or self.root >= len(self.labels):
            raise ValueError("joins, root: a number is beyond the cells or labels")
        if sorted(set(self.transitions)) != list(self.transitions):
            raise ValueError("transitions: not sorted")
        if not all(
            0 <= kind < len(KINDS) and (0 <= label < len(self.labels) if kind >= LEFT_ARC else label == -1)
            for kind, label in self.transitions
        ):
            raise ValueError("transitions: out of range")
        # otherwise there are configurations that are not terminal but allow no transition of the model
        needed = {0} if not SYSTEMS[self.spec.transitions].rooted else {0, len(KINDS) - 1}
        if not needed <= {kind for kind, _ in self.transitions}:
            raise ValueError("transitions: a kind is missing without which the parser cannot continue")

    @property
    def features(self) -> FeatureModel:
        """The feature model of the classifier."""
        return FeatureModel(self.cells, self.joins, self.origins)

    @property
    def layouts(self) -> dict[str, Layout]:
        """The layouts of the arrays in the file, which depend on the learner."""
        if self.spec.learning == "quadratic":
            return {"pool": Layout(np.int32), **machines.layouts(self.pools, len(self.cells))}
        if self.spec.learning == "memory":
            return memory.layouts(self.instances, len(self.cells))
        return {"weights": Layout(np.float32, {((self.stride << self.spec.bits) + len(self.transitions),)})}


FORMAT = Format(KIND, 1, TransitionHeader, lambda header: header.layouts)


@dataclass(frozen=True)
class TransitionModel:
    """A trained model: settings, features, vocabularies, transitions, and a linear model or another classifier.

    meta     conventions of the treebank that the model was trained on;
    history  one record per epoch;
    skipped  number of training sentences whose trees the transition system cannot derive;
    key      digest of the settings and treebanks of the training run;
    other    the classifier of a quadratic or memory-based model; None for a linear model.
    """

    spec: Settings
    features: FeatureModel
    encoding: Encoding
    classes: Classes
    linear: Linear | None
    meta: dict
    history: tuple[dict, ...] = ()
    skipped: int = 0
    key: str = ""
    other: QuadraticSVM | MemoryBased | None = None

    @property
    def label_names(self) -> tuple[str, ...]:
        """The names of the labels; parses hold their indices."""
        return tuple(self.encoding.labels.strings)

    @property
    def single(self) -> bool:
        """The restriction to a single root: true if the settings ask for it and the model has right-arc transitions."""
        right_arcs = (self.classes.kind == RIGHT_ARC).any()
        return self.spec.roots == "single" and bool(right_arcs)

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that the model reads, apart from forms."""
        names = [column_of(self.meta, c) for c in self.features.columns()]
        return tuple(dict.fromkeys(name for name in names if name != "form"))

    def words(self, treebank: Treebank) -> Words:
        """Return the words of a treebank, under the conventions of the training treebank. O(W)."""
        return self.encoding.words(under(self.meta, treebank))

    def parse(self, treebank: Treebank, beam: int | None = None) -> list[Parse]:
        """Parse all sentences of a treebank (see `parse_words`)."""
        return self.parse_words(self.words(treebank), beam)

    def parse_words(self, words: Words, beam: int | None = None) -> list[Parse]:
        """Parse all sentences, greedily or with a beam; the default width is the width in training. O(beam W).

        `value` is the sum of the scores of the transitions, or nan if the classifier is not linear. No tree is proved
        to be optimal: the status is `heuristic`. UnsupportedError for a beam with a classifier that is not linear.
        """
        width, count = beam or self.spec.beam, len(words.heads)
        system = SYSTEMS[self.spec.transitions]._replace(single=self.single)
        longest = int(np.diff(words.offsets).max(initial=0))
        machine = Machine(system, self.features.compiled(), self.classes, self.encoding.root)
        heads, labels = np.empty(count, INDEX), np.empty(count, INDEX)
        if self.other is not None:
            if width > 1:
                raise UnsupportedError("a beam needs the scores of a linear model", hint="parse with --beam 1")
            heads, labels = parse_in_parallel(machine, self.other, words)
            values = np.full(len(words.offsets) - 1, np.nan)
        elif width == 1:
            assert self.linear is not None
            values = parse_greedily(machine, self.linear, words, configuration(longest), heads, labels)
        else:
            assert self.linear is not None
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
            for a, b, value in zip(words.offsets[:-1], words.offsets[1:], values, strict=True)
        ]

    def save(self, path: str | Path) -> None:
        """Write the model to one file, atomically."""
        header: dict[str, Any] = {
            "key": self.key,
            "spec": self.spec.as_dict(),
            "meta": self.meta,
            "cells": self.features.cells,
            "joins": self.features.joins,
            "origins": self.features.origins,
            "strings": _stored([vocabulary.strings for vocabulary in self.encoding.strings]),
            "labels": self.encoding.labels.strings,
            "root": self.encoding.root,
            "transitions": np.stack([self.classes.kind, self.classes.label], axis=1).tolist(),
            "stride": 1 if self.linear is None else self.linear.stride,
            "history": self.history,
            "skipped": self.skipped,
        }
        if isinstance(self.other, QuadraticSVM):
            header["pools"] = self.other.sizes
        elif isinstance(self.other, MemoryBased):
            header["instances"] = len(self.other.y)
        arrays = {"weights": self.linear.weights} if self.linear is not None else {}
        FORMAT.save(path, header, arrays if self.other is None else self.other.arrays)

    @classmethod
    def load(cls, path: str | Path) -> TransitionModel:
        """Read a file that `save` wrote. ModelError for any other file."""
        header, arrays = FORMAT.load(path)
        strings = tuple(Vocabulary(strings) for strings in header.strings)
        strings += (Vocabulary(),) * (COLUMNS - len(strings))
        if any(len(v) < len(s) for v, s in zip(strings, header.strings, strict=False)):
            raise ModelError("damaged transition model file (a string occurs twice)", path=path, hint="train it again")
        encoding = Encoding(strings, Vocabulary(header.labels), header.root)
        classes = classes_of(np.array(header.transitions, INDEX), len(header.labels))
        linear, other = None, None
        if header.spec.learning not in ("quadratic", "memory"):
            joins = compile_joins(header.features)
            linear = Linear(joins, arrays["weights"], (1 << header.spec.bits) - 1, header.stride)
        else:
            try:
                other = _restored(header, arrays)
            except (ValueError, InputError) as error:
                raise ModelError(f"damaged transition model file ({error})", path=path, hint="train it again") from None
        meta, provenance = header.meta.as_meta(), (tuple(header.history), header.skipped, header.key)
        return cls(header.spec, header.features, encoding, classes, linear, meta, *provenance, other)


def _stored(strings: list[Any]) -> list[Any]:
    """Return the vocabularies in the form of a model file: an empty last vocabulary is left out, as in older files."""
    return strings if strings[-1] else strings[:FEWEST]


def classifier_for(settings: Settings, features: FeatureModel, kinds: np.ndarray) -> QuadraticSVM | MemoryBased:
    """Return an untrained classifier by the settings, for classes with these kinds of transitions.

    InputError if the feature model does not suit the classifier (`quadratic_svm.split_of`).
    """
    if settings.learning == "memory":
        return MemoryBased(settings.neighbours, settings.rare)
    cost = 0.5 if settings.svm_cost is None else settings.svm_cost
    branches = kinds if settings.prediction == "branching" else None
    kernel = (settings.gamma, settings.r)
    return QuadraticSVM(split_of(features), *kernel, cost, settings.tolerance, branches=branches)


def _restored(header: TransitionHeader, arrays: dict[str, np.ndarray]) -> QuadraticSVM | MemoryBased:
    """Return the classifier that a file holds. ValueError for arrays that do not make up a classifier."""
    classes, kinds = len(header.transitions), np.array(header.transitions)[:, 0]
    classifier = classifier_for(header.spec, header.features, kinds)
    if isinstance(classifier, QuadraticSVM):
        classifier.restore(arrays, header.pools, len(header.cells), classes)
    else:
        classifier.restore(arrays, classes)
    return classifier
