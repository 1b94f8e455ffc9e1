"""Kernels of the search in isolation: hypergraphs, projections, records and proofs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from oracles.score import best, scores
from strategies import build_problem, random_problem

from treebound.checker.certificates import certificate_faults, check_parse
from treebound.checker.scoring import tree_score
from treebound.core.errors import UnsupportedError
from treebound.decoders.exact.branch_and_bound import decoder as branch_and_bound
from treebound.decoders.exact.branch_and_bound.decoder import BACKBONES, BranchAndBound
from treebound.decoders.exact.branch_and_bound.published import project_simplex
from treebound.decoders.exact.branch_and_bound.record import certificate
from treebound.decoders.exact.branch_and_bound.share_steps import ambiguities
from treebound.kernels.arcs.numbering import index_arcs
from treebound.kernels.arcs.parts import index_parts
from treebound.kernels.chart.backbones import chart_scores
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST, best_arcs, compact, inside, mark

PROJECTIVE = [name for name, backbone in BACKBONES.items() if backbone.space == "projective"]
FAMILIES = ("adjacent-sibling", "outermost-grandchild", "grandchild", "sibling")


def graph_of(problem, backbone):
    allowed = np.zeros((problem.n + 1, problem.n + 1), bool)
    allowed[problem.head, problem.mod] = True
    index = index_arcs(problem.n, allowed)
    parts = index_parts(index, problem.single_root)
    part_scores = {f: table.score for f, table in problem.parts.items()}
    return BACKBONES[backbone].graph(index, parts, chart_scores(part_scores), 10**9)


@pytest.mark.parametrize("backbone", PROJECTIVE)
def test_max_marginals_and_removal_are_exact(backbone):
    """Check `arc_max`, the score of the best tree through each arc, and the removal of edges.

    The remaining edges contain every tree that scores more than the cut.
    """
    rng = np.random.default_rng(3)
    exact = sorted(BACKBONES[backbone].families - {"arc"})
    for _ in range(60):
        problem = random_problem(rng, exact, max_n=5, feasible=True, integer=True)
        graph = graph_of(problem, backbone)
        items, edges, arcs = len(graph.first) - 1, len(graph.left), problem.arcs
        weight = np.append(problem.arc, 0.0)
        value, outside = np.empty(items + 1), np.empty(items + 1)
        argbest, keep, arc_max = np.empty(items + 1, np.int32), np.empty(edges, bool), np.empty(arcs + 1)
        top = inside(graph, weight, value, argbest)
        assert top == best(problem)[0]
        from oracles.trees import trees

        every, score = trees(problem.n, "projective", problem.single_root), scores(problem)
        cut = float(rng.choice(score[np.isfinite(score)]))
        kept_edges, remaining = mark(graph, weight, value, cut, outside, keep, arc_max)
        for a in range(arcs):
            through = score[every[:, problem.mod[a]] == problem.head[a]]
            expected = through.max(initial=-np.inf)
            if np.isfinite(expected) and expected > cut:
                assert arc_max[a] == expected
            else:
                assert arc_max[a] <= max(cut, NEG_TEST)
        if kept_edges:
            small = compact(graph, outside, keep, kept_edges, remaining)
            assert inside(small, weight, value, argbest) == top
            chosen = np.empty(problem.n, np.int32)
            local = best_arcs(small, arcs, argbest, chosen, np.empty(2 * problem.n + 8, np.int32))
            assert local + problem.arc[chosen].sum() == top
        else:
            assert top <= cut


def test_projection_onto_the_simplex():
    """Check the optimality condition of a projection: no vertex of the simplex lies in the direction of the point."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        for size in (2, 3, 5, 8):
            q = rng.normal(size=size) * rng.choice([0.1, 1.0, 100.0])
            p = q.copy()
            project_simplex(p)
            assert p.sum() == pytest.approx(1.0)
            assert (p >= 0).all()
            assert ((np.eye(size) - p) @ (q - p)).max() <= 1e-12 * max(1.0, np.abs(q).max() ** 2)


@pytest.mark.parametrize("backbone", PROJECTIVE)
def test_every_proof_is_accepted_by_code_that_did_not_make_it(backbone):
    rng = np.random.default_rng(5)
    branched = 0
    families = [f for f in FAMILIES if backbone != "eisner" or f in ("grandchild", "sibling")]
    decoder = BranchAndBound(backbone=backbone, record=True, root_steps=3, node_steps=2)
    for _ in range(250):
        problem = random_problem(rng, [f for f in families if rng.random() < 0.8], max_n=6)
        parse = decoder.decode(problem)
        assert check_parse(problem, parse, certificate(parse.record)) == []
        branched += len(parse.record.nodes) > 1
    assert branched > (10 if backbone != "grandparent-sibling" else 3)


def test_a_proof_does_not_prove_a_lower_bound():
    """The checker refuses the record of a search as the proof of a bound that is lower by only 1."""
    rng = np.random.default_rng(6)
    for _ in range(60):
        problem = random_problem(rng, FAMILIES, max_n=6, feasible=True, integer=True)
        parse = BranchAndBound(record=True).decode(problem)
        assert certificate_faults(problem, parse.bound - 1, certificate(parse.record)) != []


@pytest.mark.parametrize("space", ["projective", "non-projective"])
def test_a_search_proposes_a_proof_of_any_true_bound(space):
    rng = np.random.default_rng(11)
    decoder = BranchAndBound(space=space)
    proved = 0
    for _ in range(25):
        problem = random_problem(rng, FAMILIES, max_n=5, feasible=True, integer=True, space=space)
        best = decoder.decode(problem).value
        for bound in (best, best + 3, best - 1, -np.inf):
            faults = certificate_faults(problem, bound, certificate(decoder.proof(problem, bound)), space)
            assert (faults == []) == (bound >= best)
            proved += faults == []
    assert proved == 50


def test_a_record_tells_the_search():
    rng = np.random.default_rng(8)
    problem = build_problem(7, rng, FAMILIES, kind="mixed")
    parse = BranchAndBound(backbone="carreras", record=True, root_steps=2, node_steps=2).decode(problem)
    record = parse.record
    assert [b["call"] for b in record.bounds] == list(range(1, parse.work["dp_calls"] + 1))
    assert len(record.nodes) == parse.work["nodes"]
    lower = [b["lb"] for b in record.bounds]
    assert lower == sorted(lower)
    assert lower[-1] == parse.value
    assert {n["status"] for n in record.nodes} <= {"branched", "closed"}
    assert all(0 <= n["parent"] < n["id"] for n in record.nodes[1:])
    plain = BranchAndBound(backbone="carreras", root_steps=2, node_steps=2).decode(problem)
    assert plain.record is None
    assert (plain.value, plain.work) == (parse.value, parse.work)  # recording does not change the search


def test_the_bounds_in_a_record_of_real_scores_are_not_rounded():
    rng = np.random.default_rng(9)
    for _ in range(10):
        problem = random_problem(rng, FAMILIES, max_n=5, feasible=True, integer=False)
        parse = BranchAndBound(record=True).decode(problem)
        assert all(b["ub"] >= parse.value - 1e-9 * abs(parse.value) for b in parse.record.bounds if b["node"] == 0)


@pytest.mark.parametrize("config", ["tuned", "published"])
def test_a_sentence_too_large_to_search_gets_a_tree_and_no_claim(config, monkeypatch):
    monkeypatch.setattr(branch_and_bound, "MAX_EDGES", 10)
    problem = build_problem(6, np.random.default_rng(0), FAMILIES)
    parse = BranchAndBound(config=config).decode(problem)
    assert parse.status == "limit"
    assert parse.bound == np.inf
    assert parse.value == tree_score(problem, parse.heads)
    assert check_parse(problem, parse) == []
    nothing = dataclasses.replace(problem, arc=np.full(problem.arcs, -np.inf))
    assert BranchAndBound(config=config).decode(nothing).status == "infeasible"


def test_the_only_tree_that_is_left_needs_no_more_nodes() -> None:
    """Check a rare node: its only tree is scored, and its bound is above the score. This draw of problems has one."""
    rng = np.random.default_rng(0)
    for i in range(576):
        problem = random_problem(rng, max_n=6, space="projective" if i % 2 else "non-projective")
        rng.choice([0, 20])
    parse = BranchAndBound(root_steps=1, node_steps=1, stars=0).decode(problem)
    assert (parse.value, parse.work["nodes"], parse.work["root_solved"]) == (best(problem)[0], 7, 0)


def test_the_ambiguity_of_an_arc_is_its_lead_over_the_other_arcs_into_its_word() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        problem = random_problem(rng, (), max_n=5, feasible=True)
        allowed = np.zeros((problem.n + 1, problem.n + 1), bool)
        allowed[problem.head, problem.mod] = True
        arc_max = rng.integers(-4, 5, problem.arcs).astype(float)
        ambiguity = np.full(problem.arcs, np.nan)
        ambiguities(index_arcs(problem.n, allowed), arc_max, ambiguity)
        for a, m in enumerate(problem.mod):
            others = arc_max[(problem.mod == m) & (np.arange(problem.arcs) != a)]
            assert ambiguity[a] == arc_max[a] - others.max(initial=NEG)


def test_the_published_search_stops_when_a_tree_meets_the_bound() -> None:
    problem = build_problem(5, np.random.default_rng(1), (), integer=True)
    parse = BranchAndBound(config="published").decode(problem)
    assert (parse.value, parse.work["nodes"]) == (best(problem)[0], 1)
    assert parse.work["dp_calls"] <= 3  # the first lower bound needs two calls, and the step one


def test_the_published_search_is_exact_for_real_scores_of_pairs() -> None:
    for seed in range(0, 40, 2):
        problem = random_problem(
            np.random.default_rng(seed), ("grandchild", "sibling"), max_n=5, feasible=True, integer=False
        )
        parse = BranchAndBound("published", start="tree").decode(problem)
        assert parse.status == "optimal"
        assert parse.value == pytest.approx(best(problem)[0])


def test_an_arc_that_the_published_search_requires_forbids_all_arcs_that_exclude_it() -> None:
    """Check a problem with few nodes. They would be many if some arcs into a word with a required arc remained."""
    families = ("sibling", "grandchild", "head-bigram", "tri-sibling")
    problem = random_problem(np.random.default_rng(59), families, max_n=5, feasible=True, integer=True, kind="tied")
    parse = BranchAndBound("published", start="tree", max_dp_calls=100).decode(problem)
    assert (parse.status, parse.value) == ("optimal", best(problem)[0])


def test_unknown_options_are_reported_with_the_known_ones() -> None:
    with pytest.raises(UnsupportedError, match="unknown scheme 'x'; choose from polyak, momentum, averaged"):
        BranchAndBound(scheme="x")


def test_the_published_search_refuses_to_keep_a_record() -> None:
    with pytest.raises(UnsupportedError, match="the published configuration keeps no record"):
        BranchAndBound(config="published", record=True)


def test_head_stars_change_no_search_without_parts_that_they_score() -> None:
    rng = np.random.default_rng(4)
    branched = 0
    for _ in range(30):
        problem = random_problem(rng, ("head-bigram",), max_n=6, feasible=True)
        plain, stars = (BranchAndBound(stars=steps, root_steps=2, node_steps=2).decode(problem) for steps in (0, 20))
        assert (plain.value, plain.work) == (stars.value, stars.work)
        branched += plain.work["nodes"] > 1
    assert branched > 5


def test_the_trees_of_the_first_lower_bound_count_toward_the_limit() -> None:
    rng = np.random.default_rng(4)
    long = 0
    for _ in range(60):
        problem = random_problem(rng, ("grandchild", "sibling"), max_n=6, feasible=True)
        if BranchAndBound(backbone="eisner", start="pi").decode(problem).work["dp_calls"] > 10:
            parse = BranchAndBound(backbone="eisner", start="pi", max_dp_calls=2).decode(problem)
            assert (parse.status, parse.work["dp_calls"] < 6) == ("limit", True)
            long += 1
    assert long > 5


@pytest.mark.parametrize("scheme", ["polyak", "momentum", "averaged", "block-coordinate"])
def test_every_scheme_proves_the_best_tree(scheme: str) -> None:
    rng = np.random.default_rng(12)
    decoder = BranchAndBound(backbone="eisner", scheme=scheme, record=True, root_steps=4, node_steps=3)
    steps = 0
    for _ in range(15):
        problem = random_problem(rng, ("grandchild", "sibling"), max_n=5, feasible=True)
        parse = decoder.decode(problem)
        assert parse.value == pytest.approx(best(problem)[0])
        assert check_parse(problem, parse, certificate(parse.record)) == []
        steps += parse.work["dp_calls"] - parse.work["nodes"]
    assert steps > 15


def test_the_order_level_finishes_a_level_before_the_next() -> None:
    """Check a search of many nodes: the parents of its nodes, in the order of the search, are never numbered lower."""
    problem = build_problem(8, np.random.default_rng(0), ("grandchild", "sibling", "head-bigram"), kind="mixed")
    decoder = BranchAndBound(
        backbone="eisner", order="level", root_steps=0, node_steps=0, eliminate=False, record=True, max_nodes=150
    )
    parents = [node["parent"] for node in decoder.decode(problem).record.nodes]
    assert len(parents) > 100
    assert parents == sorted(parents)


@pytest.mark.parametrize("calls", [2, 4, 6])
def test_head_stars_change_no_step_before_they_take_over(calls: int) -> None:
    """Check searches that stop before head stars take over. Until then, shares alone determine the bounds."""
    bounds = set()
    for seed in range(8):
        problem = build_problem(5, np.random.default_rng(seed), ("sibling", "grandchild"), kind="mixed")
        plain, stars = (
            BranchAndBound(backbone="eisner", stars=steps, max_dp_calls=calls, eliminate=False).decode(problem)
            for steps in (0, 20)
        )
        assert (stars.value, stars.bound, stars.work) == (plain.value, plain.bound, plain.work)
        bounds.add(plain.bound)
    assert len(bounds) == 8
