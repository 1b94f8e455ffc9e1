"""Branch and bound, tuned: Polyak steps on the shares, elimination of arcs and edges, folding of decided factors.

The bound is that of `treebound.kernels.bounded`; a *tree oracle* maximises it: a dynamic program over a hypergraph
(projective trees), or a maximum spanning arborescence (all trees). With integer scores every bound is an exact integer
and a node closes as soon as its bound is below the incumbent plus one.

What is done beyond the paper, and why it is exact:
- *elimination*: an edge of the hypergraph, or an arc, whose best tree has a bound no better than the incumbent goes;
- *folding*: a word with one arc left certainly takes it; a factor of a certain arc is a factor of its other arcs, a
  factor of a removed arc vanishes;
- *head stars* (option): instead of bounding the parts of one head one by one, their best joint choice is found exactly,
  and multipliers make it agree with the tree (`treebound.kernels.head_stars.solve`);
- children inherit graph and shares, and every node is searched by a few steps only.

A graph and a StarState (`star`) may be None; numba then compiles the search without hypergraphs, or without stars.

Oracle: tests/contract enumerates all trees; two backbones must agree; HiGHS must agree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from treebound.decoders.exact.branch_and_bound.agreement import (
    add_star_slack,
    charge_stars,
    hand_over,
    mode_of,
    move_multipliers,
    settle_stars,
    spoil_stars,
    star_state,
    total_of_stars,
    visit_stars,
)
from treebound.decoders.exact.branch_and_bound.share_steps import (
    AVERAGED,
    BLOCK_COORDINATE,
    MOMENTUM,
    add_count_slack,
    ambiguities,
    average_pairs,
    even_out,
    move_pairs,
    move_slopes,
    step_length,
)
from treebound.decoders.exact.branch_and_bound.state import (
    EVERYTHING,
    LIMIT,
    MAX_MARGINAL,
    OPTIMAL,
    Found,
    Node,
    Run,
    State,
    branching_arc,
    changed,
    closed,
    conclude,
    copied,
    decide,
    find_certain,
    next_node,
    search_scratch,
    spent,
)
from treebound.decoders.exact.branch_and_bound.trace import (
    ALL_STARS,
    NO_STARS,
    dual_variables,
    empty_log,
    keep_step,
    log_call,
    recorded,
)
from treebound.kernels.bounded import (
    add_slack,
    apply_shares,
    fold_pairs,
    fold_products,
    majorants,
    move_products,
    range_counts,
    visit_counts,
    visit_pairs,
    visit_products,
)
from treebound.kernels.chart.best_tree import (
    best_tree,
    bound_variables,
    keep_arcs,
    lay_tree,
    lift_tree,
    tree_variables,
    without_losers,
)
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.kernels.head_stars.tables import Multipliers

# What follows `search` is inlined there: a Run is hundreds of words, and copying it at every call costs microseconds.
EXACT = 0.5  #: integer shares: bounds are integers, any fraction tells them apart


@njit(cache=True, nogil=True)
def search(graph, task, handover, known, options):
    """Best tree and its certificate.

    graph     Hypergraph of a backbone, or None: all trees, by arborescences
    task      Task
    handover  Handover: what head stars score from the beginning, and after the root's steps if options.stars; or None
    known     (score, arcs int32[n]) of a tree, or (NEG, ...)
    options   Options
    Returns Found.
    """
    star = star_state(task.arcs, handover)
    best = np.array([max(options.floor, known[0])])
    run = Run(task, options, search_scratch(graph, task, options), empty_log(), best, known[1].copy())
    root = root_state(graph, task, 0 if handover is None else len(task.arcs.head), options.record)
    size = len(root.settled)
    # not literals, for which numba would compile the kernels that take them once more
    dp_calls: Any = np.int64(0)
    nodes: Any = np.int64(0)
    status: Any = np.int64(OPTIMAL)
    root_solved = False
    limit_bound = NEG  # largest bound among nodes left open by a limit
    open_nodes = [Node(root, EVERYTHING, -1, 0, -1, 0)]
    while len(open_nodes) > 0:
        node = next_node(open_nodes, options.order)
        if closed(node.bound, best[0], task.unit, EXACT):
            continue
        if spent(options.max_dp_calls, dp_calls) or spent(options.max_nodes, nodes):
            status = LIMIT
            limit_bound = max(limit_bound, node.bound)
            continue
        state, bound, done, dp_calls = search_node(run, star, node, nodes, dp_calls)
        if done or spent(options.max_dp_calls, dp_calls):
            run.scratch.z[:] = 0
            if not done:
                status = LIMIT
                limit_bound = max(limit_bound, bound)
            elif node.branch < 0:
                root_solved = True
        else:
            pick = branching(run, star, state)
            if pick >= 0:  # else one tree is left, and has been scored
                if options.record:
                    run.log.nodes[nodes][4] = 1.0
                for value in range(2):
                    open_nodes.append(Node(state, bound, pick, value, nodes, 2 * nodes + value))
        nodes += 1
    bound, status = conclude(best[0], limit_bound, status)
    return Found(best[0], bound, run.best_arcs, status, dp_calls, nodes, root_solved, recorded(run.log, size))


@njit(cache=True, nogil=True, inline="always")
def root_state(graph, task, arcs, record):
    """The state that a search begins with; arcs: how many have multipliers."""
    pairs, products = task.pairs, task.products
    slopes = len(task.counts.first) - 1 if len(task.counts.first) > 0 else 0
    size = len(pairs.phi) + len(products.share) + slopes + 2 * arcs + (arcs > 0)
    weight = task.theta.copy()
    offset = np.array([apply_shares(pairs, products, weight)])
    multipliers = Multipliers(np.zeros(arcs), np.zeros(arcs))
    settled = np.zeros(size if record else 0)
    return State(graph, pairs, products, task.theta, weight, np.zeros(slopes), multipliers, settled, offset)


@njit(cache=True, nogil=True, inline="always")
def search_node(run, star, node, number, dp_calls):
    """Lower the bound of a node by steps on its dual variables, and its graph with it.

    Returns (its state then, its bound, whether it is closed, DP calls of the search). The last tree stays in scratch.z.
    """
    task, options, scratch, unit = run.task, run.options, run.scratch, run.task.unit
    state, bound = begin_node(run, node), node.bound
    refold = True  # what is alive is not known yet, or has changed
    force_mark = node.branch >= 0
    steps = options.root_steps if node.branch < 0 else options.node_steps
    rho, stale, step, moves = options.rho, 0, 0, 0
    gap_at_mark, node_best = EVERYTHING, EVERYTHING
    done = True
    while True:
        state, feasible = settle(run, star, state, refold)
        refold = False
        if not feasible:
            bound = NEG
            break
        # the tree that maximises the bound
        v = best_tree(state.graph, task.arcs, state.weight, task.parts.single_root, scratch.chosen, scratch.oracle)
        dp_calls += 1
        if v <= NEG_TEST:
            bound = NEG
            if options.record:
                log_call(run.log, number, NEG, run.best[0])
            break
        upper = upper_bound(run, star, state, v)
        bound = min(bound, upper)
        stale += 1
        if upper < node_best:
            node_best, stale = upper, 0
            if options.record:
                run.log.latest.clear()
                run.log.latest.append(dual_variables(state, mode_of(star)))
        elif stale >= options.patience:
            rho, stale = 0.5 * rho, 0
        score, size, moved = visit(run, star, state)
        if options.record:
            log_call(run.log, number, upper, run.best[0])
        if moved == 0 and upper - score <= (EXACT if unit > 0.0 else 1e-9 * max(1.0, abs(v), abs(state.offset[0]))):
            bound = min(bound, max(score, NEG))  # no factor has slack at its tree, which is optimal for the node
            break
        if closed(bound, run.best[0], unit, EXACT):
            break
        if moved == 0:  # the search for a star was cut off: only fewer arcs make its bound tighter
            done = False
            break
        last = step >= steps
        gap = upper - run.best[0]
        marking = options.eliminate and upper <= node_best and (force_mark or last or gap < 0.7 * gap_at_mark)
        if marking:
            gap_at_mark, force_mark = gap, False
        state, refold, empty = eliminate(run, star, state, upper - v, marking, last, number)
        if empty:
            bound = run.best[0]
            break
        if refold:  # steps on factors that may be gone are stale: fold, and take the rest anew
            steps += last
        elif last and options.stars > 0 and node.branch < 0 and mode_of(star) != ALL_STARS:
            state = hand_over(star, task, state, scratch)
            steps += options.stars
            rho, stale, node_best = options.rho, 0, EVERYTHING
        elif last:
            done = False
            break
        else:
            moves += 1
            move(run, star, state, step_length(rho, gap, moved, unit), moves, step == steps - 1)
            if spent(options.max_dp_calls, dp_calls):
                done = False
                break
        lift_tree(scratch.chosen, size, scratch.z)
        step += 1
    if options.record:
        run.log.nodes[number][3] = bound
        if len(run.log.latest) > 0:
            keep_step(run.log, number, run.log.latest[0])
    return state, bound, done, dp_calls


@njit(cache=True, nogil=True, inline="always")
def begin_node(run, node):
    """The state of a node: its parent's, and what is decided."""
    run.scratch.trace[:] = 0.0
    state = copied(node.state)
    if run.options.record:
        run.log.nodes.append(np.array([node.parent, node.branch, node.value, 0.0, 0.0]))
    if node.branch >= 0:
        decide(run.task.arcs, state.weight, node.branch, node.value)
    return state


@njit(cache=True, nogil=True, inline="always")
def counting(run, star):
    """Whether numbers of modifiers are bounded by majorants: stars score them, too."""
    return len(run.task.counts.first) > 0 and mode_of(star) != ALL_STARS


@njit(cache=True, nogil=True, inline="always")
def settle(run, star, state, refold):
    """Fold what is decided, if that has changed, and solve stars: (state, whether there may be a tree)."""
    feasible = True
    while True:
        if refold:
            state = fold(run, star, state)
        feasible, refold = settle_stars(star, run.task, state, run.scratch.alive)
        if not refold:
            return state, feasible


@njit(cache=True, nogil=True, inline="always")
def fold(run, star, state):
    """The state without the factors that are decided; OUT scratch.alive, certain, low, high. O(V + K)."""
    alive, certain, index = run.scratch.alive, run.scratch.certain, run.task.arcs
    for v in range(len(alive)):
        alive[v] = state.weight[v] > NEG_TEST
    find_certain(index, alive, certain)
    pairs, constant = fold_pairs(state.pairs, alive, certain, state.theta, state.weight, state.settled)
    state.offset[0] += constant
    products, constant = fold_products(state.products, alive, certain, state.theta, state.weight, state.settled)
    state.offset[0] += constant
    if counting(run, star):
        range_counts(index, alive, certain, run.scratch.low, run.scratch.high)
    spoil_stars(star)
    return changed(state, state.graph, pairs, products)


@njit(cache=True, nogil=True, inline="always")
def upper_bound(run, star, state, value):
    """The bound of a node whose best tree weighs `value`. O(n)."""
    bound = value + state.offset[0]
    bound += total_of_stars(star)
    if counting(run, star):
        bound += majorants(run.task.counts, state.slope, run.scratch.low, run.scratch.high, run.scratch.wanted)
    return bound


@njit(cache=True, nogil=True, inline="always")
def visit(run, star, state):
    """The last tree, laid into scratch.z: (its score, number of variables, how slack the bound is there). O(V + K).

    The slack is a squared length of the subgradient; 0: the bound is tight. The tree is kept if it is the best so far.
    """
    scratch, index = run.scratch, run.task.arcs
    score, size = tree_variables(state.graph, index, scratch.chosen, scratch.oracle)
    score += lay_tree(index, state.theta, scratch.chosen, size, scratch.z, scratch.modifiers)
    scored, moved = visit_pairs(state.pairs, scratch.z, scratch.direction)
    score += scored
    if len(state.products.phi) > 0:
        scored, more = visit_products(state.products, scratch.z, scratch.on)
        score += scored
        moved += more
    scored, more = visit_stars(star, run.task, state, scratch, size)
    score += scored
    moved += more
    if counting(run, star):
        scored, more = visit_counts(run.task.counts, scratch.modifiers, scratch.wanted)
        score += scored
        moved += more
    if score > run.best[0]:
        run.best[0] = score
        keep_arcs(scratch.chosen, size, len(index.head), run.best_arcs)
    return score, size, moved


@njit(cache=True, nogil=True, inline="always")
def eliminate(run, star, state, beyond, marking, last, number):
    """Remove arcs and edges whose trees cannot beat the best one, if `marking`; find ambiguities where they are used.

    beyond  what the node's bound has more than the weight of its best tree
    Returns (state, whether an arc was removed, whether no tree is left). O(edges + V).
    """
    options, scratch, index, weight = run.options, run.scratch, run.task.arcs, state.weight
    wanted = options.scheme == BLOCK_COORDINATE or (last and options.branching == MAX_MARGINAL)
    if not marking and not wanted:
        return state, False, False
    arc_max, oracle, best = scratch.arc_max, scratch.oracle, run.best[0]
    cut = NEG
    if marking:
        cut = best - beyond
        cut = cut + 0.5 if run.task.unit > 0.0 else cut + 1e-9 * max(1.0, abs(best))
    single_root = run.task.parts.single_root
    edges, items = bound_variables(state.graph, index, weight, single_root, cut, scratch.chosen, arc_max, oracle)
    if len(scratch.ambiguity) > 0:
        ambiguities(index, arc_max, scratch.ambiguity)
    if not marking:
        return state, False, False
    if options.record:
        keep_step(run.log, number, dual_variables(state, mode_of(star)))
    if edges == 0:
        return state, False, True
    graph, fewer = without_losers(state.graph, edges, items, oracle)
    removed = False
    if fewer or mode_of(star) != NO_STARS:
        charge_stars(star, index, weight, arc_max)
        for v in range(len(weight)):
            if v != len(index.head) and weight[v] > NEG_TEST and arc_max[v] <= cut:
                weight[v] = NEG
                removed = True
    return changed(state, graph, state.pairs, state.products), removed, False


@njit(cache=True, nogil=True, inline="always")
def move(run, star, state, alpha, moves, final):
    """A step of length alpha on the dual variables with slack; of so many at this node, perhaps the last. O(V + K)."""
    scratch, scheme, unit, weight = run.scratch, run.options.scheme, run.task.unit, state.weight
    pairs, products = state.pairs, state.products
    if scheme == BLOCK_COORDINATE:
        state.offset[0] += even_out(pairs, scratch.ambiguity, scratch.degree, unit, weight)
    else:
        momentum = scheme == MOMENTUM
        state.offset[0] += move_pairs(pairs, scratch.direction, alpha, momentum, scratch.trace, unit, weight)
        if scheme == AVERAGED:
            state.offset[0] += average_pairs(pairs, moves, final, scratch.trace, unit, weight)
    if len(products.phi) > 0:
        state.offset[0] += move_products(products, scratch.z, scratch.on, alpha, unit, weight)
    move_multipliers(star, run.task.arcs, state, scratch, alpha)
    if counting(run, star):
        move_slopes(run.task.arcs, run.task.counts, state.slope, scratch.modifiers, scratch.wanted, alpha, weight)


@njit(cache=True, nogil=True, inline="always")
def branching(run, star, state):
    """The arc to branch on after the last tree, -1 where every arc is decided. O(V + K)."""
    scratch, index, gap = run.scratch, run.task.arcs, run.scratch.gap
    gap[:] = 0.0
    add_slack(state.pairs, state.products, scratch.z, gap)
    add_star_slack(star, index, state, scratch)
    if counting(run, star):
        add_count_slack(index, run.task.counts, state.slope, scratch.modifiers, scratch.wanted, gap)
    scratch.z[:] = 0
    ambiguity = scratch.ambiguity if run.options.branching == MAX_MARGINAL else gap[:0]
    return branching_arc(index, state.weight, scratch.certain, gap, ambiguity)
