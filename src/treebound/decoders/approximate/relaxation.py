"""The linear relaxation of the integer program, rounded by the tree oracle."""

from __future__ import annotations

from treebound.core.spaces import Space
from treebound.decoders.exact.programs.incremental import Formulation, IncrementalProgram


class LinearRelaxation(IncrementalProgram):
    """The linear program over arcs and parts; a fractional solution is rounded to the best tree under it as scores.

    space        "projective" or "non-projective"
    formulation  incremental: cuts for what the rounded tree or each word's largest arc breaks, until they break
                 nothing that the solution keeps; single-commodity, multi-commodity: a flow that is there from the start
    time_limit   seconds for a sentence
    Status "optimal" where the solution is integral, else "gap" with the program's value as a bound, both up to the
    tolerance of the solver; "limit" where time was up, or where the rounded tree is forbidden.
    """

    name = "linear-relaxation"
    cite = "Martins, Smith & Xing (2009), section 4"

    def __init__(
        self, space: Space = "projective", formulation: Formulation = "incremental", time_limit: float = 120.0
    ):
        super().__init__(formulation=formulation, start="none", relaxation="only", space=space, time_limit=time_limit)
