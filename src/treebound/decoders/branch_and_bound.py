"""Exact projective decoding by branch and bound with bounded non-local factors (Qian & Liu 2013)."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from treebound.core.errors import UnsupportedError
from treebound.core.parse import Parse, Status
from treebound.core.problem import Problem
from treebound.decoders.record import make_record
from treebound.kernels.arcs import ArcIndex, index_arcs
from treebound.kernels.backbones import carreras_graph, eisner_graph, grandparent_sibling_graph
from treebound.kernels.bounded import bounded_factors, fallback
from treebound.kernels.hypergraph import NEG, Hypergraph
from treebound.kernels.parts import PartIndex, index_parts
from treebound.kernels.published import search_published
from treebound.kernels.search import TUNED, Options, Record, search


@dataclass(frozen=True)
class Backbone:
    """A dynamic program under the search.

    families  what it scores exactly
    graph     (index, parts, n, single_root, family -> scores, limit) -> Hypergraph, empty above `limit` edges
    """

    families: frozenset[str]
    graph: Callable[..., Hypergraph]


BACKBONES = {
    "eisner": Backbone(frozenset({"arc"}), lambda index, parts, n, root, s, limit: eisner_graph(index, n, root, limit)),
    "carreras": Backbone(
        frozenset({"arc", "adjacent-sibling", "outermost-grandchild"}),
        lambda index, parts, n, root, s, limit: carreras_graph(
            index, parts, n, root, s["adjacent-sibling"], s["outermost-grandchild"], limit
        ),
    ),
    "grandparent-sibling": Backbone(
        frozenset({"arc", "adjacent-sibling", "outermost-grandchild", "grandchild"}),
        lambda index, parts, n, root, s, limit: grandparent_sibling_graph(
            index, parts, n, root, s["adjacent-sibling"], s["outermost-grandchild"], s["grandchild"], limit
        ),
    ),
}
#: families that can be bounded by arcs
ALL_FAMILIES = ("adjacent-sibling", "outermost-grandchild", "grandchild", "sibling")
FACTOR_ORDER = ("grandchild", "sibling")
BOUNDED = frozenset(FACTOR_ORDER)
STATUS: tuple[Status, ...] = ("optimal", "limit", "infeasible")
EMPTY = np.zeros(0, np.float64)
MAX_EDGES = 40_000_000  #: hyperedges that a backbone may use (20 bytes each) before the sentence counts as too large


def smallest_backbone(families: frozenset[str]) -> str:
    """The backbone that scores exactly as many of `families` as any, at the least cost."""
    if "grandchild" in families:
        return "grandparent-sibling"
    return "carreras" if families & BACKBONES["carreras"].families - {"arc"} else "eisner"


class BranchAndBound:
    """Branch and bound over a backbone dynamic program.

    config    "tuned" or "published"
    backbone  "eisner", "carreras", "grandparent-sibling"; None: the smallest that scores most families exactly
    root_steps, node_steps, rho, patience  as in `treebound.kernels.search.Options` (tuned only)
    max_dp_calls, max_nodes  limits (0: none); a sentence that hits one gets status "limit" and its remaining gap
    record    keep bounds, nodes and proof of the search in Parse.record (tuned only)
    """

    name = "branch-and-bound"
    space: Literal["projective"] = "projective"
    exact = True
    cite = "Qian & Liu (2013), section 3"

    def __init__(
        self,
        config: Literal["tuned", "published"] = "tuned",
        backbone: str | None = None,
        max_dp_calls: int = 0,
        max_nodes: int = 0,
        root_steps: int = TUNED.root_steps,
        node_steps: int = TUNED.node_steps,
        rho: float = TUNED.rho,
        patience: int = TUNED.patience,
        record: bool = False,
    ):
        if backbone is not None and backbone not in BACKBONES:
            raise UnsupportedError(f"unknown backbone {backbone!r}", hint="choose from " + ", ".join(BACKBONES))
        self.config, self.backbone, self.record = config, backbone, record
        self.options = Options(root_steps, node_steps, rho, patience, max_dp_calls, max_nodes)
        self.supports = (
            BACKBONES[backbone].families if backbone else BACKBONES["grandparent-sibling"].families
        ) | BOUNDED

    def decode(self, problem: Problem) -> Parse:
        """Best projective tree with its certificate. UnsupportedError for families outside `supports`."""
        unsupported = problem.families - self.supports
        if unsupported:
            raise UnsupportedError(f"{self.name} does not score {', '.join(sorted(unsupported))}")
        n = problem.n
        allowed = np.zeros((n + 1, n + 1), np.bool_)
        allowed[problem.head, problem.mod] = True
        index = index_arcs(n, allowed)
        penalty = _penalty(problem)
        scores = {f: _finite(t.score, penalty if f in BOUNDED else -NEG) for f, t in problem.parts.items()}
        arc = _finite(problem.arc, -NEG)
        parse, kept = self.solve(
            index, index_parts(index, problem.single_root), problem.single_root, arc, scores, problem.unit
        )
        if parse.value < -penalty / 2:  # every tree that was found has a forbidden part
            limited = parse.status == "limit"
            bound = parse.bound if limited else -np.inf
            heads = _heads(index, EMPTY.astype(np.int32), n)
            status: Status = "limit" if limited else "infeasible"
            parse = replace(parse, heads=heads, value=-np.inf, bound=bound, status=status)
        if kept is None:
            return parse
        exact = BACKBONES[self.backbone or smallest_backbone(problem.families)].families
        bounded = tuple(f for f in FACTOR_ORDER if f in problem.parts and f not in exact)
        return replace(parse, record=make_record(problem, kept, exact, bounded))

    def decode_above(self, problem: Problem, floor: float) -> Parse | None:
        """The best tree if it scores more than `floor`; None where none does. Status "limit" where that is not proved.

        The search starts with `floor` as the score to beat: that no tree does is often proved by its first bound.
        """
        other = copy.copy(self)
        other.options = self.options._replace(floor=max(floor, NEG))
        parse = other.decode(problem)
        if parse.value > floor:
            return parse
        return replace(parse, value=-np.inf) if parse.status == "limit" else None

    def solve(
        self,
        index: ArcIndex,
        parts: PartIndex,
        single_root: bool,
        arc: np.ndarray,
        scores: dict[str, np.ndarray],
        unit: float,
    ) -> tuple[Parse, Record | None]:
        """As `decode`, for finite scores that are indexed already (what a parser calls); with the kernel's record."""
        n = len(index.right) - 1
        backbone = BACKBONES[self.backbone or smallest_backbone(frozenset(scores) | {"arc"})]
        given = {family: scores.get(family, EMPTY) for family in ALL_FAMILIES}
        theta = np.append(arc, 0.0)
        started = time.perf_counter()
        graph = backbone.graph(index, parts, n, single_root, given, MAX_EDGES)
        built = time.perf_counter()
        if len(graph.first) == 1:
            arcs, value = fallback(index, parts, n, single_root, theta, *given.values())
            work = {"dp_calls": 1, "nodes": 0, "root_solved": 0}
            found = value > NEG / 2
            return Parse(
                _heads(index, arcs, n), float(value), np.inf if found else NEG, "limit" if found else "infeasible", work
            ), None
        left = [EMPTY if family in backbone.families else given[family] for family in FACTOR_ORDER]
        e, f, phi = bounded_factors(index, parts, *left)
        kept: Record | None = None
        if self.config == "published":
            first = np.arange(0, 2 * len(phi) + 1, 2, dtype=np.int32)
            pairs = np.stack([e, f], axis=1).ravel()
            limits = self.options.max_dp_calls, self.options.max_nodes
            value, bound, arcs, status, dp_calls, nodes, root_solved = search_published(
                graph, n, index.head, index.mod, theta, first, pairs, phi, unit, *limits
            )
        else:
            value, bound, arcs, status, dp_calls, nodes, root_solved, kept = search(
                graph, n, index.mod, theta, e, f, phi, unit, self.options, self.record
            )
        work = {"dp_calls": dp_calls, "nodes": nodes, "root_solved": int(root_solved)}
        seconds = {"backbone": built - started, "search": time.perf_counter() - built}
        heads = _heads(index, arcs if value > NEG / 2 else arcs[:0], n)
        return Parse(heads, float(value), float(bound), STATUS[status], work, seconds), kept if self.record else None


def _heads(index: ArcIndex, arcs: np.ndarray, n: int) -> np.ndarray:
    """int32[n + 1] heads of the tree made of `arcs`; all 0 for no arcs."""
    heads = np.zeros(n + 1, np.int32)
    heads[0] = -1
    heads[index.mod[arcs]] = index.head[arcs]
    return heads


def _penalty(problem: Problem) -> float:
    """More than any two trees can differ by: what a forbidden part costs where a bound must stay finite."""
    total = 0.0
    for score in (problem.arc, *(p.score for p in problem.parts.values())):
        total += float(np.abs(score[np.isfinite(score)]).sum())
    return 4.0 * np.ceil(total) + 4.0


def _finite(score: np.ndarray, penalty: float) -> np.ndarray:
    """-inf as a finite penalty."""
    return np.where(np.isneginf(score), -penalty, score)
