"""Upper bounds on tree scores that are linear in the arcs, in simple exact arithmetic; shared with no decoder.

There are bounds for products of arcs (Qian & Liu 2013, section 3.2), for functions of the number of modifiers, and for
stars (`stars.Stars`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field

import numpy as np

from treebound.checker.chart import Number, exact_number
from treebound.checker.stars import STAR_FAMILIES, Stars
from treebound.core.certificate import Step
from treebound.core.problem import NONE, PartTable, Problem

#: families whose parts fire when all their arcs are in the tree
PRODUCT_FAMILIES = frozenset(
    {"grandchild", "sibling", "head-bigram", "great-grandchild", "tri-sibling", "comb", "pattern"}
)
#: families that some bound covers; families of stars need multipliers, except `grand-sibling` in projective trees
BOUNDED_FAMILIES = PRODUCT_FAMILIES | STAR_FAMILIES

#: relative slack of real scores; integer scores have none
TOLERANCE = 1e-9


@dataclass
class Majorant:
    """An upper bound on the score of every tree, which is linear in the arcs and adjacent pairs of arcs of the tree.

    The bound is constant + sum of arc[a] over the tree's arcs a + sum of adjacent[s, b] over its adjacent pairs (s, b).
    """

    constant: Number
    arc: list[Number]
    adjacent: dict[tuple[int, int], Number] = field(default_factory=dict)


def majorant(
    problem: Problem,
    bounded: Mapping[str, PartTable],
    step: Step,
    remaining: Set[int] | None = None,
    projective: bool = True,
) -> Majorant:
    """Return a bound on the scores of all trees over some arcs, without the families that the chart scores exactly.

    bounded     family -> parts to bound
    step        the shares, shifts, slopes and multipliers that define the bound
    remaining   arcs that trees may use; None for all
    projective  whether trees are projective

    Raises ValueError if numbers are missing, too few, out of range, or fractional with integer scores, and for families
    that the step does not bound. O(parts), plus the cost of `Stars` if there are multipliers.
    """
    number = exact_number(problem)
    alive = set(range(problem.arcs)) if remaining is None else set(remaining)
    alive -= set(np.flatnonzero(problem.arc == -np.inf).tolist())
    rivals = Counter(problem.mod[sorted(alive)].tolist())
    certain = {a for a in alive if rivals[int(problem.mod[a])] == 1}
    # forbidden arcs are in no tree
    bound = Majorant(0, [number(s) if s > -math.inf else 0 for s in problem.arc.tolist()])
    shift: list[Number] = [0] * problem.arcs
    if step.shift is not None:
        shift = _numbers("shift", step.shift, problem.arcs, problem)
        in_star = step.child is not None and "grandchild" not in step.shares
        if "grandchild" not in bounded or in_star or any(shift[a] for a in np.flatnonzero(problem.head == 0)):
            raise ValueError("only arcs of words, in grandchild parts bounded by shares, can be shifted")
        bound.arc = [score + s for score, s in zip(bound.arc, shift, strict=True)]
    in_stars = []
    for family, table in bounded.items():
        if not len(table):
            continue
        if family in step.shares and (family in PRODUCT_FAMILIES or (family == "grand-sibling" and projective)):
            _add_products(bound, table, step.shares[family], shift if family == "grandchild" else None, problem)
        elif family == "valency" and step.slope is not None:
            slope = _numbers("slope", step.slope, problem.n + 1, problem)
            _add_valency(bound, table, slope, alive, certain, problem)
        elif family in STAR_FAMILIES and step.child is not None and step.parent is not None:
            in_stars.append(table)
        else:
            raise ValueError(f"no shares for the family {family}, nor another bound")
    if step.child is not None and step.parent is not None:
        u, w = (_numbers("multipliers", x, problem.arcs, problem) for x in (step.child, step.parent))
        total, loss = Stars(problem, in_stars, projective).total(alive, certain, u, w)
        # a tree has exactly one arc into every word, so the loss of the word's star is subtracted from this arc
        bound.arc = [score + a + b - c for score, a, b, c in zip(bound.arc, u, w, loss, strict=True)]
        bound.constant += total
    return bound


def _add_products(
    bound: Majorant, table: PartTable, shares: np.ndarray, shift: list[Number] | None, problem: Problem
) -> None:
    """Add to `bound` the bound of the parts in `table`, whose scores count if all their arcs are in the tree.

    shares  [F] shares of the first of two arcs, or [F, r] shares of all arcs
    shift   numbers by arc, subtracted from the score of each part by its second arc; None for none
    """
    number, family = exact_number(problem), table.family
    pairs = shares.ndim == 1
    if family == "grand-sibling" and not pairs:
        raise ValueError("grand-sibling needs one share per part: for the arc, and the rest for the adjacent pair")
    if not pairs and shares.shape != table.arcs.shape:
        raise ValueError(f"shares of {family} have the shape {shares.shape}, not {table.arcs.shape}")
    flat = _numbers(f"shares of {family}", shares.ravel(), shares.size, problem)
    width = 1 if pairs else shares.shape[1]
    if len(flat) != width * len(table):
        raise ValueError(f"shares of {family}: {len(flat)} numbers, not {len(table)}")
    for i, (row, score) in enumerate(zip(table.arcs.tolist(), table.score.tolist(), strict=True)):
        share: list[Number] = flat[width * i : width * (i + 1)]
        phi = number(score)
        if family == "grand-sibling":
            row = [row[0], (row[1], row[2])]
        arcs = [a for a in row if a != NONE]
        if shift is not None:
            phi -= shift[arcs[1]]
        if pairs:
            if len(arcs) != 2:
                raise ValueError(f"one share for the {len(arcs)} arcs of {family} part {i}")
            share = [share[0], phi - share[0]] if phi >= 0 else share
        elif any(s for a, s in zip(row, share, strict=True) if a == NONE) or (phi < 0 and any(share[1:])):
            raise ValueError(f"{family} part {i} has a share in an empty or unused column")
        else:
            share = [s for a, s in zip(row, share, strict=True) if a != NONE]
        if phi >= 0:
            # the sum of real shares may fall short of phi by rounding; the first arc takes the difference
            total: Number = sum(share)
            short = phi - total
            slack = 0.0 if problem.unit else TOLERANCE * float(phi)
            if any(s < 0 for s in share) or not -slack <= short <= slack:
                raise ValueError(f"shares {share} of {family} part {i} are outside 0..{phi}, or do not add up to {phi}")
            share[0] += max(0, short)
            for a, s in zip(arcs, share, strict=True):
                _add(bound, a, s)
        else:
            if not 0 <= share[0] <= -phi:
                raise ValueError(f"share {share[0]} of {family} part {i} is outside 0..{-phi}")
            for a in arcs:
                _add(bound, a, -share[0])
            bound.constant += share[0] * (len(arcs) - 1)


def _add(bound: Majorant, target: int | tuple[int, int], score: Number) -> None:
    """Add `score` to the number that `bound` has for an arc, or for an adjacent pair of arcs."""
    if isinstance(target, tuple):
        bound.adjacent[target] = bound.adjacent.get(target, 0) + score
    else:
        bound.arc[target] += score


def _add_valency(
    bound: Majorant, table: PartTable, slope: list[Number], alive: set[int], certain: set[int], problem: Problem
) -> None:
    """Add to `bound` a line for each word that lies above its valency scores for all possible numbers of modifiers.

    slope           slope of the line of each word
    alive, certain  the remaining arcs, and the remaining arcs that every tree has
    """
    number = exact_number(problem)
    scores: dict[int, dict[int, Number]] = {}
    for (h, count), score in zip(table.arcs.tolist(), table.score.tolist(), strict=True):
        scores.setdefault(h, {})[count] = number(score)
    for h, by_count in scores.items():
        out = [a for a in alive if problem.head[a] == h]
        fewest, last = sum(a in certain for a in out), max(by_count)
        possible = range(fewest, len(out) + 1)
        bound.constant += max(by_count.get(min(c, last), 0) - slope[h] * c for c in possible)
        for a in out:
            bound.arc[a] += slope[h]


def _numbers(name: str, values: np.ndarray, size: int, problem: Problem) -> list[Number]:
    """Return an array of a step as exact numbers. Raises ValueError for a wrong size or invalid numbers."""
    if len(values) != size:
        raise ValueError(f"{name}: {len(values)} numbers, not {size}")
    if not all(isinstance(value, int) or math.isfinite(value) for value in values.tolist()):
        raise ValueError(f"{name}: not all are finite")
    if problem.unit and any(value != int(value) for value in values.tolist()):
        raise ValueError(f"{name}: fractions, though scores are integers")
    return [exact_number(problem)(value) for value in values.tolist()]
