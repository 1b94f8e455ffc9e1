"""The proof that no valid labelled tree scores more than a bound. A search writes the proof; a checker reads it.

The search divides the labelled trees of a problem into regions. A region allows some (head, label) pairs for each word.
A region is closed in one of three ways. All its trees break a rule; or the region allows no arc into some word; or a
certificate shows that none of its trees scores more than the bound. The certificate is about the relaxation of the
region, which ignores the rules.
"""

from __future__ import annotations

from dataclasses import dataclass

from treebound.core.certificate import Certificate


@dataclass(frozen=True)
class Split:
    """A division of a region in two, by the (head, label) pair of one word.

    - `word`: 1..n.
    - `pairs`: pairs (head, number of the label). Of the pairs that the region allows for the word, the first part
      of the region keeps the ones in `pairs`, and the second part keeps the others. For all other words, both parts
      allow the same pairs as the region.
    """

    word: int
    pairs: frozenset[tuple[int, int]]


@dataclass(frozen=True)
class Region:
    """A node of the proof: the labelled trees on one side of the parent's split.

    - `parent`: index of the parent in `ValidityProof.regions`, before this region; -1 for the root, which comes first.
    - `inside`: True for the trees that use a pair of the parent's split, False for all others.
    - `split`: the division of the region; None if the region is closed.
    - `rule`: id of the rule that all trees of a closed region break; "" if `bound` closes the region.
    - `bound`: certificate of the relaxation, in which every arc has the score of its best allowed label. It shows that
      no tree of the relaxation scores more than the bound of the proof. None if a rule closes the region, or if the
      relaxation has no arc into some word.
    """

    parent: int
    inside: bool
    split: Split | None = None
    rule: str = ""
    bound: Certificate | None = None


@dataclass(frozen=True)
class ValidityProof:
    """A proof as a list of regions, with the root region first. The checker is `treebound.checker.validity`."""

    regions: list[Region]
