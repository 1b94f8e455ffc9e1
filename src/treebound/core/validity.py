"""The proof that no valid labelled tree scores more than a bound, which a search leaves and a checker reads.

The search divides the labelled trees of a problem into regions. A region allows some (head, label) pairs for each
word. A region is closed in one of two ways: every tree of it breaks a rule, or a certificate of its relaxation, which
knows no rules, shows that no tree of it scores more than the bound.
"""

from __future__ import annotations

from dataclasses import dataclass

from treebound.core.certificate import Certificate


@dataclass(frozen=True)
class Split:
    """A division of a region in two, by the arc into one word.

    word   1..n
    pairs  (head, number of the label): the pairs that the word has in the first part, as far as the region allows them;
           in the second part it has its other pairs. All other words keep their pairs in both parts
    """

    word: int
    pairs: frozenset[tuple[int, int]]


@dataclass(frozen=True)
class Region:
    """A node of the proof: its parent's labelled trees, on one side of the parent's split.

    parent  place in `ValidityProof.regions`, before this one; -1 at the root, which comes first
    inside  True: the trees that use a pair of the parent's split. False: those that do not
    split   how the region is divided; None where it is closed
    rule    id of the rule that all trees of a closed region break; "" where `bound` closes the region
    bound   certificate of the relaxation: under every arc's best allowed label, no tree scores more than the proof's
            bound. None where a rule closes the region, or where the relaxation has no arc left into some word
    """

    parent: int
    inside: bool
    split: Split | None = None
    rule: str = ""
    bound: Certificate | None = None


@dataclass(frozen=True)
class ValidityProof:
    """The regions of a search, the root first; the checker is `treebound.checker.validity`."""

    regions: list[Region]
