"""Limits that keep a long sentence within memory: its length, and the parts that its candidate arcs make up.

A head with k candidate modifiers has k^2 / 2 pairs of siblings. Where a pruner is sure of itself, k is small, and parts
grow with the sentence. Where it knows nothing of the words, a list of numbers for instance, thousands of words may
share ten heads: parts then grow with the square of the length.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from treebound.core.errors import InputError
from treebound.core.treebank import Treebank

#: words of the longest sentence that a graph-based model parses or learns from
LONGEST = 10_000
#: parts of a sentence, all families together; each takes up to 100 bytes in a search
MAX_PARTS = 1 << 24
#: families of three arcs or more: arcs of a sentence cubed is an upper bound of their parts
_WIDE = frozenset({"great-grandchild", "tri-sibling", "grand-sibling"})


def too_long(n: int, longest: int, name: str, **place: Any) -> InputError:
    """The error for a sentence of n words, more than `longest`; place is the path and the line of `InputError`."""
    return InputError(f"{name} has {n:,} words, more than {longest:,}", hint="split the sentence", **place)


def check_lengths(treebank: Treebank, longest: int = LONGEST) -> None:
    """InputError for the first sentence that is longer than `longest` words. O(sentences)."""
    lengths = treebank.lengths
    if len(lengths) and lengths.max() > longest:
        i = int(np.argmax(lengths > longest))
        raise too_long(int(lengths[i]), longest, f"sentence {i + 1}", path=treebank.name)


def limit_parts(allowed: np.ndarray, families: Collection[str], most: int = MAX_PARTS) -> tuple[np.ndarray, bool]:
    """Candidate arcs bool[n + 1, n + 1] (head first) with at most `most` parts, and whether that took fewer arcs.

    Where there are more, a head keeps its nearest candidate modifiers, as many of them as fit: half of the largest
    number, a quarter and so on. The arcs 0 -> 1 -> 2 ... are added, so that there is a tree in any case.
    """
    n = len(allowed) - 1
    arcs = int(np.count_nonzero(allowed))
    if arcs ** (3 if _WIDE & set(families) else 2) * len(families) <= most or part_bound(allowed, families) <= most:
        return allowed, False
    size = int(allowed.sum(axis=1).max())
    chain = np.zeros_like(allowed)
    chain[np.arange(n), np.arange(1, n + 1)] = True
    while True:
        size //= 2
        fewer = _nearest(allowed, size) | chain
        if size == 0 or part_bound(fewer, families) <= most:
            return fewer, True


def part_bound(allowed: np.ndarray, families: Collection[str]) -> int:
    """An upper bound of the number of parts that candidate arcs make up, in integers of any size. O(n^2).

    It is the number of parts of non-projective trees with several roots, but for combs and families of neighbouring
    heads, whose number is bounded by that of arcs.
    """
    n = len(allowed) - 1
    into = allowed.sum(axis=0, dtype=np.int64)
    of_left = np.tril(allowed, -1).sum(axis=1, dtype=np.int64)
    of_right = np.triu(allowed, 1).sum(axis=1, dtype=np.int64)
    out = of_left + of_right
    arcs, chains = int(out.sum()), int((into * out).sum())
    halves = int((of_left * (of_left + 1) // 2 + of_right * (of_right + 1) // 2).sum())
    children = out[1:]
    counts = {
        "adjacent-sibling": halves,
        "outermost-grandchild": chains + 2 * arcs,
        "grandchild": chains,
        "sibling": int((children * (children - 1) // 2).sum()),
        "comb": 5 * arcs,
        "head-bigram": int((into[1:-1] * into[2:]).sum()),
        "tri-sibling": sum(k * (k - 1) * (k - 2) // 6 for k in children.tolist()),
        "grand-sibling": int((into * (of_left * (of_left + 1) + of_right * (of_right + 1)) // 2).sum()),
        "valency": 8 * n,
    }
    if "great-grandchild" in families:
        head, mod = np.nonzero(allowed)
        counts["great-grandchild"] = int((into[head] * out[mod]).sum())
    return sum(counts.get(family, 0) for family in families)


def _nearest(allowed: np.ndarray, size: int) -> np.ndarray:
    """Of every head the `size` nearest candidate modifiers; of two equally near ones the left one is nearer."""
    fewer = allowed.copy()
    for h in np.flatnonzero(allowed.sum(axis=1) > size).tolist():
        mods = np.flatnonzero(allowed[h])
        order = np.argsort(np.abs(mods - h), kind="stable")
        fewer[h, mods[order[size:]]] = False
    return fewer
