"""Limit the length of sentences and the number of parts, so that a long sentence fits into memory.

A head with k candidate modifiers has k^2 / 2 pairs of siblings. If a pruner is certain, k is small, and the number of
parts grows linearly with the sentence. If the pruner knows none of the words, for instance in a list of numbers,
thousands of words may share ten heads. The number of parts then grows with the square of the length.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from treebound.core.errors import InputError
from treebound.core.treebank import Treebank

#: maximum number of words of a sentence that a graph-based model parses or learns from
LONGEST = 10_000
#: maximum number of parts of a sentence, over all families; each takes up to 100 bytes in a search
MAX_PARTS = 1 << 24
#: families whose parts have three arcs; the cube of a sentence's number of arcs is an upper bound on their number
_WIDE = frozenset({"great-grandchild", "tri-sibling", "grand-sibling"})


def too_long(n: int, longest: int, name: str, **place: Any) -> InputError:
    """Return the error for a sentence of n words, more than `longest`; `place` is the path and line of the sentence."""
    return InputError(f"{name} has {n:,} words, more than {longest:,}", hint="split the sentence", **place)


def check_lengths(treebank: Treebank, longest: int = LONGEST) -> None:
    """Raise InputError for the first sentence that is longer than `longest` words. O(sentences)."""
    lengths = treebank.lengths
    if len(lengths) and lengths.max() > longest:
        i = int(np.argmax(lengths > longest))
        raise too_long(int(lengths[i]), longest, f"sentence {i + 1}", path=treebank.name)


def limit_parts(allowed: np.ndarray, families: Collection[str], most: int = MAX_PARTS) -> tuple[np.ndarray, bool]:
    """Return candidate arcs with at most `most` parts, and whether arcs had to be removed.

    Candidate arcs are bool[n + 1, n + 1], head first. If they form too many parts, each head keeps only its nearest
    candidate modifiers. The number that each head keeps is a half of the largest number of modifiers, then a quarter,
    and so on, until there are at most `most` parts. The arcs 0 -> 1 -> 2 ... are added, so that a tree always exists.
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
    """Return an upper bound on the number of parts of candidate arcs, in integers of any size. O(n^2).

    The bound counts the parts of non-projective trees with several roots. The numbers of combs and of head bigrams are
    only estimated from above, by numbers of arcs.
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
    """Return only the `size` nearest candidate modifiers of every head; a tie goes to the modifier on the left."""
    fewer = allowed.copy()
    for h in np.flatnonzero(allowed.sum(axis=1) > size).tolist():
        mods = np.flatnonzero(allowed[h])
        order = np.argsort(np.abs(mods - h), kind="stable")
        fewer[h, mods[order[size:]]] = False
    return fewer
