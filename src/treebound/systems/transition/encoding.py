"""Conversion between treebanks and kernels: numbers for strings and for transitions."""

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
    """Return the treebank column that holds the forms (0), tags (1), coarse tags (2), lemmas (3) or features (4).

    `meta` is the meta of the treebank, which names the columns of both kinds of tags.
    """
    return ("form", meta.get("tag", "xpos"), meta.get("coarse", "upos"), "lemma", "feats")[column]


@dataclass(frozen=True)
class Encoding:
    """The vocabularies of a model.

    strings  vocabularies of forms, tags, coarse tags, lemmas and morphological features; empty for columns that the
             feature model does not read
    labels   vocabulary of arc labels
    root     number of the label of unattached words
    """

    strings: tuple[Vocabulary, ...]
    labels: Vocabulary
    root: int

    @classmethod
    def learn(cls, train: Treebank, model: FeatureModel) -> Encoding:
        """Return the encoding of a training treebank. InputError if it has no words, or words without a head."""
        if not train.words:
            raise InputError(f"{train.name} has no words", hint="train on a treebank that has words")
        if np.any(train.head == NO_HEAD):
            raise InputError(f"{train.name} has words without a head", hint="train on an annotated treebank")
        columns = model.columns()
        strings = tuple(
            Vocabulary(train.strings(column_of(train.meta, c)) if c in columns else ()) for c in range(COLUMNS)
        )
        labels = train.strings("deprel")
        root_labels = [labels[i] for i in np.flatnonzero(train.head == 0)]
        known = Vocabulary(labels)
        return cls(strings, known, known.get(max(sorted(set(root_labels)), key=root_labels.count)))

    def words(self, treebank: Treebank) -> Words:
        """Return the words of a treebank as numbers. Unknown strings become UNKNOWN and unknown labels -1. O(W)."""
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
    """The C transitions that a classifier distinguishes, sorted by kind and label.

    kind    int32[C] kind of each transition;
    label   int32[C] its label, or -1 for a transition without a label;
    first   int32[6] the transitions of kind k are first[k] .. first[k + 1] - 1;
    number  int32[5, 1 + labels] the class of a kind and a label, or -1 if there is none. Column 0 is for transitions
            without a label.
    """

    kind: np.ndarray
    label: np.ndarray
    first: np.ndarray
    number: np.ndarray


def classes_of(moves: np.ndarray, labels: int) -> Classes:
    """Return the classes that occur among moves, int32[N, 2] kinds and labels, for a vocabulary of `labels` labels."""
    seen = np.unique(moves, axis=0)
    number = np.full((len(KINDS), 1 + labels), -1, INDEX)
    number[seen[:, 0], seen[:, 1] + 1] = np.arange(len(seen))
    first = np.searchsorted(seen[:, 0], np.arange(len(KINDS) + 1)).astype(INDEX)
    return Classes(seen[:, 0].astype(INDEX), seen[:, 1].astype(INDEX), first, number)
