"""Good trees where arcs may cross, quickly and without a proof: what learning asks for.

The best projective tree and the best arborescence of the arcs' own scores climb from head to head (McDonald & Pereira
2006, section 3.2); the better one is returned. Every family is scored.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from treebound.core.parse import Parse
from treebound.decoders.approximate.climb_kernel import climb_heads, factors_of
from treebound.decoders.exact.branch_and_bound.decoder import (
    AUTOMATON_FAMILIES,
    EMPTY,
    STAR_FAMILIES,
    heads_of,
    joined,
    projective_tree,
)
from treebound.kernels.arcs.numbering import ArcIndex
from treebound.kernels.arcs.parts import PartIndex
from treebound.kernels.chart.arborescence import arborescence, arborescence_scratch
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.kernels.head_stars.tables import NO_ARCS, star_tables


def climb(
    index: ArcIndex,
    parts: PartIndex,
    arc: np.ndarray,
    arcs: Mapping[str, np.ndarray],
    scores: Mapping[str, np.ndarray],
    unit: float,
) -> Parse:
    """A tree, projective or not, with status "heuristic", or "infeasible"; arguments as of `BranchAndBound.solve`.

    parts.projective is False, and all scores are finite.
    """
    n, A = len(index.right) - 1, len(index.head)
    theta = np.append(arc, 0.0)
    stars = {f: s for f, s in scores.items() if f in AUTOMATON_FAMILIES or f in STAR_FAMILIES}
    tables = star_tables(index, stars, arcs["comb"] if "comb" in stars else NO_ARCS, unit)
    factors = factors_of(*joined(arcs, scores, tuple(f for f in scores if f not in stars)), A)
    value, tree, dp_calls = projective_tree(index, parts, theta, arcs, scores, unit)
    starts = [tree] if value > NEG_TEST else []
    work = {"dp_calls": dp_calls + 1}
    into = np.empty(n, np.int32)
    if arborescence(index, theta, n, parts.single_root, into, EMPTY, arborescence_scratch(n, A)) <= NEG_TEST:
        return Parse(heads_of(index, into[:0], n), NEG, NEG, "infeasible", work)
    found = [climb_heads(index, parts, tables, theta, factors, start) for start in (*starts, into)]
    value, tree = max(found, key=lambda pair: pair[0])
    return Parse(heads_of(index, tree, n), float(value), np.inf, "heuristic", work)
