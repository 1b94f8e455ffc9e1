"""Tables of the scores at one head, and how their rows are found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.kernels.arcs.wide_parts import LONGEST_COMB
from treebound.kernels.reference import read_only
from treebound.support.jit import kernel

NO_ARCS = np.empty((0, LONGEST_COMB), np.int32)


class StarTables(NamedTuple):
    """Scores float64[F] of the families at one head, in the order of docs/architecture.md; empty where not scored here.

    comb_arcs int32[F, 8] arcs of the combs; comb_start int64[n + 2] first comb of each head; unit > 0: all scores and
    multipliers are integers.
    """

    adjacent: np.ndarray
    outermost: np.ndarray
    grandchild: np.ndarray
    grand_sibling: np.ndarray
    sibling: np.ndarray
    tri_sibling: np.ndarray
    comb: np.ndarray
    comb_arcs: np.ndarray
    comb_start: np.ndarray
    valency: np.ndarray
    unit: float


def star_tables(index, scores, comb_arcs=NO_ARCS, unit=0.0):
    """StarTables of family -> float64[F]; comb_arcs as `list_parts` gives them. Absent families score nothing.

    All scores are read-only, so that one version of a kernel serves every company of families.
    """
    empty = np.empty(0, np.float64)
    n = len(index.right) - 1
    comb = scores.get("comb", empty)
    heads = index.head[comb_arcs[:, 0]] if len(comb) else empty
    return StarTables(
        read_only(scores.get("adjacent-sibling", empty)),
        read_only(scores.get("outermost-grandchild", empty)),
        read_only(scores.get("grandchild", empty)),
        read_only(scores.get("grand-sibling", empty)),
        read_only(scores.get("sibling", empty)),
        read_only(scores.get("tri-sibling", empty)),
        read_only(comb),
        read_only(comb_arcs),
        np.searchsorted(heads, np.arange(n + 2)),
        read_only(scores.get("valency", empty)),
        float(unit),
    )


class Multipliers(NamedTuple):
    """What agreement of stars and tree costs: float64[>= A] of arcs as modifiers' (u) and as those into heads (w)."""

    child: np.ndarray
    parent: np.ndarray


@kernel(inline="always")
def pair_rank(k, x, y):
    """Rank of x < y among the pairs of k, lexicographically. O(1)."""
    return x * (2 * k - x - 1) // 2 + y - x - 1


@kernel
def triple_rank(k, x, y, z):
    """Rank of x < y < z among the triples of k, lexicographically. O(1)."""
    a, b = k - x, k - y
    return (k * (k - 1) * (k - 2) - a * (a - 1) * (a - 2)) // 6 + ((a - 1) * (a - 2) - b * (b - 1)) // 2 + z - y - 1
