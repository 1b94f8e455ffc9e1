"""Factors that no backbone scores, and their linear bounds (Qian & Liu 2013, section 3.2 and section 5.1).

A product factor with score phi over the variables v_1 .. v_r is bounded by
    phi >= 0:  share_1 z_1 + ... + share_r z_r            shares >= 0 that sum to phi
    phi <  0:  share (r - 1) - share (z_1 + ... + z_r)    0 <= share <= -phi
and a score f(s) of the number s of a word's modifiers by an affine majorant, any slope b giving
    f(s) <= max_c (f(c) - b c)  +  b s.
All are linear in the variables, so a tree that maximises the bound is one call to the backbone. A bound is tight at its
best share (slope). With integer scores all shares are integers, and every bound is an exact integer.

Variables are arcs 0 .. A - 1; A stands for none; A + 1 + p is adjacent-sibling part p, where a backbone scores those.
Pairs are most factors and are kept apart, as two columns. Oracle: tests/test_bounded.py enumerates all trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.kernels.chart.hypergraph import NEG
from treebound.support.jit import kernel


class Pairs(NamedTuple):
    """Product factors of two variables.

    number  int32[F]  the factor's place in the vector of all shares
    e, f    int32[F]  its variables
    phi     float64[F]
    share   float64[F] of e where phi >= 0 (f has the rest)
    """

    number: np.ndarray
    e: np.ndarray
    f: np.ndarray
    phi: np.ndarray
    share: np.ndarray


class Products(NamedTuple):
    """Product factors of any number of variables.

    first   int32[F + 1]  factor i has the variables var[first[i] : first[i + 1]]
    var     int32[K]
    number  int32[K]      place of each share in the vector of all shares
    phi     float64[F]
    share   float64[K]    where phi < 0, the first share of a factor is its only one
    """

    first: np.ndarray
    var: np.ndarray
    number: np.ndarray
    phi: np.ndarray
    share: np.ndarray


class Counts(NamedTuple):
    """Scores of the number of modifiers of a word (valency).

    first   int32[n + 2]  word h with c modifiers scores score[first[h] + c]; the last entry stands for "or more"
    score   float64[*]
    """

    first: np.ndarray
    score: np.ndarray


@kernel
def make_pairs(arcs, phi, unit):
    """Pairs of the factors arcs int32[F, 2] that score something, with even shares. O(F)."""
    F = len(phi)
    number = np.empty(F, np.int32)
    e = np.empty(F, np.int32)
    f = np.empty(F, np.int32)
    score = np.empty(F, np.float64)
    share = np.empty(F, np.float64)
    c = 0
    for i in range(F):
        if phi[i] == 0.0:
            continue
        number[c], e[c], f[c], score[c], share[c] = c, arcs[i, 0], arcs[i, 1], phi[i], 0.0
        if phi[i] > 0.0:
            share[c] = np.floor(phi[i] / 2) if unit > 0.0 else phi[i] / 2
        c += 1
    return Pairs(number[:c], e[:c], f[:c], score[:c], share[:c])


@kernel
def make_products(arcs, phi, unit, start):
    """Products of the factors arcs int32[F, r] (negative: no arc) that score something; shares numbered from start."""
    F, r = arcs.shape
    first = np.empty(F + 1, np.int32)
    var = np.empty(F * r, np.int32)
    number = np.empty(F * r, np.int32)
    score = np.empty(F, np.float64)
    share = np.zeros(F * r, np.float64)
    first[0] = 0
    c = 0
    k = 0
    for i in range(F):
        if phi[i] == 0.0:
            continue
        begin = k
        for j in range(r):
            if arcs[i, j] >= 0:
                var[k], number[k] = arcs[i, j], start + k
                k += 1
        size = k - begin
        if phi[i] > 0.0:
            left = phi[i]
            for j in range(begin, k):
                part = phi[i] / size
                if unit > 0.0:
                    part = np.floor(part)
                share[j] = part if j < k - 1 else left
                left -= part
        score[c] = phi[i]
        c += 1
        first[c] = k
    return Products(first[: c + 1], var[:k], number[:k], score[:c], share[:k])


@kernel
def apply_shares(pairs, products, weight):
    """Add the bounds' coefficients to float64[V] weight; returns the sum of their constants. O(F)."""
    constant = 0.0
    for i in range(len(pairs.phi)):
        s = pairs.share[i]
        if pairs.phi[i] >= 0.0:
            weight[pairs.e[i]] += s
            weight[pairs.f[i]] += pairs.phi[i] - s
        else:
            weight[pairs.e[i]] -= s
            weight[pairs.f[i]] -= s
            constant += s
    for i in range(len(products.phi)):
        lo, hi = products.first[i], products.first[i + 1]
        if products.phi[i] >= 0.0:
            for j in range(lo, hi):
                weight[products.var[j]] += products.share[j]
        else:
            s = products.share[lo]
            for j in range(lo, hi):
                weight[products.var[j]] -= s
            constant += s * (hi - lo - 1)
    return constant


@kernel
def fold_pairs(pairs, alive, certain, theta, weight, settled):
    """Drop pairs of dead variables, fold those of certain ones into the other's score, in place; (Pairs, constant).

    alive, certain  bool[V]
    settled  float64[all shares] (or empty) receives the share that bounds a dropped factor exactly from now on
    constant  what the bound's constant changes by. O(F).
    """
    number, e, f, phi, share = pairs
    constant = 0.0
    c = 0
    for i in range(len(phi)):
        x, y, p, s = e[i], f[i], phi[i], share[i]
        both = alive[x] and alive[y]
        if both and not certain[x] and not certain[y]:
            number[c], e[c], f[c], phi[c], share[c] = number[i], x, y, p, s
            c += 1
            continue
        if p >= 0.0:
            weight[x] -= s
            weight[y] -= p - s
        else:
            weight[x] += s
            weight[y] += s
            constant -= s
        first_decided = certain[x] if both else alive[y]  # x is certain, or x is dead
        if both:
            z = y if first_decided else x
            theta[z] += p
            weight[z] += p
        if len(settled) > 0:
            # all on the other arc of a certain one, all on the dead arc
            if p >= 0.0:
                settled[number[i]] = p if first_decided != both else 0.0
            else:
                settled[number[i]] = -p if both else 0.0
    return Pairs(number[:c], e[:c], f[:c], phi[:c], share[:c]), constant


@kernel
def fold_products(products, alive, certain, theta, weight, settled):
    """As `fold_pairs`: certain variables leave a product, a product of one variable is its score. O(K)."""
    first, var, number, phi, share = products
    constant = 0.0
    c = 0
    k = 0
    lo = 0
    for i in range(len(phi)):
        hi = first[i + 1]  # first[i] may be overwritten by now
        dead = -1
        free = 0
        last = lo
        for j in range(lo, hi):
            if not alive[var[j]]:
                dead = j
            elif not certain[var[j]]:
                free += 1
                last = j
        p = phi[i]
        s = share[lo]
        if dead < 0 and free >= 2:
            if free < hi - lo and p >= 0.0:  # certain variables hand their shares to the last free one
                for j in range(lo, hi):
                    if certain[var[j]]:
                        weight[var[j]] -= share[j]
                        weight[var[last]] += share[j]
                        share[last] += share[j]
                        if len(settled) > 0:
                            settled[number[j]] = 0.0
            elif free < hi - lo:  # s (r - 1) - s (1 + ...): the certain variables cancel against the constant
                for j in range(lo, hi):
                    if certain[var[j]]:
                        weight[var[j]] += s
                        constant -= s
            # the record keeps the share of a negative factor where its first variable was
            tag = number[lo]
            begin = k
            for j in range(lo, hi):
                if not certain[var[j]]:
                    var[k], number[k], share[k] = var[j], number[j], share[j]
                    k += 1
            if p < 0.0:
                number[begin], share[begin] = tag, s
            phi[c] = p
            c += 1
            first[c] = k
            lo = hi
            continue
        # decided, or the score of a single variable
        for j in range(lo, hi):
            weight[var[j]] -= share[j] if p >= 0.0 else -s
        if p < 0.0:
            constant -= s * (hi - lo - 1)
        if dead < 0:
            theta[var[last]] += p
            weight[var[last]] += p
        if len(settled) > 0:
            if p >= 0.0:
                for j in range(lo, hi):
                    settled[number[j]] = 0.0
                settled[number[dead if dead >= 0 else last]] = p
            else:
                settled[number[lo]] = 0.0 if dead >= 0 else -p
        lo = hi
    return Products(first[: c + 1], var[:k], number[:k], phi[:c], share[:k]), constant


@kernel
def visit_pairs(pairs, z, direction):
    """At the tree z int8[V]: (score of the pairs that fire, number of shares that can lower the bound).

    OUT direction int8[F]: 1 raise the share, -1 lower it, 0 the bound is tight. O(F).
    """
    _, e, f, phi, share = pairs
    score = 0.0
    moved = 0
    for i in range(len(phi)):
        x, y = z[e[i]], z[f[i]]
        direction[i] = 0
        if phi[i] >= 0.0:
            if x != y:
                if x == 1 and share[i] > 0.0:
                    direction[i] = -1
                    moved += 1
                elif y == 1 and share[i] < phi[i]:
                    direction[i] = 1
                    moved += 1
            elif x == 1:
                score += phi[i]
        elif x + y == 2:
            score += phi[i]
            if share[i] < -phi[i]:
                direction[i] = 1
                moved += 1
        elif x + y == 0 and share[i] > 0.0:
            direction[i] = -1
            moved += 1
    return score, moved


@kernel(inline="always")
def set_pair(pairs, i, share, weight):
    """Give pair i another share (put into its range); returns what the bound's constant changes by."""
    phi = pairs.phi[i]
    top = phi if phi >= 0.0 else -phi
    new = min(top, max(0.0, share))
    delta = new - pairs.share[i]
    pairs.share[i] = new
    if phi >= 0.0:
        weight[pairs.e[i]] += delta
        weight[pairs.f[i]] -= delta
        return 0.0
    weight[pairs.e[i]] -= delta
    weight[pairs.f[i]] -= delta
    return delta


@kernel
def visit_products(products, z, on):
    """As `visit_pairs`; OUT on int32[F]: number of a factor's variables that are on. O(K)."""
    first, var, _, phi, share = products
    score = 0.0
    moved = 0
    for i in range(len(phi)):
        lo, hi = first[i], first[i + 1]
        count = 0
        for j in range(lo, hi):
            count += z[var[j]]
        on[i] = count
        r = hi - lo
        if count == r:
            score += phi[i]
        if phi[i] >= 0.0:
            if 0 < count < r:
                for j in range(lo, hi):
                    if z[var[j]] == 1 and share[j] > 0.0:
                        moved += 1
        elif count == r:
            moved += share[lo] < -phi[i]
        elif count < r - 1 and share[lo] > 0.0:
            moved += r - 1 - count
    return score, moved


@kernel
def move_products(products, z, on, alpha, unit, weight):
    """A subgradient step of length alpha on the shares; returns what the bound's constant changes by. O(K).

    phi >= 0: variables that are on give up to alpha each, those that are off receive it in even parts.
    """
    first, var, _, phi, share = products
    constant = 0.0
    for i in range(len(phi)):
        lo, hi = first[i], first[i + 1]
        r = hi - lo
        if phi[i] >= 0.0:
            if on[i] == 0 or on[i] == r:
                continue
            given = 0.0
            for j in range(lo, hi):
                if z[var[j]] == 1:
                    t = min(share[j], alpha)
                    share[j] -= t
                    weight[var[j]] -= t
                    given += t
            off = r - on[i]
            for j in range(lo, hi):
                if z[var[j]] == 0:
                    t = given / off
                    if unit > 0.0:
                        t = np.floor(t)
                    share[j] += t
                    weight[var[j]] += t
                    given -= t
                    off -= 1
        elif on[i] != r - 1:
            new = share[lo] + (alpha if on[i] == r else -alpha * (r - 1 - on[i]))
            new = min(-phi[i], max(0.0, new))
            delta = new - share[lo]
            if delta != 0.0:
                share[lo] = new
                for j in range(lo, hi):
                    weight[var[j]] -= delta
                constant += delta * (r - 1)
    return constant


@kernel
def add_slack(pairs, products, z, gap):
    """gap[v] += what the bounds of the factors of variable v exceed their scores by at the tree z. O(K)."""
    for i in range(len(pairs.phi)):
        x, y, p, s = z[pairs.e[i]], z[pairs.f[i]], pairs.phi[i], pairs.share[i]
        slack = 0.0
        if p >= 0.0:
            if x == 1 and y == 0:
                slack = s
            elif y == 1 and x == 0:
                slack = p - s
        elif x + y == 2:
            slack = -p - s
        elif x + y == 0:
            slack = s
        gap[pairs.e[i]] += slack
        gap[pairs.f[i]] += slack
    first, var, _, phi, share = products
    for i in range(len(phi)):
        lo, hi = first[i], first[i + 1]
        count = 0
        slack = 0.0
        for j in range(lo, hi):
            count += z[var[j]]
            slack += share[j] * z[var[j]]
        if phi[i] < 0.0:
            slack = share[lo] * (hi - lo - 1 - count)
        if count == hi - lo:
            slack -= phi[i]
        for j in range(lo, hi):
            gap[var[j]] += slack


@kernel
def range_counts(index, alive, certain, low, high):
    """OUT int32[n + 1] low, high: how many modifiers each word can have. O(A)."""
    low[:] = 0
    high[:] = 0
    for a in range(len(index.head)):
        if alive[a]:
            high[index.head[a]] += 1
            low[index.head[a]] += certain[a]


@kernel
def majorants(counts, slope, low, high, best):
    """Sum over words of max_c (f(c) - slope c) over low <= c <= high; OUT best int32[n + 1]: the c that attains it."""
    total = 0.0
    for h in range(len(counts.first) - 1):
        at, size = counts.first[h], counts.first[h + 1] - counts.first[h]
        if size == 0:
            continue
        top = NEG
        # beyond the table f is constant: only the ends of that range can win
        c = low[h]
        while c <= high[h]:
            x = counts.score[at + min(c, size - 1)] - slope[h] * c
            if x > top:
                top = x
                best[h] = c
            if size - 1 <= c < high[h]:
                c = high[h]
            else:
                c += 1
        total += top
    return total


@kernel
def visit_counts(counts, number, best):
    """At a tree whose words have number int32[n + 1] modifiers: (score, squared length of the subgradient). O(n)."""
    score = 0.0
    moved = 0
    for h in range(len(counts.first) - 1):
        at, size = counts.first[h], counts.first[h + 1] - counts.first[h]
        if size > 0:
            score += counts.score[at + min(number[h], size - 1)]
            d = number[h] - best[h]
            moved += d * d
    return score, moved


@kernel
def ascend(pairs, products, theta, z, weight):
    """Arc weights of the paper's lower bound pi at its best p for the tree z (section 3.4).

    phi >= 0 that fires:  phi (z_1 + ... + z_r - (r - 1));  phi < 0 that does not: phi z_i for one i that is off.
    pi is the score at z and never more than the score of any tree, so its best tree scores at least as much. O(K).
    """
    weight[:] = theta
    for i in range(len(pairs.phi)):
        x, y, p = pairs.e[i], pairs.f[i], pairs.phi[i]
        if p >= 0.0:
            if z[x] == 1 and z[y] == 1:
                weight[x] += p
                weight[y] += p
        elif z[x] == 0:
            weight[x] += p
        else:
            weight[y] += p
    first, var, _, phi, _ = products
    for i in range(len(phi)):
        lo, hi = first[i], first[i + 1]
        off = -1
        for j in range(lo, hi):
            if z[var[j]] == 0:
                off = j
        if phi[i] >= 0.0:
            if off < 0:
                for j in range(lo, hi):
                    weight[var[j]] += phi[i]
        else:
            weight[var[off if off >= 0 else lo]] += phi[i]
