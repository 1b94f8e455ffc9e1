"""The proof of a bound: a search tree whose nodes are closed by linear bounds.

A search writes the proof and a checker reads it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np


@dataclass(frozen=True)
class Step:
    """A linear bound on the score of trees.

    Every family that the chart does not score exactly is bounded by `shares`, by `slope`, or by `child` and `parent`.

    - `shares`: a mapping from a family to numbers, aligned with `problem.parts[family]`. The parts are products of
      arcs. The shape of the array depends on the family, as described below.
    - `shift`: [A] or None. shift[a] is added to arc a = (h, m), h > 0, and subtracted from the scores of all grandchild
      parts ((g, h), (h, m)). This happens before these parts are bounded by shares. The score of every tree stays the
      same, because h has exactly one head.
    - `slope`: [n + 1] or None, for `valency`: f(count) <= slope * count + max_c (f(c) - slope * c).
    - `child`, `parent`: [A] each, or both None. For each arc, the multiplier u as the arc to a dependent of a head
      star, and the multiplier w as the arc into the head (`checker.stars.Stars`). They bound all families that no
      other field bounds.

    Shapes of the arrays in `shares`, where phi is the score of a part and z_a is 1 if the tree has arc a, otherwise 0:

    - [F], for parts (e, f) of two arcs. If phi >= 0, the bound is share z_e + (phi - share) z_f, with share in 0..phi.
      If phi < 0, the bound is share (1 - z_e - z_f), with share in 0..-phi.
    - [F, r], for parts of r arcs. If phi >= 0, the bound is the sum of share_i z_i, with shares >= 0 that sum to phi.
      If phi < 0, the bound is share (r - 1) - share (sum of z_i), with share in 0..-phi in column 0. Empty slots (NONE)
      have no share.
    - [F], for parts (a, s, b) of `grand-sibling` in projective trees. Here e is the arc a, and f is the
      adjacent-sibling part (s, b).
    """

    shares: dict[str, np.ndarray]
    shift: np.ndarray | None = None
    slope: np.ndarray | None = None
    child: np.ndarray | None = None
    parent: np.ndarray | None = None


@dataclass(frozen=True)
class CertNode:
    """A node of the search tree: the trees of its parent that agree with one decision about an arc.

    - `parent`: index of the parent in `Certificate.nodes`, before this node; -1 for the root, which comes first.
    - `arc`: the arc of the decision; -1 for the root.
    - `value`: 0 for the trees without the arc, 1 for the trees with it.
    - `steps`: bounds, in the order in which they are applied.
    """

    parent: int
    arc: int
    value: Literal[0, 1]
    steps: list[Step] = field(default_factory=list)


@dataclass(frozen=True)
class Certificate:
    """A search tree that proves an upper bound.

    A node is closed if none of its trees can exceed the bound. Any other node needs two children, one for each value of
    the same arc. Children of a closed node are permitted.

    - `exact_families`: families that the chart of projective trees scores exactly, so that no step bounds them. The
      family `arc` may be left out.
    """

    nodes: list[CertNode]
    exact_families: frozenset[str] = frozenset()
