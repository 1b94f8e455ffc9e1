"""Marginals for scores of any size, compared with enumeration in decimal arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from exact_marginals import expected, random_arcs
from oracles.trees import trees
from strategies import tries

import treebound
from treebound.decoders.confidence import arc_marginals
from treebound.kernels.chart.marginals import matrix_tree_marginals
from treebound.kernels.chart.spanning import spanning_tree_marginals

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize("space", ["projective", "non-projective"])
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("size", [1.0, 30.0, 300.0, 1e4, 1e6, 1e9])
@tries(20, 300)
def test_marginals_of_scores_of_any_size(space: str, single_root: bool, size: float, tries: int) -> None:
    rng = np.random.default_rng(5)
    for _ in range(tries):
        arc = random_arcs(rng, size)
        log_z, marginal = expected(arc, space, single_root)
        made = treebound.problem(arc, space=space, single_root=single_root)
        result = arc_marginals(made, space)
        if log_z is None:
            assert np.isnan(result).all()
            continue
        np.testing.assert_allclose(result, marginal[made.head, made.mod], rtol=0, atol=1e-9 + size * 1e-15)
        parse = treebound.decode(arc, space=space, single_root=single_root, marginals=True)
        for m in range(1, len(arc)):
            assert parse.confidence.marginals[m] == pytest.approx(marginal[parse.heads[m], m], abs=1e-9 + size * 1e-15)


@pytest.mark.parametrize("single_root", [True, False])
@tries(60, 1000)
def test_sums_of_positive_terms_are_exact(single_root: bool, tries: int) -> None:
    rng = np.random.default_rng(6)
    for case in range(tries):
        arc = random_arcs(rng, (1.0, 10.0, 100.0, 1e3, 1e6)[case % 5])
        arc += rng.normal(size=len(arc)) * 100
        log_z, marginal = expected(arc, "non-projective", single_root)
        out = np.empty(arc.shape)
        total = spanning_tree_marginals(arc.copy(), single_root, out)
        np.testing.assert_allclose(out, marginal, rtol=1e-8, atol=1e-300)  # small probabilities, too
        assert total == pytest.approx(float(log_z) if log_z is not None else -np.inf, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("single_root", [True, False])
def test_both_ways_agree_on_long_sentences(single_root: bool) -> None:
    rng = np.random.default_rng(7)
    for n in (6, 13, 40):
        arc = rng.normal(size=(n + 1, n + 1)) * 2
        out = np.empty(arc.shape)
        log_z = spanning_tree_marginals(arc.copy(), single_root, out)
        head, mod = (x.ravel() for x in np.indices(arc.shape))
        keep = (mod > 0) & (head != mod)
        total, marginal = matrix_tree_marginals(n, head[keep], mod[keep], arc[head[keep], mod[keep]], single_root)
        assert total == pytest.approx(log_z, rel=1e-12)
        np.testing.assert_allclose(marginal, out[head[keep], mod[keep]], rtol=0, atol=1e-12)


@pytest.mark.parametrize("space", ["projective", "non-projective"])
def test_a_scale_of_zero_counts_trees(space: str) -> None:
    arc = np.random.default_rng(8).normal(size=(4, 4))
    arc[3, 1] = -np.inf
    parse = treebound.decode(arc, space=space, marginals=True, scale=0.0)
    every = [heads for heads in trees(3, space) if heads[1] != 3]
    for m in (1, 2, 3):
        share = sum(heads[m] == parse.heads[m] for heads in every) / len(every)
        assert parse.confidence.marginals[m] == pytest.approx(share)
    with pytest.raises(treebound.InputError, match=r"scale = 1e\+308; give a smaller scale"):
        treebound.decode(arc * 1e3, space=space, marginals=True, scale=1e308)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("size", [1.0, 300.0, 1e9])
@tries(20, 300)
def test_marginals_without_a_hypergraph(single_root: bool, size: float, tries: int, monkeypatch) -> None:
    """The arc tables that long sentences use give the same marginals as enumeration."""
    monkeypatch.setattr("treebound.decoders.confidence.MAX_EDGES", 0)
    rng = np.random.default_rng(6)
    for _ in range(tries):
        arc = random_arcs(rng, size)
        log_z, marginal = expected(arc, "projective", single_root)
        made = treebound.problem(arc, single_root=single_root)
        result = arc_marginals(made)
        if log_z is None:
            assert np.isnan(result).all()
        else:
            np.testing.assert_allclose(result, marginal[made.head, made.mod], atol=1e-9)
