"""Solve the linear relaxation of the integer program, and round the solution to a tree."""

from __future__ import annotations

from treebound.core.spaces import Space
from treebound.decoders.exact.programs.incremental import Formulation, IncrementalProgram


class LinearRelaxation(IncrementalProgram):
    """Decoder that solves the linear program over arcs and parts, and rounds the solution to the best tree under it.

    The status is "optimal" if the solution is integral, else "gap" with the value of the program as a bound. Proof
    and bound hold up to the tolerance of the solver. The status is "limit" if the time limit was reached, or if the
    rounded tree is forbidden.

    Parameters
    ----------
    space : "projective" or "non-projective"
        Set of trees.
    formulation : "incremental", "single-commodity" or "multi-commodity"
        How tree constraints are formulated. "incremental" adds cuts for violations by the rounded tree, or by the
        largest arc into each word, until the solution itself violates none of them. The other two use a flow from the
        start.
    time_limit : float
        Time limit for a sentence, in seconds.
    """

    name = "linear-relaxation"
    cite = "Martins, Smith & Xing (2009), section 4"

    def __init__(
        self, space: Space = "projective", formulation: Formulation = "incremental", time_limit: float = 120.0
    ):
        super().__init__(formulation=formulation, start="none", relaxation="only", space=space, time_limit=time_limit)
