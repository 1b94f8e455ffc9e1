"""A slow, plain branch and bound that looks for a certificate of a claimed bound, whatever decoder claimed it.

It trusts nothing but the problem, and what it finds is checked by `certificates.check_parse` all the same. The chart
scores exactly what it can; sibling pairs alone are left to be bounded (Qian & Liu 2013, section 3).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from treebound.checker.certificates import (
    Certificate,
    CertNode,
    Step,
    closing_threshold,
    decide,
    drop_forbidden,
)
from treebound.checker.chart import CHART_FAMILIES, Number, best_tree, build_chart
from treebound.checker.majorants import majorant
from treebound.checker.regions import ProjectiveTrees
from treebound.core.dtypes import INDEX, NO_HEAD
from treebound.core.errors import UnsupportedError
from treebound.core.problem import PartTable, Problem

#: bounds to try at the root and at other nodes before branching
ROOT_STEPS, NODE_STEPS = 60, 15
#: Polyak factor, halved after PATIENCE bounds that are no better
RHO, PATIENCE = 1.5, 5


@dataclass(frozen=True)
class Refutation:
    """A tree that scores more than the claimed bound: heads int32[n + 1]."""

    heads: np.ndarray


def prove(problem: Problem, bound: float, max_steps: int = 2000) -> Certificate | Refutation | None:
    """A certificate that no projective tree of `problem` scores more than `bound`, or a tree that does.

    None if `max_steps` bounds were not enough; each takes a few passes over the chart, some milliseconds.
    UnsupportedError for families that neither the chart nor sibling bounds cover.
    """
    unknown = problem.parts.keys() - CHART_FAMILIES - {"sibling"}
    if unknown:
        raise UnsupportedError(f"no proof is known for scores of {', '.join(sorted(unknown))}")
    exact = frozenset(CHART_FAMILIES & problem.parts.keys())
    siblings = _Siblings(problem)
    nodes: list[CertNode] = []
    waiting = [(-1, -1, 0, ProjectiveTrees(build_chart(problem, exact), problem.arcs), siblings.start())]
    while waiting:
        parent, arc, value, region, share = waiting.pop()
        node = CertNode(parent, arc, 1 if value else 0, [])
        nodes.append(node)
        if arc >= 0:
            region = decide(problem, region, arc, value)
        steps = min(max_steps, ROOT_STEPS if arc < 0 else NODE_STEPS)
        max_steps -= steps
        found = _search_node(siblings, region, share, node.steps, steps, closing_threshold(problem, bound))
        if isinstance(found, Refutation):
            return found
        if found is not None:
            if max_steps <= 0:
                return None
            region, share, branch = found
            waiting += [(len(nodes) - 1, branch, v, region, share) for v in (0, 1)]
    return Certificate(nodes, exact)


class _Siblings:
    """The bounded pairs (e, f) with score phi; forbidden ones get a finite score that no tree makes up for."""

    def __init__(self, problem: Problem):
        self.problem = problem
        table = problem.parts.get("sibling") or PartTable("sibling", np.empty((0, 2), INDEX), np.empty(0))
        self.bounded = {"sibling": table} if "sibling" in problem.parts else {}
        self.e, self.f = table.arcs[:, 0], table.arcs[:, 1]
        self.forbidden = table.score == -np.inf
        scores = (problem.arc, *(t.score for t in problem.parts.values()))
        penalty = 4.0 * math.ceil(1.0 + sum(float(np.abs(s[np.isfinite(s)]).sum()) for s in scores))
        self.phi = np.where(self.forbidden, -penalty, table.score)
        self.top = np.abs(self.phi)

    def start(self) -> np.ndarray:
        """Positive scores shared equally, nothing on negative ones."""
        half = np.floor(self.top / 2) if self.problem.unit else self.top / 2
        return np.where(self.phi >= 0, half, 0.0)

    def fold(self, share: np.ndarray, alive: np.ndarray, certain: np.ndarray) -> np.ndarray:
        """Exact shares for pairs with an arc that is gone or certain (bool[A] each), the rest as they are."""
        gone_e, gone_f, sure_e, sure_f = ~alive[self.e], ~alive[self.f], certain[self.e], certain[self.f]
        positive = np.select([gone_e | sure_f, gone_f | sure_e], [self.top, 0.0], share)
        negative = np.select([gone_e | gone_f, sure_e | sure_f], [0.0, self.top], share)
        return np.where(self.phi >= 0, positive, negative)


def _search_node(
    siblings: _Siblings, region: ProjectiveTrees, share: np.ndarray, log: list[Step], steps: int, threshold: Number
) -> tuple[ProjectiveTrees, np.ndarray, int] | Refutation | None:
    """Bound one node by Polyak steps. None if it is closed, a Refutation, or (region, shares, arc to branch on).

    log  gets the steps that removed anything: no others are needed for the proof
    """
    problem = siblings.problem
    rho, stale, lowest = RHO, 0, math.inf
    region = drop_forbidden(problem, siblings.bounded, region)
    slack_of_arc = np.zeros(problem.arcs)
    alive, certain = _left(problem, region)
    for _ in range(max(1, steps)):
        share = siblings.fold(share, alive, certain)
        step = Step(dict.fromkeys(siblings.bounded, share))
        bound = majorant(problem, siblings.bounded, step, region.arcs)
        above = region.above(bound, threshold)
        if len(above.chart.edges) < len(region.chart.edges) or above.empty:
            log.append(step)
            region = drop_forbidden(problem, siblings.bounded, above)
        if above.empty or region.empty:
            return None
        alive, certain = _left(problem, region)
        tree = np.zeros(problem.arcs, bool)
        best, arcs = best_tree(above.chart, bound.arc)
        tree[arcs] = True
        ze, zf, phi = tree[siblings.e], tree[siblings.f], siblings.phi
        up, down = np.where(phi >= 0, share, -share), np.where(phi >= 0, phi - share, -share)
        slack = up * ze + down * zf + np.where(phi < 0, share, 0.0) - phi * (ze & zf)
        upper = float(best + bound.constant)
        if upper - slack.sum() > threshold and not (siblings.forbidden & ze & zf).any():
            heads = np.full(problem.n + 1, NO_HEAD, INDEX)
            heads[problem.mod[tree]] = problem.head[tree]
            return Refutation(heads)
        slack_of_arc[:] = np.bincount(siblings.e, slack, problem.arcs) + np.bincount(siblings.f, slack, problem.arcs)
        stale = 0 if upper < lowest else stale + 1
        lowest = min(lowest, upper)
        if stale >= PATIENCE:
            rho, stale = rho / 2, 0
        # A positive pair gives to the arc that is not in the tree; a negative one rises if both are, falls if none is.
        direction = np.where(phi >= 0, zf.astype(int) - ze, (ze & zf).astype(int) - (~ze & ~zf))
        room = np.where(direction > 0, siblings.top - share, share) * (direction != 0)
        alpha = rho * (upper - float(threshold)) / max(1, int((room > 0).sum()))
        if problem.unit and math.isfinite(alpha):
            alpha = max(1.0, math.floor(alpha + 0.5))
        share = np.clip(share + np.where(room > 0, direction * np.minimum(alpha, room), 0.0), 0.0, siblings.top)
    return region, share, int(np.where(alive & ~certain, slack_of_arc, -1.0).argmax())


def _left(problem: Problem, region: ProjectiveTrees) -> tuple[np.ndarray, np.ndarray]:
    """bool[A]: the arcs that are left, and those of them that are the only one into their word."""
    alive = np.zeros(problem.arcs, bool)
    alive[list(region.arcs)] = True
    heads = Counter(problem.mod[alive].tolist())
    return alive, alive & np.array([heads[m] == 1 for m in problem.mod.tolist()], bool)
