"""Scores of arc labels: sums of hashed rows of weights, with one weight per label.

A feature is a template over the words of an arc, joined with a variant of direction or distance. It is a row of
consecutive weights that begins at any cache line of the label weights. Rows overlap, so that frequent labels do not
collide in one column. Label l of the feature has the l-th weight of the row. The inner loop over labels is therefore a
plain vector sum.

The weights of labels follow the weights of arcs and parts in the same array. Weight slots, updates, averages and the
fixed point of a finished model are the same for both. Label scores are exact integers if arc scores are.
"""

from __future__ import annotations

import numpy as np

from treebound.kernels.features.memory import add_row, prefetch
from treebound.kernels.features.scoring import LINE, PAD, arc_variant, hash_all
from treebound.kernels.features.templates import unpacked, unpacked_arcs
from treebound.support.jit import kernel

NONE = -1  #: no word at this position of the tree
CONTEXT = 7  #: number of words around an arc in its tree: h m g l r a z
_M1 = -7046029254386353131  # 0x9E3779B97F4A7C15, odd


@kernel(inline="always")
def _start(x, variant, place):
    """Return the index at which the row of a hashed feature joined with a variant begins."""
    x = x + variant * _M1
    return place.first + (((x ^ (x >> 29)) >> 4) & place.mask) * LINE


@kernel
def _add_rows(templates, tokens, rows, variant, weights, place, out):
    """Add to out[i] the weight rows of the features of all templates over one tuple of words, joined with variant[i].

    The words are given by rows[:, i], their rows in the token table. `out` is [N, L]. O(N T L).
    """
    T, (N, L) = len(templates.seed), out.shape
    x = np.empty((T, N), np.int64)
    for t in range(T):
        hash_all(templates, t, tokens, rows, 0, -1, x[t])
    for i in range(N):
        after = min(i + 1, N - 1)
        for t in range(T):
            start = _start(x[t, after], variant[after], place)
            prefetch(weights, np.uint64(start))
            prefetch(weights, np.uint64(start + 2 * LINE))
            add_row(out, i, weights, _start(x[t, i], variant[i], place), L)


@kernel
def _emit_rows(templates, tokens, rows, variant, label, out, c):
    """Append one weight slot for each template and each i: the slot of label[i] in the weight row of the feature.

    The template is applied to a tuple of words and joined with variant[i]. The column rows[:, i] holds the positions of
    these words in the token table. `out` is an Output that already contains `c` slots. Return the new number of slots.
    O(N T) for N tuples and T templates.
    """
    slots, signs, sign, place = out
    x = np.empty(rows.shape[1], np.int64)
    for t in range(len(templates.seed)):
        hash_all(templates, t, tokens, rows, 0, -1, x)
        for i in range(rows.shape[1]):
            slots[c] = _start(x[i], variant[i], place) + label[i]
            signs[c] = sign
            c += 1
    return c


@kernel(inline="always")
def _direction(h, m):
    return 1 if m > h else 2


@kernel
def _add_words(templates, tokens, n, rows, direction, weights, place, out):
    """Add weight rows like `_add_rows`, for templates over one word; compute the sum once per word and direction.

    `rows` int32[1, N] contains rows of the token table, for n words and the root.
    """
    N, L = out.shape
    number = np.full((3, n + 1 + PAD), -1, np.int32)
    distinct = np.empty((1, min(N, 2 * (n + 1))), np.int32)
    variant = np.empty(distinct.shape[1], np.int64)
    count = 0
    for i in range(N):
        if number[direction[i], rows[0, i]] < 0:
            number[direction[i], rows[0, i]] = count
            distinct[0, count], variant[count] = rows[0, i], direction[i]
            count += 1
    total = np.zeros((count, L), out.dtype)
    _add_rows(templates, tokens, distinct, variant, weights, place, total)
    flat = total.reshape(count * L)
    for i in range(N):
        add_row(out, i, flat, number[direction[i], rows[0, i]] * L, L)


@kernel
def score_labels(templates, tokens, n, head, mod, weights, place, out):
    """Add to out[a, y] the score of label y on arc a. O((n T_word + A T_pair) L).

    - `out`: [A, L], float64, or int32 if weights are int16. L is a multiple of LANES.
    - `templates`: the groups head, modifier, pair and far, as `packed` returns them.

    The groups head and modifier use one word and the direction of the arc. Their weights are summed once per word and
    direction. The group pair uses both words and the direction, and the group far uses the distance as well.
    """
    t_head, t_mod, t_pair, t_far = unpacked_arcs(templates)[0]
    A = len(head)
    rows = np.empty((2, A), np.int32)
    near = np.empty(A, np.int64)
    far = np.empty(A, np.int64)
    for a in range(A):
        h, m = head[a], mod[a]
        rows[0, a], rows[1, a] = h + PAD, m + PAD
        near[a], far[a] = _direction(h, m), arc_variant(h, m)
    _add_words(t_head, tokens, n, rows[:1], near, weights, place, out)
    _add_words(t_mod, tokens, n, rows[1:], near, weights, place, out)
    _add_rows(t_pair, tokens, rows, near, weights, place, out)
    _add_rows(t_far, tokens, rows, far, weights, place, out)


@kernel
def label_features(groups, tokens, head, mod, label, out, c):
    """Append the weight slots of label[i] on the arc head[i] -> mod[i]; return the new number of slots. O(arcs T)."""
    t_head, t_mod, t_pair, t_far = groups
    K = len(head)
    rows = np.empty((2, K), np.int32)
    near = np.empty(K, np.int64)
    far = np.empty(K, np.int64)
    for i in range(K):
        h, m = head[i], mod[i]
        rows[0, i], rows[1, i] = h + PAD, m + PAD
        near[i], far[i] = _direction(h, m), arc_variant(h, m)
    c = _emit_rows(t_head, tokens, rows[:1], near, label, out, c)
    c = _emit_rows(t_mod, tokens, rows[1:], near, label, out, c)
    c = _emit_rows(t_pair, tokens, rows, near, label, out, c)
    return _emit_rows(t_far, tokens, rows, far, label, out, c)


@kernel
def context_words(heads):
    """Return int32[CONTEXT, n]: the words around the arc into each word m = 1..n of a tree, or NONE. O(n).

    In order: head h and modifier m; g, the head of h; l and r, the nearest modifiers of h on the left and right of m; a
    and z, the first and last modifier of m.
    """
    n = len(heads) - 1
    out = np.full((CONTEXT, n), NONE, np.int32)
    last = np.full(n + 1, NONE, np.int32)
    for m in range(1, n + 1):
        h = heads[m]
        out[0, m - 1], out[1, m - 1] = h, m
        if h > 0:
            out[2, m - 1] = heads[h]
            if out[5, h - 1] == NONE:
                out[5, h - 1] = m
            out[6, h - 1] = m
        s = last[h]
        if s != NONE:
            out[3, m - 1] = s
            out[4, s - 1] = m
        last[h] = m
    return out


@kernel
def _context_rows(words, n):
    """Return the row of each of `words` in the token table, and the direction of each arc.

    `words` is the result of `context_words`.
    """
    rows = np.empty(words.shape, np.int32)
    direction = np.empty(words.shape[1], np.int64)
    for i in range(words.shape[1]):
        direction[i] = _direction(words[0, i], words[1, i])
        for s in range(words.shape[0]):
            w = words[s, i]
            rows[s, i] = w + PAD if w >= 0 else n + 2 * PAD - w
    return rows, direction


@kernel
def score_context(templates, tokens, words, weights, place, out):
    """Add to out[i, y] the score of label y on arc i, by templates over the tree around the arc.

    `words` is the result of `context_words`, `templates` is one packed group, and `out` is as in `score_labels`.
    """
    rows, direction = _context_rows(words, words.shape[1])
    _add_rows(unpacked(templates, np.int64(0))[0], tokens, rows, direction, weights, place, out)


@kernel
def context_features(templates, tokens, words, n, label, out, c):
    """Append the weight slots of label[i] on arc i, by templates over the tree; return the new number of slots.

    `words` are columns of the result of `context_words` for a sentence of n words.
    """
    rows, direction = _context_rows(words, n)
    return _emit_rows(templates, tokens, rows, direction, label, out, c)


@kernel
def best_labels(scores, labels, gold, cost):
    """Return (float64[A], int32[A]): value and number of each row's best label among the first `labels`. O(A labels).

    `gold` int32[A] is the gold label of each row. `cost` is added to the score of every other label. Ties go to the
    lowest label.
    """
    A = len(scores)
    value = np.empty(A, np.float64)
    label = np.empty(A, np.int32)
    for a in range(A):
        top, best = -np.inf, 0
        for y in range(labels):
            s = scores[a, y] if y == gold[a] else scores[a, y] + cost
            if s > top:
                top, best = s, y
        value[a], label[a] = top, best
    return value, label
