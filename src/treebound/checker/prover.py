"""A simple, slow branch and bound that searches for a certificate of a claimed bound, whichever decoder claimed it.

It relies on nothing but the problem, and its certificates are checked by `certificates.check_parse` like all others.
The chart scores all families but sibling pairs exactly; sibling pairs are bounded (Qian & Liu 2013, section 3).
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

#: number of bounds to compute before branching, at the root and at other nodes
ROOT_STEPS, NODE_STEPS = 60, 15
#: Polyak factor, and the number of bounds without improvement after which it is halved
RHO, PATIENCE = 1.5, 5


@dataclass(frozen=True)
class Refutation:
    """A tree that scores more than the claimed bound, given by its heads int32[n + 1]."""

    heads: np.ndarray


def prove(problem: Problem, bound: float, max_steps: int = 2000) -> Certificate | Refutation | None:
    """Return a certificate that no projective tree of `problem` scores more than `bound`, or a tree that does.

    max_steps  number of bounds to compute at most; each takes some milliseconds for a few passes over the chart

    Returns None if `max_steps` bounds are not enough. Raises UnsupportedError if the problem has a family that is
    neither `sibling` nor scored by the chart.
    """
    unknown = problem.parts.keys() - CHART_FAMILIES - {"sibling"}
    if unknown:
        raise UnsupportedError(
            f"no proof is known for scores of {', '.join(sorted(unknown))}", hint="leave these families out"
        )
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
        outcome = _search_node(siblings, region, share, node.steps, steps, closing_threshold(problem, bound))
        if isinstance(outcome, Refutation):
            return outcome
        if outcome is not None:
            if max_steps <= 0:
                return None
            region, share, branch = outcome
            waiting += [(len(nodes) - 1, branch, v, region, share) for v in (0, 1)]
    return Certificate(nodes, exact)


class _Siblings:
    """The sibling pairs (e, f) with their scores phi, which are bounded.

    A forbidden pair gets a finite negative score so large that no tree can make up for it.
    """

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
        """Return initial shares: half of each positive score, rounded down if scores are integers; otherwise 0."""
        half = np.floor(self.top / 2) if self.problem.unit else self.top / 2
        return np.where(self.phi >= 0, half, 0.0)

    def fold(self, share: np.ndarray, alive: np.ndarray, certain: np.ndarray) -> np.ndarray:
        """Return new shares, which make the bound exact for pairs that have a removed or a certain arc.

        The shares of all other pairs are unchanged.

        alive    bool[A]: the remaining arcs
        certain  bool[A]: the remaining arcs that are the only arc into their word
        """
        removed_e, removed_f, certain_e, certain_f = ~alive[self.e], ~alive[self.f], certain[self.e], certain[self.f]
        positive = np.select([removed_e | certain_f, removed_f | certain_e], [self.top, 0.0], share)
        negative = np.select([removed_e | removed_f, certain_e | certain_f], [0.0, self.top], share)
        return np.where(self.phi >= 0, positive, negative)


def _search_node(
    siblings: _Siblings, region: ProjectiveTrees, share: np.ndarray, log: list[Step], steps: int, threshold: Number
) -> tuple[ProjectiveTrees, np.ndarray, int] | Refutation | None:
    """Bound the trees of one node by at most `steps` Polyak steps.

    Returns None if the node is closed, a Refutation if a tree exceeds the threshold, and else (remaining region,
    shares, arc to branch on). The steps that removed edges are appended to `log`; the proof needs no others.
    """
    problem = siblings.problem
    rho, stale, lowest = RHO, 0, math.inf
    region = drop_forbidden(problem, siblings.bounded, region)
    slack_of_arc = np.zeros(problem.arcs)
    alive, certain = _remaining(problem, region)
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
        alive, certain = _remaining(problem, region)
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
        # The share of a positive pair moves to the arc that the tree lacks. The share of a negative pair rises if the
        # tree has both arcs, and falls if it has none.
        direction = np.where(phi >= 0, zf.astype(int) - ze, (ze & zf).astype(int) - (~ze & ~zf))
        reach = np.where(direction > 0, siblings.top - share, share) * (direction != 0)
        alpha = rho * (upper - float(threshold)) / max(1, int((reach > 0).sum()))
        if problem.unit and math.isfinite(alpha):
            alpha = max(1.0, math.floor(alpha + 0.5))
        share = np.clip(share + np.where(reach > 0, direction * np.minimum(alpha, reach), 0.0), 0.0, siblings.top)
    return region, share, int(np.where(alive & ~certain, slack_of_arc, -1.0).argmax())


def _remaining(problem: Problem, region: ProjectiveTrees) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays bool[A]: the remaining arcs, and the remaining arcs that are the only one into their word."""
    alive = np.zeros(problem.arcs, bool)
    alive[list(region.arcs)] = True
    heads = Counter(problem.mod[alive].tolist())
    return alive, alive & np.array([heads[m] == 1 for m in problem.mod.tolist()], bool)
