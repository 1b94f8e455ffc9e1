"""Check each family of hard constraints on a whole labelled tree, by its definition, and find the best tree.

The functions follow the definitions, without variables or rows of an integer program. They have the same settings as
the classes of the families.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise, product

import numpy as np

from oracles.trees import trees


def _arguments(words, heads, labels, i: int, label: str) -> list[int]:
    return [m for m in range(1, words.n + 1) if heads[m] == i and labels[m] == label]


def _conjunctions(words, forms, classes) -> list[int]:
    return [
        i
        for i in range(1, words.n + 1)
        if words.form[i].lower() in forms and (not classes or words.word_class[i] in classes)
    ]


def crossing(i: int, j: int, m: int, n: int) -> bool:
    a, b, c, d = min(i, j), max(i, j), min(m, n), max(m, n)
    return a < c < b < d or c < a < d < b


def one_head(words, heads, labels, single_root=True) -> bool:
    roots = sum(heads[m] == 0 for m in range(1, words.n + 1))
    return roots == 1 if single_root else roots >= 1


def no_cycles(words, heads, labels) -> bool:
    for m in range(1, words.n + 1):
        node, steps = m, 0
        while node > 0:
            node, steps = heads[node], steps + 1
            if steps > words.n:
                return False
    return True


def unique_labels(words, heads, labels, unique) -> bool:
    counts = Counter((heads[m], labels[m]) for m in range(1, words.n + 1))
    return all(count <= 1 for (_, label), count in counts.items() if label in unique)


def symmetric_coordination(words, heads, labels, forms, classes=(), label="cnj", when="coordinating") -> bool:
    for i in _conjunctions(words, forms, classes):
        arguments = _arguments(words, heads, labels, i, label)
        if arguments or when == "always":
            right = sum(m > i for m in arguments)
            if right != 1 or len(arguments) - right < 1:
                return False
    return True


def asymmetric_coordination(words, heads, labels, forms, classes=(), label="cnj", when="coordinating") -> bool:
    for i in _conjunctions(words, forms, classes):
        arguments = _arguments(words, heads, labels, i, label)
        if (arguments or when == "always") and (min(arguments, default=0) < i or len(arguments) < 2):
            return False
    return True


def coordination_commas(words, heads, labels, forms, classes=(), label="cnj", separators=(",",)) -> bool:
    for i in _conjunctions(words, forms, classes):
        preceding = [m for m in _arguments(words, heads, labels, i, label) if m < i]
        for a, b in pairwise(preceding):
            if not any(words.form[k] in separators for k in range(a + 1, b)):
                return False
    return True


def argument_compatibility(words, heads, labels, label, compatible, wildcard=(), head="conjunction") -> bool:
    def are_compatible(a: int, b: int) -> bool:
        first, second = words.word_class[a], words.word_class[b]
        if any(words.form[x].lower().endswith(end) for x in (a, b) for end in wildcard):
            return True
        return first == second or [first, second] in compatible or [second, first] in compatible

    for i in range(words.n + 1):
        arguments = _arguments(words, heads, labels, i, label)
        if head == "argument":
            if i > 0 and not all(are_compatible(i, m) for m in arguments):
                return False
        elif not all(are_compatible(a, b) for a, b in combinations(arguments, 2)):
            return False
    return True


def argument_side(words, heads, labels, left=(), right=()) -> bool:
    for m in range(1, words.n + 1):
        if heads[m] > 0 and ((labels[m] in left and m > heads[m]) or (labels[m] in right and m < heads[m])):
            return False
    return True


def selective_projectivity(words, heads, labels, which, exempt=None) -> bool:
    for m, k in product(range(1, words.n + 1), repeat=2):
        bound = which == "all" or labels[m] in which
        if words.word_class[m] in (exempt or {}).get(labels[m], ()):
            bound = False
        if bound and crossing(heads[m], m, heads[k], k):
            return False
    return True


def labelled_trees(n: int, names: tuple[str, ...], single_root: bool = True) -> Iterator[tuple[list[int], list[str]]]:
    """Yield (heads, labels) of all trees with all labellings; index 0 is unused."""
    for heads in trees(n, "non-projective", single_root).tolist():
        for labels in product(names, repeat=n):
            yield heads, ["", *labels]


def best(problem, keeps) -> tuple[float, list[tuple[list[int], list[str]]]]:
    """Return (score, winners): the best score of labelled trees that `keeps` accepts, and the trees with this score.

    keeps: function of (heads, labels) that returns whether a tree satisfies the constraints.

    The result is (-inf, []) if `keeps` accepts no tree.
    """
    inner = problem.problem
    score = {}
    for a, (h, m) in enumerate(zip(inner.head.tolist(), inner.mod.tolist(), strict=True)):
        for label, s in zip(problem.label[a].tolist(), problem.score[a].tolist(), strict=True):
            if label >= 0:
                score[h, m, problem.names[label]] = s
    top, winners = -np.inf, []
    for heads, labels in labelled_trees(inner.n, problem.names, inner.single_root):
        value = sum(score.get((heads[m], m, labels[m]), -np.inf) for m in range(1, inner.n + 1))
        if value == -np.inf or value < top or not keeps(heads, labels):
            continue
        if value > top:
            top, winners = value, []
        winners.append((heads, labels))
    return top, winners
