"""Add labels to a model: label scores added to arcs, labels of trees, and label features for training.

A model chooses labels in one of three modes. In mode *joint*, labels and arcs are chosen together: before decoding, the
score of each arc's best label is added to the arc's score. In mode *second-stage*, labels are chosen once the tree is
known. In mode *both*, labels are chosen jointly to find a better tree, and once more in a second stage.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from treebound.factors.templates import Lines
from treebound.features.labels import TEMPLATES, Labeller, weights_of
from treebound.features.scorer import Scores
from treebound.kernels.arcs.numbering import ArcIndex
from treebound.kernels.features.labels import context_words


class Settings(Protocol):
    """The label settings of a model.

    labels      "none", "joint", "second-stage" or "both"
    bits        log2 of the number of weights of arcs and parts
    label_bits  log2 of the number of weights of each labeller
    """

    @property
    def labels(self) -> str: ...
    @property
    def bits(self) -> int: ...
    @property
    def label_bits(self) -> int | None: ...


class Labelling:
    """The labellers of a model.

    - names: the labels, in the order of their numbers.
    - joint: the labeller that takes part in decoding; None if the tree is chosen without labels.
    - stage: the labeller of finished trees; None if the labels chosen with the tree are final.
    - weights: number of all weights of the model: 2 ** bits weights of arcs and parts, followed by the weights of the
      labellers.
    """

    def __init__(
        self, spec: Settings, names: tuple[str, ...], attributes: frozenset[str], templates: Lines = TEMPLATES
    ):
        self.names = names if spec.labels != "none" else ()
        self.joint: Labeller | None = None
        self.stage: Labeller | None = None
        self.weights, bits = 1 << spec.bits, int(spec.label_bits or 0)
        if spec.labels in ("joint", "both"):
            self.joint = Labeller(names, attributes, self.weights, bits, False, templates)
            self.weights += weights_of(len(names), bits)
        if spec.labels in ("second-stage", "both"):
            self.stage = Labeller(names, attributes, self.weights, bits, True, templates)
            self.weights += weights_of(len(names), bits)

    def fold(
        self,
        weights: np.ndarray,
        rows: np.ndarray,
        scored: Scores,
        gold: np.ndarray | None = None,
        cost: float = 0.0,
        right: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> tuple[Scores, np.ndarray | None]:
        """Return scores to which the score of each arc's best label is added, and the best labels, int32[A].

        Without a `joint` labeller, the scores are returned unchanged, with None in place of the labels.

        gold, cost  int32[n], gold labels of the words; `cost` is added to the score of any other label, as in MIRA
        right       (arcs, labels): numbers of arcs, and the labels that they must get, even if other labels score more
        """
        if self.joint is None:
            return scored, None
        index = scored.arc_index
        table = self.joint.of_arcs(weights, rows, len(index.right) - 1, index.head, index.mod)
        value, label = self.joint.best(table, None if gold is None else gold[index.mod - 1], cost)
        if right is not None:
            value[right[0]], label[right[0]] = table[right], right[1]
        return scored._replace(arc=scored.arc + value), label

    def of_tree(
        self,
        weights: np.ndarray,
        rows: np.ndarray,
        heads: np.ndarray,
        gold: np.ndarray | None = None,
        cost: float = 0.0,
    ) -> np.ndarray:
        """Return int32[n], the best label of the arc into each word of a tree. The model must have labels.

        `cost` is added to the score of every label other than the gold label, if gold labels int32[n] are given.
        """
        labeller = self.stage or self.joint
        assert labeller is not None
        return labeller.best(labeller.of_tree(weights, rows, heads), gold, cost)[1]

    def room(self, n: int) -> int:
        """Return the maximum number of features that `difference` appends for a sentence of n words."""
        return max((2 * labeller.room(n) for labeller in (self.joint, self.stage) if labeller), default=0)

    def difference(
        self,
        gold: tuple[np.ndarray, np.ndarray],
        predicted: tuple[np.ndarray, np.ndarray],
        index: ArcIndex,
        rows: np.ndarray,
        slots: np.ndarray,
        signs: np.ndarray,
        count: int,
    ) -> int:
        """Append the label features of the gold tree minus the features of the predicted tree; return the new count.

        gold, predicted  (arcs, labels), int32[n] each, for the arc into each word
        slots, signs     output from index `count` on: the slot of each weight, and 1 for gold or -1 for predicted
        """
        assert self.joint is not None
        words = np.flatnonzero((gold[0] != predicted[0]) | (gold[1] != predicted[1]))
        for (arcs, labels), sign in ((gold, 1.0), (predicted, -1.0)):
            ends = index.head[arcs[words]], index.mod[arcs[words]]
            count = self.joint.arc_features(*ends, labels[words], sign, rows, slots, signs, count)
        return count

    def stage_difference(
        self,
        heads: np.ndarray,
        gold: np.ndarray,
        predicted: np.ndarray,
        rows: np.ndarray,
        slots: np.ndarray,
        signs: np.ndarray,
    ) -> int:
        """Write the features of a tree's gold labels minus the features of its predicted labels; return their number.

        gold, predicted  int32[n], the label of the arc into each word
        slots, signs     output: the slot of each weight, and 1 for gold labels or -1 for predicted labels
        """
        assert self.stage is not None
        wrong = np.flatnonzero(gold != predicted)
        words = np.take(context_words(heads), wrong, axis=1)  # in rows, as kernels read them
        n = len(gold)
        count = self.stage.tree_features(words, gold[wrong], 1.0, rows, n, slots, signs, 0)
        return self.stage.tree_features(words, predicted[wrong], -1.0, rows, n, slots, signs, count)
