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
from treebound.decoders.exact.branch_and_bound.state import TUNED, Options, SearchResult, Task
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
    """A method that finds the best tree under weights in the search; it scores some families of factors exactly.

    The search bounds only factors that the backbone does not score.

    space     trees that the backbone searches
    families  families that it scores exactly
    kernel    function that writes its hypergraph (`kernels.chart.backbones`); None for arborescences, which need none
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

        The hypergraph is empty if it would have more than `limit` edges. Its edges are counted if `counted`, and
        otherwise estimated by an upper bound. If `named`, adjacent pairs of arcs are variables
        (`grandparent_sibling_graph` only).
        """
        if self.kernel is None:
            return NO_GRAPH
        if self.kernel is grandparent_sibling_graph:
            return grandparent_sibling_graph(index, parts, scores, limit, counted, named)
        size = len(index.right) - 1, parts.single_root
        arguments = (index, *size) if self.kernel is eisner_graph else (index, parts, scores)
        return self.kernel(*arguments, limit, counted)


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
#: families of product factors with two arcs, then with more: the order of their shares in a record
PAIR_FAMILIES = ("grandchild", "sibling", "head-bigram", "grand-sibling")
PRODUCT_FAMILIES = ("tri-sibling", "comb", "great-grandchild", "pattern")
COUNT_FAMILY = "valency"
BOUNDED = frozenset((*PAIR_FAMILIES, *PRODUCT_FAMILIES, COUNT_FAMILY))
STATUS: tuple[Status, ...] = ("optimal", "limit", "infeasible")
LONG_WORK = 20_000_000_000  #: limit of hyperedges in the search of a long sentence, summed over all dynamic programs
LONG = 500  #: number of words from which a non-projective search has a limit
LONG_CALLS = 30  #: limit of dynamic programs in a long non-projective search; its head stars take most of the time
MIN_CALLS = 20  #: smallest limit of dynamic programs: enough for a tree and a bound
MAX_EDGES = 40_000_000  #: hyperedges that a backbone may use (20 bytes each) before the sentence counts as too large

#: options for non-projective trees: the pairwise bound of siblings is loose, and many steps are cheaper than branching
TUNED_CROSSING = TUNED._replace(root_steps=100, node_steps=20, patience=6, stars=100)
#: options if adjacent siblings bound the others: fewer, longer steps need fewer DP calls (docs/decisions/028)
TUNED_ADJACENT: dict[str, Any] = {"rho": 1.9, "root_steps": 12, "node_steps": 4}
PROJECTIVE_CALLS = 40  #: limit of dynamic programs for the first tree of a non-projective search

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
    """Return the name of the cheapest backbone among the backbones that score most of `families` exactly."""
    if space == "non-projective":
        return "arborescence"
    if families & {"grandchild", "grand-sibling"}:
        return "grandparent-sibling"
    return "carreras" if families & BACKBONES["carreras"].families - {"arc"} else "eisner"


class Search(TypedDict, total=False):
    """Options of the search. An option that is missing or None gets the tuned value of the space.

    - root_steps, node_steps, rho, patience, order, scheme, branching, eliminate, stars: as in `state.Options`.
      `order`, `scheme` and `branching` are given as names, for instance "polyak".
    - siblings: "adjacent" bounds siblings on one side of their head, and combs, by the adjacent siblings of a tree
      (`kernels.sibling_spans`). "arcs" bounds them by their arcs. The value "adjacent" has an effect only with the
      backbone grandparent-sibling and plain Polyak steps. It has no effect with stars, with start "pi", or with record.
    - start: "tree" takes the first tree of the search as the first incumbent. "pi" computes an incumbent before the
      search, by alternating maximisation of the paper's lower bound (Algorithm 1). The configuration "tuned" has the
      default "tree", and the configuration "published" has the default "pi".
    - max_dp_calls, max_nodes: limits; 0 for none. Dynamic programs of `start` count, too. A sentence that reaches a
      limit gets status "limit" and its remaining gap. The tuned search may exceed `max_dp_calls` by some calls, because
      it computes the next tree after the removal of arcs before it stops.
    - record: whether Parse.record holds the bounds, nodes and proof of the search. Only the configuration "tuned" can
      keep a record.
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
    """Return the index of a name in a tuple. Raises UnsupportedError for another name."""
    if name not in names:
        raise UnsupportedError(f"unknown {kind} {name!r}", hint="choose from " + ", ".join(names))
    return names.index(name)


class BranchAndBound(CheckedDecoder):
    """A decoder by branch and bound over a tree oracle.

    config    "tuned" or "published"
    space     "projective" or "non-projective"
    backbone  a name of BACKBONES; None chooses the cheapest backbone that scores most families exactly
    search    options, see `Search`; the configuration "published" uses only `start` and the limits
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
            raise TypeError(f"unknown option {min(unknown)!r} of the search")
        _choice("space", space, ("projective", "non-projective"))
        _choice("configuration", config, ("tuned", "published"))
        if backbone is not None:
            _choice("backbone", backbone, tuple(name for name, b in BACKBONES.items() if b.space == space))
        if config == "published" and space != "projective":
            raise UnsupportedError("the published configuration is projective", hint="choose tuned")
        self.config, self.backbone, self.space = config, backbone, space
        options: dict[str, Any] = {name: value for name, value in search.items() if value is not None}
        self.record = bool(options.pop("record", False))
        if config == "published" and self.record:
            raise UnsupportedError("the published configuration keeps no record of its search", hint="choose tuned")
        start = options.pop("start", "pi" if config == "published" else "tree")
        self.climbs = _choice("start", start, STARTS) == STARTS.index("pi")
        self.siblings = SIBLINGS[_choice("bound of siblings", options.pop("siblings", SIBLINGS[0]), SIBLINGS)]
        numbers = {name: _choice(name, options[name], names) for name, names in NAMED.items() if name in options}
        tuned = TUNED if space == "projective" else TUNED_CROSSING
        self.options = tuned._replace(**options | numbers)
        self._chosen_options = frozenset(options)
        widest = {"projective": "grandparent-sibling", "non-projective": "arborescence"}[space]
        self.supports = BACKBONES[backbone or widest].families | BOUNDED
        if space == "non-projective":
            self.supports |= frozenset(AUTOMATON_FAMILIES)
        elif backbone == "eisner":  # a grand-sibling is a pair of an arc and an adjacent sibling
            self.supports -= {"grand-sibling"}
        if config == "published":
            self.supports -= {COUNT_FAMILY}

    def _decode(self, problem: Problem) -> Parse:
        """Return the best tree of a canonical problem with its certificate."""
        backbone, automata = self._backbone(problem.families), self._automata(problem.families)
        finite, lowest = without_infinities(problem, backbone.families)
        parse, log = self._solve(finite, backbone, automata)
        if parse.value < lowest:  # there is no tree, or the best tree has a forbidden part
            limited = parse.status == "limit"
            bound = parse.bound if limited else -np.inf
            heads = heads_of(arcs_of(problem), NO_ARCS)
            status: Status = "limit" if limited else "infeasible"
            parse = replace(parse, heads=heads, value=-np.inf, bound=bound, status=status)
        if log is None:
            return parse
        pairs = tuple(f for f in PAIR_FAMILIES if f not in automata)
        record = make_record(problem, log, backbone.families, pairs, PRODUCT_FAMILIES, STAR_FAMILIES)
        return replace(parse, record=record)

    def decode_above(self, problem: Problem, floor: float) -> Parse | None:
        """Return the best tree if it scores more than `floor`, and None if it is proved that no tree does.

        Status "limit" means that a limit stopped the proof. The search starts with `floor` as the score to beat. Often
        its first bound proves that no tree scores more.
        """
        decoder = copy.copy(self)
        decoder.options = self.options._replace(floor=max(floor, NEG))
        parse = decoder.decode(problem)
        if parse.value > floor:
            return parse
        return replace(parse, value=-np.inf) if parse.status == "limit" else None

    def proof(self, problem: Problem, bound: float) -> SearchRecord | None:
        """Return the record of a search for trees that score more than `bound`.

        If no tree scores more than `bound` and the search reaches no limit, the record is a proof.
        """
        decoder = copy.copy(self)
        decoder.options, decoder.record = self.options._replace(floor=max(bound, NEG)), True
        return decoder.decode(problem).record

    def _solve(self, problem: Problem, backbone: Backbone, automata: tuple[str, ...]) -> tuple[Parse, Record | None]:
        """Return (the best tree of a problem with finite scores, the kernel's record or None).

        The value of the parse is NEG if there is no tree.
        """
        started = time.perf_counter()
        if not problem.parts and self.backbone in (None, "eisner", "arborescence"):
            solved = large_first_order(problem, backbone.space == "projective", MAX_EDGES // 10)
            if solved is not None:
                return solved
        adjacent = self._uses_adjacent(problem, backbone)
        options = self.options._replace(record=self.record)
        if adjacent:
            options = options._replace(
                **{name: x for name, x in TUNED_ADJACENT.items() if name not in self._chosen_options}
            )
        prepared = _state(problem, backbone, automata, MAX_EDGES, adjacent=adjacent)
        if prepared is None:
            prepared = _state(problem, backbone, automata, MAX_EDGES, counted=True, adjacent=adjacent)
            if prepared is None:
                return _too_large(problem), None
            options = _with_call_limit(options, max(MIN_CALLS, LONG_WORK // max(len(prepared.graph.left), 1)))
        elif prepared.graph is NO_GRAPH and problem.n >= LONG:
            options = _with_call_limit(options, LONG_CALLS)
        built = time.perf_counter()
        result = self._search(problem, prepared, automata, options)
        work = {"dp_calls": result.dp_calls, "nodes": result.nodes, "root_solved": int(result.root_solved)}
        seconds = {"backbone": built - started, "search": time.perf_counter() - built}
        tree = result.arcs if result.value > max(NEG / 2, self.options.floor) else result.arcs[:0]
        heads = heads_of(prepared.task.arcs, tree)
        parse = Parse(heads, float(result.value), float(result.bound), STATUS[result.status], work, seconds)
        return parse, result.record if self.record else None

    def _search(self, problem: Problem, prepared: _Stated, automata: tuple[str, ...], options: Options) -> SearchResult:
        """Search with the chosen configuration, starting from the incumbents that the space and the options provide."""
        graph, task, tables = prepared
        tuned = self.config == "tuned"
        if options.stars and tables.keys().isdisjoint(STAR_FAMILIES):
            options = options._replace(stars=0)
        handover = None
        if tuned and (options.stars or self.space == "non-projective"):
            handover = _handover(task, tables, automata)
        incumbent: tuple[float, np.ndarray] = NEG, np.zeros(problem.n, np.int32)
        if self.space == "non-projective":
            incumbent = projective_tree(problem)[:2]
        limit, climbing = options.max_dp_calls, 0
        if self.climbs and limit != 1:  # the search itself needs one dynamic program for a bound
            score, tree, climbing = climb(graph, task, handover, min(MOST, limit - 1) if limit > 0 else MOST)
            incumbent = max(incumbent, (score, tree), key=lambda pair: pair[0])
            if limit > 0:
                options = options._replace(max_dp_calls=limit - climbing)
        if tuned:
            result = search(graph, task, handover, incumbent, options)
        else:
            result = search_published(
                graph, task, flat_factors(task), incumbent, options.max_dp_calls, options.max_nodes
            )
        return result._replace(dp_calls=result.dp_calls + climbing)

    def _uses_adjacent(self, problem: Problem, backbone: Backbone) -> bool:
        """Return whether the search bounds siblings and combs of the problem by adjacent siblings."""
        plain = self.config == "tuned" and not self.options.stars and self.options.scheme == POLYAK
        plain = plain and not self.climbs and not self.record
        applicable = backbone.kernel is grandparent_sibling_graph and not {"sibling", "comb"}.isdisjoint(problem.parts)
        return self.siblings == "adjacent" and plain and applicable

    def _backbone(self, families: frozenset[str]) -> Backbone:
        """Return the chosen backbone, or the cheapest one that scores most of the families exactly."""
        return BACKBONES[self.backbone or smallest_backbone(families, self.space)]

    def _automata(self, families: frozenset[str]) -> tuple[str, ...]:
        """Return the families that head automata score from the start of the search."""
        if self.space == "projective" or families.isdisjoint(AUTOMATON_FAMILIES):
            return ()
        return *AUTOMATON_FAMILIES, "grandchild"  # both arcs of a grandchild part belong to one star


def _with_call_limit(options: Options, max_calls: int) -> Options:
    """Return the options with a limit of `max_calls` dynamic programs.

    With the limit, a long sentence takes seconds and not hours. A smaller limit of the user stays in force.
    """
    limit = options.max_dp_calls
    return options._replace(max_dp_calls=min(limit, max_calls) if limit > 0 else max_calls)


def _too_large(problem: Problem) -> Parse:
    """Return the best tree of the arc scores, scored under all families, with an infinite bound and status `limit`."""
    index, work = arcs_of(problem), {"dp_calls": 1, "nodes": 0, "root_solved": 0}
    into = first_order_tree(index, problem.n, problem.single_root, np.append(problem.arc, 0.0))
    heads = heads_of(index, into)
    if len(into) == 0:
        return Parse(heads, NEG, NEG, "infeasible", work)
    return Parse(heads, PartScore(problem).score(heads), np.inf, "limit", work)


class _Stated(NamedTuple):
    """A sentence prepared for a backbone.

    graph  hypergraph of the backbone
    task   scores and bounded factors
    left   tables of the families that the backbone does not score
    """

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
    """Return a sentence prepared for a backbone; None if the hypergraph is empty (see `Backbone.graph`).

    automata        families that head stars score; they are not bounded
    limit, counted  limit of edges, and whether edges are counted, see `Backbone.graph`
    adjacent        whether adjacent pairs of arcs, which then are variables, bound siblings and combs
    """
    tables, (index, parts) = problem.parts, index_of(problem)
    graph = backbone.graph(
        index, parts, chart_scores({f: t.score for f, t in tables.items()}), limit, counted, adjacent
    )
    if len(graph.first) == 1:
        return None
    remaining = {f: t for f, t in tables.items() if f not in backbone.families}
    bounded = {f: t for f, t in remaining.items() if f not in automata} if automata else remaining
    if adjacent:
        return _Stated(graph, _with_spans(problem, index, parts, bounded, remaining), remaining)
    theta = np.append(problem.arc, 0.0)
    if "grand-sibling" in bounded:
        grand_siblings = bounded["grand-sibling"]
        bounded = bounded | {
            "grand-sibling": replace(grand_siblings, arcs=_with_adjacent(index, parts, grand_siblings.arcs))
        }
        theta = np.append(theta, np.zeros(parts.adjacent[-1]))
    pairs, products = _no_factors()
    if len((pair_parts := joined(bounded, PAIR_FAMILIES))[1]):
        pairs = make_pairs(*pair_parts, problem.unit)
    if len((product_parts := joined(bounded, PRODUCT_FAMILIES))[1]):
        products = make_products(*product_parts, problem.unit, len(pairs.phi))
    counts = counts_of(problem.n, remaining)
    task = Task(index, parts, theta, pairs, products, counts, *NO_SPANS, problem.unit)
    return _Stated(graph, task, remaining)


def _with_spans(
    problem: Problem,
    index: ArcIndex,
    parts: PartIndex,
    bounded: dict[str, PartTable],
    remaining: dict[str, PartTable],
) -> Task:
    """Return the task in which adjacent pairs of arcs bound the siblings on one side of a head, and the combs."""
    same_head_parts = (joined(bounded, (family,)) for family in ("sibling", "comb"))
    adjacent, theta, pairs, products, spans = adjacent_factors(
        index, parts, read_only(problem.arc), *same_head_parts, problem.unit
    )
    if len((pair_parts := joined(bounded, ("head-bigram",)))[1]):
        pairs = Pairs(*map(np.concatenate, zip(pairs, make_pairs(*pair_parts, problem.unit), strict=True)))
    if len((product_parts := joined(bounded, [f for f in PRODUCT_FAMILIES if f != "comb"]))[1]):
        other_products = make_products(*product_parts, problem.unit, len(pairs.phi))
        first = np.append(products.first, other_products.first[1:] + products.first[-1]).astype(np.int32)
        products = Products(first, *map(np.concatenate, zip(products[1:], other_products[1:], strict=True)))
    counts = counts_of(problem.n, remaining)
    return Task(index, parts, theta, pairs, products, counts, spans, adjacent, problem.unit)


@cache
def _no_factors() -> tuple[Pairs, Products]:
    """Return empty pairs and empty products."""
    return make_pairs(*NO_PARTS, 0.0), make_products(*NO_PARTS, 0.0, 0)


def projective_tree(problem: Problem) -> tuple[float, np.ndarray, int]:
    """Return (score, arcs int32[n], DP calls) of a good projective tree, as a first incumbent.

    The score is NEG if no tree was found.
    """
    nothing = NEG, np.zeros(problem.n, np.int32)
    prepared = _state(problem, BACKBONES[smallest_backbone(problem.families)], (), MAX_EDGES // 10)
    if prepared is None:
        return *nothing, 0
    result = search(prepared.graph, prepared.task, None, nothing, TUNED._replace(max_dp_calls=PROJECTIVE_CALLS))
    return float(result.value), result.arcs, int(result.dp_calls)


def counts_of(n: int, tables: Mapping[str, PartTable]) -> Counts:
    """Return the valency scores of all words; NO_COUNTS if `tables` has no valency scores."""
    if COUNT_FAMILY not in tables:
        return NO_COUNTS
    first = np.searchsorted(tables[COUNT_FAMILY].arcs[:, 0], np.arange(n + 2)).astype(np.int32)
    return Counts(first, read_only(tables[COUNT_FAMILY].score))


def _handover(task: Task, tables: Mapping[str, PartTable], automata: tuple[str, ...]) -> Handover:
    """Return the parts that head stars score from the start (families `automata`), and after the root's steps."""

    def used(family: str) -> int:
        """Return the number of parts of a family that stars score only after the root's steps."""
        return 0 if family in automata or family not in tables else int(np.count_nonzero(tables[family].score))

    def stars(families: tuple[str, ...]) -> StarTables:
        """Return the score tables of `families`, in the form that head stars use."""
        return stars_of(task.arcs, {f: t for f, t in tables.items() if f in families}, task.unit)

    product_tables = (tables[f] for f in ("tri-sibling", "comb") if f in tables)
    n_products = sum(int(np.count_nonzero(t.arcs[t.score != 0.0] >= 0)) for t in product_tables)
    grandchildren = used("grandchild")
    later = stars((*automata, *STAR_FAMILIES))
    return Handover(
        stars(automata), later, grandchildren, grandchildren + used("sibling"), len(task.pairs.phi) + n_products
    )


def _with_adjacent(index: ArcIndex, parts: PartIndex, arcs: np.ndarray) -> np.ndarray:
    """Return grand-siblings (a, s, b) as pairs of variables: arc a, and the adjacent-sibling part of s and b."""
    a, s, b = arcs.T
    h = index.head[b]
    side = np.where(b < index.right[h], index.start[h], index.right[h])
    part = parts.adjacent[b] + np.where(s < 0, 0, 1 + s - side)
    return np.stack((a, len(index.head) + 1 + part), axis=1).astype(np.int32)
