"""Test that the checker accepts proofs of a slow branch and bound over enumerated trees and rejects damaged proofs."""

import dataclasses
import math

import numpy as np
import pytest
from oracles.score import best, scores
from oracles.trees import trees
from strategies import build_problem, random_problem

from treebound.checker.certificates import Certificate, CertNode, Step, certificate_faults, check_parse, tree_faults
from treebound.core.parse import Parse
from treebound.core.problem import NONE, PartTable
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound
from treebound.decoders.exact.branch_and_bound.record import certificate


def prove(problem, exact, rng, value):
    """Return a certificate of a branch and bound that bounds enumerated trees with random shares.

    A node of the search is a set of enumerated trees. An arc is removed from a node when no remaining tree has it.
    """
    every = trees(problem.n, single_root=problem.single_root)
    selected = np.zeros((len(every), problem.arcs), bool)
    for a in range(problem.arcs):
        selected[:, a] = every[:, problem.mod[a]] == problem.head[a]
    possible = (selected.sum(axis=1) == problem.n) & ~selected[:, problem.arc == -np.inf].any(axis=1)
    parts = {f: t for f, t in problem.parts.items() if f in exact}
    local = scores(dataclasses.replace(problem, arc=np.zeros(problem.arcs), parts=parts))
    finite_arc = np.where(problem.arc == -np.inf, 0.0, problem.arc)
    nodes = []

    def bound(table, share, shift):
        phi = table.score - shift[table.arcs[:, 1]] if table.family == "grandchild" else table.score
        e, f = selected[:, table.arcs[:, 0]], selected[:, table.arcs[:, 1]]
        up, down = np.where(phi >= 0, phi - share, -share), np.where(phi >= 0, share, -share)
        return e @ down + f @ up + share[phi < 0].sum()

    def expand(parent, arc, decided, alive):
        steps, i = [], len(nodes)
        nodes.append(CertNode(parent, arc, decided, steps))
        for _ in range(int(rng.integers(0, 3))):
            shift = np.zeros(problem.arcs)
            if "grandchild" in problem.parts and "grandchild" not in exact and rng.random() < 0.5:
                shift = np.where(problem.head > 0, rng.integers(-20, 21, problem.arcs), 0).astype(float)
            shares, psi = {}, local + selected @ (finite_arc + shift)
            for family, table in problem.parts.items():
                if family in exact:
                    continue
                phi = table.score - shift[table.arcs[:, 1]] if family == "grandchild" else table.score
                top = np.where(phi == -np.inf, 10_000, abs(phi))
                shares[family] = np.minimum(np.floor(rng.random(len(table)) * (top + 1)), top)
                if problem.unit == 0:
                    shares[family] = top * rng.random(len(table))
                psi = psi + bound(table, shares[family], shift)
            steps.append(Step(shares, shift if shift.any() else None))
            slack = 0 if problem.unit else 1e-9 * max(1.0, abs(value))
            arcs_left = (selected[alive & (psi > value + slack)]).any(axis=0)
            alive = alive & ~selected[:, ~arcs_left].any(axis=1)
        options = np.flatnonzero(selected[alive].any(axis=0) & ~selected[alive].all(axis=0)) if alive.any() else []
        if not alive.any():
            return
        if len(options) == 0:  # one tree: add the bound that is exact for it
            (row,) = np.flatnonzero(alive)
            shares = {}
            for family, table in problem.parts.items():
                if family not in exact:
                    e, f = selected[row, table.arcs[:, 0]], selected[row, table.arcs[:, 1]]
                    finite = np.where(table.score == -np.inf, -1e6, table.score)
                    shares[family] = np.where(finite >= 0, np.where(e, 0, finite), np.where(e | f, -finite, 0.0))
            steps.append(Step(shares))
            return
        branch = int(rng.choice(options))
        for v in rng.permutation(2).tolist():
            expand(i, branch, v, alive & (selected[:, branch] == v))

    expand(-1, -1, 0, possible)
    return Certificate(nodes, frozenset(exact))


EXACT = [
    (),
    ("adjacent-sibling",),
    ("adjacent-sibling", "outermost-grandchild"),
    ("adjacent-sibling", "outermost-grandchild", "grandchild"),
]


@pytest.mark.parametrize("exact", EXACT, ids=lambda e: "+".join(e) or "arc")
def test_true_proofs_are_accepted_and_false_claims_are_not(exact):
    rng = np.random.default_rng(7)
    proofs = open_claims = 0
    for _ in range(50):
        families = {*exact, *rng.choice(["grandchild", "sibling"], 2)}
        problem = random_problem(rng, sorted(families), max_n=5, kind=str(rng.choice(["dense", "sparse", "tied"])))
        value, winners = best(problem)
        if value == -np.inf:
            continue
        certificate = prove(problem, exact, rng, value)
        parse = Parse(winners[0], value, value, "optimal")
        assert check_parse(problem, parse, certificate) == []
        proofs += 1
        # No certificate proves a bound below the best score.
        slack = 1.0 if problem.unit else 1e-3
        assert certificate_faults(problem, value - slack, certificate)
        # Without bounds and children the root is open.
        open_root = Certificate([CertNode(-1, -1, 0)], certificate.exact_families)
        assert check_parse(problem, parse, open_root) == [
            "node 0 is not closed and has no pair of children for one arc"
        ]
        # Without the last leaf its parent is open, unless the chart closed the parent without branching.
        if len(certificate.nodes) > 1:
            cut = Certificate(certificate.nodes[:-1], certificate.exact_families)
            open_claims += bool(check_parse(problem, parse, cut))
    assert proofs > 30
    assert open_claims > 10


def small_problem():
    return build_problem(4, np.random.default_rng(2), ("grandchild", "sibling"), kind="dense")


def proved(problem):
    value, winners = best(problem)
    certificate = prove(problem, (), np.random.default_rng(0), value)
    parse = Parse(winners[0], value, value, "optimal")
    assert check_parse(problem, parse, certificate) == []
    assert any(node.steps for node in certificate.nodes)
    return parse, certificate


def with_step(certificate, change):
    """Return the certificate with its first step changed."""
    i = next(i for i, node in enumerate(certificate.nodes) if node.steps)
    node = certificate.nodes[i]
    nodes = list(certificate.nodes)
    nodes[i] = dataclasses.replace(node, steps=[change(node.steps[0]), *node.steps[1:]])
    return dataclasses.replace(certificate, nodes=nodes)


def changed_share(delta):
    def change(step):
        shares = {family: share.copy() for family, share in step.shares.items()}
        shares["sibling"][0] += delta
        return dataclasses.replace(step, shares=shares)

    return change


@pytest.mark.parametrize("seed", [51, 77, 289, 328, 388])
def test_proofs_of_a_backbone_with_grandparents_but_no_such_parts(seed):
    """Check that proofs of problems without grandparent parts are accepted.

    Their backbone records the head of each head. It removes edges that a chart of heads and modifiers does not have.
    """
    problem = build_problem(
        5 + seed % 2, np.random.default_rng(seed), ("adjacent-sibling", "sibling", "valency"), kind="mixed"
    )
    parse = BranchAndBound(record=True, root_steps=3, node_steps=2).decode(problem)
    assert parse.status == "optimal"
    assert check_parse(problem, parse, certificate(parse.record)) == []


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (changed_share(1e6), "outside"),
        (changed_share(-1e6), "outside"),
        (changed_share(0.5), "fractions"),
        (lambda step: Step({"sibling": step.shares["sibling"]}, step.shift), "no shares for the family grandchild"),
        (lambda step: Step(step.shares | {"sibling": step.shares["sibling"][1:]}, step.shift), "numbers, not"),
        (lambda step: Step(step.shares, np.ones(16)), "only arcs of words"),
    ],
)
def test_wrong_shares(damage, fault):
    problem = small_problem()
    parse, certificate = proved(problem)
    assert fault in check_parse(problem, parse, with_step(certificate, damage))[0]


def test_wrong_search_trees():
    problem = small_problem()
    parse, certificate = proved(problem)
    nodes = certificate.nodes
    child = nodes[1]
    wrong = {
        "the certificate is empty": [],
        "not the root of the search tree": nodes[1:],
        "does not come before it": [nodes[0], dataclasses.replace(child, parent=5)],
        "decides arc 99": [nodes[0], dataclasses.replace(child, arc=99)],
        "no pair of children": [nodes[0]] + [child] * 2,
    }
    for fault, altered in wrong.items():
        faults = check_parse(problem, parse, dataclasses.replace(certificate, nodes=altered))
        assert fault in " ".join(faults)


def test_families_without_a_bound_are_refused():
    problem = build_problem(3, np.random.default_rng(0), ("adjacent-sibling",))
    value, winners = best(problem)
    parse = Parse(winners[0], value, value, "optimal")
    root = Certificate([CertNode(-1, -1, 0, [Step({})])])
    assert "no shares for the family adjacent-sibling, nor another bound" in check_parse(problem, parse, root)[0]
    exact = dataclasses.replace(root, exact_families=frozenset({"adjacent-sibling"}))
    assert check_parse(problem, parse, exact) == []
    # the chart has projective trees only
    assert "no bound is known" in check_parse(problem, parse, exact, "non-projective")[0]
    cousins = dataclasses.replace(problem.parts["adjacent-sibling"], family="cousin")
    unknown = dataclasses.replace(problem, parts={"cousin": cousins})
    assert certificate_faults(unknown, value, root) == ["no bound is known for the family cousin"]


def test_wrong_claims_about_score_bound_and_status():
    problem = build_problem(4, np.random.default_rng(1), ("sibling",))
    value, winners = best(problem)
    good = Parse(winners[0], value, value, "optimal")
    assert check_parse(problem, good) == []
    assert check_parse(problem, dataclasses.replace(good, value=value + 1, bound=value + 1))
    assert check_parse(problem, dataclasses.replace(good, bound=value - 1, status="limit"))
    assert check_parse(problem, dataclasses.replace(good, bound=value + 1))
    assert check_parse(problem, dataclasses.replace(good, value=math.nan))
    assert check_parse(problem, dataclasses.replace(good, bound=value + 5, status="limit")) == []
    assert check_parse(problem, dataclasses.replace(good, bound=math.inf, status="heuristic")) == []
    nothing = Parse(np.array([-1, 0, 0, 0, 0]), -math.inf, math.inf, "limit")
    assert check_parse(problem, nothing) == []
    assert "no tree is claimed" in check_parse(problem, dataclasses.replace(nothing, heads=winners[0]))[0]
    assert check_parse(problem, dataclasses.replace(nothing, status="optimal"))
    forbidden = dataclasses.replace(problem, arc=np.full(problem.arcs, -np.inf))
    assert "forbids" in check_parse(forbidden, good)[0]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"bound": math.nan}, "the bound is nan"),
        ({"value": math.nan}, "the score is nan"),
        ({"bound": math.inf}, "called optimal with the bound inf"),
        ({"bound": -math.inf, "status": "limit"}, "there is no tree"),
        ({"status": "nonsense"}, "unknown status 'nonsense'"),
        ({"status": "heuristic"}, "called heuristic, which proves nothing"),
        ({"status": "infeasible"}, "called infeasible with score"),
        ({"value": -math.inf}, "called optimal with the score -inf"),
        ({"value": math.inf, "status": "limit"}, "called limit with the score inf"),
    ],
)
def test_contradictory_claims(change, fault):
    """Check that contradictory claims are refused, with and without a proof.

    A comparison with nan must never count as true.
    """
    problem = small_problem()
    parse, certificate = proved(problem)
    for proof in (None, certificate):
        assert fault in check_parse(problem, dataclasses.replace(parse, **change), proof)[0]
    assert certificate_faults(problem, math.nan, certificate)
    assert certificate_faults(problem, math.inf, certificate)


def test_a_bound_of_an_unfinished_search_is_proved_too():
    """Check that a root node suffices as the proof of a claim with a gap, but not of a claim without a gap."""
    problem = build_problem(4, np.random.default_rng(5), ("sibling",), kind="mixed")
    value, winners = best(problem)
    table = problem.parts["sibling"]
    step = Step({"sibling": np.where(table.score > 0, table.score, 0.0)})
    root = Certificate([CertNode(-1, -1, 0, [step])])
    above = float(np.abs(problem.arc).sum() + np.abs(table.score).sum())
    assert check_parse(problem, Parse(winners[0], value, above, "limit"), root) == []
    assert check_parse(problem, Parse(winners[0], value, value, "limit"), root)


def test_infeasible():
    """Check proofs that a problem has no tree, for two causes.

    Words 1 and 2 can only have each other as heads, or the only possible tree has a forbidden pair of arcs.
    """
    cycle = build_problem(2, np.random.default_rng(0), allowed=np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0]], bool))
    nothing = Parse(np.array([-1, 0, 0]), -math.inf, -math.inf, "infeasible")
    root = Certificate([CertNode(-1, -1, 0)], frozenset({"adjacent-sibling", "outermost-grandchild", "grandchild"}))
    only_arcs = dataclasses.replace(cycle, parts={})
    assert check_parse(only_arcs, nothing, dataclasses.replace(root, exact_families=frozenset())) == []
    assert check_parse(only_arcs, dataclasses.replace(nothing, heads=np.array([-1, 2, 1])))
    pair = build_problem(3, np.random.default_rng(0), (), allowed=np.eye(4, k=1, dtype=bool))
    pair.parts["grandchild"] = PartTable("grandchild", np.array([[0, 1]]), np.array([-np.inf]))
    nothing = Parse(np.array([-1, 0, 0, 0]), -math.inf, -math.inf, "infeasible")
    assert best(pair)[0] == -np.inf
    assert check_parse(pair, nothing, Certificate([CertNode(-1, -1, 0)])) == []
    pair.parts["grandchild"].score[0] = -5.0
    assert check_parse(pair, nothing, Certificate([CertNode(-1, -1, 0)]))


@pytest.mark.parametrize(
    ("heads", "space", "single_root", "fault"),
    [
        ([-1, 2, 0], "projective", True, None),
        ([-1, 0], "projective", True, "2 heads for a sentence of 2 words"),
        ([0, 2, 0], "projective", True, "root has head 0"),
        ([-1, 3, 0], "projective", True, "word 1 has head 3"),
        ([-1, 1, 0], "projective", True, "word 1 has head 1"),
        ([-1, -1, 0], "projective", True, "word 1 has head -1"),
        ([-1, 2, 1], "projective", True, "cycle"),
        ([-1, 0, 0], "projective", True, "attached to the root"),
        ([-1, 0, 0], "projective", False, None),
        ([-1, 3, 4, 0, 3], "projective", True, "arcs 1-3 and 2-4 cross"),
        ([-1, 3, 4, 0, 3], "non-projective", True, None),
        ([-1, 3, 0, 2], "projective", True, "cross"),
    ],
)
def test_tree_faults(heads, space, single_root, fault):
    n = 2 if heads == [-1, 0] else len(heads) - 1
    faults = tree_faults(np.array(heads), n, space, single_root)
    assert (faults == []) if fault is None else fault in faults[0]


def test_proofs_of_scores_of_the_size_of_the_tolerance_are_accepted():
    """Check scores that are multiples of the tolerance, so that many bounds are at its limit."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        families = ["grandchild", "sibling", "head-bigram", "pattern", "comb", "outermost-grandchild"]
        drawn = random_problem(rng, families, max_n=5, kind="tied", feasible=True)
        parts = {f: PartTable(f, table.arcs, table.score * 1e-9) for f, table in drawn.parts.items()}
        problem = dataclasses.replace(drawn, arc=drawn.arc * 1e-9, parts=parts, unit=0.0)
        for scheme in ("polyak", "block-coordinate"):
            search = BranchAndBound(record=True, root_steps=1, scheme=scheme, backbone="carreras")
            parse = search.decode(problem)
            assert parse.status == "optimal"
            assert check_parse(problem, parse, certificate(parse.record)) == [], (seed, scheme)


def test_a_proof_about_combs_that_are_written_without_empty_columns() -> None:
    """Check combs of four arcs in four columns, as a user may write them; a parser writes eight columns."""
    rng = np.random.default_rng(4)
    for _ in range(5):
        parsers = build_problem(5, rng, ("sibling", "comb"), kind="mixed")
        table = parsers.parts["comb"]
        four = (table.arcs[:, 4:] == NONE).all(axis=1)
        combs = PartTable("comb", table.arcs[four, :4], table.score[four])
        problem = dataclasses.replace(parsers, parts={**parsers.parts, "comb": combs})
        parse = BranchAndBound(record=True).decode(problem)
        assert parse.value == best(problem)[0]
        proof = certificate(parse.record)
        assert check_parse(problem, parse, proof) == []
        assert certificate_faults(problem, parse.value - 1.0, proof) != []
