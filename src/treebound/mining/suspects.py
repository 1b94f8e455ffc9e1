"""Suspects: annotations of single words that a model doubts, with the strength of the doubt."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Kind = Literal["head", "label", "tag"]


@dataclass(frozen=True)
class Suspect:
    """An annotation of one word that is perhaps wrong, with the annotation that the model prefers.

    sentence  index of the sentence in the treebank, from 0
    sent_id   id of the sentence in its comments; if it has none, its number, from 1
    word      position of the word, 1..n
    form      form of the word
    kind      "head" if the head is doubted (with its label), "label" if only the label is doubted, or "tag"
    head, label, tag  the annotation
    proposed_head, proposed_label, proposed_tag  the model's preference; equal to the annotation where it is not doubted
    margin    difference between two scores: the best annotation of the sentence, and the best annotation in which this
              word is as annotated. 1.0 is the cost of one error in training. At least 0
    certified True if the margin is proved because both searches ended with a proof
    marginal  probability of the annotated arc (or tag) in the log-linear model; nan if it is unknown
    changes   number of words, at least 1, whose head differs between the two trees that `margin` compares. The doubt
              about a single word is smaller if the margin is shared by many words

    variation (occurrences with another annotation, all occurrences) of the same construction elsewhere in the treebank;
              (0, 0) if the construction does not occur elsewhere
    """

    sentence: int
    sent_id: str
    word: int
    form: str
    kind: Kind
    head: int
    label: str
    tag: str
    proposed_head: int
    proposed_label: str
    proposed_tag: str
    margin: float
    certified: bool
    marginal: float
    variation: tuple[int, int] = (0, 0)
    changes: int = 1

    @property
    def doubt(self) -> float:
        """The score by which suspects are ranked, highest first: the margin over the square root of `changes`."""
        return self.margin / math.sqrt(self.changes)

    @property
    def group(self) -> str:
        """Return the key of the change, for instance `nmod -> obl, head moves right`."""
        if self.kind == "tag":
            return f"{self.tag} -> {self.proposed_tag}"
        change = self.label if self.label == self.proposed_label else f"{self.label} -> {self.proposed_label}"
        if self.kind == "label":
            return f"{change}, same head"
        if self.head == 0 or self.proposed_head == 0:
            return f"{change}, {'from' if self.head == 0 else 'to'} the root"
        return f"{change}, head moves {'left' if self.proposed_head < self.head else 'right'}"
