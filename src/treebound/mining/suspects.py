"""A suspect: one annotation of one word that a model doubts, and by how much."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Kind = Literal["head", "label", "tag"]


@dataclass(frozen=True)
class Suspect:
    """One annotation that is perhaps wrong.

    sentence  index of the sentence in the treebank, from 0
    sent_id   the sentence's id in its comments; its number, from 1, where it has none
    word      1..n
    form      the word's form
    kind      what is doubted: the head (and with it the label), the label alone, or the tag
    head, label, tag  the annotation
    proposed_head, proposed_label, proposed_tag  what the model prefers; the annotation itself where it is not doubted
    margin    score of the best annotation of the sentence less that of the best one that has this word as annotated,
              in units of the model's score (1.0 is the cost of one error in training); at least 0
    certified whether `margin` is proved: both searches ended with a proof
    marginal  probability of the annotated arc (tag) in the log-linear model; nan where it is unknown
    changes   words whose head differs between the two best trees that `margin` compares, at least 1: a margin that is
              spread over many words is a doubt about each of them, but a smaller one
    variation (occurrences of the same construction elsewhere in the treebank that are annotated otherwise, all its
              occurrences elsewhere), by variation n-grams; (0, 0) where the construction occurs only here
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
        """Return the margin divided by the square root of `changes`: what suspects are ranked by, highest first."""
        return self.margin / math.sqrt(self.changes)

    @property
    def group(self) -> str:
        """Key of the change, for instance `nmod -> obl, head moves right`."""
        if self.kind == "tag":
            return f"{self.tag} -> {self.proposed_tag}"
        change = self.label if self.label == self.proposed_label else f"{self.label} -> {self.proposed_label}"
        if self.kind == "label":
            return f"{change}, same head"
        if self.head == 0 or self.proposed_head == 0:
            return f"{change}, {'from' if self.head == 0 else 'to'} the root"
        return f"{change}, head moves {'left' if self.proposed_head < self.head else 'right'}"
