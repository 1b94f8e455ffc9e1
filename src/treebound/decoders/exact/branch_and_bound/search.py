"""Branch and bound, tuned: Polyak steps on the shares, elimination of arcs and edges, folding of decided factors.

The bound is that of `treebound.kernels.bounded`; a *tree oracle* maximises it: a dynamic program over a hypergraph
(projective trees), or a maximum spanning arborescence (all trees). With integer scores every bound is an exact integer
and a node closes as soon as its bound is below the incumbent plus one.

What is done beyond the paper, and why it is exact:
- *elimination*: an edge of the hypergraph, or an arc, whose best tree has a bound no better than the incumbent goes;
- *folding*: a word with one arc left certainly takes it; a factor of a certain arc is a factor of its other arcs, a
  factor of a removed arc vanishes;
- *head stars* (option): instead of bounding the parts of one head one by one, their best joint choice is found exactly,
  and multipliers make it agree with the tree (`treebound.kernels.head_stars.tables`);
- children inherit graph and shares, and every node is searched by a few steps only.

`graph` and `handover` may be None; numba then compiles the search without hypergraphs, or without stars.

Oracle: tests/contract enumerates all trees; two backbones must agree; HiGHS must agree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

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
    LIMIT,
    MAX_MARGINAL,
    OPTIMAL,
    Node,
    State,
    branching_arc,
    closed,
    conclude,
    copied,
    decide,
    find_certain,
    next_node,
)
from treebound.decoders.exact.branch_and_bound.trace import (
    ALL_STARS,
    NO_STARS,
    SOME_STARS,
    Record,
    dual_variables,
    keep_step,
    log_call,
    with_room,
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
    oracle_scratch,
    tree_variables,
    without_losers,
)
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.kernels.head_stars.agreement import (
    add_star_slack,
    disagreements,
    even_parents,
    follow_tree,
    hand_over,
    have_stars,
    move_multipliers,
    score_stars,
    solve_dirty,
    star_state,
)

EXACT = 0.5  #: integer shares: bounds are integers, any fraction tells them apart


@njit(cache=True, nogil=True)
def search(graph, index, parts, theta, pairs, products, counts, handover, known, unit, options, record):
    """Best tree and its certificate.

    graph       Hypergraph of a backbone, or None: all trees, by arborescences
    index, parts  ArcIndex, PartIndex
    theta       float64[V] scores of the variables (see `treebound.kernels.bounded`), 0 at A
    pairs, products, counts  what is bounded
    handover    Handover: what head stars score from the beginning, and after the root's steps if options.stars; or None
    known       (score, arcs int32[n]) of a tree, or (NEG, ...)
    unit        > 0: all scores are integers
    options     Options
    record      keep what `Record` holds
    Returns (value, bound, arcs int32[n], status, dp_calls, nodes, solved at root, Record).
    """
    head, single_root = index.head, parts.single_root
    A, n, V = len(head), len(index.right) - 1, len(theta)
    counted = len(counts.first) > 0
    oracle = oracle_scratch(graph, n, A)
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
    evened = options.scheme == BLOCK_COORDINATE
    ambiguity = np.empty(V if evened or options.branching == MAX_MARGINAL else 0)
    degree = np.empty(V if evened else 0)
    # of pairs, by number: velocity (momentum) or sum of shares (averaged)
    trace = np.zeros(len(pairs.phi) if options.scheme in (MOMENTUM, AVERAGED) else 0)
    mode = NO_STARS
    tables: Any = None  # StarTables in force
    star: Any = None
    S = 0
    if handover is not None:
        tables = handover.first
        if have_stars(tables):
            mode = SOME_STARS
        star = star_state(index, handover)
        S = A
        all_pairs, all_products = pairs, products

    incumbent = max(options.floor, known[0])
    incumbent_arcs = known[1].copy()
    # not literals, for which numba would compile the kernels that take them once more
    dp: Any = np.int64(0)
    nodes: Any = np.int64(0)
    steps_kept: Any = np.int64(0)
    status: Any = np.int64(OPTIMAL)
    D = len(pairs.phi) + len(products.share) + (n + 1 if counted else 0) + 2 * S + (S > 0)
    calls = np.zeros((16 if record else 0, 3), np.float64)
    table = np.zeros((16 if record else 0, 5), np.float64)
    step_node = np.zeros(16 if record else 0, np.int32)
    step_dual = np.zeros((16 if record else 0, D), np.float64)
    best_dual = np.zeros(D if record else 0, np.float64)
    root_solved = False
    limit_bound = NEG  # largest bound among nodes left open by a limit

    weight = theta.copy()
    offset = apply_shares(pairs, products, weight)
    slope = np.zeros(n + 1 if counted else 0, np.float64)
    settled = np.zeros(D if record else 0, np.float64)
    state = State(graph, theta, weight, pairs, products, slope, np.zeros(S), np.zeros(S), settled, offset)
    open_nodes = [Node(state, 1e300, -1, 0, -1, 0)]
    while len(open_nodes) > 0:
        opened = next_node(open_nodes, options.order)
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
        g, th, w, pairs, products, slope, child, parent, settled, offset = copied(opened.state)
        if record:
            table = with_room(table, node)
            table[node, 0], table[node, 1], table[node, 2] = opened.parent, branch, opened.value
        kept_best = True
        if branch >= 0:
            decide(index, w, branch, opened.value)
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
                find_certain(index, alive, certain)
                pairs, constant = fold_pairs(pairs, alive, certain, th, w, settled)
                offset += constant
                products, constant = fold_products(products, alive, certain, th, w, settled)
                offset += constant
                if counted:
                    range_counts(index, alive, certain, low, high)
                if handover is not None:
                    star.dirty[:] = True
                refold = False
            if handover is not None and mode != NO_STARS:
                if not solve_dirty(index, parts, tables, alive, child, parent, unit, star):
                    done = True
                    bound = NEG
                    break
                if mode == SOME_STARS and even_parents(index, alive, parent, w, star):
                    refold = True
                    continue
                star.dirty[:] = False
            # the tree that maximises the bound
            v = best_tree(g, index, w, single_root, chosen, oracle)
            dp += 1
            if v <= NEG_TEST:
                done = True
                bound = NEG
                if record:
                    calls = log_call(calls, dp - 1, node, NEG, incumbent)
                break
            upper = v + offset
            if handover is not None and mode != NO_STARS:
                upper += star.value.sum()
            if counted:
                upper += majorants(counts, slope, low, high, wanted)
            bound = min(bound, upper)
            if upper < node_best:
                node_best = upper
                stale = 0
                if record:
                    best_dual[:] = dual_variables(settled, pairs, products, slope, child, parent, mode)
                    kept_best = False
            else:
                stale += 1
                if stale >= options.patience:
                    rho *= 0.5
                    stale = 0
            # its true score, and what its bound is slack in
            score, size = tree_variables(g, index, chosen, oracle)
            score += lay_tree(index, th, chosen, size, z, modifiers)
            scored, moved = visit_pairs(pairs, z, direction)
            score += scored
            if len(products.phi) > 0:
                scored, more = visit_products(products, z, on)
                score += scored
                moved += more
            if handover is not None and mode != NO_STARS:
                score += score_stars(index, parts, tables, z, chosen, size, star)
                if mode == SOME_STARS:
                    follow_tree(index, parts, tables, alive, child, parent, unit, star)
                moved += disagreements(index, z, alive, star)
            if counted:
                scored, more = visit_counts(counts, modifiers, wanted)
                score += scored
                moved += more
            if score > incumbent:
                incumbent = score
                keep_arcs(chosen, size, A, incumbent_arcs)
            if record:
                calls = log_call(calls, dp - 1, node, upper, incumbent)
            if moved == 0 and upper - score <= (EXACT if unit > 0.0 else 1e-9 * max(1.0, abs(v), abs(offset))):
                bound = min(bound, max(score, NEG))  # no factor has slack at its tree, which is optimal for the node
                done = True
                break
            if closed(bound, incumbent, unit, EXACT):
                done = True
                break
            if moved == 0:  # the search for a star was cut off: only fewer arcs make its bound tighter
                break
            last = step >= steps
            gap = upper - incumbent
            marking = options.eliminate and upper <= node_best and (force_mark or last or gap < 0.7 * gap_at_mark)
            if marking or evened or (last and options.branching == MAX_MARGINAL):
                cut = NEG
                if marking:
                    cut = incumbent - (upper - v)
                    cut = cut + 0.5 if unit > 0.0 else cut + 1e-9 * max(1.0, abs(incumbent))
                edges, items = bound_variables(g, index, w, single_root, cut, chosen, arc_max, oracle)
                if len(ambiguity) > 0:
                    ambiguities(index, arc_max, ambiguity)
                if marking:
                    gap_at_mark = gap
                    force_mark = False
                    if record:
                        duals = dual_variables(settled, pairs, products, slope, child, parent, mode)
                        step_node, step_dual = keep_step(step_node, step_dual, steps_kept, node, duals)
                        steps_kept += 1
                        kept_best = True
                    if edges == 0:
                        bound = incumbent
                        done = True
                        break
                    g, fewer = without_losers(g, edges, items, oracle)
                    if fewer or mode != NO_STARS:
                        for a in range(V):
                            if a == A or w[a] <= NEG_TEST:
                                continue
                            through = arc_max[a]
                            if handover is not None and mode != NO_STARS and a < A:
                                through -= (
                                    star.value[index.mod[a]] - star.x_bound[a]
                                )  # what its word's star loses by it
                            if through <= cut:
                                w[a] = NEG
                                refold = True
                    if refold:  # steps on factors that may be gone are stale: fold, and take the rest anew
                        lift_tree(chosen, size, z)
                        step += 1
                        steps += last
                        continue
            if handover is not None and last and options.stars > 0 and branch < 0 and mode != ALL_STARS:
                mode = ALL_STARS
                tables = handover.later
                pairs, products, constant = hand_over(
                    index, counts, handover, all_pairs, all_products, pairs, products, slope, alive, certain,
                    th, w, child, parent,
                )  # fmt: skip
                counted = False
                offset += constant
                star.dirty[:] = True
                steps += options.stars
                rho, stale, node_best = options.rho, 0, 1e300
                lift_tree(chosen, size, z)
                step += 1
                continue
            if last:
                break
            # a step on the dual variables that have slack
            alpha = step_length(rho, gap, moved, unit)
            if evened:
                offset += even_out(pairs, ambiguity, degree, unit, w)
            else:
                offset += move_pairs(pairs, direction, alpha, options.scheme == MOMENTUM, trace, unit, w)
                if options.scheme == AVERAGED:
                    averages += 1
                    offset += average_pairs(pairs, averages, step == steps - 1, trace, unit, w)
            if len(products.phi) > 0:
                offset += move_products(products, z, on, alpha, unit, w)
            if handover is not None and mode != NO_STARS:
                move_multipliers(index, z, alive, alpha, child, parent, w, star)
            if counted:
                move_slopes(index, counts, slope, modifiers, wanted, alpha, w)
            lift_tree(chosen, size, z)
            step += 1
            if options.max_dp_calls > 0 and dp >= options.max_dp_calls:
                break
        if record:
            table[node, 3] = bound
            if not kept_best:
                step_node, step_dual = keep_step(step_node, step_dual, steps_kept, node, best_dual)
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
        if handover is not None and mode != NO_STARS:
            add_star_slack(index, z, alive, child, parent, star, gap_of)
        if counted:
            add_count_slack(index, counts, slope, modifiers, wanted, gap_of)
        z[:] = 0
        pick = branching_arc(index, w, certain, gap_of, ambiguity if options.branching == MAX_MARGINAL else gap_of[:0])
        if pick < 0:  # one tree is left, and has been scored
            continue
        if record:
            table[node, 4] = 1.0
        state = State(g, th, w, pairs, products, slope, child, parent, settled, offset)
        for branch_value in range(2):
            open_nodes.append(Node(state, bound, pick, branch_value, node, 2 * node + branch_value))
    kept = Record(calls[:dp], table[:nodes], step_node[:steps_kept], step_dual[:steps_kept])
    bound, status = conclude(incumbent, limit_bound, status)
    return incumbent, bound, incumbent_arcs, status, dp, nodes, root_solved, kept
