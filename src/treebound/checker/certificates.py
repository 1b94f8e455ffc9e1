"""Check independently the claims of a decoder: the tree, its score, and the proof that no tree scores more.

A proof is a search tree of branch and bound (`core.certificate`). Every node stands for the trees over the arcs that it
still allows. A step bounds all scores from above. The bound is a function that is linear in the arcs (`majorants`),
plus the families that the chart scores exactly (Qian & Liu 2013, section 3). Edges of the chart, or arcs, are removed
if their best tree does not exceed the claimed bound. No code here is shared with a decoder.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, get_args

import numpy as np

from treebound.checker.chart import CHART_FAMILIES, Number, exact_number
from treebound.checker.compiled.best import best_score
from treebound.checker.compiled.proofs import WholeNumbers
from treebound.checker.compiled.tables import TooLarge
from treebound.checker.majorants import BOUNDED_FAMILIES, PRODUCT_FAMILIES, TOLERANCE, Majorant, majorant
from treebound.checker.ordered import Ordered
from treebound.checker.regions import Region, whole_space
from treebound.checker.scoring import tree_score
from treebound.checker.shapes import problem_faults
from treebound.checker.sizes import chart_edges, check_size
from treebound.core.certificate import Certificate, CertNode, Step
from treebound.core.limits import TooLargeError
from treebound.core.parse import Parse, Status
from treebound.core.problem import NONE, PartTable, Problem
from treebound.core.spaces import Space

__all__ = ["CertNode", "Certificate", "Step", "certificate_faults", "check_parse", "tree_faults"]

#: numbers of edges of a chart and of arcs of non-projective trees; in a larger problem without parts, the bound is
#: compared with the score of the best tree, and no certificate is needed
MANY_EDGES, MANY_ARCS = 2_000_000, 50_000
AnyRegion = TypeVar("AnyRegion", bound=Region)


def check_parse(
    problem: Problem,
    parse: Parse,
    certificate: Certificate | None = None,
    space: Space = "projective",
) -> list[str]:
    """Return the faults of a parse as sentences; an empty list if there are none.

    The checks are: score, bound and status agree (see `claim_faults`), the heads form a tree of the space, and the tree
    has the claimed score. Without a certificate, the bound is not checked. With a certificate, the proof is checked,
    too: no tree of the space scores more than `parse.bound`, and none exists if the status is `infeasible`.
    """
    ordered, faults = _ordered(problem, space)
    faults = faults or claim_faults(parse)
    if not faults and parse.value == -math.inf:
        no_heads = len(parse.heads) == problem.n + 1 and not np.any(parse.heads[1:] != 0)
        faults = [] if no_heads else [f"no tree is claimed ({parse.status}), but heads are given"]
    elif not faults:
        faults = tree_faults(parse.heads, problem.n, space, problem.single_root)
        faults = faults or _score_faults(problem, parse)
    if faults or certificate is None:
        return faults
    return _proof_faults(ordered, parse.bound, certificate, space)


def claim_faults(parse: Parse) -> list[str]:
    """Return contradictions between score, bound and status of a parse; an empty list if there are none.

    Each status claims the following. `check_parse` also compares the bound with the score of the tree.

    optimal     There is a tree with this score, and no tree scores more. The bound equals the score.
    gap, limit  There is a tree with this score, and no tree scores more than the bound, which is not below the score.
                The bound +inf claims nothing about other trees. With `limit`, the score -inf means that no tree was
                found.
    heuristic   There is a tree with this score. Nothing is claimed about other trees, and the bound is +inf.
    infeasible  There is no tree. Score and bound are -inf.
    """
    value, bound, status = parse.value, parse.bound, parse.status
    if status not in get_args(Status):
        return [f"unknown status {str(status)[:40]!r} (one of {', '.join(get_args(Status))})"]
    faults = [f"the {name} is {x}" for name, x in (("score", value), ("bound", bound)) if x != x]
    if faults:
        return faults
    if status == "infeasible":
        return [] if value == bound == -math.inf else [f"called infeasible with score {value} and bound {bound}"]
    if value == math.inf or (value == -math.inf and status != "limit"):
        faults.append(f"called {status} with the score {value}")
    if status == "heuristic" and bound != math.inf:
        faults.append(f"called heuristic, which proves nothing, with the bound {bound}")
    if status == "optimal" and not math.isfinite(bound):
        faults.append(f"called optimal with the bound {bound}")
    if bound == -math.inf:
        faults.append(f"called {status} with the bound -inf, which says that there is no tree")
    return faults


def tree_faults(heads: np.ndarray, n: int, space: str, single_root: bool) -> list[str]:
    """Return the reasons why heads[n + 1] is not a tree of the space; an empty list if it is a tree. O(n**2).

    Examples
    --------
    >>> tree_faults(np.array([-1, 2, 0, 2]), 3, "projective", single_root=True)
    []
    >>> tree_faults(np.array([-1, 2, 1, 0]), 3, "projective", single_root=True)
    ['word 1 does not reach the root: a cycle']
    """
    if len(heads) != n + 1:
        return [f"{len(heads)} heads for a sentence of {n} words (expected n + 1, the root first)"]
    head = [int(h) for h in heads]
    faults = [] if head[0] == -1 else [f"the root has head {head[0]} (expected -1)"]
    faults += [f"word {m} has head {head[m]}" for m in range(1, n + 1) if not 0 <= head[m] <= n or head[m] == m]
    if faults:
        return faults
    for m in range(1, n + 1):
        word, steps = m, 0
        while word != 0 and steps <= n:
            word, steps = head[word], steps + 1
        if word != 0:
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
    """Return contradictions between a parse and the score of its tree."""
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


def certificate_faults(
    problem: Problem, bound: float, certificate: Certificate, space: Space = "projective"
) -> list[str]:
    """Return the reasons why `certificate` does not prove that no tree of `problem` scores more than `bound`.

    The list is empty if the proof is valid. An edge of the chart, or an arc, is removed as soon as a step shows that no
    tree above `bound` uses it. Arithmetic is exact. Integer scores are computed in compiled code if they fit into 64
    bits. Real scores are computed as Fraction, and the bound is widened by `TOLERANCE`. Each step costs O(edges +
    parts). Non-projective trees cost up to one maximum spanning tree per arc.
    """
    ordered, faults = _ordered(problem, space)
    return faults or _proof_faults(ordered, bound, certificate, space)


def _proof_faults(ordered: Ordered | Problem, bound: float, certificate: Certificate, space: Space) -> list[str]:
    """Check a certificate like `certificate_faults`, for a problem that is known to be well-formed."""
    problem = ordered.problem if isinstance(ordered, Ordered) else ordered
    if not bound < math.inf:
        return [f"the bound {bound} claims nothing that could be proved"]
    exact = certificate.exact_families - {"arc"}
    projective = space == "projective"
    unproved = problem.parts.keys() - exact - BOUNDED_FAMILIES
    unproved |= exact - (CHART_FAMILIES if projective else frozenset())
    if unproved:
        return [f"no bound is known for the family {family}" for family in sorted(unproved)]
    if isinstance(ordered, Ordered):
        try:
            certificate = ordered.certificate(certificate)
        except (ValueError, TypeError, IndexError, AttributeError) as error:
            return [str(error)]
    bounded = {family: table for family, table in problem.parts.items() if family not in exact}
    many = chart_edges(problem, exact) > MANY_EDGES if projective else problem.arcs > MANY_ARCS
    if many and not problem.parts:
        with suppress(TooLarge):
            return _bound_faults(problem, bound, projective)
    if problem.unit:
        check_size(problem, exact, projective, compiled=True)
        with suppress(TooLarge):
            return _node_faults(problem, bound, certificate, WholeNumbers(problem, bounded, exact, projective))
    check_size(problem, exact, projective, compiled=False)
    return _node_faults(problem, bound, certificate, _Numbers(problem, bounded, exact, projective))


def _bound_faults(problem: Problem, bound: float, projective: bool) -> list[str]:
    """Return the faults of a bound for a problem without parts, which needs no certificate.

    The bound is compared with the score of the best tree.
    """
    lowest, highest = best_score(problem, projective)
    threshold = closing_threshold(problem, bound)
    if highest <= threshold:
        return []
    if lowest <= threshold:
        reason = f"the scores of {problem.n:,} words are too close to the bound {bound} to be compared in 64 bits"
        raise TooLargeError(reason, hint="give integer scores, or check the tree and its score alone")
    return [f"a tree scores {float(highest):.12g}, more than the bound {bound}"]


def _ordered(problem: Problem, space: str) -> tuple[Ordered | Problem, list[str]]:
    """Return (the problem in canonical order, its faults).

    The problem is returned unchanged if it claims to be in canonical order; its faults are checked in either case.
    """
    if problem.canonical == space:
        return problem, problem_faults(problem)
    try:
        ordered = Ordered(problem, space == "projective")
    except (ValueError, IndexError) as error:
        return problem, [str(error)]
    return ordered, problem_faults(ordered.problem)


class _Bounds(Protocol):
    """The arithmetic of a check: the region of all trees of a problem, and bounds on their scores."""

    @property
    def bounded(self) -> Mapping[str, PartTable]:
        """Return the families that the steps must bound, with their parts."""

    def start(self) -> Any:
        """Return the `Region` of all trees."""

    def bound(self, step: Step, region: Any) -> Any:
        """Return the bound of a step, in the form that `Region.above` takes. Raises ValueError for an invalid step."""


@dataclass(frozen=True)
class _Numbers:
    """The arithmetic of a check in exact Python numbers, which serves all problems.

    bounded     family -> parts that the steps must bound
    exact       families that the chart scores
    projective  whether trees are projective
    """

    problem: Problem
    bounded: Mapping[str, PartTable]
    exact: frozenset[str]
    projective: bool

    def start(self) -> Region:
        return whole_space(self.problem, self.exact, self.projective)

    def bound(self, step: Step, region: Region) -> Majorant:
        return majorant(self.problem, self.bounded, step, region.arcs, self.projective)


def _node_faults(problem: Problem, bound: float, certificate: Certificate, bounds: _Bounds) -> list[str]:
    """Return the reasons why a certificate does not prove `bound`, computed with the arithmetic `bounds`."""
    threshold = closing_threshold(problem, bound)
    waiting = Counter(node.parent for node in certificate.nodes)
    regions: dict[int, Any] = {}  # remaining regions of nodes with children that are not yet visited
    closed: list[bool] = []
    branches: dict[int, list[tuple[int, int]]] = {}
    for i, node in enumerate(certificate.nodes):
        if i == 0:
            if node.parent != -1 or node.arc != -1:
                return ["the first node is not the root of the search tree"]
            region = bounds.start()
        else:
            if not 0 <= node.parent < i:
                return [f"node {i} has the parent {node.parent}, which does not come before it"]
            if not 0 <= node.arc < problem.arcs or node.value not in (0, 1):
                return [f"node {i} decides arc {node.arc} to be {node.value}"]
            branches.setdefault(node.parent, []).append((node.arc, node.value))
            region = decide(problem, regions[node.parent], node.arc, node.value)
            waiting[node.parent] -= 1
            if not waiting[node.parent]:
                del regions[node.parent]
        try:
            region = _bound_node(problem, bounds, region, node.steps, threshold)
        except (ValueError, TypeError, OverflowError, AttributeError) as error:
            return [f"node {i}: {error}"]
        closed.append(region.empty)
        if waiting[i]:
            regions[i] = region
    faults = [] if closed else ["the certificate is empty"]
    for i, is_closed in enumerate(closed):
        children = sorted(branches.get(i, []))
        branched = len(children) == 2 and children[0][0] == children[1][0] and children[0] != children[1]
        if not is_closed and not branched:
            faults.append(f"node {i} is not closed and has no pair of children for one arc")
    return faults


def closing_threshold(problem: Problem, bound: float) -> Number:
    """Return the largest score that does not contradict `bound`.

    It is exact for integer scores. For real scores it includes a slack of `TOLERANCE`.
    """
    if not math.isfinite(bound):
        return bound
    slack = 0.0 if problem.unit else TOLERANCE * max(1.0, abs(bound))
    return exact_number(problem)(math.floor(bound) if problem.unit else bound + slack)


def decide(problem: Problem, region: AnyRegion, arc: int, value: int) -> AnyRegion:
    """Return the trees of a region that lack an arc (value 0), or that have it (value 1).

    The trees with the arc are the trees without its rivals, the other arcs into the same word.
    """
    rivals = set(np.flatnonzero(problem.mod == problem.mod[arc]).tolist()) - {arc}
    return region.without({arc} if value == 0 else rivals)


def _bound_node(problem: Problem, bounds: _Bounds, region: Any, steps: Sequence[Step], threshold: Number) -> Any:
    """Return the remaining region of a node after its steps; it is empty if the node is closed."""
    # remove edges and arcs without any tree first, because bounds depend on the remaining arcs
    region = drop_forbidden(problem, bounds.bounded, region.above(None, -math.inf))
    for step in steps:
        if region.empty:
            break
        bound = bounds.bound(step, region)
        region = drop_forbidden(problem, bounds.bounded, region.above(bound, threshold))
    return region if steps else region.above(None, -math.inf)


def drop_forbidden(problem: Problem, bounded: Mapping[str, PartTable], region: AnyRegion) -> AnyRegion:
    """Remove the arcs that would complete a forbidden part.

    An arc completes a forbidden part if each other arc of the part is the only remaining arc into its word.
    """
    forbidden = [
        {a for a in arcs if a != NONE}
        for family, table in bounded.items()
        if family in PRODUCT_FAMILIES
        for arcs in table.arcs[table.score == -math.inf].tolist()
    ]
    if not forbidden:
        return region
    remaining = region.arcs
    rivals = Counter(problem.mod[sorted(remaining)].tolist())
    fixed = {a for a in remaining if rivals[int(problem.mod[a])] == 1}
    dropped: set[int] = set()
    for part in forbidden:
        undecided = part - fixed
        dropped |= undecided if len(undecided) == 1 else part if not undecided else set()
    return region.without(dropped & remaining)
