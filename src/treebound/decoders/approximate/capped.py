"""Branch and bound that stops after a few dynamic-program calls and returns the best tree and the bound so far."""

from __future__ import annotations

from treebound.core.spaces import Space
from treebound.decoders.approximate.charted import positive
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound


class Capped(BranchAndBound):
    """Decoder that runs the tuned branch and bound, and stops after a number of dynamic-program calls.

    The status is "optimal" if the calls suffice, else "limit" with the bound that is proved by then.

    Parameters
    ----------
    space : "projective" or "non-projective"
        Set of trees.
    calls : int
        Maximum number of dynamic-program calls. Calls for a first non-projective tree are not counted.
    """

    name = "capped"
    exact = False

    def __init__(self, space: Space = "projective", calls: int = 10):
        positive("calls", calls)
        super().__init__(space=space, max_dp_calls=int(calls))
