"""Test linear bounds of every family in both spaces: above every tree, tight where possible; and proofs with them."""

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from oracles.trees import trees
from steps import random_step
from strategies import FAMILIES, build_problem, random_problem, rescored

from treebound.checker.arborescence import Arborescences
from treebound.checker.certificates import Certificate, CertNode, Step, certificate_faults, check_parse
from treebound.checker.majorants import PRODUCT_FAMILIES, majorant
from treebound.checker.scoring import tree_score
from treebound.checker.stars import IMPOSSIBLE, STAR_FAMILIES, Stars
from treebound.core.parse import Parse
from treebound.core.problem import NONE, NONE_OUTER, PartTable

SPACES = ("projective", "non-projective")


def selected_arcs(problem, heads):
    return {a for a in range(problem.arcs) if heads[problem.mod[a]] == problem.head[a]}


def adjacent_pairs(problem, chosen):
    """Return (s, arc) for each chosen arc: s is the chosen arc of its adjacent sibling towards the head, or NONE."""
    out = []
    for a in chosen:
        h, m = int(problem.head[a]), int(problem.mod[a])
        nearer = [b for b in chosen if problem.head[b] == h and min(h, m) < problem.mod[b] < max(h, m)]
        out.append((max(nearer, key=lambda b: abs(int(problem.mod[b]) - h), default=NONE), a))
    return out


def value(bound, problem, heads):
    chosen = selected_arcs(problem, heads)
    total = bound.constant + sum(bound.arc[a] for a in chosen)
    return total + sum(bound.adjacent.get(pair, 0) for pair in adjacent_pairs(problem, chosen))


def enumerated(problem, space):
    """Return the trees over the arcs of the problem."""
    every = trees(problem.n, space, problem.single_root)
    return [heads for heads in every if len(selected_arcs(problem, heads)) == problem.n]


@pytest.mark.parametrize("space", SPACES)
def test_every_bound_dominates_every_tree(space):
    rng = np.random.default_rng(1)
    compared = 0
    for i in range(150):
        families = [f for f in FAMILIES if rng.random() < 0.4]
        problem = random_problem(rng, families, max_n=6 if i % 4 == 0 and space == "projective" else 4, space=space)
        every = enumerated(problem, space)
        remaining = None
        if every and rng.random() < 0.5:  # remove some arcs
            remaining = set.union(*(selected_arcs(problem, every[int(j)]) for j in rng.integers(0, len(every), 3)))
        bound = majorant(problem, problem.parts, random_step(problem, (), rng, space), remaining, space == "projective")
        for heads in every:
            if remaining is None or selected_arcs(problem, heads) <= remaining:
                score = tree_score(problem, heads)
                slack = 0 if problem.unit else 1e-9 * max(1.0, abs(score))
                assert value(bound, problem, heads) >= score - slack, i
                compared += score > -math.inf
    assert compared > 800


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("family", sorted(PRODUCT_FAMILIES))
def test_the_best_shares_of_a_part_are_tight(family, space):
    """Check that a bound of a part is tight for the best shares.

    For every tree, the lowest bound over all extreme shares is the score that the tree gets from the part.
    """
    rng = np.random.default_rng(2)
    n = 5 if family == "comb" else 4
    problem = build_problem(n, rng, (family,), space=space)
    table = problem.parts[family]
    checked = 0
    for p in rng.permutation(len(table))[:6].tolist():
        present = table.arcs[p] != NONE
        for phi in (7.0, -7.0):
            single = dataclasses.replace(
                problem,
                arc=np.zeros(problem.arcs),
                parts={family: PartTable(family, table.arcs[[p]], np.array([phi]))},
            )
            corners = []
            for column in np.flatnonzero(present) if phi > 0 else [0]:
                for share in [phi] if phi > 0 else [0.0, -phi]:
                    row = np.zeros((1, len(present)))
                    row[0, column] = share
                    corners.append(majorant(single, single.parts, Step({family: row}), None, space == "projective"))
            for heads in trees(n, space)[:: 1 if n == 4 else 7]:
                fires = set(table.arcs[p][present].tolist()) <= selected_arcs(single, heads)
                assert min(value(bound, single, heads) for bound in corners) == (phi if fires else 0)
                checked += fires
    assert checked > 0


def test_the_best_slope_is_the_concave_envelope():
    rng = np.random.default_rng(3)
    problem = build_problem(5, rng, ("valency",), kind="mixed", integer=False)
    problem = dataclasses.replace(problem, arc=np.zeros(problem.arcs))
    table = problem.parts["valency"]
    f = table.score[table.arcs[:, 0] == 2]
    q = int((problem.head == 2).sum())
    assert len(f) == q + 1
    only = {"valency": PartTable("valency", table.arcs[table.arcs[:, 0] == 2], f)}
    slopes = [Fraction(f[j]) - Fraction(f[i]) for i, j in itertools.combinations(range(q + 1), 2)]
    slopes = [s / (j - i) for s, (i, j) in zip(slopes, itertools.combinations(range(q + 1), 2), strict=True)]
    lines = []
    for slope in slopes:
        slopes_of_words = np.zeros(problem.n + 1)
        slopes_of_words[2] = float(slope)
        lines.append(majorant(problem, only, Step({}, slope=slopes_of_words)))
    for heads in trees(problem.n)[::5]:
        count = int((heads == 2).sum())
        tangents = (  # by hand: the best chord over the count
            max(f[i] + (f[j] - f[i]) * (count - i) / (j - i) if i != j else f[i] for j in range(count, q + 1))
            for i in range(count + 1)
        )
        assert float(min(value(line, problem, heads) for line in lines)) == pytest.approx(max(tangents))


def test_only_possible_counts_matter():
    """Check that the bound ignores the scores of impossible numbers of modifiers.

    Word 1 has two candidate modifiers, and one of them has no other head, so counts of 0 and 3 are impossible.
    """
    problem = build_problem(4, np.random.default_rng(0), ("valency",))
    table = problem.parts["valency"]
    scores = dict(zip(map(tuple, table.arcs.tolist()), itertools.cycle([1000.0, 1.0, 2.0, 3000.0]), strict=False))
    part_scores = [scores[tuple(row)] if row[0] == 1 else 0.0 for row in table.arcs.tolist()]
    problem = rescored(problem, valency=np.array(part_scores))
    number = {(int(h), int(m)): a for a, (h, m) in enumerate(zip(problem.head, problem.mod, strict=True))}
    remaining = {number[0, 1], number[1, 2], number[1, 3], number[2, 3], number[2, 4]}
    bound = majorant(problem, problem.parts, Step({}, slope=np.zeros(5, int)), remaining)
    assert bound.constant == 2


def test_a_count_that_a_table_leaves_out_scores_nothing():
    problem = dataclasses.replace(build_problem(3, np.random.default_rng(0), ()), arc=np.zeros(9))
    table = PartTable("valency", np.array([[1, 0], [1, 2]]), np.array([-2.0, -3.0]))
    problem = dataclasses.replace(problem, parts={"valency": table})
    bound = majorant(problem, problem.parts, Step({}, slope=np.zeros(4, int)))
    assert bound.constant == max(tree_score(problem, heads) for heads in trees(3)) == 0


def star_score(problem, h, x, chosen):
    """Return the score of the star of head h.

    x is the arc into h (NONE for the root); `chosen` lists the arcs of the tree that leave h.
    """
    arcs_of_star = {*chosen, x} - {NONE}
    adjacent = set(adjacent_pairs(problem, chosen))
    last = {}  # side -> farthest
    for a in sorted(chosen, key=lambda a: abs(int(problem.mod[a]) - h)):
        last[problem.mod[a] > h] = a
    total = 0.0
    for family, table in problem.parts.items():
        for row, score in zip(table.arcs.tolist(), table.score.tolist(), strict=True):
            if family in PRODUCT_FAMILIES:
                arcs = set(row) - {NONE}
                fires = arcs <= arcs_of_star and bool(arcs & chosen)
            elif family == "adjacent-sibling":
                fires = tuple(row) in adjacent
            elif family == "grand-sibling":
                fires = row[0] == x and tuple(row[1:]) in adjacent
            elif family == "valency":
                most = max(c for word, c in table.arcs.tolist() if word == h) if h else -1
                fires = row == [h, min(len(chosen), most)]
            else:
                inner = x != NONE and problem.head[x] > h
                ends = [last.get(inner, NONE), last.get(not inner, NONE_OUTER)]
                fires = row[0] == x and row[1] in ends
            total += score if fires else 0.0
    return total


def best_star(problem, h, remaining, certain, u, w, projective):
    into = [a for a in remaining if problem.mod[a] == h] if h else [NONE]
    out = [a for a in remaining if problem.head[a] == h]
    best = -math.inf
    for x in into:
        for size in range(len(out) + 1):
            for chosen in map(set, itertools.combinations(out, size)):
                g = int(problem.head[x]) if h else -1
                ends = [int(problem.mod[a]) for a in chosen]
                if g in ends or not (certain & set(out) <= chosen):
                    continue
                if projective and h and any((m - h) * (g - h) > 0 and abs(m - h) > abs(g - h) for m in ends):
                    continue
                if h == 0 and (size == 0 or (problem.single_root and size > 1)):
                    continue
                cost = sum(u[a] for a in chosen) + (w[x] if h else 0)
                best = max(best, star_score(problem, h, x, chosen) - cost)
    return best


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("sets", [False, True], ids=["chains", "sets"])
def test_stars_against_all_choices(sets, space):
    rng = np.random.default_rng(5)
    combs = 0
    for i in range(60):
        chains = [f for f in sorted(STAR_FAMILIES - {"sibling", "tri-sibling"}) if rng.random() < 0.5]
        families = sorted([*chains, *(("sibling", "tri-sibling") if sets else ())])
        fixed = {"max_n": 5, "space": space, "integer": True}
        problem = random_problem(rng, families, **fixed) if i % 3 else build_problem(5, rng, families, space=space)
        remaining = {a for a in range(problem.arcs) if rng.random() < 0.8}
        certain = {a for a in remaining if sum(problem.mod[b] == problem.mod[a] for b in remaining) == 1}
        u, w = rng.integers(-100, 100, (2, problem.arcs)).tolist()
        stars = Stars(problem, problem.parts.values(), space == "projective")
        expected = sum(
            best_star(problem, h, remaining, certain, u, w, space == "projective") for h in range(problem.n + 1)
        )
        assert stars.total(remaining, certain, u, w)[0] == expected, i
        combs += len(problem.parts.get("comb", ())) > 0
    assert combs > 5


def test_the_loss_of_an_arc_is_that_of_the_best_star_with_it():
    rng = np.random.default_rng(6)
    impossible = 0
    for i in range(50):
        problem = build_problem(4, rng, ("adjacent-sibling", "grandchild"), single_root=bool(i % 2))
        remaining = {a for a in range(problem.arcs) if rng.random() < 0.6}
        certain = {a for a in remaining if sum(problem.mod[b] == problem.mod[a] for b in remaining) == 1}
        u, w = rng.integers(-100, 100, (2, problem.arcs)).tolist()
        total, loss = Stars(problem, problem.parts.values(), True).total(remaining, certain, u, w)
        for x in remaining if total > -math.inf else ():
            h = int(problem.mod[x])
            alone = {a for a in remaining if a == x or problem.mod[a] != h}
            best, with_x = (best_star(problem, h, arcs, certain, u, w, True) for arcs in (remaining, alone))
            assert loss[x] == (best - with_x if with_x > -math.inf else IMPOSSIBLE)
            impossible += with_x == -math.inf
    assert impossible > 5


def test_stars_with_triples_of_scores_between_minus_one_and_zero():
    rng = np.random.default_rng(7)
    for _ in range(12):
        problem = build_problem(4, rng, ("tri-sibling",))
        scores = -rng.random(len(problem.parts["tri-sibling"])).round(2)
        problem = rescored(dataclasses.replace(problem, unit=0.0), tri_sibling=scores)
        every, zero = set(range(problem.arcs)), [0] * problem.arcs
        u = [Fraction(x) for x in rng.integers(-60, 20, problem.arcs) / 128]
        expected = sum(best_star(problem, h, every, set(), u, zero, True) for h in range(problem.n + 1))
        assert Stars(problem, problem.parts.values(), True).total(every, set(), u, zero)[0] == pytest.approx(expected)


def prove(problem, exact, rng, value_, space):
    """Return a certificate of a branch and bound whose nodes are sets of enumerated trees, bounded by random steps."""
    every = enumerated(problem, space)
    selected = np.zeros((len(every), problem.arcs), bool)
    for row, heads in zip(selected, every, strict=True):
        row[list(selected_arcs(problem, heads))] = True
    possible = ~selected[:, problem.arc == -np.inf].any(axis=1)
    exact_parts = {f: t for f, t in problem.parts.items() if f in exact}
    bounded = {f: t for f, t in problem.parts.items() if f not in exact}
    local_only = dataclasses.replace(problem, arc=np.zeros(problem.arcs), parts=exact_parts)
    local = [tree_score(local_only, heads) for heads in every]
    slack = 0 if problem.unit else 1e-9 * max(1.0, abs(value_))
    nodes = []

    def expand(parent, arc, decided, alive):
        steps, i = [], len(nodes)
        nodes.append(CertNode(parent, arc, decided, steps))
        for _ in range(int(rng.integers(0, 3))):
            if not alive.any():
                break
            step = random_step(problem, exact, rng, space)
            bound = majorant(
                problem, bounded, step, set(np.flatnonzero(selected[alive].any(axis=0)).tolist()), space == "projective"
            )
            steps.append(step)
            psi = [value(bound, problem, every[j]) + local[j] if alive[j] else -math.inf for j in range(len(every))]
            arcs_left = selected[alive & (np.array([p > value_ + slack for p in psi]))].any(axis=0)
            alive = alive & ~selected[:, ~arcs_left].any(axis=1)
        if not alive.any():
            return
        options = np.flatnonzero(selected[alive].any(axis=0) & ~selected[alive].all(axis=0))
        if len(options) == 0:  # one tree: with suitable shares all bounds are exact
            (row,) = np.flatnonzero(alive)
            shares = {}
            for family, table in bounded.items():
                if family in PRODUCT_FAMILIES:
                    shares[family] = np.zeros(table.arcs.shape)
                    for share, arcs, phi in zip(shares[family], table.arcs, table.score, strict=True):
                        present = arcs != NONE
                        on = selected[row, arcs] & present
                        if phi >= 0:
                            share[np.flatnonzero(present & ~on)[0] if (present & ~on).any() else 0] = phi
                        elif (present & ~on).sum() <= 1:
                            share[0] = min(-phi, 1e13)
            zero = np.zeros(problem.arcs)
            steps.append(Step(shares, None, None, zero, zero))
            return
        branch = int(rng.choice(options))
        for v in rng.permutation(2).tolist():
            expand(i, branch, v, alive & (selected[:, branch] == v))

    expand(-1, -1, 0, possible)
    return Certificate(nodes, frozenset(exact))


@pytest.mark.parametrize("space", SPACES)
def test_proofs_with_all_families_are_accepted_and_false_claims_are_not(space):
    rng = np.random.default_rng(6)
    proofs = branched = 0
    for i in range(80):
        families = [f for f in FAMILIES if rng.random() < 0.35]
        chart = [
            f for f in ("adjacent-sibling", "outermost-grandchild", "grandchild", "grand-sibling") if f in families
        ]
        exact = chart[: int(rng.integers(0, len(chart) + 1))] if space == "projective" else []
        problem = random_problem(rng, families, max_n=4, space=space)
        scored = [(tree_score(problem, heads), heads) for heads in enumerated(problem, space)]
        scored = [(score, heads) for score, heads in scored if score > -math.inf]
        if not scored:
            continue
        best, heads = max(scored, key=lambda pair: pair[0])
        certificate = prove(problem, exact, rng, best, space)
        parse = Parse(heads, float(best), float(best), "optimal")
        assert check_parse(problem, parse, certificate, space) == [], i
        below = best - (1 if problem.unit else 1e-3 * max(1.0, abs(best)))
        assert certificate_faults(problem, below, certificate, space), i
        proofs += 1
        branched += len(certificate.nodes) > 1
    assert proofs > 50
    assert branched > 20


def small():
    return build_problem(4, np.random.default_rng(0), ("tri-sibling", "head-bigram", "adjacent-sibling"))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda s: s["tri-sibling"].__setitem__((0, 1), 1e6), "outside"),
        (lambda s: s["tri-sibling"].__setitem__((0, 1), -1.0), "outside"),
        (lambda s: s.update({"tri-sibling": s["tri-sibling"][1:]}), "shape"),
        (lambda s: s.update({"tri-sibling": s["tri-sibling"][:, 0]}), "one share"),
        (lambda s: s.pop("head-bigram"), "no shares for the family head-bigram"),
        (lambda s: s.update({"adjacent-sibling": np.zeros(1)}) or s["head-bigram"].__setitem__(0, np.nan), "finite"),
    ],
)
def test_wrong_steps(change, fault):
    problem = small()
    problem = rescored(problem, **{family: np.abs(table.score) for family, table in problem.parts.items()})
    shares = {"tri-sibling": np.zeros((len(problem.parts["tri-sibling"]), 3))}
    shares["tri-sibling"][:, 2] = problem.parts["tri-sibling"].score
    shares["head-bigram"] = np.zeros(len(problem.parts["head-bigram"]))
    zero = np.zeros(problem.arcs, int)
    majorant(problem, problem.parts, Step(shares, None, None, zero, zero))
    change(shares)
    with pytest.raises(ValueError, match=fault):
        majorant(problem, problem.parts, Step(shares, None, None, zero, zero))


@pytest.mark.parametrize("single_root", [True, False])
def test_arborescences_against_enumeration(single_root):
    rng = np.random.default_rng(7)
    for i in range(150):
        problem = random_problem(rng, (), max_n=5, space="non-projective", single_root=single_root, integer=True)
        ends = list(zip(problem.head.tolist(), problem.mod.tolist(), strict=True))
        space = Arborescences(problem.n, ends, single_root)
        arcs = {a for a in range(problem.arcs) if problem.arc[a] > -np.inf}
        score = [0 if s == -np.inf else int(s) for s in problem.arc]
        every = [
            (sum(score[a] for a in t), t)
            for t in (selected_arcs(problem, heads) for heads in enumerated(problem, "non-projective"))
            if t <= arcs
        ]
        best, tree = space.best(arcs, score)
        assert best == max((s for s, _ in every), default=-math.inf), i
        assert not every or (best, set(tree)) in every
        if every:
            threshold = sorted(s for s, _ in every)[len(every) // 2]
            reached = {a for a in arcs if max((s for s, t in every if a in t), default=-math.inf) > threshold}
            assert space.reach(arcs, score, threshold) == reached, i
