"""Express hard constraints as forbidden arcs and forbidden pairs of arcs, for decoders that score parts.

Unique labels, sides, compatible arguments, commas and selective projectivity can be expressed in this way. Constraints
that require an arc cannot, for instance that a coordination has an argument on its left. Every arc must have a single
label, which the caller has chosen before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from treebound.constraints.rows import Constraint, Variables, Words
from treebound.core.errors import UnsupportedError
from treebound.core.labelled import LabelledProblem
from treebound.core.problem import NONE, PartTable, Problem

#: the family whose parts are arbitrary sets of arcs, and its number of columns
FAMILY, WIDTH = "pattern", 6


def with_forbidden(problem: LabelledProblem, words: Words, constraints: Sequence[Constraint]) -> Problem:
    """Return the unlabelled problem whose allowed trees keep the constraints, given the single label of each arc.

    A forbidden arc scores -inf. A forbidden pair is a part of the family `pattern` that scores -inf; the problem must
    not have other patterns. Raises UnsupportedError for arcs with several labels, and for constraints that cannot be
    expressed by forbidden arcs and pairs. O(arcs squared) at most.
    """
    if problem.label.shape[1] != 1:
        raise UnsupportedError("arcs have several labels", hint="keep the best label: best_labels(..., k=1, ...)")
    inner = problem.problem
    if FAMILY in inner.parts:
        raise UnsupportedError(f"the problem has parts of the family {FAMILY}", hint="use the integer program")
    variables = Variables.of(problem, words)
    arc_of = np.flatnonzero((problem.label[:, 0] >= 0) & ~np.isneginf(problem.score[:, 0]))
    single, pairs = set[int](), set[tuple[int, int]]()
    for constraint in constraints:
        forbidden = constraint.forbidden(variables)
        if forbidden is None:
            raise UnsupportedError(f"{constraint.name} requires arcs", hint="use the integer program")
        single |= {int(arc_of[v]) for v, *others in forbidden if not others}
        pairs |= {(min(p), max(p)) for p in ((int(arc_of[v[0]]), int(arc_of[v[1]])) for v in forbidden if len(v) == 2)}
    arc = problem.score[:, 0].astype(float).copy()
    arc[sorted(single)] = -np.inf
    rows = np.full((len(pairs), WIDTH), NONE, np.int32)
    rows[:, :2] = np.array(sorted(pairs), np.int32).reshape(-1, 2)
    parts = inner.parts | ({FAMILY: PartTable(FAMILY, rows, np.full(len(pairs), -np.inf))} if pairs else {})
    return replace(inner, arc=arc, parts=parts)
