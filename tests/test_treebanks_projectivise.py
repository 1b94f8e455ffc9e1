"""Crossing arcs and lifting, compared with plain definitions on every tree of up to five words."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.trees import trees

from treebound.treebanks.projectivise import crossing, is_projective, projectivise


def spans(heads: list[int]) -> dict[int, tuple[int, int]]:
    return {m: (min(m, h), max(m, h)) for m, h in enumerate(heads) if m and h >= 0}


def naive_crossing(heads: list[int]) -> list[int]:
    """Return the words whose arc encloses exactly one end of another arc."""
    arcs = spans(heads)
    return [
        m
        for m, (a, b) in arcs.items()
        if any((a < c < b) != (a < d < b) and {c, d}.isdisjoint({a, b}) for c, d in arcs.values())
    ]


def naive_lift(heads: list[int]) -> list[int] | None:
    """Return the tree after one lift of the shortest non-projective arc.

    The leftmost of several shortest arcs is lifted. The result is None if the tree is projective.
    """

    def above(w: int) -> set[int]:
        return {w} | (above(heads[w]) if w else set())

    bad = [m for m, (a, b) in spans(heads).items() if any(heads[m] not in above(w) for w in range(a + 1, b))]
    if not bad:
        return None
    m = min(bad, key=lambda m: (abs(m - heads[m]), m))
    return [*heads[:m], heads[heads[m]], *heads[m + 1 :]]


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_every_small_tree(n, single_root):
    projective = {tuple(heads) for heads in trees(n, "projective", single_root).tolist()}
    for row in trees(n, "non-projective", single_root):
        heads = row.tolist()
        assert np.flatnonzero(crossing(row)).tolist() == naive_crossing(heads)
        assert is_projective(row) == (tuple(heads) in projective)
        lifted, lifts = projectivise(row)
        expected, count = heads, 0
        while (after := naive_lift(expected)) is not None:
            expected, count = after, count + 1
        assert (lifted.tolist(), lifts) == (expected, count)
        assert tuple(lifted.tolist()) in projective, "a projective tree with the required number of roots"
        assert lifted.dtype == np.int32
        assert row.tolist() == heads, "the input is unchanged"


def test_words_without_a_head_are_ignored():
    assert not crossing(np.array([-1, -1, 4, -1, 0], np.int32)).any()
    assert crossing(np.array([-1, 3, 4, -1, 0], np.int32)).tolist() == [False, True, True, False, False]
