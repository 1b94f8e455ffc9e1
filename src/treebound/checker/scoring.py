"""The score of one tree, part by part, in exact arithmetic: slow, simple, and shared with no decoder."""

from __future__ import annotations

import itertools
import math

import numpy as np

from treebound.core.problem import LONGEST_COMB, MAX_COUNT, NONE, NONE_OUTER, PRODUCTS, SHORTEST_COMB, Problem


def tree_score(problem: Problem, heads: np.ndarray) -> int | float:
    """Return the score of the tree heads[n + 1] under `problem`; -inf if it uses a missing arc or a forbidden part.

    The score is an exact Python int if the problem's scores are integers (unit > 0), else a correctly rounded float.
    O(parts). Raises ValueError if the length of `heads` does not fit the problem. `certificates.tree_faults` checks
    whether the heads form a tree.
    """
    if len(heads) != problem.n + 1:
        raise ValueError(f"{len(heads)} heads for a sentence of {problem.n} words (expected n + 1)")
    chosen = np.flatnonzero(np.asarray(heads)[problem.mod] == problem.head)
    number = {(int(problem.head[a]), int(problem.mod[a])): int(a) for a in chosen}
    arcs = [(int(heads[m]), m) for m in range(1, problem.n + 1)]
    if any(arc not in number for arc in arcs):
        return -math.inf
    scores = [float(problem.arc[number[arc]]) for arc in arcs]
    selected = np.zeros(problem.arcs + 1, bool)
    selected[[number[arc] for arc in arcs]] = True
    selected[-1] = True  # the entry of NONE, which is -1
    for family, table in problem.parts.items():
        if family in PRODUCTS:
            fires = selected[table.arcs].all(axis=1)
        else:
            occurring = {tuple(number.get(arc, arc) for arc in part) for part in tree_parts(family, heads)}
            fires = np.array([tuple(part) in occurring for part in table.arcs.tolist()], bool)
        scores += table.score[fires].tolist()
    if -math.inf in scores:
        return -math.inf
    return sum(map(int, scores)) if problem.unit else math.fsum(scores)


def tree_parts(family: str, heads: np.ndarray) -> list[tuple]:
    """Return the parts of a family that occur in a tree.

    Arcs are pairs (h, m), NONE or NONE_OUTER, in the order of `docs/architecture.md`. A part of `valency` is a word and
    a number, and combs are not padded. The family `pattern` is not supported, because its parts depend on more than the
    tree. Adjacent siblings below the root are included whether or not the problem lists them.
    """
    head = [int(h) for h in heads]
    words = range(1, len(head))
    modifiers = {h: [m for m in words if head[m] == h] for h in range(len(head))}
    out: list[tuple] = []
    for m in words:
        h = head[m]
        arc = (h, m)
        # arcs are ordered: to the left from near to far, then to the right from near to far
        below = [(m, g) for g in sorted(modifiers[m], key=lambda g: (g > m, abs(g - m)))]
        nearer = [s for s in modifiers[h] if min(h, m) < s < max(h, m)]
        adjacent = (h, min(nearer, key=lambda s: abs(s - m))) if nearer else NONE
        if family == "adjacent-sibling":
            out.append((adjacent, arc))
        elif family == "outermost-grandchild":
            inner = [g for g in modifiers[m] if (g > m) == (h > m)]
            outer = [g for g in modifiers[m] if (g > m) != (h > m)]
            for side, empty in ((inner, NONE), (outer, NONE_OUTER)):
                out.append((arc, (m, max(side, key=lambda g: abs(g - m))) if side else empty))
        elif family == "grandchild":
            out += [(arc, b) for b in below]
        elif family == "great-grandchild":
            out += [(arc, b, (b[1], x)) for b in below for x in modifiers[b[1]]]
        elif family == "grand-sibling":
            out += [((head[h], h), adjacent, arc)] if h > 0 else []
        elif family in ("sibling", "tri-sibling"):
            out += itertools.combinations(below, 2 if family == "sibling" else 3)
        elif family == "head-bigram":
            out += [(arc, (head[m + 1], m + 1))] if m + 1 < len(head) else []
        elif family == "comb":
            away = 1 if m > h else -1
            runs = [[m + away * i for i in range(size)] for size in range(SHORTEST_COMB, LONGEST_COMB + 1) if h > 0]
            out += [tuple((h, w) for w in run) for run in runs if set(run) <= set(modifiers[h])]
        elif family == "valency":
            out.append((m, min(len(modifiers[m]), MAX_COUNT)))
        else:
            raise ValueError(f"unknown factor family {family!r}")
    return out
