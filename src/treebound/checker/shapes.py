"""Check that a problem is well-formed for the checker's bounds.

The bounds look up parts by their arcs, in the documented order.
"""

from __future__ import annotations

import numpy as np

from treebound.core.problem import MAX_COUNT, NONE, NONE_OUTER, SHORTEST_COMB, PartTable, Problem

#: number of arcs of a part, for families in which it is fixed
WIDTH = {
    "adjacent-sibling": 2,
    "outermost-grandchild": 2,
    "grandchild": 2,
    "sibling": 2,
    "head-bigram": 2,
    "great-grandchild": 3,
    "tri-sibling": 3,
    "grand-sibling": 3,
    "valency": 2,
    "comb": 8,
}


def problem_faults(problem: Problem) -> list[str]:
    """Return the reasons why a problem is malformed; an empty list if it is well-formed.

    O(A log A + F log F) for A arcs and F parts.
    """
    n, head, mod = problem.n, problem.head, problem.mod
    if n < 1 or problem.unit < 0 or not np.isfinite(problem.unit):
        return [f"{n} words and {problem.unit} units per 1.0, which must be finite and not negative"]
    if not (head.shape == mod.shape == problem.arc.shape and head.ndim == 1):
        return ["the numbers of heads, modifiers and scores of arcs differ"]
    if np.any((head < 0) | (head > n) | (mod < 1) | (mod > n) | (head == mod)):
        return ["an arc joins words that do not exist, or a word to itself"]
    key = head.astype(np.int64)
    key *= 2
    key += mod > head
    key *= n + 1
    key += abs(mod.astype(np.int64) - head)
    if np.any(key[1:] <= key[:-1]):
        return ["arcs are not in canonical order, or are repeated"]
    faults = (
        []
        if _scores_are_good(problem, problem.arc)
        else ["scores of arcs are not integers though there is a unit, or not numbers"]
    )
    for family, table in problem.parts.items():
        if family != table.family or table.arcs.ndim != 2 or table.arcs.shape[0] != len(table.score):
            faults.append(f"the numbers of parts and scores of {family} differ, or the table has another family")
        elif len(table):
            if not _scores_are_good(problem, table.score):
                faults.append(f"scores of {family} are not integers though there is a unit, or not numbers")
            elif not _shaped(problem, table):
                faults.append(f"parts of {family} do not have the shape of the family, or are repeated")
    return faults


def _scores_are_good(problem: Problem, scores: np.ndarray) -> bool:
    """Return whether all scores are numbers or -inf, and integers if the problem has a unit."""
    finite = scores[scores != -np.inf]
    return bool(np.isfinite(finite).all() and (not problem.unit or (finite == np.rint(finite)).all()))


def _shaped(problem: Problem, table: PartTable) -> bool:
    """Return whether all rows are distinct parts of their family. They may include parts that occur in no tree."""
    arcs, family = table.arcs.astype(np.int64), table.family
    if WIDTH.get(family, arcs.shape[1]) != arcs.shape[1]:
        return False
    if family == "valency":
        return _counts_are_whole(problem, arcs)
    if arcs.min() < NONE_OUTER or arcs.max() >= problem.arcs:
        return False
    head = np.append(problem.head.astype(np.int64), [-9, -9])  # entries of NONE_OUTER and NONE: no word
    mod = np.append(problem.mod.astype(np.int64), [-9, -9])
    first, last = arcs[:, 0], arcs[:, -1]
    empty = arcs < 0
    if family == "adjacent-sibling":
        good = _follow(head, mod, first, last)
    elif family == "outermost-grandchild":
        good = (first >= 0) & ((last < 0) | (mod[first] == head[last]))
    elif family == "grandchild":
        good = ~empty.any(axis=1) & (mod[first] == head[last])
    elif family == "grand-sibling":
        good = (first >= 0) & (mod[first] == head[last]) & _follow(head, mod, arcs[:, 1], last)
    elif family in ("sibling", "tri-sibling"):
        good = ~empty.any(axis=1) & (np.diff(arcs, axis=1) > 0).all(axis=1) & (head[first] == head[arcs].T).all(axis=0)
        good &= head[first] > 0
    elif family == "comb":
        good = _neighbours(head, mod, arcs)
    else:
        listed = (arcs >= NONE).all(axis=1) & (arcs >= 0).any(axis=1)
        return bool(listed.all())  # products of any arcs: each is bounded by itself
    return bool(good.all()) and _all_distinct(arcs, problem.arcs)


def _all_distinct(rows: np.ndarray, largest: int) -> bool:
    """Return whether all rows are distinct.

    Entries lie between NONE_OUTER and `largest`. Sorted rows are recognised without another sort.
    """
    if (largest + 3.0) ** rows.shape[1] > 2.0**62:
        return len(np.unique(rows, axis=0)) == len(rows)
    key = np.zeros(len(rows), np.int64)
    for column in rows.T:
        key = key * (largest + 3) + column + 2
    return bool((np.diff(key) > 0).all()) or len(np.unique(key)) == len(key)


def _follow(head: np.ndarray, mod: np.ndarray, s: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return bool[F]: whether arc s[i] is NONE, or has the head and side of arc b[i] and a nearer modifier."""
    to_s, to_b = mod[s] - head[s], mod[b] - head[b]
    nearer = (head[s] == head[b]) & (to_s * to_b > 0) & (abs(to_s) < abs(to_b))
    return (b >= 0) & ((s == NONE) | ((s >= 0) & nearer))


def _neighbours(head: np.ndarray, mod: np.ndarray, arcs: np.ndarray) -> np.ndarray:
    """Return bool[F]: whether each row holds the arcs of a comb, from near to far, padded with NONE.

    The modifiers of a comb are neighbouring words on one side of their head, which is not the root.
    """
    size = (arcs >= 0).sum(axis=1)
    nearer, farther = arcs[:, :-1], arcs[:, 1:]
    step = np.where(mod[arcs[:, 0]] > head[arcs[:, 0]], 1, -1)[:, None]
    runs = (farther == NONE) | (
        (nearer >= 0) & (farther >= 0) & (head[nearer] == head[farther]) & (mod[farther] - mod[nearer] == step)
    )
    runs &= (mod[nearer] - head[nearer]) * step > 0  # all on one side
    runs |= (nearer == NONE) & (farther == NONE)
    return (size >= SHORTEST_COMB) & (head[arcs[:, 0]] > 0) & runs.all(axis=1) & (arcs[:, 0] >= 0)


def _counts_are_whole(problem: Problem, parts: np.ndarray) -> bool:
    """Return whether the counts of every word with parts are complete.

    They must be 0, 1, .. up to the word's number of arcs, or up to MAX_COUNT.
    """
    word, count = parts.T
    if word.min() < 1 or word.max() > problem.n or count.min() < 0:
        return False
    most, listed = np.zeros(problem.n + 1, np.int64), np.bincount(word, minlength=problem.n + 1)
    np.maximum.at(most, word, count)
    possible = np.minimum(MAX_COUNT, np.bincount(problem.head, minlength=problem.n + 1))
    full = (listed == most + 1) & ((most == MAX_COUNT) | (most == possible))
    return _all_distinct(parts, int(parts.max())) and bool((full | (listed == 0)).all())
