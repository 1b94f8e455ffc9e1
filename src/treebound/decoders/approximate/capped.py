"""Branch and bound that stops early: what its first few dynamic programs find, and what they prove."""

from __future__ import annotations

from treebound.core.spaces import Space
from treebound.decoders.approximate.charted import positive
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound


class Capped(BranchAndBound):
    """Branch and bound as tuned, stopped after some dynamic programs.

    space     "projective" or "non-projective"
    calls     of dynamic programs; those for a first tree where arcs may cross come on top
    Status "optimal" where that was enough, else "limit" with the bound that is proved by then.
    """

    name = "capped"
    exact = False

    def __init__(self, space: Space = "projective", calls: int = 10):
        positive("calls", calls)
        super().__init__(space=space, max_dp_calls=int(calls))
