"""Factors that no backbone scores, and their linear bounds (Qian & Liu 2013, sections 3.2 and 5.1).

A product factor with score phi over the variables v_1 .. v_r has one of two bounds:
    phi >= 0:  share_1 z_1 + ... + share_r z_r            shares >= 0 that sum to phi
    phi <  0:  share (r - 1) - share (z_1 + ... + z_r)    0 <= share <= -phi

A score f(s) of the number s of a word's modifiers is bounded by an affine majorant, for any slope b:
    f(s) <= max_c (f(c) - b c)  +  b s

All bounds are linear in the variables, so one call to the backbone finds the tree that maximises them. A bound is tight
at its best share (or slope). With integer scores, all shares are integers, and every bound is an exact integer.

Variables 0 .. A - 1 are arcs. Variable A means "no variable". Variable A + 1 + p is adjacent-sibling part p, if a
backbone scores these parts. Most factors are pairs; they are stored separately, as two columns. Oracle:
tests/test_bounded.py enumerates all trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.kernels.chart.hypergraph import NEG
from treebound.support.jit import kernel


class Pairs(NamedTuple):
    """Product factors of two variables.

    - `number`: int32[F]. The index of the factor's share in the vector of all shares.
    - `e`, `f`: int32[F]. The variables of the factor.
    - `phi`: float64[F]. The score of the factor.
    - `share`: float64[F]. If phi >= 0, the share of e; the share of f is phi - share.
    """

    number: np.ndarray
    e: np.ndarray
    f: np.ndarray
    phi: np.ndarray
    share: np.ndarray


class Products(NamedTuple):
    """Product factors of any number of variables.

    - `first`: int32[F + 1]. Factor i has the variables var[first[i] : first[i + 1]].
    - `var`: int32[K].
    - `number`: int32[K]. The index of each share in the vector of all shares.
    - `phi`: float64[F]. The score of the factor.
    - `share`: float64[K]. If phi < 0, a factor has only one share, the first.
    """

    first: np.ndarray
    var: np.ndarray
    number: np.ndarray
    phi: np.ndarray
    share: np.ndarray


class Counts(NamedTuple):
    """Scores of the number of modifiers of a word (valency).

    - `first`: int32[n + 2]. Word h with c modifiers has the score score[first[h] + c]. The last entry of a word means
      "this many modifiers or more".
    - `score`: float64[*].
    """

    first: np.ndarray
    score: np.ndarray


@kernel
def make_pairs(arcs, phi, unit):
    """Return the Pairs of the factors arcs int32[F, 2] whose score is not 0, with even shares. O(F)."""
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
    """Return the Products of the factors arcs int32[F, r] whose score is not 0, with even shares.

    Negative arc numbers are empty slots. Shares are numbered from `start`.
    """
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
            remainder = phi[i]
            for j in range(begin, k):
                part = phi[i] / size
                if unit > 0.0:
                    part = np.floor(part)
                part = min(part, remainder)  # a fraction of a denormal number may be rounded to a larger one
                share[j] = part if j < k - 1 else remainder
                remainder -= part
        score[c] = phi[i]
        c += 1
        first[c] = k
    return Products(first[: c + 1], var[:k], number[:k], score[:c], share[:k])


@kernel
def apply_shares(pairs, products, weight):
    """Add the coefficients of all bounds to `weight` float64[V]; return the sum of the bounds' constants. O(F)."""
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
    """Drop pairs with a dead variable and fold pairs with a certain variable into the score of the other variable.

    All arrays are changed in place.

    - `alive`: bool[V]. False for dead variables, which no remaining tree has.
    - `certain`: bool[V]. True for variables that every remaining tree has.
    - `theta`, `weight`: float64[V]. The scores of the variables without and with the coefficients of the bounds.
    - `settled`: float64[all shares], or empty. The share that bounds a dropped factor exactly is written here.

    Return (Pairs, change of the bound's constant). O(F).
    """
    number, e, f, phi, share = pairs
    constant = 0.0
    c = 0
    for i in range(len(phi)):
        x, y, p, s = e[i], f[i], phi[i], share[i]
        both_alive = alive[x] and alive[y]
        if both_alive and not certain[x] and not certain[y]:
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
        first_decided = certain[x] if both_alive else alive[y]  # True if x is certain, or if x is dead and y is alive
        if both_alive:
            z = y if first_decided else x
            theta[z] += p
            weight[z] += p
        if len(settled) > 0:
            # the exact share: everything on the variable that is not certain, or everything on the dead variable
            if p >= 0.0:
                settled[number[i]] = p if first_decided != both_alive else 0.0
            else:
                settled[number[i]] = -p if both_alive else 0.0
    return Pairs(number[:c], e[:c], f[:c], phi[:c], share[:c]), constant


@kernel
def fold_products(products, alive, certain, theta, weight, settled):
    """Drop or shorten products with dead or certain variables, in place. O(K).

    Certain variables are removed from a product. A product of one variable becomes the score of this variable. A
    product with a dead variable is dropped. Return (Products, change of the bound's constant). The arguments are as in
    `fold_pairs`.
    """
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
            if free < hi - lo and p >= 0.0:  # the last free variable gets the shares of certain variables
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
            # the vector of all shares stores the share of a negative factor at the number of its first variable
            share_number = number[lo]
            begin = k
            for j in range(lo, hi):
                if not certain[var[j]]:
                    var[k], number[k], share[k] = var[j], number[j], share[j]
                    k += 1
            if p < 0.0:
                number[begin], share[begin] = share_number, s
            phi[c] = p
            c += 1
            first[c] = k
            lo = hi
            continue
        # the factor is decided, or it is the score of a single variable
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
    """Return (score of the pairs in a tree, number of shares whose change can lower the bound). O(F).

    z int8[V] marks the variables of the tree. A pair is in the tree if both variables are.

    Write `direction` int8[F]: 1 if the share has to be raised, -1 if it has to be lowered, 0 if the bound is tight.
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
    """Set the share of pair i, clipped to its range; return the change of the bound's constant."""
    phi = pairs.phi[i]
    top = phi if phi >= 0.0 else -phi
    new_share = min(top, max(0.0, share))
    delta = new_share - pairs.share[i]
    pairs.share[i] = new_share
    if phi >= 0.0:
        weight[pairs.e[i]] += delta
        weight[pairs.f[i]] -= delta
        return 0.0
    weight[pairs.e[i]] -= delta
    weight[pairs.f[i]] -= delta
    return delta


@kernel
def visit_products(products, z, on):
    """Return (score of the products in a tree, number of shares whose change can lower the bound). O(K).

    z int8[V] marks the variables of the tree. A product is in the tree if all of its variables are. Write `on`
    int32[F]: the number of variables of each product in the tree. A product with phi < 0 and r variables has only one
    share. If this share is positive and fewer than r - 1 variables are in the tree, it is counted r - 1 - on times.
    """
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
    """Make a subgradient step of length alpha on the shares; return the change of the bound's constant. O(K).

    If phi >= 0, every selected variable gives up to alpha of its share. The other variables receive equal parts of the
    sum.
    """
    first, var, _, phi, share = products
    constant = 0.0
    for i in range(len(phi)):
        lo, hi = first[i], first[i + 1]
        r = hi - lo
        if phi[i] >= 0.0:
            if on[i] == 0 or on[i] == r:
                continue
            released = 0.0
            for j in range(lo, hi):
                if z[var[j]] == 1:
                    t = min(share[j], alpha)
                    share[j] -= t
                    weight[var[j]] -= t
                    released += t
            unselected = r - on[i]
            for j in range(lo, hi):
                if z[var[j]] == 0:
                    t = released / unselected
                    if unit > 0.0:
                        t = np.floor(t)
                    share[j] += t
                    weight[var[j]] += t
                    released -= t
                    unselected -= 1
        elif on[i] != r - 1:
            new_share = share[lo] + (alpha if on[i] == r else -alpha * (r - 1 - on[i]))
            new_share = min(-phi[i], max(0.0, new_share))
            delta = new_share - share[lo]
            if delta != 0.0:
                share[lo] = new_share
                for j in range(lo, hi):
                    weight[var[j]] -= delta
                constant += delta * (r - 1)
    return constant


@kernel
def add_slack(pairs, products, z, gap):
    """Add to gap[v] the slack of every factor of variable v: its bound minus its score at the tree z. O(K)."""
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
    """Write int32[n + 1] `low` and `high`: the smallest and largest number of modifiers that each word can have.
    O(A).
    """
    low[:] = 0
    high[:] = 0
    for a in range(len(index.head)):
        if alive[a]:
            high[index.head[a]] += 1
            low[index.head[a]] += certain[a]


@kernel
def majorants(counts, slope, low, high, best):
    """Return the sum over words of max_c (f(c) - slope c), where f is the word's valency score and low <= c <= high.

    Write `best`: the maximising count c of each word.
    """
    total = 0.0
    for h in range(len(counts.first) - 1):
        begin, size = counts.first[h], counts.first[h + 1] - counts.first[h]
        if size == 0:
            continue
        top = NEG
        # f is constant beyond the table, so the maximum over that range is at one of its ends
        c = low[h]
        while c <= high[h]:
            x = counts.score[begin + min(c, size - 1)] - slope[h] * c
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
    """Return (score, squared length of the subgradient) at a tree; number int32[n + 1] counts the modifiers of words.
    O(n).
    """
    score = 0.0
    moved = 0
    for h in range(len(counts.first) - 1):
        begin, size = counts.first[h], counts.first[h + 1] - counts.first[h]
        if size > 0:
            score += counts.score[begin + min(number[h], size - 1)]
            d = number[h] - best[h]
            moved += d * d
    return score, moved


@kernel
def ascend(pairs, products, theta, z, weight):
    """Write the variable weights of the lower bound pi of Qian & Liu (2013, section 3.4) that is best at the tree z.

    `weight` float64[V] is overwritten. O(K).

    A factor with phi >= 0, all of whose variables are in z, contributes phi (z_1 + ... + z_r - (r - 1)). A factor with
    phi < 0 that lacks a variable i in z contributes phi z_i for one such i. At z, pi equals the score. Pi never
    exceeds the score of a tree, so the best tree under pi scores at least as much as z.
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
        unselected = -1
        for j in range(lo, hi):
            if z[var[j]] == 0:
                unselected = j
        if phi[i] >= 0.0:
            if unselected < 0:
                for j in range(lo, hi):
                    weight[var[j]] += phi[i]
        else:
            weight[var[unselected if unselected >= 0 else lo]] += phi[i]
