"""Check that the kernels list arcs and parts in the documented order, against the same order in plain Python.

The parts of each enumerated tree are also derived from their definition. The kernels must find exactly these parts.
"""

import numpy as np
import pytest
from oracles.trees import trees
from strategies import FAMILIES, arcs_in_order, parts

from treebound.checker.scoring import tree_parts
from treebound.core.problem import PRODUCTS
from treebound.factors import FAMILIES as REGISTERED
from treebound.kernels.arcs.numbering import arcs_of_tree, index_arcs
from treebound.kernels.arcs.parts import index_parts, list_parts, parts_of_tree
from treebound.kernels.arcs.wide_parts import products_of_tree

BY_ARCS = sorted(set(REGISTERED) - {"arc", "pattern"})  # the parts of a pattern depend on words
SPACES = ("projective", "non-projective")


def candidates(n, density, rng):
    allowed = rng.random((n + 1, n + 1)) < density
    allowed[:, 0] = False
    np.fill_diagonal(allowed, False)
    return allowed


def test_every_family_with_parts_has_an_oracle():
    assert set(REGISTERED) - {"arc"} <= set(FAMILIES)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("density", [0.2, 0.6, 1.0])
def test_order_of_arcs_and_parts(space, single_root, density):
    rng = np.random.default_rng(0)
    for n in [1, 1, 2, 2, 3, 3, *range(4, 12)]:
        allowed = candidates(n, density, rng)
        head, mod = arcs_in_order(allowed)
        index = index_arcs(n, allowed)
        assert index.head.tolist() == head.tolist()
        assert index.mod.tolist() == mod.tolist()
        tables = index_parts(index, single_root, space == "projective")
        for family in BY_ARCS:
            listed = list_parts(REGISTERED[family].code, index, tables)[0]
            expected = parts(family, n, head, mod, single_root, space)
            assert listed.shape == expected.shape
            assert listed.tolist() == expected.tolist(), (family, n)


@pytest.mark.parametrize("space", SPACES)
def test_words_of_parts(space):
    """Check the words of parts: heads precede modifiers, and modifiers of one head are ordered from left to right."""
    rng = np.random.default_rng(1)
    n = 9
    index = index_arcs(n, candidates(n, 0.7, rng))
    tables = index_parts(index, False, space == "projective")
    for family in BY_ARCS:
        arcs, words = list_parts(REGISTERED[family].code, index, tables)
        assert len(arcs) > 0
        for part, found_words in zip(arcs.tolist(), words.tolist(), strict=True):
            if family == "valency":
                assert found_words == [*part, -1, -1]
                continue
            real = [a for a in part if a >= 0]
            heads, mods = [index.head[a] for a in real], [index.mod[a] for a in real]
            empty = [a for a in part if a < 0]
            expected = {
                "adjacent-sibling": [heads[0], *empty, *mods],
                "outermost-grandchild": [heads[0], *mods, *empty],
                "grandchild": [heads[0], *mods],
                "great-grandchild": [heads[0], *mods],
                "grand-sibling": [heads[0], mods[0], *empty, *mods[1:]],
                "head-bigram": [heads[0], mods[0], heads[-1], mods[-1]],
                "sibling": [heads[0], *sorted(mods)],
                "tri-sibling": [heads[0], *sorted(mods)],
                "comb": [heads[0], mods[0], mods[-1]],
            }[family]
            assert found_words == [*expected, -1, -1][:4], family


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("family", BY_ARCS)
def test_parts_of_every_tree(family, single_root, space):
    """Check that the kernel finds exactly the parts that each tree has by definition."""
    n = 5
    index = index_arcs(n, candidates(n, 1.0, np.random.default_rng(0)))
    tables = index_parts(index, single_root, space == "projective")
    code = REGISTERED[family].code
    arcs, _ = list_parts(code, index, tables)
    number = {tuple(row): p for p, row in enumerate(arcs.tolist())}
    arc = {pair: a for a, pair in enumerate(zip(index.head.tolist(), index.mod.tolist(), strict=True))}
    seen = set()
    for heads in trees(n, space, single_root):
        into = arcs_of_tree(index, heads)
        numbers = parts_of_tree(code, index, tables, into).tolist()
        rows = [part if family == "valency" else [arc.get(a, a) for a in part] for part in tree_parts(family, heads)]
        rows = [(*row, *[-1] * (arcs.shape[1] - len(row))) for row in rows]
        if family == "adjacent-sibling" and single_root:
            rows = [row for row in rows if index.head[row[1]] != 0]
        assert sorted(numbers) == sorted(number[row] for row in rows), heads.tolist()
        if family in PRODUCTS:
            assert products_of_tree(arcs, into, len(index.head)).tolist() == sorted(numbers)
        seen |= set(numbers)
    # Listed parts that no tree has: arcs back to the head (non-projective), and empty sides of the single root.
    idle = space == "non-projective" or (family == "outermost-grandchild" and single_root)
    assert idle or seen == set(number.values())
