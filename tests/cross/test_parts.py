"""The kernels list arcs and parts in the documented order: against the same order written in plain Python."""

import numpy as np
import pytest
from strategies import FAMILIES, arcs_in_order, parts

from treebound.factors import FAMILIES as REGISTERED
from treebound.kernels.arcs import index_arcs
from treebound.kernels.parts import index_parts, list_parts


def test_every_family_with_parts_has_an_oracle():
    assert set(REGISTERED) - {"arc"} <= set(FAMILIES)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("density", [0.2, 0.6, 1.0])
def test_order_of_arcs_and_parts(single_root, density):
    rng = np.random.default_rng(0)
    for n in [1, 1, 2, 2, 3, 3, *range(4, 12)]:
        allowed = rng.random((n + 1, n + 1)) < density
        allowed[:, 0] = False
        np.fill_diagonal(allowed, False)
        head, mod = arcs_in_order(allowed)
        index = index_arcs(n, allowed)
        assert index.head.tolist() == head.tolist()
        assert index.mod.tolist() == mod.tolist()
        tables = index_parts(index, single_root)
        for family in set(REGISTERED) - {"arc"}:
            listed = list_parts(REGISTERED[family].code, index, tables)[0]
            assert np.asarray(listed).tolist() == parts(family, head, mod, single_root).tolist(), (family, n)
