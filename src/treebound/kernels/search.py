"""Branch and bound, tuned: Polyak steps on the shares, elimination of arcs and edges, folding of decided factors.

The bound is that of `treebound.kernels.bounded`; a *tree oracle* maximises it: a dynamic program over a hypergraph
(projective trees), or a maximum spanning arborescence (all trees). With integer scores every bound is an exact integer
and a node closes as soon as its bound is below the incumbent plus one.

What is done beyond the paper, and why it is exact:
- *elimination*: an edge of the hypergraph, or an arc, whose best tree has a bound no better than the incumbent goes;
- *folding*: a word with one arc left certainly takes it; a factor of a certain arc is a factor of its other arcs, a
  factor of a removed arc vanishes;
- *head stars* (option): instead of bounding the parts of one head one by one, their best joint choice is found exactly,
  and multipliers make it agree with the tree (`treebound.kernels.stars`);
- children inherit graph and shares, and every node is searched by a few steps only.

Oracle: tests/contract enumerates all trees; two backbones must agree; HiGHS must agree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from treebound.core.problem import NONE
from treebound.kernels.agreement import (
    add_star_slack,
    disagreements,
    even_parents,
    follow_tree,
    hand_over,
    move_multipliers,
    score_heads,
)
from treebound.kernels.arborescence import arborescence, arborescence_scratch
from treebound.kernels.arcs import ArcIndex
from treebound.kernels.bounded import (
    Pairs,
    Products,
    add_slack,
    apply_shares,
    ascend,
    fold_pairs,
    fold_products,
    majorants,
    move_products,
    range_counts,
    set_pair,
    visit_counts,
    visit_pairs,
    visit_products,
)
from treebound.kernels.hypergraph import NEG, NEG_TEST, Hypergraph, best_variables, compact, inside, mark
from treebound.kernels.stars import StarTables, solve_stars, star_scratch

DEPTH_FIRST, BEST_FIRST, LEVEL = range(3)
POLYAK, MOMENTUM, AVERAGED, BLOCK_COORDINATE = range(4)
SLACK, MAX_MARGINAL = range(2)
FROM_TREE, FROM_PI = range(2)
NO_STARS, SOME_STARS, ALL_STARS = range(3)


class Options(NamedTuple):
    """Parameters of the search.

    root_steps, node_steps  steps on the shares at the root and at other nodes
    rho, patience           Polyak factor, halved after `patience` steps without a better bound
    max_dp_calls, max_nodes limits; 0 for none
    order                   DEPTH_FIRST, BEST_FIRST (by bound) or LEVEL (first in, first out)
    scheme                  POLYAK; MOMENTUM: with 0.5 of the step before; AVERAGED: a node ends with the mean of its
                            shares; BLOCK_COORDINATE: shares even out the max-marginals of their arcs
    branching               SLACK: the arc with the largest slack; MAX_MARGINAL: the most ambiguous of those with slack
    start                   FROM_TREE: the incumbent is the best tree met; FROM_PI: also climb the paper's lower bound
    eliminate               remove arcs and edges that cannot win
    stars                   steps at the root with head stars in the place of shares, before branching; 0: none
    floor                   only trees that score more are looked for; without one, the value is `floor`
    """

    root_steps: int
    node_steps: int
    rho: float
    patience: int
    max_dp_calls: int
    max_nodes: int
    order: int
    scheme: int
    branching: int
    start: int
    eliminate: bool
    stars: int
    floor: float = NEG


#: fewest DP calls and least time among those tried (docs/decisions): short budgets, then branch
TUNED = Options(20, 6, 1.5, 3, 0, 0, DEPTH_FIRST, POLYAK, SLACK, FROM_TREE, True, 0)


class Record(NamedTuple):
    """What a search did; empty unless asked for.

    calls   float64[dp_calls, 3]  node, upper bound of its trees by this call, incumbent after it
    nodes   float64[nodes, 5]     parent (-1), arc decided (-1), its value, upper bound, 1 if it was branched on
    step_node, step_dual  int32[S], float64[S, D]: the dual variables of every bound that removed something or closed a
            node: shares of pairs, shares of products, slopes float64[n + 1] where counts are scored; where stars are
            used, multipliers u and w of all arcs, and NO_STARS, SOME_STARS (as from the beginning) or ALL_STARS
    """

    calls: np.ndarray
    nodes: np.ndarray
    step_node: np.ndarray
    step_dual: np.ndarray


class Late(NamedTuple):
    """What is handed over to head stars after the root's steps.

    tables         StarTables of all same-head families, those that were there from the beginning included
    grandchildren  the first pairs are that many grandchild parts
    pairs          the first pairs, that many, are of one head
    products       products whose shares are numbered below are of one head
    """

    tables: StarTables
    grandchildren: int
    pairs: int
    products: int


class State(NamedTuple):
    """What a node hands on to its children.

    graph, theta, weight  hypergraph, scores of the variables, the same with everything that the bound adds
    pairs, products       factors still in play
    slope                 float64[n + 1] of the majorants, where counts are scored
    child, parent         multipliers of arcs in their two roles at stars, in force if `starred`
    settled               shares of factors that were folded, for the record
    offset                constant of the bound
    """

    graph: Hypergraph
    theta: np.ndarray
    weight: np.ndarray
    pairs: Pairs
    products: Products
    slope: np.ndarray
    child: np.ndarray
    parent: np.ndarray
    starred: bool
    settled: np.ndarray
    offset: float


class Node(NamedTuple):
    """A node to be opened: its parent's state and number, and the arc that is decided (-1 at the root).

    serial  grows with the nodes' levels
    """

    state: State
    bound: float
    branch: int
    value: int
    parent: int
    serial: int


OPTIMAL, LIMIT, INFEASIBLE = range(3)
NODE_LIMIT = 20_000  #: steps of the search for one star, before an upper bound has to do
EXACT = 0.5  #: integer shares: bounds are integers, any fraction tells them apart


@njit(cache=True, nogil=True)
def closed(bound, value, unit, rounding):
    """No tree under `bound` beats `value`. unit > 0: scores are integers, and bounds are known to within `rounding`."""
    if unit > 0.0:
        return bound < value + 1.0 - rounding
    return bound <= value + 1e-9 * max(1.0, abs(value))


@njit(cache=True, nogil=True)
def conclude(value, open_bound, status):
    """(bound, status) of a finished search; open_bound is the largest bound of a node that a limit left open."""
    if status == LIMIT:
        return max(value, open_bound), LIMIT
    return value, (INFEASIBLE if value <= NEG_TEST else OPTIMAL)


@njit(cache=True, nogil=True)
def _next_node(open_nodes, order):
    """Take the next node of the list."""
    last = len(open_nodes) - 1
    pick = last
    if order == BEST_FIRST:
        for i in range(last):
            if open_nodes[i].bound > open_nodes[pick].bound:
                pick = i
    elif order == LEVEL:
        for i in range(last):
            if open_nodes[i].serial < open_nodes[pick].serial:
                pick = i
    taken = open_nodes[pick]
    if pick < last:
        open_nodes[pick] = open_nodes[last]
    open_nodes.pop()
    return taken


@njit(cache=True, nogil=True)
def _copy(state):
    """The state of a node, free to be changed."""
    p, q = state.pairs, state.products
    return State(
        state.graph,
        state.theta.copy(),
        state.weight.copy(),
        Pairs(p.number.copy(), p.e.copy(), p.f.copy(), p.phi.copy(), p.share.copy()),
        Products(q.first.copy(), q.var.copy(), q.number.copy(), q.phi.copy(), q.share.copy()),
        state.slope.copy(),
        state.child.copy(),
        state.parent.copy(),
        state.starred,
        state.settled.copy(),
        state.offset,
    )


@njit(cache=True, nogil=True)
def _decide(index, weight, arc, value):
    """Forbid what contradicts the decision on an arc, by its weight."""
    if value == 0:
        weight[arc] = NEG
    else:
        m = index.mod[arc]
        for i in range(index.into_start[m], index.into_start[m + 1]):
            if index.into[i] != arc:
                weight[index.into[i]] = NEG


@njit(cache=True, nogil=True)
def _find_certain(index, alive, certain):
    """OUT certain bool[V]: arcs that are the only ones into their words. O(A)."""
    certain[:] = False
    for m in range(1, len(index.right)):
        count = 0
        only = -1
        for i in range(index.into_start[m], index.into_start[m + 1]):
            if alive[index.into[i]]:
                count += 1
                only = index.into[i]
        if count == 1:
            certain[only] = True


@njit(cache=True, nogil=True)
def _duals(settled, pairs, products, slope, child, parent, stars):
    """All dual variables, in the order of `Record`: factors still in play, those that were settled, slopes, stars."""
    out = settled.copy()
    for i in range(len(pairs.phi)):
        out[pairs.number[i]] = pairs.share[i]
    for i in range(len(products.phi)):
        lo, hi = products.first[i], products.first[i + 1]
        for j in range(lo, hi if products.phi[i] >= 0.0 else lo + 1):
            out[products.number[j]] = products.share[j]
    at = len(out) - len(slope) - 2 * len(child) - (len(child) > 0)
    out[at : at + len(slope)] = slope
    at += len(slope)
    if len(child) > 0:
        out[at : at + len(child)] = child
        out[at + len(child) : at + 2 * len(child)] = parent
        out[-1] = stars
    return out


@njit(cache=True, nogil=True)
def _ambiguity(index, arc_max, out):
    """OUT float64[A]: by how much the best tree with an arc beats the best one without it, from max-marginals."""
    for m in range(1, len(index.right)):
        top, second = NEG, NEG
        for i in range(index.into_start[m], index.into_start[m + 1]):
            x = arc_max[index.into[i]]
            if x > top:
                top, second = x, top
            elif x > second:
                second = x
        for i in range(index.into_start[m], index.into_start[m + 1]):
            x = arc_max[index.into[i]]
            out[index.into[i]] = x - (second if x == top else top)


@njit(cache=True, nogil=True)
def _even_out(pairs, ambiguity, degree, unit, weight):
    """Block-coordinate step: every pair evens out its part of its variables' ambiguities; returns the change of the
    constant.

    degree float64[V]: pairs of a variable, plus one. A positive pair leaves its score where it is least decided; a
    negative one charges its variables as far as both are wanted.
    """
    degree[:] = 1.0
    for i in range(len(pairs.phi)):
        degree[pairs.e[i]] += 1.0
        degree[pairs.f[i]] += 1.0
    constant = 0.0
    for i in range(len(pairs.phi)):
        a = ambiguity[pairs.e[i]] / degree[pairs.e[i]]
        b = ambiguity[pairs.f[i]] / degree[pairs.f[i]]
        step = (b - a) / 2 if pairs.phi[i] >= 0.0 else min(a, b)
        step = min(1e15, max(-1e15, step))
        constant += set_pair(pairs, i, pairs.share[i] + (np.floor(step + 0.5) if unit > 0.0 else step), weight)
    return constant


@njit(cache=True, nogil=True)
def _nothing(index):
    """An ArcIndex without arcs, for scratch that is not used."""
    none = np.zeros(2, np.int32)
    return ArcIndex(index.head[:0], index.mod[:0], none, none[:1], index.into[:0], none)


@njit(cache=True, nogil=True)
def keep_arcs(chosen, size, A, out):
    """The arcs among the chosen variables into int32[n] out."""
    c = 0
    for i in range(size):
        if chosen[i] < A:
            out[c] = chosen[i]
            c += 1


@njit(cache=True, nogil=True)
def _move_slopes(index, counts, slope, number, wanted, alpha, weight):
    """A subgradient step of length alpha on the slopes of `majorants`. O(A)."""
    for h in range(len(slope)):
        delta = alpha * (wanted[h] - number[h])
        if delta != 0.0 and counts.first[h + 1] > counts.first[h]:
            slope[h] += delta
            for a in range(index.start[h], index.start[h + 1]):
                weight[a] += delta


@njit(cache=True, nogil=True)
def _add_count_slack(index, counts, slope, number, wanted, gap):
    """gap[a] += slack of the majorant of the head of a, at a tree with number[h] modifiers of h. O(A)."""
    for h in range(len(slope)):
        at, size = counts.first[h], counts.first[h + 1] - counts.first[h]
        if size == 0 or number[h] == wanted[h]:
            continue
        slack = counts.score[at + min(wanted[h], size - 1)] - slope[h] * wanted[h]
        slack -= counts.score[at + min(number[h], size - 1)] - slope[h] * number[h]
        for a in range(index.start[h], index.start[h + 1]):
            gap[a] += slack


@njit(cache=True, nogil=True)
def _branching_arc(index, weight, certain, gap, ambiguity):
    """The undecided arc with the largest slack; if ambiguities are given, the most ambiguous of those with slack."""
    pick = -1
    for a in range(len(index.head)):
        if weight[a] <= NEG_TEST or certain[a]:
            continue
        if pick < 0:
            pick = a
        elif len(ambiguity) == 0 or gap[pick] <= 0.0:
            if gap[a] > gap[pick]:
                pick = a
        elif gap[a] > 0.0 and abs(ambiguity[a]) < abs(ambiguity[pick]):
            pick = a
    return max(pick, 0)


@njit(cache=True, nogil=True)
def _climb(graph, index, parts, theta, pairs, products, counts, tables, value, best, stack, trees, z, incumbent_arcs):
    """Alternate the tree and the shares of the paper's lower bound pi (section 3.4): (best score, trees computed).

    Starts at the best tree of the variables' own scores; every tree scores at least as much as the one before (but for
    counts and stars, which pi leaves out). z is left as zeros.
    """
    A, n = len(index.head), len(index.right) - 1
    weight = theta.copy()
    chosen = np.empty(2 * n + 1, np.int32)
    direction = np.empty(len(pairs.phi), np.int8)
    on = np.empty(len(products.phi), np.int32)
    number = np.zeros(n + 1, np.int32)
    into, taken, heads = np.full(n + 1, NONE, np.int32), np.empty(n + 1, np.int32), np.empty(n + 1, np.float64)
    top = NEG
    used = 0
    while used < 20:
        size = n
        score = 0.0
        if len(graph.first) > 1:
            v = inside(graph, weight, value, best)
        else:
            v = arborescence(index, weight, n, parts.single_root, chosen, weight[:0], trees)
        used += 1
        if v <= NEG_TEST:
            break
        if len(graph.first) > 1:
            score, size = best_variables(graph, A, best, chosen, stack, True)
        number[:] = 0
        for i in range(size):
            z[chosen[i]] = 1
            score += theta[chosen[i]]
            if chosen[i] < A:
                number[index.head[chosen[i]]] += 1
        score += visit_pairs(pairs, z, direction)[0] + visit_products(products, z, on)[0]
        if len(counts.first) > 0:
            score += visit_counts(counts, number, number)[0]
        for i in range(size):
            if chosen[i] < A:
                into[index.mod[chosen[i]]] = chosen[i]
        score += score_heads(index, parts, tables, z, into, taken, heads)
        if score > top:
            ascend(pairs, products, theta, z, weight)
        for i in range(size):
            z[chosen[i]] = 0
        if score <= top:
            break
        top = score
        keep_arcs(chosen, size, A, incumbent_arcs)
    return top, used


@njit(cache=True, nogil=True)
def _keep(step_node, step_dual, count, node, dual):
    """Append a step to the record; returns its (perhaps larger) arrays."""
    if count == len(step_node):
        step_node = np.concatenate((step_node, np.zeros_like(step_node)))
        step_dual = np.concatenate((step_dual, np.zeros_like(step_dual)))
    step_node[count] = node
    step_dual[count] = dual
    return step_node, step_dual


@njit(cache=True, nogil=True)
def search(graph, index, parts, theta, pairs, products, counts, tables, late, known, unit, options, record):
    """Best tree and its certificate.

    graph       Hypergraph of a backbone; one without items: all trees, by arborescences
    index, parts  ArcIndex, PartIndex
    theta       float64[V] scores of the variables (see `treebound.kernels.bounded`), 0 at A
    pairs, products, counts  what is bounded
    tables      StarTables of what is left to head stars from the beginning (empty tables: no stars)
    late        Late: what is handed over to them after the root's steps, if options.stars
    known       (score, arcs int32[n]) of a tree, or (NEG, ...)
    unit        > 0: all scores are integers
    record      keep what `Record` holds
    Returns (value, bound, arcs int32[n], status, dp_calls, nodes, solved at root, Record).
    """
    head, mod, single_root = index.head, index.mod, parts.single_root
    A, n, V = len(mod), len(index.right) - 1, len(theta)
    projective = len(graph.first) > 1
    counted = len(counts.first) > 0
    items = len(graph.first) - 1
    value = np.empty(items + 1, np.float64)
    best = np.empty(items + 1, np.int32)
    outside = np.empty(items + 1, np.float64)
    keep = np.empty(len(graph.left), np.bool_)
    stack_items = np.empty(2 * n + 8, np.int32)
    trees = arborescence_scratch(n, 0 if projective else A)
    arc_max = np.full(V, NEG)
    alive = np.ones(V, np.bool_)
    certain = np.zeros(V, np.bool_)
    z = np.zeros(V, np.int8)
    chosen = np.empty(2 * n + 1, np.int32)
    gap_of = np.zeros(V, np.float64)
    direction = np.empty(len(pairs.phi), np.int8)
    on = np.empty(len(products.phi), np.int32)
    modifiers = np.zeros(n + 1, np.int32)
    low, high, wanted = np.zeros(n + 1, np.int32), np.zeros(n + 1, np.int32), np.zeros(n + 1, np.int32)
    ambiguity = np.empty(V if options.scheme == BLOCK_COORDINATE or options.branching == MAX_MARGINAL else 0)
    degree = np.empty(V if options.scheme == BLOCK_COORDINATE else 0)
    # of pairs, by number: velocity (momentum) or sum of shares (averaged)
    trace = np.zeros(len(pairs.phi) if options.scheme in (MOMENTUM, AVERAGED) else 0)
    no_arcs = arc_max[:0]
    # head stars
    starred = len(tables.adjacent) > 0 or len(tables.outermost) > 0 or len(tables.grand_sibling) > 0
    S = A if starred or options.stars > 0 else 0
    triples = len(tables.tri_sibling) > 0 or len(late.tables.tri_sibling) > 0
    star = star_scratch(index if S > 0 else _nothing(index), triples)
    star_value, star_score = np.zeros(n + 1), np.zeros(n + 1)
    star_x, star_y, x_bound = np.full(n + 1, NONE, np.int32), np.zeros(S, np.int8), np.zeros(S)
    dirty, only = np.ones(n + 1, np.bool_), np.zeros(n + 1, np.bool_)
    one_value, one_bound, was_alive = np.zeros(n + 1), np.zeros(S), np.zeros(S, np.bool_)
    into, taken = np.full(n + 1, NONE, np.int32), np.empty(n + 1, np.int32)
    all_pairs, all_products = pairs, products

    incumbent = max(options.floor, known[0])
    incumbent_arcs = known[1].copy()
    dp = 0
    nodes = 0
    D = len(pairs.phi) + len(products.share) + (n + 1 if counted else 0) + 2 * S + (S > 0)
    calls = np.zeros((16 if record else 0, 3), np.float64)
    table = np.zeros((16 if record else 0, 5), np.float64)
    step_node = np.zeros(16 if record else 0, np.int32)
    step_dual = np.zeros((16 if record else 0, D), np.float64)
    steps_kept = 0
    best_dual = np.zeros(D if record else 0, np.float64)
    root_solved = False
    handed = False  # to the stars
    limit_bound = NEG  # largest bound among nodes left open by a limit
    status = OPTIMAL

    weight = theta.copy()
    offset = apply_shares(pairs, products, weight)
    slope = np.zeros(n + 1 if counted else 0, np.float64)
    settled = np.zeros(D if record else 0, np.float64)
    if options.start == FROM_PI:
        before = incumbent_arcs.copy()
        climbed, dp = _climb(
            graph, index, parts, theta, pairs, products, counts, tables, value, best, stack_items, trees, z,
            incumbent_arcs,
        )  # fmt: skip
        if climbed <= incumbent:
            incumbent_arcs[:] = before
        incumbent = max(incumbent, climbed)
        if record:
            calls = np.zeros((dp + 16, 3), np.float64)
            calls[:dp, 1] = 1e300
            calls[:dp, 2] = incumbent
    state = State(graph, theta, weight, pairs, products, slope, np.zeros(S), np.zeros(S), starred, settled, offset)
    open_nodes = [Node(state, 1e300, -1, 0, -1, 0)]
    while len(open_nodes) > 0:
        opened = _next_node(open_nodes, options.order)
        branch, bound = opened.branch, opened.bound
        if closed(bound, incumbent, unit, EXACT):
            continue
        if (options.max_dp_calls > 0 and dp >= options.max_dp_calls) or (
            options.max_nodes > 0 and nodes >= options.max_nodes
        ):
            status = LIMIT
            limit_bound = max(limit_bound, bound)
            continue
        node = nodes
        nodes += 1
        g, th, w, pairs, products, slope, child, parent, starred, settled, offset = _copy(opened.state)
        if record:
            if node == len(table):
                table = np.concatenate((table, np.zeros_like(table)))
            table[node, 0], table[node, 1], table[node, 2] = opened.parent, branch, opened.value
        kept_best = True
        if branch >= 0:
            _decide(index, w, branch, opened.value)
        refold = True  # what is alive is not known yet, or has changed
        force_mark = branch >= 0
        steps = options.root_steps if branch < 0 else options.node_steps
        rho = options.rho
        stale = 0
        gap_at_mark = 1e300
        node_best = 1e300
        trace[:] = 0.0
        averages = 0
        done = False
        step = 0
        while True:
            if refold:
                for v in range(V):
                    alive[v] = w[v] > NEG_TEST
                _find_certain(index, alive, certain)
                pairs, constant = fold_pairs(pairs, alive, certain, th, w, settled)
                offset += constant
                products, constant = fold_products(products, alive, certain, th, w, settled)
                offset += constant
                if counted:
                    range_counts(index, alive, certain, low, high)
                dirty[:] = True
                refold = False
            if starred:
                solve_stars(
                    index, parts, tables, alive, child, parent, dirty, star_value, star_x, star_y, x_bound,
                    NODE_LIMIT, unit, star,
                )  # fmt: skip
                if star_value.min() <= NEG_TEST:
                    done = True
                    bound = NEG
                    break
                if not handed and even_parents(index, alive, dirty, star_value, x_bound, parent, w):
                    refold = True
                    continue
                dirty[:] = False
            # the tree that maximises the bound
            if projective:
                v = inside(g, w, value, best)
            else:
                v = arborescence(index, w, n, single_root, chosen, no_arcs, trees)
            dp += 1
            if v <= NEG_TEST:
                done = True
                bound = NEG
                break
            upper = v + offset
            if starred:
                upper += star_value.sum()
            if counted and not handed:
                upper += majorants(counts, slope, low, high, wanted)
            bound = min(bound, upper)
            if upper < node_best:
                node_best = upper
                stale = 0
                if record:
                    best_dual[:] = _duals(
                        settled,
                        pairs,
                        products,
                        slope,
                        child,
                        parent,
                        ALL_STARS if handed else SOME_STARS if starred else NO_STARS,
                    )
                    kept_best = False
            else:
                stale += 1
                if stale >= options.patience:
                    rho *= 0.5
                    stale = 0
            # its true score, and what its bound is slack in
            score = 0.0
            size = n
            if projective:
                score, size = best_variables(g, A, best, chosen, stack_items, True)
            modifiers[:] = 0
            for i in range(size):
                z[chosen[i]] = 1
                score += th[chosen[i]]
                if chosen[i] < A:
                    modifiers[head[chosen[i]]] += 1
            scored, moved = visit_pairs(pairs, z, direction)
            score += scored
            if len(products.phi) > 0:
                scored, more = visit_products(products, z, on)
                score += scored
                moved += more
            if starred:
                for i in range(size):
                    if chosen[i] < A:
                        into[mod[chosen[i]]] = chosen[i]
                score += score_heads(index, parts, tables, z, into, taken, star_score)
                if not handed:
                    follow_tree(
                        index, parts, tables, alive, child, parent, into, only, one_value, star_x, star_y, one_bound,
                        was_alive, NODE_LIMIT, unit, star,
                    )  # fmt: skip
                moved += disagreements(index, z, star_x, star_y, alive)
            if counted and not handed:
                scored, more = visit_counts(counts, modifiers, wanted)
                score += scored
                moved += more
            if score > incumbent:
                incumbent = score
                keep_arcs(chosen, size, A, incumbent_arcs)
            if record:
                while dp > len(calls):
                    calls = np.concatenate((calls, np.zeros_like(calls)))
                calls[dp - 1, 0], calls[dp - 1, 1], calls[dp - 1, 2] = node, upper, incumbent
            if closed(bound, incumbent, unit, EXACT) or moved == 0:
                # moved == 0: no factor has slack at its tree, which is optimal for the node
                if moved == 0:
                    bound = min(bound, max(score, NEG))
                done = True
                break
            last = step >= steps
            gap = upper - incumbent
            evened = options.scheme == BLOCK_COORDINATE
            marking = options.eliminate and upper <= node_best and (force_mark or last or gap < 0.7 * gap_at_mark)
            if marking or evened or (last and options.branching == MAX_MARGINAL):
                cut = NEG
                if marking:
                    cut = incumbent - (upper - v)
                    cut = cut + 0.5 if unit > 0.0 else cut + 1e-9 * max(1.0, abs(incumbent))
                edges, left_items = 1, 0
                if projective:
                    edges, left_items = mark(g, w, value, cut, outside, keep, arc_max)
                else:
                    arborescence(index, w, n, single_root, chosen, arc_max, trees)
                if len(ambiguity) > 0:
                    _ambiguity(index, arc_max, ambiguity)
                if marking:
                    gap_at_mark = gap
                    force_mark = False
                    if record:
                        duals = _duals(
                            settled,
                            pairs,
                            products,
                            slope,
                            child,
                            parent,
                            ALL_STARS if handed else SOME_STARS if starred else NO_STARS,
                        )
                        step_node, step_dual = _keep(step_node, step_dual, steps_kept, node, duals)
                        steps_kept += 1
                        kept_best = True
                    if edges == 0:
                        bound = incumbent
                        done = True
                        break
                    fewer = False
                    if projective and edges < 0.8 * len(g.left):
                        g = compact(g, keep, edges, left_items)
                        fewer = True
                    if fewer or starred or not projective:
                        for a in range(V):
                            if a == A or w[a] <= NEG_TEST:
                                continue
                            through = arc_max[a]
                            if starred and a < A:  # and what its word's star loses by it
                                through -= star_value[mod[a]] - x_bound[a]
                            if through <= cut:
                                w[a] = NEG
                                refold = True
                    if refold:  # steps on factors that may be gone are stale: fold, and take the rest anew
                        for i in range(size):
                            z[chosen[i]] = 0
                        step += 1
                        steps += last
                        continue
            if last and options.stars > 0 and branch < 0 and not handed:
                handed = True
                starred = True
                tables = late.tables
                pairs, products, constant = hand_over(
                    index, counts, late.grandchildren, late.pairs, late.products, all_pairs, all_products,
                    pairs, products, slope, alive, certain, th, w, child, parent,
                )  # fmt: skip
                offset += constant
                dirty[:] = True
                steps += options.stars
                rho, stale, node_best = options.rho, 0, 1e300
                for i in range(size):
                    z[chosen[i]] = 0
                step += 1
                continue
            if last:
                break
            # a step on the dual variables that have slack
            if evened:
                offset += _even_out(pairs, ambiguity, degree, unit, w)
            else:
                alpha = rho * gap / moved
                if unit > 0.0:
                    alpha = max(1.0, np.floor(alpha + 0.5))
                for i in range(len(pairs.phi)):
                    if options.scheme == MOMENTUM:
                        k = pairs.number[i]
                        trace[k] = 0.5 * trace[k] + direction[i] * alpha
                        move = np.floor(trace[k] + 0.5) if unit > 0.0 else trace[k]
                        if move != 0.0:
                            offset += set_pair(pairs, i, pairs.share[i] + move, w)
                    elif direction[i] != 0:
                        offset += set_pair(pairs, i, pairs.share[i] + direction[i] * alpha, w)
                if options.scheme == AVERAGED:
                    averages += 1
                    for i in range(len(pairs.phi)):
                        trace[pairs.number[i]] += pairs.share[i]
                    if step == steps - 1:  # the last bound of the node is that of the mean
                        for i in range(len(pairs.phi)):
                            mean = trace[pairs.number[i]] / averages
                            offset += set_pair(pairs, i, np.floor(mean + 0.5) if unit > 0.0 else mean, w)
            alpha = rho * gap / moved
            if unit > 0.0:
                alpha = max(1.0, np.floor(alpha + 0.5))
            if len(products.phi) > 0:
                offset += move_products(products, z, on, alpha, unit, w)
            if starred:
                move_multipliers(index, z, star_x, star_y, alive, alpha, child, parent, w, dirty)
            if counted and not handed:
                _move_slopes(index, counts, slope, modifiers, wanted, alpha, w)
            for i in range(size):
                z[chosen[i]] = 0
            step += 1
            if options.max_dp_calls > 0 and dp >= options.max_dp_calls:
                break
        if record:
            if v <= NEG_TEST:
                while dp > len(calls):
                    calls = np.concatenate((calls, np.zeros_like(calls)))
                calls[dp - 1, 0], calls[dp - 1, 1], calls[dp - 1, 2] = node, NEG, incumbent
            table[node, 3] = bound
            if not kept_best:
                step_node, step_dual = _keep(step_node, step_dual, steps_kept, node, best_dual)
                steps_kept += 1
        if done or (options.max_dp_calls > 0 and dp >= options.max_dp_calls):
            z[:] = 0
            if not done:
                status = LIMIT
                limit_bound = max(limit_bound, bound)
            elif branch < 0:
                root_solved = True
            continue
        gap_of[:] = 0.0
        add_slack(pairs, products, z, gap_of)
        if starred:
            add_star_slack(index, z, into, star_x, star_y, alive, star_value, star_score, child, parent, gap_of)
        if counted and not handed:
            _add_count_slack(index, counts, slope, modifiers, wanted, gap_of)
        z[:] = 0
        pick = _branching_arc(index, w, certain, gap_of, ambiguity if options.branching == MAX_MARGINAL else no_arcs)
        if record:
            table[node, 4] = 1.0
        state = State(g, th, w, pairs, products, slope, child, parent, starred, settled, offset)
        for branch_value in range(2):
            open_nodes.append(Node(state, bound, pick, branch_value, node, 2 * node + branch_value))
    kept = Record(calls[:dp], table[:nodes], step_node[:steps_kept], step_dual[:steps_kept])
    bound, status = conclude(incumbent, limit_bound, status)
    return incumbent, bound, incumbent_arcs, status, dp, nodes, root_solved, kept
