"""Between treebanks and kernels: numbers for strings and numbers for transitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treebound.core.dtypes import INDEX, NO_HEAD
from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.systems.transition.configuration import KINDS
from treebound.systems.transition.extraction import COLUMNS, FIRST, UNKNOWN, Words
from treebound.systems.transition.feature_models import FeatureModel


def column_of(meta: dict, column: int) -> str:
    """The column that holds forms (0), tags, coarse tags, lemmas, features (4), as the meta of a treebank says."""
    return ("form", meta.get("tag", "xpos"), meta.get("coarse", "upos"), "lemma", "feats")[column]


@dataclass(frozen=True)
class Encoding:
    """The strings that a model knows.

    strings  for forms, tags, coarse tags, lemmas and morphological features; none where the feature model does not ask
             for them
    labels   of arcs
    root     number of the label that unattached words have
    """

    strings: tuple[Vocabulary, ...]
    labels: Vocabulary
    root: int

    @classmethod
    def learn(cls, train: Treebank, model: FeatureModel) -> Encoding:
        """From the sentences of a treebank. InputError where there are none, or words without a head."""
        if not train.words:
            raise InputError(f"{train.name} has no words", hint="train on a treebank with some")
        if np.any(train.head == NO_HEAD):
            raise InputError(f"{train.name} has words without a head", hint="train on an annotated treebank")
        asked = model.columns()
        strings = tuple(
            Vocabulary(train.strings(column_of(train.meta, c)) if c in asked else ()) for c in range(COLUMNS)
        )
        labels = train.strings("deprel")
        of_roots = [labels[i] for i in np.flatnonzero(train.head == 0)]
        known = Vocabulary(labels)
        return cls(strings, known, known.get(max(sorted(set(of_roots)), key=of_roots.count)))

    def words(self, treebank: Treebank) -> Words:
        """The words of a treebank as values; strings and labels that are not known are UNKNOWN and -1. O(W)."""
        tokens = np.full((COLUMNS, treebank.words), UNKNOWN, INDEX)
        for c, vocabulary in enumerate(self.strings):
            if len(vocabulary):
                name = column_of(treebank.meta, c)
                values = [vocabulary.get(s, UNKNOWN - FIRST) + FIRST for s in treebank.vocab[name].strings]
                tokens[c] = np.array(values, INDEX)[treebank.columns[name]] if treebank.words else 0
        numbers = np.array([self.labels.get(s) for s in treebank.vocab["deprel"].strings], INDEX)
        labels = numbers[treebank.columns["deprel"]] if treebank.words else np.empty(0, INDEX)
        return Words(treebank.offsets, tokens, treebank.head, labels)


class Classes(NamedTuple):
    """The C transitions that a classifier tells apart, sorted by kind and label.

    kind    int32[C]
    label   int32[C], -1 for transitions without one
    first   int32[6]: transitions of kind k are first[k] .. first[k + 1] - 1
    number  int32[5, 1 + labels]: which transition a kind and a label (number[:, 0]: none) are, -1 if it is none
    """

    kind: np.ndarray
    label: np.ndarray
    first: np.ndarray
    number: np.ndarray


def classes_of(moves: np.ndarray, labels: int) -> Classes:
    """The classes of int32[N, 2] kinds and labels, of a vocabulary of so many labels."""
    seen = np.unique(moves, axis=0)
    number = np.full((len(KINDS), 1 + labels), -1, INDEX)
    number[seen[:, 0], seen[:, 1] + 1] = np.arange(len(seen))
    first = np.searchsorted(seen[:, 0], np.arange(len(KINDS) + 1)).astype(INDEX)
    return Classes(seen[:, 0].astype(INDEX), seen[:, 1].astype(INDEX), first, number)
