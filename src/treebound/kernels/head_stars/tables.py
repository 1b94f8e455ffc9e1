"""Tables of the scores of the parts at one head, and the computation of their rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.kernels.arcs.wide_parts import LONGEST_COMB
from treebound.kernels.reference import read_only
from treebound.support.jit import kernel

NO_ARCS = np.empty((0, LONGEST_COMB), np.int32)


class StarTables(NamedTuple):
    """Scores of the parts that lie within one head star, for the stars of all heads of a sentence.

    Each family has float64[F], its parts in the order of docs/architecture.md. Families without scores have empty
    arrays.

    - `comb_arcs`: int32[F, 8]. The arcs of the combs.
    - `comb_start`: int64[n + 2]. The first comb of each head.
    - `unit`: if greater than 0, all scores and multipliers are integers.
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
    """Return the StarTables for `scores`, a mapping from families to float64[F]. Absent families score 0.

    `comb_arcs` is the result of `list_parts`. All scores are read-only, so that one compiled version of a kernel serves
    every combination of families.
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
    """The multipliers that make the best stars of all heads agree on one tree, float64[>= A] each.

    `child` holds the multiplier u of each arc in the star of its head. `parent` holds the multiplier w of each arc in
    the star of its modifier.
    """

    child: np.ndarray
    parent: np.ndarray


@kernel(inline="always")
def pair_rank(k, x, y):
    """Return the rank of the pair x < y among the pairs of k items, in lexicographic order. O(1)."""
    return x * (2 * k - x - 1) // 2 + y - x - 1


@kernel
def triple_rank(k, x, y, z):
    """Return the rank of x < y < z among the triples of k items, in lexicographic order. O(1)."""
    a, b = k - x, k - y
    return (k * (k - 1) * (k - 2) - a * (a - 1) * (a - 2)) // 6 + ((a - 1) * (a - 2) - b * (b - 1)) // 2 + z - y - 1
