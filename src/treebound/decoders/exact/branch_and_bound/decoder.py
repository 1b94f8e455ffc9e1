"""Exact decoding by branch and bound with bounded non-local factors (Qian & Liu 2013)."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from treebound.core.errors import UnsupportedError
from treebound.core.parse import Parse, Status
from treebound.core.problem import Problem
from treebound.decoders.door import CheckedDecoder, arc_index
from treebound.decoders.exact.branch_and_bound.agreement import Handover
from treebound.decoders.exact.branch_and_bound.fallback import first_order_tree
from treebound.decoders.exact.branch_and_bound.lower_bound import climb
from treebound.decoders.exact.branch_and_bound.published import flat_factors, search_published
from treebound.decoders.exact.branch_and_bound.search import search
from treebound.decoders.exact.branch_and_bound.state import TUNED, Found, Task
from treebound.decoders.exact.branch_and_bound.trace import Record
from treebound.decoders.record import SearchRecord, make_record
from treebound.features.scorer import selected_parts
from treebound.kernels.arcs.numbering import ArcIndex
from treebound.kernels.arcs.parts import PartIndex, index_parts
from treebound.kernels.bounded import Counts, make_pairs, make_products
from treebound.kernels.chart.backbones import carreras_graph, chart_scores, eisner_graph, grandparent_sibling_graph
from treebound.kernels.chart.hypergraph import NEG, Hypergraph
from treebound.kernels.head_stars.tables import NO_ARCS, StarTables, star_tables

Space = Literal["projective", "non-projective"]


EMPTY = np.zeros(0, np.float64)
NO_PARTS = np.zeros((0, 2), np.int32)
NO_COUNTS = Counts(np.zeros(0, np.int32), EMPTY)


@dataclass(frozen=True)
class Backbone:
    """A tree oracle under the search: what it scores exactly is not bounded.

    space     the trees that it searches
    families  what it scores exactly
    graph     (index, parts, ChartScores, limit) -> Hypergraph, empty above `limit` edges. None: arborescences
    """

    space: Space
    families: frozenset[str]
    graph: Callable[..., Hypergraph | None]


BACKBONES = {
    "eisner": Backbone(
        "projective",
        frozenset({"arc"}),
        lambda index, parts, scores, limit: eisner_graph(index, len(index.right) - 1, parts.single_root, limit),
    ),
    "carreras": Backbone("projective", frozenset({"arc", "adjacent-sibling", "outermost-grandchild"}), carreras_graph),
    "grandparent-sibling": Backbone(
        "projective",
        frozenset({"arc", "adjacent-sibling", "outermost-grandchild", "grandchild", "grand-sibling"}),
        grandparent_sibling_graph,
    ),
    "arborescence": Backbone("non-projective", frozenset({"arc"}), lambda *_: None),
}
#: product factors of two arcs, then of more: the order of their shares in a record
PAIR_FAMILIES = ("grandchild", "sibling", "head-bigram", "grand-sibling")
PRODUCT_FAMILIES = ("tri-sibling", "comb", "great-grandchild", "pattern")
COUNT_FAMILY = "valency"
BOUNDED = frozenset((*PAIR_FAMILIES, *PRODUCT_FAMILIES, COUNT_FAMILY))
#: families of one head and the arc into it, which head stars can score
STAR_FAMILIES = ("grandchild", "sibling", "tri-sibling", "comb", "valency")
#: those that only head stars can score where trees may cross: they speak of what is not selected, too
AUTOMATON_FAMILIES = ("adjacent-sibling", "outermost-grandchild", "grand-sibling")
STATUS: tuple[Status, ...] = ("optimal", "limit", "infeasible")
MAX_EDGES = 40_000_000  #: hyperedges that a backbone may use (20 bytes each) before the sentence counts as too large

#: where trees may cross: the pairwise bound of siblings is loose there, and many steps are cheaper than branching
TUNED_CROSSING = TUNED._replace(root_steps=100, node_steps=20, patience=6, stars=100)
PROJECTIVE_CALLS = 40  #: of dynamic programs, for a first tree where trees may cross

#: named values of the kernel's options
ORDERS = ("depth-first", "best-first", "level")
SCHEMES = ("polyak", "momentum", "averaged", "block-coordinate")
BRANCHINGS = ("slack", "max-marginal")
STARTS = ("tree", "pi")


def smallest_backbone(families: frozenset[str], space: Space = "projective") -> str:
    """The backbone that scores exactly as many of `families` as any, at the least cost."""
    if space == "non-projective":
        return "arborescence"
    if families & {"grandchild", "grand-sibling"}:
        return "grandparent-sibling"
    return "carreras" if families & BACKBONES["carreras"].families - {"arc"} else "eisner"


def _choice(kind: str, name: str | None, names: tuple[str, ...]) -> int | None:
    if name is None:
        return None
    if name not in names:
        raise UnsupportedError(f"unknown {kind} {name!r}", hint="choose from " + ", ".join(names))
    return names.index(name)


class BranchAndBound(CheckedDecoder):
    """Branch and bound over a tree oracle.

    config    "tuned" or "published"
    space     "projective" or "non-projective"
    backbone  a name of BACKBONES; None: the smallest that scores most families exactly
    root_steps, node_steps, rho, patience, order, scheme, branching, eliminate, stars  as in
              `state.Options`, by name (tuned only); None: what is tuned for the space
    start     "tree": the first tree to beat is the first one met; "pi": it climbs the paper's lower bound (tuned only)
    max_dp_calls, max_nodes  limits (0: none); a sentence that hits one gets status "limit" and its remaining gap
    record    keep bounds, nodes and proof of the search in Parse.record (tuned only)
    """

    name = "branch-and-bound"
    exact = True
    cite = "Qian & Liu (2013), section 3"

    def __init__(
        self,
        config: Literal["tuned", "published"] = "tuned",
        space: Space = "projective",
        backbone: str | None = None,
        max_dp_calls: int = 0,
        max_nodes: int = 0,
        root_steps: int | None = None,
        node_steps: int | None = None,
        rho: float | None = None,
        patience: int | None = None,
        order: str | None = None,
        scheme: str | None = None,
        branching: str | None = None,
        start: str | None = None,
        eliminate: bool | None = None,
        stars: int | None = None,
        record: bool = False,
    ):
        _choice("space", space, ("projective", "non-projective"))
        _choice("configuration", config, ("tuned", "published"))
        names = tuple(name for name, b in BACKBONES.items() if b.space == space)
        _choice("backbone", backbone, names)
        if config == "published" and space != "projective":
            raise UnsupportedError("the published configuration is projective", hint="choose tuned")
        _choice("start", start, STARTS)
        self.config, self.backbone, self.record = config, backbone, record
        self.climbs = start == "pi"
        self.space: Space = space
        given: dict[str, Any] = {
            "root_steps": root_steps,
            "node_steps": node_steps,
            "rho": rho,
            "patience": patience,
            "order": _choice("order", order, ORDERS),
            "scheme": _choice("scheme", scheme, SCHEMES),
            "branching": _choice("branching", branching, BRANCHINGS),
            "eliminate": eliminate,
            "stars": stars,
        }
        tuned = TUNED if space == "projective" else TUNED_CROSSING
        tuned = tuned._replace(max_dp_calls=max_dp_calls, max_nodes=max_nodes)
        self.options = tuned._replace(**{name: value for name, value in given.items() if value is not None})
        widest = {"projective": "grandparent-sibling", "non-projective": "arborescence"}[space]
        self.supports = BACKBONES[backbone or widest].families | BOUNDED
        if space == "non-projective":
            self.supports |= frozenset(AUTOMATON_FAMILIES)
        elif backbone == "eisner":  # a grand-sibling is a pair of an arc and an adjacent sibling
            self.supports -= {"grand-sibling"}
        if config == "published":
            self.supports -= {COUNT_FAMILY}

    def _decode(self, problem: Problem) -> Parse:
        """Best tree with its certificate."""
        n, index = problem.n, arc_index(problem)
        penalty = _penalty(problem)
        exact = self._backbone(problem.families).families
        scores = {f: _finite(t.score, -NEG if f in exact else penalty) for f, t in problem.parts.items()}
        arc = _finite(problem.arc, -NEG)
        arcs = {f: t.arcs for f, t in problem.parts.items()}
        parts = index_parts(index, problem.single_root, self.space == "projective")
        parse, kept = self.solve(index, parts, problem.single_root, arc, arcs, scores, problem.unit)
        if parse.value < -penalty / 2:  # every tree that was found has a forbidden part
            limited = parse.status == "limit"
            bound = parse.bound if limited else -np.inf
            heads = heads_of(index, EMPTY.astype(np.int32), n)
            status: Status = "limit" if limited else "infeasible"
            parse = replace(parse, heads=heads, value=-np.inf, bound=bound, status=status)
        if kept is None:
            return parse
        pairs = tuple(f for f in PAIR_FAMILIES if f not in self._automata(problem.families))
        return replace(parse, record=make_record(problem, kept, exact, pairs, PRODUCT_FAMILIES, STAR_FAMILIES))

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

    def proof(self, problem: Problem, bound: float) -> SearchRecord | None:
        """What a search for trees that score more than `bound` did: a proof that none does, if that is so."""
        other = copy.copy(self)
        other.options, other.record = self.options._replace(floor=max(bound, NEG)), True
        return other.decode(problem).record

    def solve(
        self,
        index: ArcIndex,
        parts: PartIndex,
        single_root: bool,
        arc: np.ndarray,
        arcs: Mapping[str, np.ndarray],
        scores: Mapping[str, np.ndarray],
        unit: float,
    ) -> tuple[Parse, Record | None]:
        """As `decode`, for finite scores that are indexed already (what a parser calls); with the kernel's record.

        arcs, scores  family -> int32[F, r] arcs of its parts, float64[F]
        """
        n = len(index.right) - 1
        theta = np.append(arc, 0.0)
        started = time.perf_counter()
        backbone = self._backbone(frozenset(scores))
        graph = backbone.graph(index, parts, chart_scores(scores), MAX_EDGES)
        if graph is not None and len(graph.first) == 1:
            return self._too_large(index, parts, single_root, theta, arcs, scores), None
        left = {f: s for f, s in scores.items() if f not in backbone.families}
        task = _task(index, parts, theta, arcs, left, self._automata(frozenset(scores)), unit)
        built = time.perf_counter()
        found = self._search(graph, task, arcs, scores, left)
        work = {"dp_calls": found.dp_calls, "nodes": found.nodes, "root_solved": int(found.root_solved)}
        seconds = {"backbone": built - started, "search": time.perf_counter() - built}
        heads = heads_of(index, found.arcs if found.value > max(NEG / 2, self.options.floor) else found.arcs[:0], n)
        parse = Parse(heads, float(found.value), float(found.bound), STATUS[found.status], work, seconds)
        return parse, found.record if self.record else None

    def _search(
        self,
        graph: Hypergraph | None,
        task: Task,
        arcs: Mapping[str, np.ndarray],
        scores: Mapping[str, np.ndarray],
        left: Mapping[str, np.ndarray],
    ) -> Found:
        """The search of the configuration, from first trees that it asks for; left: scores that the graph leaves."""
        options = self.options._replace(record=self.record)
        if self.config == "published":
            return search_published(graph, task, flat_factors(task), options.max_dp_calls, options.max_nodes)
        if left.keys().isdisjoint(STAR_FAMILIES):
            options = options._replace(stars=0)
        handover = None
        if options.stars or self.space == "non-projective":
            handover = _handover(task, arcs, left, self._automata(frozenset(scores)))
        known: tuple[float, np.ndarray] = NEG, np.zeros(len(task.arcs.right) - 1, np.int32)
        if self.space == "non-projective":
            theta = task.theta[: len(task.arcs.head) + 1]
            known = projective_tree(task.arcs, task.parts, theta, arcs, scores, task.unit)[:2]
        if not self.climbs:
            return search(graph, task, handover, known, options)
        score, tree, climbing = climb(graph, task, handover)
        known = max(known, (score, tree), key=lambda pair: pair[0])
        found = search(graph, task, handover, known, options)
        return found._replace(dp_calls=found.dp_calls + climbing)

    def _backbone(self, families: frozenset[str]) -> Backbone:
        """The backbone for these families: the one asked for, or the smallest that scores most of them exactly."""
        return BACKBONES[self.backbone or smallest_backbone(families, self.space)]

    def _automata(self, families: frozenset[str]) -> tuple[str, ...]:
        """Families that are left to head automata from the beginning."""
        if self.space == "projective" or families.isdisjoint(AUTOMATON_FAMILIES):
            return ()
        return *AUTOMATON_FAMILIES, "grandchild"  # as grandchildren are scored at the same heads, they come along

    def _too_large(
        self,
        index: ArcIndex,
        parts: PartIndex,
        single_root: bool,
        theta: np.ndarray,
        arcs: Mapping[str, np.ndarray],
        scores: Mapping[str, np.ndarray],
    ) -> Parse:
        """The best tree of the arcs' own scores, with its score under everything: a tree without a claim."""
        n = len(index.right) - 1
        work = {"dp_calls": 1, "nodes": 0, "root_solved": 0}
        into = first_order_tree(index, n, single_root, theta)
        if len(into) == 0:
            return Parse(heads_of(index, into, n), NEG, NEG, "infeasible", work)
        value = theta[into].sum()
        for family, score in scores.items():
            value += score[selected_parts(family, index, parts, arcs[family], into)].sum()
        return Parse(heads_of(index, into, n), float(value), np.inf, "limit", work)


def _task(
    index: ArcIndex,
    parts: PartIndex,
    theta: np.ndarray,
    arcs: Mapping[str, np.ndarray],
    left: Mapping[str, np.ndarray],
    automata: tuple[str, ...],
    unit: float,
) -> Task:
    """What is bounded of the scores that a graph leaves out; `automata` are left to head stars."""
    bounded = {f: s for f, s in left.items() if f not in automata}
    if "grand-sibling" in bounded:
        arcs = {**arcs, "grand-sibling": _with_adjacent(index, parts, arcs["grand-sibling"])}
        theta = np.append(theta, np.zeros(parts.adjacent[-1]))
    pairs = make_pairs(*joined(arcs, bounded, PAIR_FAMILIES), unit)
    products = make_products(*joined(arcs, bounded, PRODUCT_FAMILIES), unit, len(pairs.phi))
    return Task(index, parts, theta, pairs, products, counts_of(len(index.right) - 1, arcs, left), unit)


def projective_tree(
    index: ArcIndex,
    parts: PartIndex,
    theta: np.ndarray,
    arcs: Mapping[str, np.ndarray],
    scores: Mapping[str, np.ndarray],
    unit: float,
) -> tuple[float, np.ndarray, int]:
    """(score, arcs int32[n], DP calls) of a good projective tree, NEG if none was found: what a tree has to beat."""
    nothing = NEG, np.zeros(len(index.right) - 1, np.int32)
    backbone = BACKBONES[smallest_backbone(frozenset(scores))]
    graph = backbone.graph(index, parts, chart_scores(scores), MAX_EDGES // 10)
    if graph is None or len(graph.first) == 1:
        return *nothing, 0
    left = {f: s for f, s in scores.items() if f not in backbone.families}
    task = _task(index, parts, theta, arcs, left, (), unit)
    found = search(graph, task, None, nothing, TUNED._replace(max_dp_calls=PROJECTIVE_CALLS))
    return float(found.value), found.arcs, int(found.dp_calls)


def joined(
    arcs: Mapping[str, np.ndarray], scores: Mapping[str, np.ndarray], families: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """(int32[F, r], float64[F]): arcs and scores of the families that are there, one family after another."""
    there = [f for f in families if f in scores and len(scores[f])]
    if not there:
        return NO_PARTS, EMPTY
    if len(there) == 1:
        return arcs[there[0]], scores[there[0]]
    width = max(arcs[f].shape[1] for f in there)
    wide = [np.pad(arcs[f], ((0, 0), (0, width - arcs[f].shape[1])), constant_values=-1) for f in there]
    return np.concatenate(wide), np.concatenate([scores[f] for f in there])


def counts_of(n: int, arcs: Mapping[str, np.ndarray], scores: Mapping[str, np.ndarray]) -> Counts:
    """Valency scores by word."""
    if COUNT_FAMILY not in scores:
        return NO_COUNTS
    first = np.searchsorted(arcs[COUNT_FAMILY][:, 0], np.arange(n + 2)).astype(np.int32)
    return Counts(first, scores[COUNT_FAMILY])


def _handover(
    task: Task, arcs: Mapping[str, np.ndarray], left: Mapping[str, np.ndarray], automata: tuple[str, ...]
) -> Handover:
    """What head stars score from the beginning (`automata`), and what they take over later."""

    def used(family: str) -> int:
        return 0 if family in automata else int(np.count_nonzero(left.get(family, EMPTY)))

    def tables(families: tuple[str, ...]) -> StarTables:
        there = {f: s for f, s in left.items() if f in families}
        return star_tables(task.arcs, there, arcs["comb"] if "comb" in there else NO_ARCS, task.unit)

    places = sum(int(np.count_nonzero(arcs[f][left[f] != 0.0] >= 0)) for f in ("tri-sibling", "comb") if f in left)
    grandchildren = used("grandchild")
    later = tables((*automata, *STAR_FAMILIES))
    return Handover(
        tables(automata), later, grandchildren, grandchildren + used("sibling"), len(task.pairs.phi) + places
    )


def _with_adjacent(index: ArcIndex, parts: PartIndex, arcs: np.ndarray) -> np.ndarray:
    """Grand-siblings (a, s, b) as pairs of variables: arc a, and the adjacent-sibling part of s and b."""
    a, s, b = arcs.T
    h = index.head[b]
    side = np.where(b < index.right[h], index.start[h], index.right[h])
    part = parts.adjacent[b] + np.where(s < 0, 0, 1 + s - side)
    return np.stack((a, len(index.head) + 1 + part), axis=1).astype(np.int32)


def heads_of(index: ArcIndex, arcs: np.ndarray, n: int) -> np.ndarray:
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
