"""What a search did, in words that notebooks and checkers understand: its bounds, its tree of nodes, its proof."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treebound.core.problem import Problem
from treebound.evaluation.certificates import Certificate, CertNode, Step
from treebound.kernels.search import Record


@dataclass(frozen=True)
class SearchRecord:
    """A finished branch-and-bound search.

    bounds   one dict per DP call: call, node, ub (bound on the node's trees by this call), lb (best score so far)
    nodes    one dict per node: id, parent (-1), arc (head, modifier) or None, value, ub, status "branched" / "closed"
    arcs     int32[N] arc number that each node decides, -1 at the root
    steps    per node, the bounds that removed something or closed it: family -> int64 or float64 shares
             [F] (pairs) or [F, r] (other products), slopes [n + 1] for valency
    exact_families  families that the backbone scores itself
    """

    bounds: list[dict]
    nodes: list[dict]
    arcs: np.ndarray
    steps: list[list[dict[str, np.ndarray]]]
    exact_families: frozenset[str]


def make_record(
    problem: Problem, kept: Record, exact: frozenset[str], pairs: tuple[str, ...], products: tuple[str, ...]
) -> SearchRecord:
    """From a kernel's `Record`; pairs and products list families in the order of their shares, if they were bounded."""
    unit = problem.unit or 1.0
    nodes = []
    for i, (parent, arc, value, ub, branched) in enumerate(kept.nodes):
        pair = None if arc < 0 else (int(problem.head[int(arc)]), int(problem.mod[int(arc)]))
        status = "branched" if branched else "closed"
        nodes.append(
            {"id": i, "parent": int(parent), "arc": pair, "value": int(value), "ub": ub / unit, "status": status}
        )
    bounds = [
        {"call": i + 1, "node": int(node), "ub": ub / unit, "lb": lb / unit}
        for i, (node, ub, lb) in enumerate(kept.calls)
    ]
    dtype = np.int64 if problem.unit else np.float64
    bounded = [f for f in (*pairs, *products) if f in problem.parts and f not in exact]
    steps: list[list[dict[str, np.ndarray]]] = [[] for _ in nodes]
    for node, row in zip(kept.step_node, kept.step_dual, strict=True):
        duals, at = {}, 0
        for family in bounded:
            table = problem.parts[family]
            used = table.score != 0.0
            # a share for every arc of a part, or for pairs one that stands for both
            where = used if family in pairs else used[:, None] & (table.arcs >= 0)
            duals[family] = np.zeros(where.shape, dtype)
            size = np.count_nonzero(where)
            duals[family][where] = row[at : at + size]
            at += size
        if "valency" in problem.parts:
            duals["valency"] = row[at:].astype(dtype)
        steps[node].append(duals)
    return SearchRecord(bounds, nodes, kept.nodes[:, 1].astype(np.int32), steps, exact)


def certificate(record: SearchRecord) -> Certificate:
    """The search's proof in the form that `treebound.evaluation.certificates.check_parse` verifies."""
    nodes = [
        CertNode(node["parent"], int(arc), node["value"], [Step(shares) for shares in steps])
        for node, arc, steps in zip(record.nodes, record.arcs, record.steps, strict=True)
    ]
    return Certificate(nodes, record.exact_families)
