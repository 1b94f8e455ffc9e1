"""Tuned branch and bound: Polyak steps on the shares, elimination of arcs and edges, folding of decided factors.

The search uses the linear bound of `treebound.kernels.bounded`. A *tree oracle* finds the tree with the largest bound.
It is a dynamic program over a hypergraph for projective trees, or a maximum spanning arborescence for all trees.
With integer scores every bound is an exact integer, and a node closes as soon as its bound is below the incumbent plus
one.

The search differs from the paper in four ways, and it is still exact:

- *elimination* removes an arc, or an edge of the hypergraph, if the bound of its best tree is not above the incumbent;
- *folding* simplifies factors. If a single candidate arc into a word remains, this arc is certain. A factor of a
  certain arc becomes a factor of its other arcs, and a factor of a removed arc vanishes;
- *head stars* (optional) score all parts of one head jointly and exactly, instead of bounding the parts one by one.
  Multipliers make the stars agree with the tree (`treebound.kernels.head_stars.solve`);
- children inherit the graph and the shares of their parent, and every node is searched by a few steps only.

Options are values of arguments, so that one compiled search serves all settings. There are two compiled versions. The
version without head stars is for projective trees; its `handover` and `star` are None. The version with head stars
serves both spaces.

Oracle: tests/contract enumerates all trees; two backbones must agree; HiGHS must agree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treebound.decoders.exact.branch_and_bound.agreement import (
    add_star_slack,
    charge_stars,
    mark_stars_dirty,
    mode_of,
    move_multipliers,
    shares_to_multipliers,
    solve_dirty_stars,
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
    move_with_momentum,
    needs_ambiguities,
    step_length,
)
from treebound.decoders.exact.branch_and_bound.state import (
    CLOSING,
    EVERYTHING,
    LIMIT,
    MAX_MARGINAL,
    OPTIMAL,
    Node,
    Run,
    SearchResult,
    SharedTask,
    State,
    branching_arc,
    closed,
    conclude,
    copy_state,
    decide,
    find_certain,
    limit_reached,
    next_node,
    search_scratch,
    with_factors,
)
from treebound.decoders.exact.branch_and_bound.trace import (
    ALL_STARS,
    NO_STARS,
    empty_log,
    log_best,
    log_bound,
    log_branching,
    log_call,
    log_node,
    log_step,
    record_of_log,
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
    mark_tree,
    tree_variables,
    unmark_tree,
    without_losers,
)
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST
from treebound.kernels.head_stars.tables import Multipliers
from treebound.kernels.sibling_spans import (
    FAR,
    add_span_slack,
    apply_spans,
    clear_neighbours,
    fold_spans,
    move_spans,
    set_neighbours,
    spread_slack,
    visit_spans,
)
from treebound.support.jit import kernel

EXACT = 0.5  #: rounding tolerance of bounds: they are integers, so that any fraction between 0 and 1 works


@kernel
def search(graph, task, handover, incumbent, options):
    """Search for the best tree, and return a `SearchResult` with its certificate.

    - graph: Hypergraph of a backbone; with a Handover also NO_GRAPH, which means all trees, found as arborescences
    - task: Task, the scores and the bounded factors of the sentence
    - handover: Handover, or None. Head stars score its parts from the start, or after the root's steps if options.stars
    - incumbent: (score, arcs int32[n]) of a known tree, or (NEG, ...)
    - options: Options
    """
    shared_task = shared(task)
    star = star_state(handover, shared_task.arcs)
    root = root_state(graph, shared_task, 0 if handover is None else len(shared_task.arcs.head), options.record)
    size = len(root.settled)
    best = max(options.floor, incumbent[0])
    scratch, log = search_scratch(handover, graph, shared_task, options), empty_log(options.record)
    run = Run(shared_task, options, scratch, log, root, best, incumbent[1].copy())
    # variables, because numba would compile the called kernels once more for literals
    dp_calls: Any = np.int64(0)
    nodes: Any = np.int64(0)
    status: Any = np.int64(OPTIMAL)
    root_solved = False
    limit_bound = NEG  # largest bound among nodes left open by a limit
    open_nodes = [Node(root, EVERYTHING, -1, 0, -1, 0)]
    while len(open_nodes) > 0:
        node = next_node(open_nodes, options.order)
        if closed(node.bound, run.best, shared_task.unit, EXACT):
            continue
        if limit_reached(options.max_dp_calls, dp_calls) or limit_reached(options.max_nodes, nodes):
            status = LIMIT
            limit_bound = max(limit_bound, node.bound)
            continue
        open_node(run, node)
        bound, is_closed, dp_calls = search_node(run, star, node.bound, node.branch < 0, nodes, dp_calls)
        if is_closed or limit_reached(options.max_dp_calls, dp_calls):
            clear(run)
            if not is_closed:
                status = LIMIT
                limit_bound = max(limit_bound, bound)
            elif node.branch < 0:
                root_solved = True
        else:
            pick = branching(run, star)
            if pick >= 0:  # otherwise one tree remains, which has been scored
                log_branching(run.log, nodes)
                for value in range(2):
                    open_nodes.append(Node(run.state, bound, pick, value, nodes, 2 * nodes + value))
        nodes += 1
    bound, status = conclude(run.best, limit_bound, status)
    return SearchResult(
        run.best, bound, run.best_arcs, status, dp_calls, nodes, root_solved, record_of_log(run.log, size)
    )


@kernel
def shared(task):
    """Return the task as an object that compiled functions pass on by reference."""
    factors = task.pairs, task.products, task.counts, task.spans, task.adjacent
    return SharedTask(task.arcs, task.parts, task.theta, *factors, task.unit)


@kernel
def root_state(graph, task, arcs, record):
    """Return the state of the root node.

    `arcs` is the number of arcs with multipliers, 0 without head stars. `record` tells whether the search is recorded.
    """
    pairs, products = task.pairs, task.products
    slopes = len(task.counts.first) - 1 if len(task.counts.first) > 0 else 0
    size = len(pairs.phi) + len(products.share) + slopes + 2 * arcs + (arcs > 0)
    weight = task.theta.copy()
    constant = apply_shares(pairs, products, weight) + apply_spans(task.spans, task.adjacent, weight)
    offset = np.array([constant])
    multipliers = Multipliers(np.zeros(arcs), np.zeros(arcs))
    settled = np.zeros(size if record else 0)
    slope = np.zeros(slopes)
    return State(graph, pairs, products, task.spans, task.theta, weight, slope, multipliers, settled, offset)


@kernel
def open_node(run, node):
    """Copy the state of the node's parent to `run.state`, and apply the decision of the node to it."""
    run.scratch.trace[:] = 0.0
    run.state = copy_state(node.state)
    log_node(run.log, node.parent, node.branch, node.value)
    if node.branch >= 0:
        decide(run.task.arcs, run.state.weight, node.branch, node.value)


@kernel
def search_node(run, star, bound, root, number, dp_calls):
    """Lower the bound of the current node by steps on its dual variables, and remove arcs and edges from its graph.

    The state of the node is `run.state`. Returns (bound of the node, whether the node is closed, number of DP calls of
    the search so far). The last tree stays in scratch.z.

    bound     bound of the parent
    root      whether the node is the root
    number    number of the node in the record
    dp_calls  number of DP calls before this node
    """
    unit = run.task.unit
    refold: Any = np.bool_(True)  # at the start, and whenever arcs were removed
    force_mark = not root
    steps = run.options.root_steps if root else run.options.node_steps
    rho, stale, step, moves = run.options.rho, 0, 0, 0
    gap_at_mark, node_best = EVERYTHING, EVERYTHING
    is_closed = True
    while True:
        feasible = settle(run, star, refold)
        refold = False
        if not feasible:
            bound = NEG
            break
        v = tree_of_weights(run)
        dp_calls += 1
        if v <= NEG_TEST:
            bound = NEG
            log_call(run.log, number, NEG, run.best)
            break
        upper = upper_bound(run, star, v)
        bound = min(bound, upper)
        stale += 1
        if upper < node_best:
            node_best, stale = upper, 0
            log_best(run.log, run.state, mode_of(star))
        elif stale >= run.options.patience:
            rho, stale = 0.5 * rho, 0
        score, size, moved = visit(run, star)
        log_call(run.log, number, upper, run.best)
        if moved == 0 and upper - score <= (EXACT if unit > 0.0 else rounding(run, v)):
            bound = min(bound, max(score, NEG))  # no factor has slack: the tree is optimal for the node
            break
        if closed(bound, run.best, unit, EXACT):
            break
        if moved == 0:  # the search for a star reached its limit: only removing arcs tightens its bound
            is_closed = False
            break
        last = step >= steps
        gap = upper - run.best
        marking = run.options.eliminate and upper <= node_best and (force_mark or last or gap < 0.7 * gap_at_mark)
        if marking:
            gap_at_mark, force_mark = gap, False
        refold, empty = eliminate(run, star, upper - v, marking, last, number)
        if empty:
            bound = run.best
            break
        if refold:  # a step may concern factors that vanish: fold them, and compute the next tree first
            steps += last
        elif last and run.options.stars > 0 and root and mode_of(star) != ALL_STARS:
            take_over(run, star)
            steps += run.options.stars
            rho, stale, node_best = run.options.rho, 0, EVERYTHING
        elif last:
            is_closed = False
            break
        else:
            moves += 1
            move(run, star, step_length(rho, gap, moved, unit), moves, step == steps - 1)
            if limit_reached(run.options.max_dp_calls, dp_calls):
                is_closed = False
                break
        unmark_tree(run.scratch.chosen, size, run.scratch.z)
        clear_neighbours(run.scratch.chosen, size, run.scratch.neighbours)
        step += 1
    log_bound(run.log, number, bound)
    return bound, is_closed, dp_calls


@kernel
def tree_of_weights(run):
    """Return the largest weight of a tree: the bound of the node without its constants."""
    scratch = run.scratch
    single_root = run.task.parts.single_root
    return best_tree(run.state.graph, run.task.arcs, run.state.weight, single_root, scratch.chosen, scratch.oracle)


@kernel
def rounding(run, value):
    """Return the difference up to which two real numbers of the size of `value` count as equal."""
    return 1e-9 * max(1.0, abs(value), abs(run.state.offset[0]))


@kernel
def counting(run, star):
    """Return whether majorants bound the valency scores. They do not if there are none, or if stars score them."""
    return len(run.task.counts.first) > 0 and mode_of(star) != ALL_STARS


@kernel
def settle(run, star, refold):
    """Remove decided factors (`fold`) if `refold`, and solve the dirty stars. Return whether a tree may exist."""
    if refold:
        fold(run, star)
    if star is not None:
        feasible, removed = True, True
        while removed:
            multipliers, weight, alive = run.state.multipliers, run.state.weight, run.scratch.alive
            feasible, removed = solve_dirty_stars(star, run.task, multipliers, weight, alive)
            if removed:
                fold(run, star)
        return feasible
    return True


@kernel
def fold(run, star):
    """Remove factors that removed and certain arcs decide, and write scratch.alive, certain, low and high. O(V + K)."""
    weight, alive, certain = run.state.weight, run.scratch.alive, run.scratch.certain
    for v in range(len(alive)):
        alive[v] = weight[v] > NEG_TEST
    find_certain(run.task.arcs, alive, certain)
    theta, settled, offset = run.state.theta, run.state.settled, run.state.offset
    pairs, constant = fold_pairs(run.state.pairs, alive, certain, theta, weight, settled)
    offset[0] += constant
    products, constant = fold_products(run.state.products, alive, certain, theta, weight, settled)
    offset[0] += constant
    spans, constant = fold_spans(run.state.spans, run.task.adjacent, alive, certain, theta, weight)
    offset[0] += constant
    if counting(run, star):
        range_counts(run.task.arcs, alive, certain, run.scratch.low, run.scratch.high)
    mark_stars_dirty(star)
    run.state = with_factors(run.state, run.state.graph, pairs, products, spans)


@kernel
def upper_bound(run, star, value):
    """Return the upper bound of a node whose best tree weighs `value`. O(n)."""
    bound = value + run.state.offset[0]
    bound += total_of_stars(star)
    if counting(run, star):
        bound += majorants(run.task.counts, run.state.slope, run.scratch.low, run.scratch.high, run.scratch.wanted)
    return bound


@kernel
def visit(run, star):
    """Write the last tree into scratch.z and return (its score, number of its variables, slack of the bound). O(V + K).

    The slack is the squared length of the subgradient. It is 0 if the bound is tight at the tree. The tree is stored if
    it is the best tree so far.
    """
    chosen, z = run.scratch.chosen, run.scratch.z
    score, size = tree_variables(run.state.graph, run.task.arcs, chosen, run.scratch.oracle)
    score += mark_tree(run.task.arcs, run.state.theta, chosen, size, z, run.scratch.modifiers)
    scored, moved = visit_pairs(run.state.pairs, z, run.scratch.direction)
    score += scored
    if len(run.state.products.phi) > 0:
        scored, slack = visit_products(run.state.products, z, run.scratch.on)
        score += scored
        moved += slack
    if len(run.scratch.neighbours.after) > 0:
        set_neighbours(run.task.adjacent, chosen, size, z, run.scratch.neighbours)
        scored, slack = visit_spans(run.state.spans, z, run.scratch.neighbours, run.scratch.span_direction)
        score += scored
        moved += slack
    if star is not None:
        scored, slack = visit_stars(star, run.task, run.state.multipliers, run.scratch.alive, z, chosen[:size])
        score += scored
        moved += slack
    if counting(run, star):
        scored, slack = visit_counts(run.task.counts, run.scratch.modifiers, run.scratch.wanted)
        score += scored
        moved += slack
    if score > run.best:
        run.best = score
        keep_arcs(chosen, size, len(run.task.arcs.head), run.best_arcs)
    return score, size, moved


@kernel
def eliminate(run, star, beyond, marking, last, number):
    """Remove arcs and edges whose trees cannot beat the best tree, and compute ambiguities.

    Arcs and edges are removed if `marking`. Ambiguities are computed if the scheme or the branching rule needs them.

    beyond  the node's bound minus the weight of its best tree
    Returns (whether an arc was removed, whether no tree remains). O(edges + V).
    """
    options = run.options
    need_ambiguities = needs_ambiguities(options.scheme) or (last and options.branching == MAX_MARGINAL)
    if not marking and not need_ambiguities:
        return False, False
    weight, arc_max = run.state.weight, run.scratch.arc_max
    cut = NEG
    if marking:
        cut = run.best - beyond
        cut = cut + 0.5 if run.task.unit > 0.0 else cut + CLOSING * max(1.0, abs(run.best))
    edges, items = bound_variables(
        run.state.graph, run.task.arcs, weight, run.task.parts.single_root, cut, run.scratch.chosen, arc_max,
        run.scratch.oracle,
    )  # fmt: skip
    if len(run.scratch.ambiguity) > 0:
        ambiguities(run.task.arcs, arc_max, run.scratch.ambiguity)
    if not marking:
        return False, False
    log_step(run.log, number, run.state, mode_of(star))
    if edges == 0:
        return False, True
    graph, reduced = without_losers(run.state.graph, edges, items, run.scratch.oracle)
    removed = False
    if reduced or mode_of(star) != NO_STARS:
        charge_stars(star, run.task.arcs, weight, arc_max)
        arcs = len(run.task.arcs.head)
        for v in range(len(weight)):
            if v != arcs and weight[v] > NEG_TEST and arc_max[v] <= cut:
                weight[v] = NEG
                removed = removed or v < arcs
    run.state = with_factors(run.state, graph, run.state.pairs, run.state.products, run.state.spans)
    return removed, False


@kernel
def take_over(run, star):
    """Let head stars score all same-head factors exactly from now on, in place of bounds by shares."""
    if star is not None:
        run.state = shares_to_multipliers(star, run.task, run.state, run.scratch)


@kernel
def move_pair_shares(scheme, run, alpha, moves, final):
    """Make a step on the shares of pairs by a scheme; return the change of the bound's constant. O(F).

    The arguments alpha, moves and final are as in `move`.
    """
    unit, weight, pairs, scratch = run.task.unit, run.state.weight, run.state.pairs, run.scratch
    if scheme == BLOCK_COORDINATE:
        return even_out(pairs, scratch.ambiguity, scratch.degree, unit, weight)
    if scheme == MOMENTUM:
        return move_with_momentum(pairs, scratch.direction, alpha, scratch.trace, unit, weight)
    constant = move_pairs(pairs, scratch.direction, alpha, weight)
    if scheme == AVERAGED:
        constant += average_pairs(pairs, moves, final, scratch.trace, unit, weight)
    return constant


@kernel
def move(run, star, alpha, moves, final):
    """Make a step of length alpha on the dual variables with slack. O(V + K).

    moves  number of steps at this node, this step included
    final  whether this is the last step at this node
    """
    unit, weight, offset = run.task.unit, run.state.weight, run.state.offset
    offset[0] += move_pair_shares(run.options.scheme, run, alpha, moves, final)
    if len(run.state.products.phi) > 0:
        offset[0] += move_products(run.state.products, run.scratch.z, run.scratch.on, alpha, unit, weight)
    offset[0] += move_spans(run.state.spans, run.task.adjacent, run.scratch.span_direction, alpha, weight)
    if star is not None:
        multipliers, alive = run.state.multipliers, run.scratch.alive
        move_multipliers(star, run.task.arcs, multipliers, weight, alive, run.scratch.z, alpha)
    if counting(run, star):
        modifiers, wanted = run.scratch.modifiers, run.scratch.wanted
        move_slopes(run.task.arcs, run.task.counts, run.state.slope, modifiers, wanted, alpha, weight)


@kernel
def clear(run):
    """Remove the last tree from the working memory `run.scratch`. O(V)."""
    run.scratch.z[:] = 0
    after, before = run.scratch.neighbours
    after[:] = FAR
    before[:] = -1


@kernel
def branching(run, star):
    """Return the arc to branch on after the last tree, -1 if every arc is decided. O(V + K)."""
    z, gap = run.scratch.z, run.scratch.gap
    gap[:] = 0.0
    add_slack(run.state.pairs, run.state.products, z, gap)
    if len(run.task.adjacent.first) > 0:
        add_span_slack(run.state.spans, z, run.scratch.neighbours, gap)
        spread_slack(run.task.adjacent, gap)
    if star is not None:
        add_star_slack(star, run.task.arcs, run.state.multipliers, run.scratch.alive, z, gap)
    if counting(run, star):
        modifiers, wanted = run.scratch.modifiers, run.scratch.wanted
        add_count_slack(run.task.arcs, run.task.counts, run.state.slope, modifiers, wanted, gap)
    clear(run)
    ambiguity = run.scratch.ambiguity if run.options.branching == MAX_MARGINAL else gap[:0]
    return branching_arc(run.task.arcs, run.state.weight, run.scratch.certain, gap, ambiguity)
