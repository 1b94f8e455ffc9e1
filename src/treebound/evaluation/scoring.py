"""The score of one tree, part by part, in exact arithmetic: slow, plain, and shared with no decoder."""

from __future__ import annotations

import math

import numpy as np

from treebound.core.problem import NONE, NONE_OUTER, Problem


def tree_score(problem: Problem, heads: np.ndarray) -> int | float:
    """Score of the tree heads[n + 1] under `problem`; -inf if it uses an arc that is not there or anything forbidden.

    An exact Python int where the problem's scores are integers (unit > 0), else a correctly rounded float. O(parts).
    Raises ValueError if heads does not fit the problem. Whether heads form a tree is for `certificates.tree_faults`.
    """
    if len(heads) != problem.n + 1:
        raise ValueError(f"{len(heads)} heads for a sentence of {problem.n} words (expected n + 1)")
    number = {(int(h), int(m)): a for a, (h, m) in enumerate(zip(problem.head, problem.mod, strict=True))}
    arcs = [(int(heads[m]), m) for m in range(1, problem.n + 1)]
    if any(arc not in number for arc in arcs):
        return -math.inf
    scores = [float(problem.arc[number[arc]]) for arc in arcs]
    for family, table in problem.parts.items():
        wanted = {tuple(number.get(arc, arc) for arc in part) for part in tree_parts(family, heads)}
        keys = zip(table.arcs[:, 0].tolist(), table.arcs[:, 1].tolist(), strict=True)
        scores += [float(score) for key, score in zip(keys, table.score, strict=True) if key in wanted]
    if -math.inf in scores:
        return -math.inf
    return sum(map(int, scores)) if problem.unit else math.fsum(scores)


def tree_parts(family: str, heads: np.ndarray) -> list[tuple]:
    """The parts of a family that a tree contains, by arcs (h, m) and NONE / NONE_OUTER, as `docs/architecture.md` says.

    Only what is defined on the tree itself: a pair whose part the problem does not list (a sibling pair of the root)
    is returned all the same.
    """
    head = [int(h) for h in heads]
    words = range(1, len(head))
    modifiers = {h: [m for m in words if head[m] == h] for h in range(len(head))}
    out: list[tuple] = []
    for m in words:
        h = head[m]
        arc, low, high = (h, m), min(h, m), max(h, m)
        inside = [g for g in modifiers[m] if low < g < high]
        outside = [g for g in modifiers[m] if (g > m) == (m > h)]
        if family == "adjacent-sibling":
            nearer = [s for s in modifiers[h] if low < s < high]
            out.append(((h, min(nearer, key=lambda s: abs(s - m))) if nearer else NONE, arc))
        elif family == "outermost-grandchild":
            for side, empty in ((inside, NONE), (outside, NONE_OUTER)):
                out.append((arc, (m, max(side, key=lambda g: abs(g - m))) if side else empty))
        elif family == "grandchild":
            out += [(arc, (m, g)) for g in inside + outside]
        elif family == "sibling":
            # Part tables list the arcs of a head in arc order: to the left from near to far, then to the right.
            rank = (m > h, abs(m - h))
            out += [(arc, (h, s)) for s in modifiers[h] if (s > h, abs(s - h)) > rank]
        else:
            raise ValueError(f"unknown factor family {family!r}")
    return out
