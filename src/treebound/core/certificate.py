"""The proof of a bound, which a search leaves and a checker reads: a search tree whose nodes linear bounds close."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np


@dataclass(frozen=True)
class Step:
    """One linear bound. Every family that the chart does not score exactly is bounded in one of these ways.

    shares  family -> numbers, aligned with `problem.parts[family]`. The parts are products of arcs.
            [F], for two arcs: a part (e, f) with score phi >= 0 is bounded by share z_e + (phi - share) z_f with share
            in 0..phi, one with phi < 0 by share (1 - z_e - z_f) with share in 0..-phi.
            [F, r]: one with phi >= 0 by the sum of share_i z_i, shares >= 0 with the sum phi; one with phi < 0 by
            share (r - 1) - share (sum of z_i), share in 0..-phi in column 0. Empty slots (NONE) have no share.
            [F] for `grand-sibling` (a, s, b), projective trees: e is the arc a, f the adjacent-sibling part (s, b)
    shift   [A] or None: shift[a] is added to arc a = (h, m), h > 0, and subtracted from the scores of all grandchild
            parts ((g, h), (h, m)) before they are bounded by shares. No tree's score changes: h has exactly one head
    slope   [n + 1] or None, for `valency`: f(count) <= slope * count + the most of f(c) - slope * c
    child, parent  [A] each, or both None: the multipliers u and w of `evaluation.stars.Stars`, for every family that is
            not bounded otherwise
    """

    shares: dict[str, np.ndarray]
    shift: np.ndarray | None = None
    slope: np.ndarray | None = None
    child: np.ndarray | None = None
    parent: np.ndarray | None = None


@dataclass(frozen=True)
class CertNode:
    """One node of the search tree: its parent's trees, less those that the decision rules out.

    parent  its place in `Certificate.nodes`, before this one; -1 at the root, which comes first
    arc     the arc decided on; -1 at the root
    value   0: trees without the arc; 1: trees with it
    steps   bounds, in the order in which they are to be applied
    """

    parent: int
    arc: int
    value: Literal[0, 1]
    steps: list[Step] = field(default_factory=list)


@dataclass(frozen=True)
class Certificate:
    """A search tree. A node is closed when none of its trees can exceed the bound; else it needs two children, one for
    each value of the same arc. Children of a closed node do no harm.

    exact_families  families that are left to the chart (projective trees) instead of being bounded; `arc` may be named
                    or not
    """

    nodes: list[CertNode]
    exact_families: frozenset[str] = frozenset()
