"""The proof that no valid labelled tree scores more than a bound. A search writes it and a checker reads it.

The search divides the labelled trees of a problem into regions. A region allows some (head, label) pairs for each word.
A region is closed in one of two ways. Either all its trees break a rule, or a certificate of its relaxation, which
ignores the rules, shows that none of its trees scores more than the bound.
"""

from __future__ import annotations

from dataclasses import dataclass

from treebound.core.certificate import Certificate


@dataclass(frozen=True)
class Split:
    """A division of a region in two, by the (head, label) pair of one word.

    - `word`: 1..n.
    - `pairs`: (head, number of the label). In the first part of the region, the word may have these pairs only, and of
      them only the ones that the region allows. In the second part it has its other pairs. All other words have the
      same pairs in both parts.
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
    - `bound`: certificate of the relaxation: with the best allowed label of every arc, no tree scores more than the
      proof's bound. None if a rule closes the region, or if the relaxation has no arc into some word.
    """

    parent: int
    inside: bool
    split: Split | None = None
    rule: str = ""
    bound: Certificate | None = None


@dataclass(frozen=True)
class ValidityProof:
    """The regions of a search, with the root first. The checker is `treebound.checker.validity`."""

    regions: list[Region]
