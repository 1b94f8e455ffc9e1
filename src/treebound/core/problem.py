"""The scored problem: all that a decoder may know about a sentence.

Every decoder takes the same `Problem`, so every comparison is on equal scores.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

#: no modifier in this slot (the first modifier on its side, a head without inner grandchildren)
NONE = -1
#: outermost-grandchild only: no modifier on the outer side
NONE_OUTER = -2
#: families whose parts are sets of arcs, padded with NONE: a part fires when all its arcs are selected
PRODUCTS = frozenset({"grandchild", "sibling", "head-bigram", "great-grandchild", "tri-sibling", "comb", "pattern"})


@dataclass(frozen=True)
class PartTable:
    """All parts (factors) of one family in a sentence.

    family  name of the factor family
    arcs    int32[F, r] arc numbers, or NONE / NONE_OUTER where the family allows an empty slot; for `valency` a word
            and a number of modifiers
    score   float64[F]; -inf forbids the part
    """

    family: str
    arcs: np.ndarray
    score: np.ndarray

    def __len__(self) -> int:
        return len(self.score)


@dataclass(frozen=True)
class Problem:
    """maximise  sum_a arc[a] z_a + sum_parts score z_part  over the trees z made of the given arcs.

    n            words 1..n; 0 is the root
    head, mod    int32[A]: arc a goes from head[a] to mod[a]; only these arcs may be used. Sorted by head; within a head
                 the modifiers to its left from near to far, then those to its right from near to far
    arc          float64[A] scores; -inf forbids an arc
    parts        family -> PartTable; families that are absent score nothing
    single_root  exactly one word is attached to 0 (else: at least one)
    unit         scores are integers, `unit` of them to 1.0 of the model's score; 0.0: scores are real numbers
    """

    n: int
    head: np.ndarray
    mod: np.ndarray
    arc: np.ndarray
    parts: dict[str, PartTable] = field(default_factory=dict)
    single_root: bool = True
    unit: float = 0.0

    @property
    def arcs(self) -> int:
        """Number of candidate arcs."""
        return len(self.head)

    @property
    def families(self) -> frozenset[str]:
        """Families with scores, `arc` included."""
        return frozenset(self.parts) | {"arc"}
