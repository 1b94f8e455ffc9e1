"""Exact projective decoding by branch and bound with bounded non-local factors (Qian & Liu 2013)."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from treebound.core.errors import UnsupportedError
from treebound.core.parse import Parse, Status
from treebound.core.problem import Problem
from treebound.decoders.record import make_record
from treebound.kernels import backbones
from treebound.kernels.arcs import ArcIndex, index_arcs
from treebound.kernels.hypergraph import NEG
from treebound.kernels.parts import PartIndex, index_parts
from treebound.kernels.search import TUNED, Options, Record
from treebound.kernels.solve import solve, solve_published

#: backbone -> (kernel number, families that it scores exactly)
BACKBONES: dict[str, tuple[int, frozenset[str]]] = {
    "eisner": (backbones.EISNER, frozenset({"arc"})),
    "carreras": (backbones.CARRERAS, frozenset({"arc", "adjacent-sibling", "outermost-grandchild"})),
    "grandparent-sibling": (
        backbones.GRANDPARENT_SIBLING,
        frozenset({"arc", "adjacent-sibling", "outermost-grandchild", "grandchild"}),
    ),
}
#: families that can be bounded by arcs
FACTOR_ORDER = ("grandchild", "sibling")
BOUNDED = frozenset(FACTOR_ORDER)
STATUS: tuple[Status, ...] = ("optimal", "limit", "infeasible")
EMPTY = np.zeros(0, np.float64)


def smallest_backbone(families: frozenset[str]) -> str:
    """The backbone that scores exactly as many of `families` as any, at the least cost."""
    if "grandchild" in families:
        return "grandparent-sibling"
    return "carreras" if families & BACKBONES["carreras"][1] - {"arc"} else "eisner"


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
        self.supports = (BACKBONES[backbone][1] if backbone else BACKBONES["grandparent-sibling"][1]) | BOUNDED

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
        if parse.value < -penalty / 2:
            heads = np.zeros(n + 1, np.int32)
            heads[0] = -1
            parse = Parse(heads, -np.inf, -np.inf, "infeasible", parse.work)
        if kept is None:
            return parse
        exact = BACKBONES[self.backbone or smallest_backbone(problem.families)][1]
        bounded = tuple(f for f in FACTOR_ORDER if f in problem.parts and f not in exact)
        return replace(parse, record=make_record(problem, kept, exact, bounded))

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
        backbone = self.backbone or smallest_backbone(frozenset(scores) | {"arc"})
        families = [scores.get(f, EMPTY) for f in ("adjacent-sibling", "outermost-grandchild", "grandchild", "sibling")]
        sentence = (BACKBONES[backbone][0], index, parts, n, single_root, arc, *families, unit)
        kept: Record | None = None
        if self.config == "published":
            limits = self.options.max_dp_calls, self.options.max_nodes
            heads, value, bound, status, dp_calls, nodes, root_solved = solve_published(*sentence, *limits)
        else:
            heads, value, bound, status, dp_calls, nodes, root_solved, kept = solve(
                *sentence, self.options, self.record
            )
        work = {"dp_calls": dp_calls, "nodes": nodes, "root_solved": int(root_solved)}
        return Parse(heads, float(value), float(bound), STATUS[status], work), kept if self.record else None


def _penalty(problem: Problem) -> float:
    """More than any two trees can differ by: what a forbidden part costs where a bound must stay finite."""
    total = 0.0
    for score in (problem.arc, *(p.score for p in problem.parts.values())):
        total += float(np.abs(score[np.isfinite(score)]).sum())
    return 4.0 * np.ceil(total) + 4.0


def _finite(score: np.ndarray, penalty: float) -> np.ndarray:
    """-inf as a finite penalty."""
    return np.where(np.isneginf(score), -penalty, score)
