"""The record of a search in a form that notebooks and checkers can read: its bounds, its nodes and its proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from treebound.core.certificate import Certificate, CertNode, Step
from treebound.core.problem import Problem
from treebound.decoders.exact.branch_and_bound.trace import ALL_STARS, NO_STARS, Record


@dataclass(frozen=True)
class SearchRecord:
    """The record of a finished branch-and-bound search.

    - bounds: one dict per DP call, with the keys call, node, ub (bound on the node's trees by this call) and lb (best
      score so far)
    - nodes: one dict per node, with the keys id, parent (-1 for the root), arc, value, ub and status. arc is (head,
      modifier) of the decided arc or None. value is 1 if the arc is required, 0 if it is forbidden. ub is the bound.
      status is "branched" or "closed"
    - arcs: int32[N], number of the arc that each node decides, -1 at the root
    - steps: for each node, the bounds that removed an arc or closed the node
    - exact_families: families that the backbone scores exactly
    """

    bounds: list[dict]
    nodes: list[dict]
    arcs: np.ndarray
    steps: list[list[Step]]
    exact_families: frozenset[str]

    def restored(self, order: np.ndarray, rows: Mapping[str, np.ndarray], original: Problem) -> SearchRecord:
        """Translate the record of a canonical problem into a record of the original problem.

        order, rows  original numbers of arcs and rows of parts, see `decoders.canonical.Canonical`
        """

        def moved(step: Step) -> Step:
            """Return a step with shares and multipliers in the order of the original problem."""
            shares, of_arcs = {}, {}
            for family, of_parts in step.shares.items():
                present, table = rows[family] >= 0, original.parts[family].arcs
                shares[family] = np.zeros(len(table) if of_parts.ndim == 1 else table.shape, of_parts.dtype)
                # the canonical table may have additional columns for missing arcs, which have no shares
                values_of_parts = of_parts[present] if of_parts.ndim == 1 else of_parts[present, : table.shape[1]]
                shares[family][rows[family][present]] = values_of_parts
            for name in ("shift", "child", "parent"):
                values = getattr(step, name)
                if values is not None:
                    of_arcs[name] = np.empty_like(values)
                    of_arcs[name][order] = values
            return replace(step, shares=shares, **of_arcs)

        arcs = np.append(order, -1)[self.arcs].astype(np.int32)
        return replace(self, arcs=arcs, steps=[[moved(step) for step in node] for node in self.steps])


def make_record(
    problem: Problem,
    log: Record,
    exact: frozenset[str],
    pairs: tuple[str, ...],
    products: tuple[str, ...],
    handed_over: tuple[str, ...],
) -> SearchRecord:
    """Return the `SearchRecord` that a `Record` of the search kernel describes.

    pairs, products  bounded families of pairs and of products, in the order of their shares
    handed_over      families that head stars score when their mode is ALL_STARS
    """
    unit = problem.unit or 1.0
    nodes = []
    for i, (parent, arc, value, ub, branched) in enumerate(log.nodes):
        pair = None if arc < 0 else (int(problem.head[int(arc)]), int(problem.mod[int(arc)]))
        status = "branched" if branched else "closed"
        nodes.append(
            {"id": i, "parent": int(parent), "arc": pair, "value": int(value), "ub": ub / unit, "status": status}
        )
    bounds = [
        {"call": i + 1, "node": int(node), "ub": ub / unit, "lb": lb / unit}
        for i, (node, ub, lb) in enumerate(log.calls)
    ]
    steps: list[list[Step]] = [[] for _ in nodes]
    for node, row in zip(log.step_node, log.step_dual, strict=True):
        steps[node].append(_step(problem, row, exact, pairs, products, handed_over))
    return SearchRecord(bounds, nodes, log.nodes[:, 1].astype(np.int32), steps, exact)


def _step(
    problem: Problem,
    row: np.ndarray,
    exact: frozenset[str],
    pairs: tuple[str, ...],
    products: tuple[str, ...],
    handed_over: tuple[str, ...],
) -> Step:
    """Return a row of `Record.step_dual` as a `Step`, which the checker reads; arguments as in `make_record`."""
    row = np.rint(row).astype(np.int64) if problem.unit else row
    bounded = [f for f in (*pairs, *products) if f in problem.parts and f not in exact]
    widths = []
    for family in bounded:
        table = problem.parts[family]
        used = table.score != 0.0
        # a product has one share for every arc, and a pair has one share
        widths.append(used if family in pairs else used[:, None] & (table.arcs >= 0))
    slopes = problem.n + 1 if "valency" in problem.parts else 0
    size = int(sum(np.count_nonzero(used) for used in widths)) + slopes
    stars = row[-1] if len(row) > size else 0
    shares, position = {}, 0
    for family, used in zip(bounded, widths, strict=True):
        if stars < ALL_STARS or family not in handed_over:
            shares[family] = np.zeros(used.shape, row.dtype)
            shares[family][used] = row[position : position + np.count_nonzero(used)]
        position += int(np.count_nonzero(used))
    slope = row[position : position + slopes] if slopes and stars < ALL_STARS else None
    if stars == NO_STARS:
        return Step(shares, slope=slope)
    child, parent = row[size:-1].reshape(2, -1)
    return Step(shares, slope=slope, child=child, parent=parent)


def certificate(record: SearchRecord) -> Certificate:
    """Return the proof of a search in the form that `treebound.checker.certificates.check_parse` verifies."""
    nodes = [
        CertNode(node["parent"], int(arc), node["value"], list(steps))
        for node, arc, steps in zip(record.nodes, record.arcs, record.steps, strict=True)
    ]
    return Certificate(nodes, record.exact_families)
