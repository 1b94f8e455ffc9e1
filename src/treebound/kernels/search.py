"""Branch and bound over a hypergraph, tuned: Polyak steps, arc and edge elimination, folding, depth first.

Pair factors (e, f) with score phi that the backbone does not score are bounded linearly (Qian & Liu 2013, section 3.2):
phi >= 0 by  share z_e + (phi - share) z_f  with 0 <= share <= phi,
phi <  0 by  share - share (z_e + z_f)      with 0 <= share <= -phi.
Any shares give a valid bound. With integer scores all shares are integers, so every bound is an exact integer and a
node closes as soon as its bound is below the incumbent plus one.

What is done beyond the paper, and why it is exact:
- *elimination*: an edge of the hypergraph whose best tree has a bound no better than the incumbent is removed;
- *folding*: a word with one arc left certainly takes it; a factor of a certain arc is a score of its other arc, a
  factor of a removed arc vanishes;
- children inherit graph and shares, and every node is searched by a few subgradient steps only.

Oracle: tests/contract enumerates all trees; two backbones must agree; HiGHS must agree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from treebound.kernels.hypergraph import NEG, NEG_TEST, best_arcs, compact, inside, mark


class Options(NamedTuple):
    """Parameters of the search.

    root_steps, node_steps  subgradient steps at the root and at other nodes
    rho, patience           Polyak factor, halved after `patience` steps without a better bound
    max_dp_calls, max_nodes limits; 0 for none
    floor                   only trees that score more are looked for; without one, the value is `floor`
    """

    root_steps: int
    node_steps: int
    rho: float
    patience: int
    max_dp_calls: int
    max_nodes: int
    floor: float = NEG


#: fewest DP calls and least time among those tried on en_ewt (docs/decisions): short budgets, then branch
TUNED = Options(root_steps=20, node_steps=6, rho=1.5, patience=3, max_dp_calls=0, max_nodes=0)


class Record(NamedTuple):
    """What a search did; empty unless asked for.

    calls   float64[dp_calls, 3]  node, upper bound of its trees by this call, incumbent after it
    nodes   float64[nodes, 5]     parent (-1), arc decided (-1), its value, upper bound, 1 if it was branched on
    step_node, step_share  int32[S], float64[S, F]: shares of every bound that removed something or closed a node
    """

    calls: np.ndarray
    nodes: np.ndarray
    step_node: np.ndarray
    step_share: np.ndarray


OPTIMAL, LIMIT, INFEASIBLE = range(3)
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
def _fold(mod, n, alive, theta, weight, number, e, f, phi, share, settled, offset, degree):
    """Drop factors of removed arcs, fold those of certain arcs, in place; returns (factors left, offset). O(A + F).

    settled float64[all factors] (or empty) receives the share that bounds a dropped factor exactly from now on.
    """
    A = len(mod)
    degree[: n + 1] = 0
    for a in range(A):
        if alive[a]:
            degree[mod[a]] += 1
        else:
            weight[a] = NEG
    c = 0
    for i in range(len(phi)):
        x, y, p, s = e[i], f[i], phi[i], share[i]
        if alive[x] and alive[y] and degree[mod[x]] > 1 and degree[mod[y]] > 1:
            number[c], e[c], f[c], phi[c], share[c] = number[i], x, y, p, s
            c += 1
            continue
        if p >= 0.0:
            weight[x] -= s
            weight[y] -= p - s
        else:
            weight[x] += s
            weight[y] += s
            offset -= s
        both = alive[x] and alive[y]
        first_decided = degree[mod[x]] == 1 if both else alive[y]  # x is certain, or x is removed
        if both:
            z = y if first_decided else x
            theta[z] += p
            weight[z] += p
        if len(settled) > 0:
            # all on the other arc of a certain one, all on the removed arc
            if p >= 0.0:
                settled[number[i]] = p if first_decided != both else 0.0
            else:
                settled[number[i]] = -p if both else 0.0
    return c, offset


@njit(cache=True, nogil=True)
def _shares(settled, number, share):
    """Shares of all factors: of those still in play, and of those that were settled."""
    out = settled.copy()
    for i in range(len(number)):
        out[number[i]] = share[i]
    return out


@njit(cache=True, nogil=True)
def search(graph, n, mod, theta, e, f, phi, unit, options, record):
    """Best tree and its certificate.

    graph       Hypergraph of the backbone
    mod         int32[A] modifier of each arc
    theta       float64[A + 1] arc scores, 0 at A
    e, f, phi   int32[F], int32[F], float64[F] bounded pair factors
    unit        > 0: all scores are integers
    record      keep what `Record` holds
    Returns (value, bound, arcs int32[n], status, dp_calls, nodes, solved at root, Record).
    """
    A = len(mod)
    F = len(phi)
    items = len(graph.first) - 1
    value = np.empty(items + 1, np.float64)
    best = np.empty(items + 1, np.int32)
    outside = np.empty(items + 1, np.float64)
    keep = np.empty(len(graph.left), np.bool_)
    arc_max = np.empty(A + 1, np.float64)
    alive = np.empty(A + 1, np.bool_)
    degree = np.empty(n + 1, np.int32)
    z = np.zeros(A + 1, np.int8)
    arcs = np.empty(n, np.int32)
    stack_items = np.empty(2 * n + 8, np.int32)
    gap_of = np.zeros(A + 1, np.float64)
    direction = np.empty(F, np.int8)

    incumbent = options.floor
    incumbent_arcs = np.zeros(n, np.int32)
    dp = 0
    nodes = 0
    calls = np.zeros((16 if record else 0, 3), np.float64)
    table = np.zeros((16 if record else 0, 5), np.float64)
    step_node = np.zeros(16 if record else 0, np.int32)
    step_share = np.zeros((16 if record else 0, F), np.float64)
    steps_kept = 0
    best_share = np.zeros(F if record else 0, np.float64)
    root_solved = False
    limit_bound = NEG  # largest bound among nodes left open by a limit
    status = OPTIMAL

    share = np.empty(F, np.float64)
    weight = theta.copy()
    weight[A] = 0.0
    for i in range(F):
        if phi[i] >= 0.0:
            share[i] = np.floor(phi[i] / 2) if unit > 0.0 else phi[i] / 2
            weight[e[i]] += share[i]
            weight[f[i]] += phi[i] - share[i]
        else:
            share[i] = 0.0
    theta0 = theta.copy()
    # a node to be opened: its parent's graph and shares, and the arc that is decided (-1 at the root)
    numbers = np.arange(F).astype(np.int32)
    settled0 = np.zeros(F if record else 0, np.float64)
    stack = [(graph, theta0, weight, numbers, e, f, phi, share, settled0, 0.0, 1e300, -1, 0, -1)]
    while len(stack) > 0:
        g, th, w, number, ee, ff, pp, sh, settled, offset, bound_p, branch, branch_value, parent = stack.pop()
        if closed(bound_p, incumbent, unit, EXACT):
            continue
        if (options.max_dp_calls > 0 and dp >= options.max_dp_calls) or (
            options.max_nodes > 0 and nodes >= options.max_nodes
        ):
            status = LIMIT
            limit_bound = max(limit_bound, bound_p)
            continue
        node = nodes
        nodes += 1
        th, w = th.copy(), w.copy()
        number, ee, ff, pp, sh, settled = number.copy(), ee.copy(), ff.copy(), pp.copy(), sh.copy(), settled.copy()
        if record:
            if node == len(table):
                table = np.concatenate((table, np.zeros_like(table)))
            table[node, 0], table[node, 1], table[node, 2], table[node, 3] = parent, branch, branch_value, bound_p
        kept_best = True
        if branch >= 0:
            if branch_value == 1:
                for a in range(A):
                    if mod[a] == mod[branch] and a != branch:
                        w[a] = NEG
            else:
                w[branch] = NEG
        bound = bound_p
        steps = options.root_steps if branch < 0 else options.node_steps
        rho = options.rho
        stale = 0
        gap_at_mark = 1e300
        node_best = 1e300
        force_mark = branch >= 0
        done = False
        step = 0
        while True:
            v = inside(g, w, value, best)
            dp += 1
            if v <= NEG_TEST:
                done = True
                bound = NEG
                break
            upper = v + offset
            if upper < bound:
                bound = upper
            if upper < node_best:
                node_best = upper
                stale = 0
                if record:
                    best_share[:] = _shares(settled, number, sh)
                    kept_best = False
            else:
                stale += 1
                if stale >= options.patience:
                    rho *= 0.5
                    stale = 0
            # the tree, its true score, and the slack of every factor
            local = best_arcs(g, A, best, arcs, stack_items)
            score = local
            for i in range(n):
                z[arcs[i]] = 1
                score += th[arcs[i]]
            moved = 0
            for i in range(len(pp)):
                x, y = z[ee[i]], z[ff[i]]
                direction[i] = 0
                if pp[i] >= 0.0:
                    if x != y:
                        if x == 1 and sh[i] > 0.0:
                            direction[i] = -1
                            moved += 1
                        elif y == 1 and sh[i] < pp[i]:
                            direction[i] = 1
                            moved += 1
                    elif x == 1:
                        score += pp[i]
                elif x + y == 2:
                    score += pp[i]
                    if sh[i] < -pp[i]:
                        direction[i] = 1
                        moved += 1
                elif x + y == 0 and sh[i] > 0.0:
                    direction[i] = -1
                    moved += 1
            if score > incumbent:
                incumbent = score
                incumbent_arcs[:] = arcs
            if record:
                if dp > len(calls):
                    calls = np.concatenate((calls, np.zeros_like(calls)))
                calls[dp - 1, 0], calls[dp - 1, 1], calls[dp - 1, 2] = node, upper, incumbent
            if closed(bound, incumbent, unit, EXACT) or moved == 0:
                # moved == 0: no factor has slack at its tree, which is optimal for the node
                for i in range(n):
                    z[arcs[i]] = 0
                if moved == 0:
                    bound = min(bound, max(score, NEG))
                done = True
                break
            last = step >= steps
            gap = upper - incumbent
            if upper <= node_best and (force_mark or last or gap < 0.7 * gap_at_mark):
                gap_at_mark = gap
                force_mark = False
                cut = incumbent - offset
                cut = cut + 0.5 if unit > 0.0 else cut + 1e-9 * max(1.0, abs(incumbent))
                edges, items = mark(g, w, value, cut, outside, keep, arc_max)
                if record:
                    step_node, step_share = _keep(step_node, step_share, steps_kept, node, _shares(settled, number, sh))
                    steps_kept += 1
                    kept_best = True
                if edges == 0:
                    for i in range(n):
                        z[arcs[i]] = 0
                    bound = incumbent
                    done = True
                    break
                if edges < 0.8 * len(g.left):
                    g = compact(g, keep, edges, items)
                    for a in range(A):
                        alive[a] = arc_max[a] > cut
                    c, offset = _fold(mod, n, alive, th, w, number, ee, ff, pp, sh, settled, offset, degree)
                    if c < len(pp):
                        # steps that were planned for dropped factors are stale: take the rest anew
                        number, ee, ff, pp, sh = number[:c], ee[:c], ff[:c], pp[:c], sh[:c]
                        if not last:
                            for i in range(n):
                                z[arcs[i]] = 0
                            step += 1
                            continue
            if last:
                break
            # Polyak step on the shares of the factors with slack
            alpha = rho * gap / moved
            if unit > 0.0:
                alpha = max(1.0, np.floor(alpha + 0.5))
            for i in range(len(pp)):
                if direction[i] == 0:
                    continue
                top = pp[i] if pp[i] >= 0.0 else -pp[i]
                new = min(top, max(0.0, sh[i] + direction[i] * alpha))
                delta = new - sh[i]
                sh[i] = new
                if pp[i] >= 0.0:
                    w[ee[i]] += delta
                    w[ff[i]] -= delta
                else:
                    w[ee[i]] -= delta
                    w[ff[i]] -= delta
                    offset += delta
            for i in range(n):
                z[arcs[i]] = 0
            step += 1
            if options.max_dp_calls > 0 and dp >= options.max_dp_calls:
                break
        if record:
            if v <= NEG_TEST and dp <= len(calls):
                calls[dp - 1, 0], calls[dp - 1, 1], calls[dp - 1, 2] = node, NEG, incumbent
            table[node, 3] = bound
            if not kept_best:
                step_node, step_share = _keep(step_node, step_share, steps_kept, node, best_share)
                steps_kept += 1
        if done:
            if branch < 0:
                root_solved = True
            continue
        if options.max_dp_calls > 0 and dp >= options.max_dp_calls:
            for i in range(n):
                z[arcs[i]] = 0
            status = LIMIT
            limit_bound = max(limit_bound, bound)
            continue
        # branch on the arc with the largest slack
        gap_of[:] = 0.0
        for i in range(len(pp)):
            x, y = z[ee[i]], z[ff[i]]
            slack = 0.0
            if pp[i] >= 0.0:
                if x == 1 and y == 0:
                    slack = sh[i]
                elif y == 1 and x == 0:
                    slack = pp[i] - sh[i]
            elif x + y == 2:
                slack = -pp[i] - sh[i]
            elif x + y == 0:
                slack = sh[i]
            gap_of[ee[i]] += slack
            gap_of[ff[i]] += slack
        for i in range(n):
            z[arcs[i]] = 0
        pick = 0
        for a in range(A):
            if gap_of[a] > gap_of[pick]:
                pick = a
        if record:
            table[node, 4] = 1.0
        for branch_value in range(2):
            stack.append((g, th, w, number, ee, ff, pp, sh, settled, offset, bound, pick, branch_value, node))
    kept = Record(calls[:dp], table[:nodes], step_node[:steps_kept], step_share[:steps_kept])
    bound, status = conclude(incumbent, limit_bound, status)
    return incumbent, bound, incumbent_arcs, status, dp, nodes, root_solved, kept


@njit(cache=True, nogil=True)
def _keep(step_node, step_share, count, node, share):
    """Append a step to the record; returns its (perhaps larger) arrays."""
    if count == len(step_node):
        step_node = np.concatenate((step_node, np.zeros_like(step_node)))
        step_share = np.concatenate((step_share, np.zeros_like(step_share)))
    step_node[count] = node
    step_share[count] = share
    return step_node, step_share
