"""Arc marginals of non-projective trees by sums of positive terms only, which are exact for scores of any size.

The matrix-tree theorem subtracts numbers, which loses digits if scores differ much. Eliminating words from the graph
needs no subtraction (Grassmann, Taksar & Heyman 1985, for Markov chains). If word k is eliminated, every path h -> k ->
m becomes an arc of weight w(h, k) w(k, m) / d(k). Here d(k) is the sum of the weights into k. When only word m remains,
the weight of root -> m is a sum over the arcs into m. The share of an arc in this sum is its marginal. It is w(h, m)
times the probability that a random path from h upwards reaches the root before m.

Weights are stored as logarithms, so that no weight is too small. For a single root, the arcs of the root are multiplied
by t, and t goes to 0. A weight is then the leading term of a power series in t, stored as the exponent of t and the
logarithm of the coefficient. Oracle: tests/test_marginals.py enumerates all trees in rational numbers.
"""

from __future__ import annotations

import numpy as np

from treebound.support.jit import kernel


@kernel(inline="always")
def _plus(p, x, q, y):
    """Return the exponent and the logarithm of the leading term of a sum: exponents p and q, logarithms x and y."""
    if y == -np.inf or (p < q and x > -np.inf):
        return p, x
    if x == -np.inf or q < p:
        return q, y
    if x < y:
        x, y = y, x
    return p, x + np.log1p(np.exp(y - x))


@kernel
def _eliminate(power, log, alive, count, k, exponents, shares):
    """Eliminate node k from the graph; return exponent and logarithm of d(k), the sum of the weights into k.
    O(count^2).

    - `power`, `log`: int64[s, s], float64[s, s]. Weights of arcs, head first; changed.
    - `alive`: int64[s]. The first `count` entries are the remaining nodes of the graph, with 0 (the root) first.
    - `exponents`, `shares`: int64[s], float64[s], written: w(h, k) / d(k) for the nodes h in `alive`.
    """
    p, d = 0, -np.inf
    for i in range(count):
        p, d = _plus(p, d, power[alive[i], k], log[alive[i], k])
    if d == -np.inf:
        return p, d
    for i in range(count):
        exponents[i] = power[alive[i], k] - p
        shares[i] = log[alive[i], k] - d
    for j in range(1, count):
        m = alive[j]
        y = log[k, m]
        if y == -np.inf:
            continue
        for i in range(count):
            h = alive[i]
            if h != m and shares[i] > -np.inf:
                power[h, m], log[h, m] = _plus(power[h, m], log[h, m], exponents[i] + power[k, m], shares[i] + y)
    return p, d


@kernel
def spanning_tree_marginals(score, single_root, marginal):
    """Return the log partition function; write `marginal` float64[n + 1, n + 1], the probability of every arc.

    `score` float64[n + 1, n + 1] contains natural logarithms, head first; -inf if there is no such arc. It is changed:
    the highest score into each word becomes 0. The probability of an absent arc is 0. If there is no tree, the result
    is -inf and zeros.

    For each word, all other words are eliminated. The words of one half of the sentence share the elimination of the
    other half, recursively. O(n^3), space O(n^2).
    """
    n = len(score) - 1
    marginal[:] = 0.0
    log_z = 0.0
    for m in range(1, n + 1):
        top = -np.inf
        score[m, m] = -np.inf
        for h in range(n + 1):
            top = max(top, score[h, m])
        if top == -np.inf:
            return top
        log_z += top
        for h in range(n + 1):
            score[h, m] -= top
    score[:, 0] = -np.inf
    levels = 2
    while 2 ** (levels - 2) < n:
        levels += 1
    # the graphs of the ranges of words that lead to one word, from the whole sentence down; `log` is the current graph
    start = np.zeros(levels + 1, np.int64)
    size = n + 1
    for level in range(levels):
        start[level + 1] = start[level] + size * size
        size = size // 2 + 1
    logs, powers = np.empty(start[levels]), np.empty(start[levels], np.int64)
    log, power = np.empty((n + 1, n + 1)), np.zeros((n + 1, n + 1), np.int64)
    # the words eliminated so far, and their shares w(h, k) / d(k)
    out, shares, exponents = np.empty(n, np.int64), np.empty((n, n + 1)), np.empty((n, n + 1), np.int64)
    nodes, counts = np.empty((n, n + 1), np.int64), np.empty(n, np.int64)
    alive = np.empty(n + 1, np.int64)
    reach, reach_power = np.empty(n + 1), np.empty(n + 1, np.int64)
    # columns: the range (first, end), the parent range (first, end), level, number of eliminated words
    ranges = np.empty((2 * levels + 2, 6), np.int64)
    ranges[0, 0], ranges[0, 1], ranges[0, 2], ranges[0, 3], ranges[0, 4], ranges[0, 5] = 1, n + 1, 1, n + 1, 0, 0
    top_range = 1
    done = False  # whether log_z is complete
    sum_d = 0.0
    sum_p = 0
    while top_range > 0:
        top_range -= 1
        first, end, parent_first, parent_end, level, count_out = (
            ranges[top_range, 0],
            ranges[top_range, 1],
            ranges[top_range, 2],
            ranges[top_range, 3],
            ranges[top_range, 4],
            ranges[top_range, 5],
        )
        size = end - first + 1
        if level == 0:
            for h in range(n + 1):
                for m in range(n + 1):
                    logs[h * size + m] = score[h, m]
                    powers[h * size + m] = 1 if h == 0 and single_root else 0
        else:
            width = parent_end - parent_first + 1
            begin = start[level - 1]
            for h in range(width):
                for m in range(width):
                    log[h, m] = logs[begin + h * width + m]
                    power[h, m] = powers[begin + h * width + m]
            count = width
            for i in range(width):
                alive[i] = i
            for k in range(width - 1, 0, -1):
                word = parent_first + k - 1
                if first <= word < end:
                    continue
                count -= 1
                for i in range(k, count):
                    alive[i] = alive[i + 1]
                p, d = _eliminate(power, log, alive, count, k, exponents[count_out], shares[count_out])
                if d == -np.inf:
                    marginal[:] = 0.0
                    return d
                if not done:
                    sum_p += p
                    sum_d += d
                out[count_out], counts[count_out] = word, count
                for i in range(count):
                    nodes[count_out, i] = parent_first + alive[i] - 1 if alive[i] > 0 else 0
                count_out += 1
            begin = start[level]
            for i in range(count):
                for j in range(count):
                    logs[begin + i * size + j] = log[alive[i], alive[j]]
                    powers[begin + i * size + j] = power[alive[i], alive[j]]
        if end - first > 1:
            middle = (first + end) // 2
            for side in range(2):
                ranges[top_range, 0] = first if side == 0 else middle
                ranges[top_range, 1] = middle if side == 0 else end
                ranges[top_range, 2], ranges[top_range, 3] = first, end
                ranges[top_range, 4], ranges[top_range, 5] = level + 1, count_out
                top_range += 1
            continue
        # one word remains: paths from every word up to the root that avoid it
        m = first
        if not done:
            sum_d += logs[start[level] + 1]
            sum_p += powers[start[level] + 1]
            if sum_d == -np.inf or (single_root and sum_p > 1):
                marginal[:] = 0.0
                return -np.inf
            done = True
        reach[0], reach_power[0], reach[m], reach_power[m] = 0.0, 0, -np.inf, 0
        for i in range(count_out - 1, -1, -1):
            p, x = 0, -np.inf
            for j in range(counts[i]):
                h = nodes[i, j]
                p, x = _plus(p, x, exponents[i, j] + reach_power[h], shares[i, j] + reach[h])
            reach_power[out[i]], reach[out[i]] = p, x
        p, x = 0, -np.inf
        for h in range(n + 1):
            p, x = _plus(p, x, reach_power[h] + (1 if h == 0 and single_root else 0), reach[h] + score[h, m])
        for h in range(n + 1):
            if reach_power[h] + (1 if h == 0 and single_root else 0) == p:
                marginal[h, m] = np.exp(reach[h] + score[h, m] - x)
    return log_z + sum_d
