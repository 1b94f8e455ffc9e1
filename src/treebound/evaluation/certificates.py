"""An independent check of what a decoder claims: the tree, its score, and the proof that no tree scores more.

A proof is a search tree of branch and bound. Every node stands for the trees over the arcs that it still allows. A step
bounds every score from above by a function that is linear in the arcs, plus the families that the chart scores exactly
(Qian & Liu 2013, section 3); what cannot exceed the claimed bound is removed. Nothing here is shared with a decoder.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from treebound.core.parse import Parse
from treebound.core.problem import PartTable, Problem
from treebound.evaluation.chart import CHART_FAMILIES, Chart, Number, build_chart, exact_number, max_marginals
from treebound.evaluation.scoring import tree_score

#: families whose parts are products of two arcs, and so can be bounded by shares
PAIR_FAMILIES = frozenset({"grandchild", "sibling"})

#: relative slack where scores are real numbers; none where they are integers
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Step:
    """One linear bound.

    shares  family -> [F], aligned with `problem.parts[family]`. A part (e, f) with score phi >= 0 is bounded by
            share z_e + (phi - share) z_f with share in 0..phi, one with phi < 0 by share (1 - z_e - z_f) with share in
            0..-phi
    shift   [A] or None: shift[a] is added to arc a = (h, m), h > 0, and subtracted from the scores of all grandchild
            parts ((g, h), (h, m)) before they are bounded. No projective tree's score changes: h has exactly one head
    """

    shares: dict[str, np.ndarray]
    shift: np.ndarray | None = None


@dataclass(frozen=True)
class CertNode:
    """One node of the search tree: its parent's trees, less those that the decision rules out.

    parent  its place in `Certificate.nodes`, before this one; -1 at the root, which comes first
    arc     the arc decided on; -1 at the root
    value   0: trees without the arc; 1: trees with it
    steps   bounds, in the order in which they are to be applied
    """

    parent: int
    arc: int
    value: Literal[0, 1]
    steps: list[Step] = field(default_factory=list)


@dataclass(frozen=True)
class Certificate:
    """A search tree. A node is closed when none of its trees can exceed the bound; else it needs two children, one for
    each value of the same arc. Children of a closed node do no harm.

    exact_families  families that are left to the chart instead of being bounded by shares; `arc` may be named or not
    """

    nodes: list[CertNode]
    exact_families: frozenset[str] = frozenset()


def check_parse(
    problem: Problem,
    parse: Parse,
    certificate: Certificate | None = None,
    space: Literal["projective", "non-projective"] = "projective",
) -> list[str]:
    """What is wrong with a parse, in sentences; empty if nothing is.

    Without a certificate the tree, its score and the consistency of bound and status are checked; with one also that
    no tree scores more than `parse.bound`. Certificates are for projective trees.
    """
    if parse.status == "infeasible" or (parse.status == "limit" and parse.value == -math.inf):
        faults = [f"no tree is claimed ({parse.status}), but heads are given"] if np.any(parse.heads[1:] != 0) else []
    else:
        faults = tree_faults(parse.heads, problem.n, space, problem.single_root)
        faults = faults or _score_faults(problem, parse)
    bound = -math.inf if parse.status == "infeasible" else parse.bound
    if faults or certificate is None:
        return faults
    if space != "projective":
        return [f"certificates are for projective trees, not for {space} ones"]
    return certificate_faults(problem, bound, certificate)


def tree_faults(heads: np.ndarray, n: int, space: str, single_root: bool) -> list[str]:
    """Why heads[n + 1] is not a tree of the space; empty if it is one. O(n**2)."""
    if len(heads) != n + 1:
        return [f"{len(heads)} heads for a sentence of {n} words (expected n + 1, the root first)"]
    head = [int(h) for h in heads]
    faults = [] if head[0] == -1 else [f"the root has head {head[0]} (expected -1)"]
    faults += [f"word {m} has head {head[m]}" for m in range(1, n + 1) if not 0 <= head[m] <= n or head[m] == m]
    if faults:
        return faults
    for m in range(1, n + 1):
        at, steps = m, 0
        while at != 0 and steps <= n:
            at, steps = head[at], steps + 1
        if at != 0:
            return [f"word {m} does not reach the root: a cycle"]
    roots = [m for m in range(1, n + 1) if head[m] == 0]
    if single_root and len(roots) > 1:
        faults.append(f"words {', '.join(map(str, roots))} are all attached to the root (expected one)")
    if space == "projective":
        spans = [(min(h, m), max(h, m)) for m, h in enumerate(head) if m]
        crossing = [(x, y) for x in spans for y in spans if x[0] < y[0] < x[1] < y[1]]
        faults += [f"arcs {x[0]}-{x[1]} and {y[0]}-{y[1]} cross" for x, y in crossing]
    return faults


def _score_faults(problem: Problem, parse: Parse) -> list[str]:
    score = tree_score(problem, parse.heads)
    if score == -math.inf:
        return ["the tree uses an arc or a part that the problem forbids"]
    slack = 0.0 if problem.unit else TOLERANCE * max(1.0, abs(score))
    faults = []
    if not abs(parse.value - score) <= slack:
        faults.append(f"the tree scores {score}, not {parse.value}")
    if parse.bound < score - slack:
        faults.append(f"the bound {parse.bound} is below the tree's score {score}")
    if parse.status == "optimal" and parse.bound > score + slack:
        faults.append(f"called optimal with bound {parse.bound} above the score {score}")
    return faults


def certificate_faults(problem: Problem, bound: float, certificate: Certificate) -> list[str]:
    """Why `certificate` does not prove that no projective tree of `problem` scores more than `bound`; empty if it does.

    An edge of the chart is removed as soon as its best tree is bounded by `bound`, which removes every arc of which
    this is true and sometimes more. Arithmetic is exact (int, or Fraction where scores are real; there the bound is
    widened by `TOLERANCE`). O(edges + parts) for every step.
    """
    exact = certificate.exact_families - {"arc"}
    unproved = problem.parts.keys() - exact - PAIR_FAMILIES
    if unproved or not exact <= CHART_FAMILIES:
        return [f"no bound is known for the family {family}" for family in sorted(unproved | (exact - CHART_FAMILIES))]
    bounded = {family: table for family, table in problem.parts.items() if family not in exact}
    threshold = closing_threshold(problem, bound)
    charts: list[Chart] = []  # what is left of each node: no edges where it is closed
    branches: dict[int, list[tuple[int, int]]] = {}
    for i, node in enumerate(certificate.nodes):
        if i == 0:
            if node.parent != -1 or node.arc != -1:
                return ["the first node is not the root of the search tree"]
            chart = build_chart(problem, exact)
        else:
            if not 0 <= node.parent < i:
                return [f"node {i} hangs on node {node.parent}, which does not come before it"]
            if not 0 <= node.arc < problem.arcs or node.value not in (0, 1):
                return [f"node {i} decides arc {node.arc} to be {node.value}"]
            branches.setdefault(node.parent, []).append((node.arc, node.value))
            chart = decide(problem, charts[node.parent], node.arc, node.value)
        try:
            charts.append(_bound_node(problem, bounded, chart, node.steps, threshold))
        except ValueError as error:
            return [f"node {i}: {error}"]
    faults = [] if charts else ["the certificate is empty"]
    for i, chart in enumerate(charts):
        children = sorted(branches.get(i, []))
        if chart.edges and not (len(children) == 2 and children[0][0] == children[1][0] and children[0] != children[1]):
            faults.append(f"node {i} is not closed and has no pair of children for one arc")
    return faults


def closing_threshold(problem: Problem, bound: float) -> Number:
    """The largest score that does not contradict `bound`, exactly; with slack where scores are real numbers."""
    if not math.isfinite(bound):
        return bound
    slack = 0.0 if problem.unit else TOLERANCE * max(1.0, abs(bound))
    return exact_number(problem)(math.floor(bound) if problem.unit else bound + slack)


def decide(problem: Problem, chart: Chart, arc: int, value: int) -> Chart:
    """The trees without the arc (value 0), or with it: then without every other arc into its word (value 1)."""
    if value == 0:
        return chart.keep(lambda edge: edge.arc != arc)
    rivals = set(np.flatnonzero(problem.mod == problem.mod[arc]).tolist()) - {arc}
    return chart.keep(lambda edge: edge.arc not in rivals)


def _bound_node(
    problem: Problem, bounded: dict[str, PartTable], chart: Chart, steps: Sequence[Step], threshold: Number
) -> Chart:
    """What is left of a node's chart after its steps; no edges if the node is closed."""
    chart = drop_forbidden(problem, bounded, chart)
    for step in steps:
        constant, arc_score = linear_bound(problem, bounded, step)
        _, marginal = max_marginals(chart, arc_score)
        left = [edge for edge, best in zip(chart.edges, marginal, strict=True) if best + constant > threshold]
        chart = drop_forbidden(problem, bounded, Chart(chart.items, left))
    if not steps:  # without a bound, a node is closed only if it has no tree at all
        _, marginal = max_marginals(chart, [0] * problem.arcs)
        chart = Chart(chart.items, [e for e, m in zip(chart.edges, marginal, strict=True) if m != -math.inf])
    return chart


def drop_forbidden(problem: Problem, bounded: dict[str, PartTable], chart: Chart) -> Chart:
    """Without the arcs that would complete a forbidden pair with an arc that is the only one left into its word."""
    pairs = [pair for t in bounded.values() for pair in t.arcs[t.score == -math.inf].tolist()]
    if not pairs:
        return chart
    left = {edge.arc for edge in chart.edges} - {-1}
    rivals = Counter(int(problem.mod[a]) for a in left)
    fixed = {a for a in left if rivals[int(problem.mod[a])] == 1}
    dropped = {b for a, b in pairs if a in fixed} | {a for a, b in pairs if b in fixed}
    return chart.keep(lambda edge: edge.arc not in dropped)


def linear_bound(problem: Problem, bounded: dict[str, PartTable], step: Step) -> tuple[Number, list[Number]]:
    """(constant, score of every arc [A]): constant + sum of the arcs of a tree >= its score but for the exact families.

    Raises ValueError for shares that are missing, of the wrong shape, fractional where scores are integers, or out of
    range.
    """
    number = exact_number(problem)
    arc_score = [number(s) if s > -math.inf else 0 for s in problem.arc.tolist()]  # forbidden arcs have no edges
    shift: list[Number] = [0] * problem.arcs
    if step.shift is not None:
        shift = _numbers("shift", step.shift, problem.arcs, problem)
        if "grandchild" not in bounded or any(s and h == 0 for s, h in zip(shift, problem.head.tolist(), strict=True)):
            raise ValueError("only arcs of words, in bounded grandchild parts, can be shifted")
        arc_score = [score + s for score, s in zip(arc_score, shift, strict=True)]
    constant: Number = 0
    for family, table in bounded.items():
        if family not in step.shares:
            raise ValueError(f"no shares for the family {family}")
        shares = _numbers(f"shares of {family}", step.shares[family], len(table), problem)
        rows = zip(*table.arcs.T.tolist(), table.score.tolist(), shares, strict=True)
        for i, (e, f, score, share) in enumerate(rows):
            phi = number(score) - (shift[f] if family == "grandchild" else 0)
            if not 0 <= share <= abs(phi):
                raise ValueError(f"share {share} of {family} part {i} is outside 0..{abs(phi)}")
            if phi >= 0:
                arc_score[e] += share
                arc_score[f] += phi - share
            else:
                arc_score[e] -= share
                arc_score[f] -= share
                constant += share
    return constant, arc_score


def _numbers(what: str, values: np.ndarray, size: int, problem: Problem) -> list[Number]:
    if len(values) != size:
        raise ValueError(f"{what}: {len(values)} numbers, not {size}")
    if problem.unit and any(value != int(value) for value in values.tolist()):
        raise ValueError(f"{what}: fractions, where scores are integers")
    return [exact_number(problem)(value) for value in values.tolist()]
