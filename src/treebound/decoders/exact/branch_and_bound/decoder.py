"""Exact decoding by branch and bound with bounded non-local factors (Qian & Liu 2013)."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple, TypedDict, Unpack

import numpy as np

from treebound.core.errors import UnsupportedError
from treebound.core.parse import Parse, Status
from treebound.core.problem import PartTable, Problem
from treebound.core.spaces import Space
from treebound.decoders.base import CheckedDecoder, without_infinities
from treebound.decoders.exact.branch_and_bound.agreement import Handover
from treebound.decoders.exact.branch_and_bound.fallback import first_order_tree, large_first_order
from treebound.decoders.exact.branch_and_bound.lower_bound import MOST, climb
from treebound.decoders.exact.branch_and_bound.published import flat_factors, search_published
from treebound.decoders.exact.branch_and_bound.record import SearchRecord, make_record
from treebound.decoders.exact.branch_and_bound.search import search
from treebound.decoders.exact.branch_and_bound.share_steps import POLYAK
from treebound.decoders.exact.branch_and_bound.state import TUNED, Found, Options, Task
from treebound.decoders.exact.branch_and_bound.trace import Record
from treebound.features.tree_score import PartScore
from treebound.kernels.arcs.numbering import ArcIndex, heads_of
from treebound.kernels.arcs.parts import PartIndex
from treebound.kernels.arcs.problem_index import arcs_of, index_of
from treebound.kernels.bounded import Counts, Pairs, Products, make_pairs, make_products
from treebound.kernels.chart.backbones import (
    ChartScores,
    carreras_graph,
    chart_scores,
    eisner_graph,
    grandparent_sibling_graph,
)
from treebound.kernels.chart.hypergraph import NEG, NO_GRAPH, Hypergraph
from treebound.kernels.head_stars.tables import StarTables
from treebound.kernels.reference import read_only
from treebound.kernels.sibling_spans import Adjacency, Spans, adjacent_factors
from treebound.kernels.tree_moves import AUTOMATON_FAMILIES, NO_PARTS, STAR_FAMILIES, joined, stars_of

EMPTY = np.zeros(0, np.float64)
NO_ARCS = np.zeros(0, np.int32)
NO_SPANS = (
    Spans(NO_ARCS, NO_ARCS, EMPTY, EMPTY),
    Adjacency(np.zeros(0, np.int64), NO_ARCS),
)
NO_COUNTS = Counts(np.zeros(0, np.int32), read_only(EMPTY))


@dataclass(frozen=True)
class Backbone:
    """A tree oracle under the search: what it scores exactly is not bounded.

    space     the trees that it searches
    families  what it scores exactly
    kernel    writes its hypergraph (`kernels.chart.backbones`); None: arborescences need none
    """

    space: Space
    families: frozenset[str]
    kernel: Callable[..., Hypergraph] | None

    def graph(
        self,
        index: ArcIndex,
        parts: PartIndex,
        scores: ChartScores,
        limit: int,
        counted: bool = False,
        named: bool = False,
    ) -> Hypergraph:
        """Return the hypergraph of a sentence, NO_GRAPH for arborescences.

        It is empty for more than `limit` edges: more by an upper bound of their number, or if they are counted.
        If they are `named`, adjacent pairs of arcs are variables (`grandparent_sibling_graph` alone).
        """
        if self.kernel is None:
            return NO_GRAPH
        if self.kernel is grandparent_sibling_graph:
            return grandparent_sibling_graph(index, parts, scores, limit, counted, named)
        of_arcs = len(index.right) - 1, parts.single_root
        stated = (index, *of_arcs) if self.kernel is eisner_graph else (index, parts, scores)
        return self.kernel(*stated, limit, counted)


BACKBONES = {
    "eisner": Backbone("projective", frozenset({"arc"}), eisner_graph),
    "carreras": Backbone("projective", frozenset({"arc", "adjacent-sibling", "outermost-grandchild"}), carreras_graph),
    "grandparent-sibling": Backbone(
        "projective",
        frozenset({"arc", "adjacent-sibling", "outermost-grandchild", "grandchild", "grand-sibling"}),
        grandparent_sibling_graph,
    ),
    "arborescence": Backbone("non-projective", frozenset({"arc"}), None),
}
#: product factors of two arcs, then of more: the order of their shares in a record
PAIR_FAMILIES = ("grandchild", "sibling", "head-bigram", "grand-sibling")
PRODUCT_FAMILIES = ("tri-sibling", "comb", "great-grandchild", "pattern")
COUNT_FAMILY = "valency"
BOUNDED = frozenset((*PAIR_FAMILIES, *PRODUCT_FAMILIES, COUNT_FAMILY))
STATUS: tuple[Status, ...] = ("optimal", "limit", "infeasible")
LONG_WORK = 20_000_000_000  #: hyperedges that the search of a long sentence may look at, over all dynamic programs
LONG = 500  #: words from which on a search for trees with crossing arcs has a limit
LONG_CALLS = 30  #: dynamic programs of such a search: head stars between them take most of the time
MIN_CALLS = 20  #: dynamic programs that every search may take: enough for a tree and a bound
MAX_EDGES = 40_000_000  #: hyperedges that a backbone may use (20 bytes each) before the sentence counts as too large

#: where trees may cross: the pairwise bound of siblings is loose there, and many steps are cheaper than branching
TUNED_CROSSING = TUNED._replace(root_steps=100, node_steps=20, patience=6, stars=100)
#: where adjacent siblings bound the others: fewer and longer steps need fewer dynamic programs (docs/decisions/028)
TUNED_ADJACENT: dict[str, Any] = {"rho": 1.9, "root_steps": 12, "node_steps": 4}
PROJECTIVE_CALLS = 40  #: of dynamic programs, for a first tree where trees may cross

#: named values of the kernel's options
NAMED = {
    "order": ("depth-first", "best-first", "level"),
    "scheme": ("polyak", "momentum", "averaged", "block-coordinate"),
    "branching": ("slack", "max-marginal"),
}
STARTS = ("tree", "pi")
SIBLINGS = ("adjacent", "arcs")


@cache
def smallest_backbone(families: frozenset[str], space: Space = "projective") -> str:
    """The backbone that scores exactly as many of `families` as any, at the least cost."""
    if space == "non-projective":
        return "arborescence"
    if families & {"grandchild", "grand-sibling"}:
        return "grandparent-sibling"
    return "carreras" if families & BACKBONES["carreras"].families - {"arc"} else "eisner"


class Search(TypedDict, total=False):
    """Options of the search; one that is left out, or None, is as tuned for the space.

    root_steps, node_steps, rho, patience, order, scheme, branching, eliminate, stars  as in `state.Options`, by name
    siblings  "adjacent": pairs on one side of their head are bounded by the adjacent siblings of a tree
              (`kernels.sibling_spans`), combs too; "arcs": by its arcs. The first needs the backbone
              grandparent-sibling, plain Polyak steps, and a search without stars, climbing and record
    start     "tree": the first tree to beat is the first one that the search meets; "pi": alternating maximisation of
              the paper's lower bound finds one before the search (Algorithm 1). The default of "tuned" is "tree", that
              of "published" is "pi"
    max_dp_calls, max_nodes  limits (0: none), the former on the dynamic programs of `start` as well; a sentence that
              hits one gets status "limit" and its remaining gap
    record    keep bounds, nodes and proof of the search in Parse.record
    """

    max_dp_calls: int
    max_nodes: int
    root_steps: int | None
    node_steps: int | None
    rho: float | None
    patience: int | None
    order: str | None
    scheme: str | None
    branching: str | None
    start: str | None
    siblings: str | None
    eliminate: bool | None
    stars: int | None
    record: bool


def _choice(kind: str, name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        raise UnsupportedError(f"unknown {kind} {name!r}", hint="choose from " + ", ".join(names))
    return names.index(name)


class BranchAndBound(CheckedDecoder):
    """Branch and bound over a tree oracle.

    config    "tuned" or "published"
    space     "projective" or "non-projective"
    backbone  a name of BACKBONES; None: the smallest that scores most families exactly
    search    see `Search`; "published" has `start` and the limits alone
    """

    name = "branch-and-bound"
    exact = True
    cite = "Qian & Liu (2013), section 3"

    def __init__(
        self,
        config: Literal["tuned", "published"] = "tuned",
        space: Space = "projective",
        backbone: str | None = None,
        **search: Unpack[Search],
    ):
        if unknown := search.keys() - Search.__annotations__.keys():
            raise TypeError(f"there is no option {min(unknown)!r} of a search")
        _choice("space", space, ("projective", "non-projective"))
        _choice("configuration", config, ("tuned", "published"))
        if backbone is not None:
            _choice("backbone", backbone, tuple(name for name, b in BACKBONES.items() if b.space == space))
        if config == "published" and space != "projective":
            raise UnsupportedError("the published configuration is projective", hint="choose tuned")
        self.config, self.backbone, self.space = config, backbone, space
        given: dict[str, Any] = {name: value for name, value in search.items() if value is not None}
        self.record = bool(given.pop("record", False))
        start = given.pop("start", "pi" if config == "published" else "tree")
        self.climbs = _choice("start", start, STARTS) == STARTS.index("pi")
        self.siblings = SIBLINGS[_choice("bound of siblings", given.pop("siblings", SIBLINGS[0]), SIBLINGS)]
        numbers = {name: _choice(name, given[name], names) for name, names in NAMED.items() if name in given}
        tuned = TUNED if space == "projective" else TUNED_CROSSING
        self.options = tuned._replace(**given | numbers)
        self._given = frozenset(given)
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
        backbone, automata = self._backbone(problem.families), self._automata(problem.families)
        stated, least = without_infinities(problem, backbone.families)
        parse, kept = self._solve(stated, backbone, automata)
        if parse.value < least:  # there is no tree, or every one that was found has a forbidden part
            limited = parse.status == "limit"
            bound = parse.bound if limited else -np.inf
            heads = heads_of(arcs_of(problem), NO_ARCS)
            status: Status = "limit" if limited else "infeasible"
            parse = replace(parse, heads=heads, value=-np.inf, bound=bound, status=status)
        if kept is None:
            return parse
        pairs = tuple(f for f in PAIR_FAMILIES if f not in automata)
        record = make_record(problem, kept, backbone.families, pairs, PRODUCT_FAMILIES, STAR_FAMILIES)
        return replace(parse, record=record)

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

    def _solve(self, problem: Problem, backbone: Backbone, automata: tuple[str, ...]) -> tuple[Parse, Record | None]:
        """The best tree of a problem of finite scores, value NEG where there is none; with the kernel's record."""
        started = time.perf_counter()
        if not problem.parts and self.backbone in (None, "eisner", "arborescence"):
            large = large_first_order(problem, backbone.space == "projective", MAX_EDGES // 10)
            if large is not None:
                return large
        adjacent = self._uses_adjacent(problem, backbone)
        options = self.options._replace(record=self.record)
        if adjacent:
            options = options._replace(**{name: x for name, x in TUNED_ADJACENT.items() if name not in self._given})
        stated = _state(problem, backbone, automata, MAX_EDGES, adjacent=adjacent)
        if stated is None:
            stated = _state(problem, backbone, automata, MAX_EDGES, counted=True, adjacent=adjacent)
            if stated is None:
                return _too_large(problem), None
            options = _limited(options, max(MIN_CALLS, LONG_WORK // max(len(stated.graph.left), 1)))
        elif stated.graph is NO_GRAPH and problem.n >= LONG:
            options = _limited(options, LONG_CALLS)
        built = time.perf_counter()
        found = self._search(problem, stated, automata, options)
        work = {"dp_calls": found.dp_calls, "nodes": found.nodes, "root_solved": int(found.root_solved)}
        seconds = {"backbone": built - started, "search": time.perf_counter() - built}
        tree = found.arcs if found.value > max(NEG / 2, self.options.floor) else found.arcs[:0]
        heads = heads_of(stated.task.arcs, tree)
        parse = Parse(heads, float(found.value), float(found.bound), STATUS[found.status], work, seconds)
        return parse, found.record if self.record else None

    def _search(self, problem: Problem, stated: _Stated, automata: tuple[str, ...], options: Options) -> Found:
        """The search of the configuration, from the first trees that it asks for."""
        graph, task, left = stated
        tuned = self.config == "tuned"
        if options.stars and left.keys().isdisjoint(STAR_FAMILIES):
            options = options._replace(stars=0)
        handover = None
        if tuned and (options.stars or self.space == "non-projective"):
            handover = _handover(task, left, automata)
        known: tuple[float, np.ndarray] = NEG, np.zeros(problem.n, np.int32)
        if self.space == "non-projective":
            known = projective_tree(problem)[:2]
        limit, climbing = options.max_dp_calls, 0
        if self.climbs and limit != 1:  # the search needs a dynamic program of its own for a bound
            score, tree, climbing = climb(graph, task, handover, min(MOST, limit - 1) if limit > 0 else MOST)
            known = max(known, (score, tree), key=lambda pair: pair[0])
            if limit > 0:
                options = options._replace(max_dp_calls=limit - climbing)
        if tuned:
            found = search(graph, task, handover, known, options)
        else:
            found = search_published(graph, task, flat_factors(task), known, options.max_dp_calls, options.max_nodes)
        return found._replace(dp_calls=found.dp_calls + climbing)

    def _uses_adjacent(self, problem: Problem, backbone: Backbone) -> bool:
        """Return whether the search bounds siblings and combs of the problem by adjacent siblings."""
        plain = self.config == "tuned" and not self.options.stars and self.options.scheme == POLYAK
        plain = plain and not self.climbs and not self.record
        there = backbone.kernel is grandparent_sibling_graph and not {"sibling", "comb"}.isdisjoint(problem.parts)
        return self.siblings == "adjacent" and plain and there

    def _backbone(self, families: frozenset[str]) -> Backbone:
        """The backbone for these families: the one asked for, or the smallest that scores most of them exactly."""
        return BACKBONES[self.backbone or smallest_backbone(families, self.space)]

    def _automata(self, families: frozenset[str]) -> tuple[str, ...]:
        """Families that are left to head automata from the beginning."""
        if self.space == "projective" or families.isdisjoint(AUTOMATON_FAMILIES):
            return ()
        return *AUTOMATON_FAMILIES, "grandchild"  # as grandchildren are scored at the same heads, they come along


def _limited(options: Options, most: int) -> Options:
    """Return the options with at most `most` dynamic programs, so that one long sentence takes seconds and not hours.

    A smaller limit of the user's holds.
    """
    asked = options.max_dp_calls
    return options._replace(max_dp_calls=min(asked, most) if asked > 0 else most)


def _too_large(problem: Problem) -> Parse:
    """The best tree of the arcs' own scores, with its score under everything: a tree without a claim."""
    index, work = arcs_of(problem), {"dp_calls": 1, "nodes": 0, "root_solved": 0}
    into = first_order_tree(index, problem.n, problem.single_root, np.append(problem.arc, 0.0))
    heads = heads_of(index, into)
    if len(into) == 0:
        return Parse(heads, NEG, NEG, "infeasible", work)
    return Parse(heads, PartScore(problem).score(heads), np.inf, "limit", work)


class _Stated(NamedTuple):
    """A sentence under a backbone: its graph, what is bounded, and the tables that the graph leaves out."""

    graph: Hypergraph
    task: Task
    left: dict[str, PartTable]


def _state(
    problem: Problem,
    backbone: Backbone,
    automata: tuple[str, ...],
    limit: int,
    counted: bool = False,
    adjacent: bool = False,
) -> _Stated | None:
    """The sentence under a backbone; `automata` are left to head stars. None: as for an empty `Backbone.graph`.

    adjacent  siblings and combs are bounded by adjacent pairs, which are variables then
    """
    tables, (index, parts) = problem.parts, index_of(problem)
    graph = backbone.graph(
        index, parts, chart_scores({f: t.score for f, t in tables.items()}), limit, counted, adjacent
    )
    if len(graph.first) == 1:
        return None
    left = {f: t for f, t in tables.items() if f not in backbone.families}
    bounded = {f: t for f, t in left.items() if f not in automata} if automata else left
    if adjacent:
        return _Stated(graph, _with_spans(problem, index, parts, bounded, left), left)
    theta = np.append(problem.arc, 0.0)
    if "grand-sibling" in bounded:
        given = bounded["grand-sibling"]
        bounded = bounded | {"grand-sibling": replace(given, arcs=_with_adjacent(index, parts, given.arcs))}
        theta = np.append(theta, np.zeros(parts.adjacent[-1]))
    pairs, products = _no_factors()  # of a short sentence
    if len((two := joined(bounded, PAIR_FAMILIES))[1]):
        pairs = make_pairs(*two, problem.unit)
    if len((more := joined(bounded, PRODUCT_FAMILIES))[1]):
        products = make_products(*more, problem.unit, len(pairs.phi))
    counts = counts_of(problem.n, left)
    task = Task(index, parts, theta, pairs, products, counts, *NO_SPANS, problem.unit)
    return _Stated(graph, task, left)


def _with_spans(
    problem: Problem,
    index: ArcIndex,
    parts: PartIndex,
    bounded: dict[str, PartTable],
    left: dict[str, PartTable],
) -> Task:
    """Return the task in which adjacent pairs bound the siblings on one side of a head, and the combs."""
    of_heads = (joined(bounded, (family,)) for family in ("sibling", "comb"))
    adjacent, theta, pairs, products, spans = adjacent_factors(
        index, parts, read_only(problem.arc), *of_heads, problem.unit
    )
    if len((two := joined(bounded, ("head-bigram",)))[1]):
        pairs = Pairs(*map(np.concatenate, zip(pairs, make_pairs(*two, problem.unit), strict=True)))
    if len((more := joined(bounded, [f for f in PRODUCT_FAMILIES if f != "comb"]))[1]):
        others = make_products(*more, problem.unit, len(pairs.phi))
        first = np.append(products.first, others.first[1:] + products.first[-1]).astype(np.int32)
        products = Products(first, *map(np.concatenate, zip(products[1:], others[1:], strict=True)))
    counts = counts_of(problem.n, left)
    return Task(index, parts, theta, pairs, products, counts, spans, adjacent, problem.unit)


@cache
def _no_factors() -> tuple[Pairs, Products]:
    return make_pairs(*NO_PARTS, 0.0), make_products(*NO_PARTS, 0.0, 0)


def projective_tree(problem: Problem) -> tuple[float, np.ndarray, int]:
    """(score, arcs int32[n], DP calls) of a good projective tree, NEG if none was found: what a tree has to beat."""
    nothing = NEG, np.zeros(problem.n, np.int32)
    stated = _state(problem, BACKBONES[smallest_backbone(problem.families)], (), MAX_EDGES // 10)
    if stated is None:
        return *nothing, 0
    found = search(stated.graph, stated.task, None, nothing, TUNED._replace(max_dp_calls=PROJECTIVE_CALLS))
    return float(found.value), found.arcs, int(found.dp_calls)


def counts_of(n: int, tables: Mapping[str, PartTable]) -> Counts:
    """Valency scores by word."""
    if COUNT_FAMILY not in tables:
        return NO_COUNTS
    first = np.searchsorted(tables[COUNT_FAMILY].arcs[:, 0], np.arange(n + 2)).astype(np.int32)
    return Counts(first, read_only(tables[COUNT_FAMILY].score))


def _handover(task: Task, left: Mapping[str, PartTable], automata: tuple[str, ...]) -> Handover:
    """What head stars score from the beginning (`automata`), and what they take over later."""

    def used(family: str) -> int:
        return 0 if family in automata or family not in left else int(np.count_nonzero(left[family].score))

    def stars(families: tuple[str, ...]) -> StarTables:
        return stars_of(task.arcs, {f: t for f, t in left.items() if f in families}, task.unit)

    wide = (left[f] for f in ("tri-sibling", "comb") if f in left)
    places = sum(int(np.count_nonzero(t.arcs[t.score != 0.0] >= 0)) for t in wide)
    grandchildren = used("grandchild")
    later = stars((*automata, *STAR_FAMILIES))
    return Handover(
        stars(automata), later, grandchildren, grandchildren + used("sibling"), len(task.pairs.phi) + places
    )


def _with_adjacent(index: ArcIndex, parts: PartIndex, arcs: np.ndarray) -> np.ndarray:
    """Grand-siblings (a, s, b) as pairs of variables: arc a, and the adjacent-sibling part of s and b."""
    a, s, b = arcs.T
    h = index.head[b]
    side = np.where(b < index.right[h], index.start[h], index.right[h])
    part = parts.adjacent[b] + np.where(s < 0, 0, 1 + s - side)
    return np.stack((a, len(index.head) + 1 + part), axis=1).astype(np.int32)
