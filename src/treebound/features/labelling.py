"""What labels add to a model and to its training.

A model may choose labels *joint*ly with arcs (each arc's best label is folded into its score before decoding), in a
*second stage* once the tree is known, or jointly for the sake of the tree and again in a second stage (*both*).
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
    """What the settings of a model say of labels.

    labels      "none", "joint", "second-stage" or "both"
    bits        log2 of the number of weights of arcs and parts; label_bits: of each labeller's
    """

    @property
    def labels(self) -> str: ...
    @property
    def bits(self) -> int: ...
    @property
    def label_bits(self) -> int | None: ...


class Labelling:
    """The labellers of a model.

    names  the labels, in the order of their numbers
    joint  takes part in decoding; None: the tree is chosen without labels
    stage  labels the tree; None: the labels that were chosen with it stay
    weights  number of all weights of the model: 2 ** bits of arcs and parts, then those of the labellers
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
        """Scores with the best label of each arc added to it, and those labels int32[A]; as they were without `joint`.

        gold, cost  int32[n] right labels of the words; any other costs that much, as MIRA asks for
        right       (arcs, labels): these arcs have these labels, whatever is best
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
        """int32[n]: the best label of the arc into each word of a tree. The model must have labels."""
        labeller = self.stage or self.joint
        assert labeller is not None
        return labeller.best(labeller.of_tree(weights, rows, heads), gold, cost)[1]

    def room(self, n: int) -> int:
        """How many features at most `difference` or `stage_difference` append for a sentence of n words."""
        return max((2 * labeller.room(n) for labeller in (self.joint, self.stage) if labeller), default=0)

    def difference(
        self,
        gold: tuple[np.ndarray, np.ndarray],
        found: tuple[np.ndarray, np.ndarray],
        index: ArcIndex,
        rows: np.ndarray,
        slots: np.ndarray,
        signs: np.ndarray,
        count: int,
    ) -> int:
        """Append the label features of the right labelled tree less those of the one found; returns the new count.

        gold, found  (arcs, labels) int32[n] into each word
        """
        assert self.joint is not None
        words = np.flatnonzero((gold[0] != found[0]) | (gold[1] != found[1]))
        for (arcs, labels), sign in ((gold, 1.0), (found, -1.0)):
            ends = index.head[arcs[words]], index.mod[arcs[words]]
            count = self.joint.arc_features(*ends, labels[words], sign, rows, slots, signs, count)
        return count

    def stage_difference(
        self,
        heads: np.ndarray,
        gold: np.ndarray,
        found: np.ndarray,
        rows: np.ndarray,
        slots: np.ndarray,
        signs: np.ndarray,
    ) -> int:
        """The features of the right labels (int32[n]) of a tree less those of the ones found; returns their count."""
        assert self.stage is not None
        wrong = np.flatnonzero(gold != found)
        words = np.take(context_words(heads), wrong, axis=1)  # in rows, as kernels read them
        n = len(gold)
        count = self.stage.tree_features(words, gold[wrong], 1.0, rows, n, slots, signs, 0)
        return self.stage.tree_features(words, found[wrong], -1.0, rows, n, slots, signs, count)
