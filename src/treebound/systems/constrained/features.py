"""Scores and features of labelled arcs: hashed rows of weights with one column for every label.

Feature x of an arc owns row x & mask of the weight table. Column 0 scores the arc whatever its label, column 1 + l
scores it with label l, so that one memory access serves all labels. A feature of one word counts twice: by itself,
and joined with the direction of the arc. A feature of head and modifier also counts twice: by itself, and joined with
direction and distance. A feature of a tag between both words counts once, joined with the direction.
"""

from __future__ import annotations

import numpy as np

from treebound.kernels.features.scoring import PAD, _feature, arc_variant, between_tags, local_tags
from treebound.support.jit import kernel

_MIX = -7046029254386353131


@kernel(inline="always")
def _row(x, variant, mask):
    """Return the row of feature x joined with a variant; variant 0 is the feature by itself."""
    x = (x ^ (variant * 0x632BE59BD9B4E019)) * _MIX
    return (x ^ (x >> 29)) & mask


@kernel
def _add(weights, row, out):
    """Add the weights of one row to `out` float64[columns]."""
    for c in range(weights.shape[1]):
        out[c] += weights[row, c]


@kernel
def _word_scores(templates, tokens, n, weights, mask):
    """Return float64[n + 1, 2, columns]: for each word and arc direction, the scores of the features of the word."""
    out = np.zeros((n + 1, 2, weights.shape[1]))
    for w in range(n + 1):
        for t in range(len(templates.seed)):
            x = _feature(templates, t, tokens, w + PAD, w + PAD, w + PAD, 0)
            for right in range(2):
                _add(weights, _row(x, 0, mask), out[w, right])
                _add(weights, _row(x, 1 + right, mask), out[w, right])
    return out


@kernel
def score_labelled_arcs(arc_templates, tokens, tag, head, mod, weights, mask):
    """Return float64[A, labels], the scores of all arcs with all labels.

    arc_templates  (head, modifier, bigram, between) Templates
    head, mod      int32[A], head and modifier of each arc
    weights        float32 or int32 [rows, 1 + labels]

    O(A labels (T + distance)) for A arcs, T templates, and the mean distance of head and modifier.
    """
    t_head, t_mod, t_pair, t_between = arc_templates
    n, A = len(tag) - 1, len(head)
    as_head = _word_scores(t_head, tokens, n, weights, mask)
    as_mod = _word_scores(t_mod, tokens, n, weights, mask)
    tags = local_tags(tag)
    seen = np.full(n + 2, -1, np.int32)
    between = np.empty(n + 1, np.int32)
    out = np.empty((A, weights.shape[1] - 1))
    total = np.empty(weights.shape[1])
    for a in range(A):
        h, m = head[a], mod[a]
        right = 1 if m > h else 0
        v = arc_variant(h, m)
        for c in range(len(total)):
            total[c] = as_head[h, right, c] + as_mod[m, right, c]
        for t in range(len(t_pair.seed)):
            x = _feature(t_pair, t, tokens, h + PAD, m + PAD, 0, 0)
            _add(weights, _row(x, 0, mask), total)
            _add(weights, _row(x, v, mask), total)
        for i in range(between_tags(tags, h, m, seen, a, between)):
            for t in range(len(t_between.seed)):
                x = _feature(t_between, t, tokens, h + PAD, between[i] + PAD, m + PAD, 0)
                _add(weights, _row(x, 1 + right, mask), total)
        for c in range(len(total) - 1):
            out[a, c] = total[0] + total[c + 1]
    return out


@kernel
def _emit(x, variant, columns, label, out, c):
    """Append two weight indices of feature x joined with a variant: for every label, and for `label`.

    `out` is (indices, signs, sign, (bits, mask)): both arrays are written from position c on, and each index gets the
    sign `sign`. Return the new number of indices, c + 2.
    """
    slots, signs, sign, (_, mask) = out
    first = _row(x, variant, mask) * columns
    slots[c], slots[c + 1] = first, first + 1 + label
    signs[c], signs[c + 1] = sign, sign
    return c + 2


@kernel
def labelled_features(arc_templates, tokens, tag, labelled_arc, columns, out, c):
    """Append the weight indices of the features of an arc (h, m, label), and return the new number of indices.

    Indices refer to the weight table as one array, in which each row takes `columns` entries. `out` holds the arrays
    and the sign (as for `_emit`), and c is the number of indices so far.
    """
    h, m, label = labelled_arc
    t_head, t_mod, t_pair, t_between = arc_templates
    right = 1 if m > h else 0
    v = arc_variant(h, m)
    for t in range(len(t_head.seed)):
        x = _feature(t_head, t, tokens, h + PAD, h + PAD, h + PAD, 0)
        c = _emit(x, 0, columns, label, out, c)
        c = _emit(x, 1 + right, columns, label, out, c)
    for t in range(len(t_mod.seed)):
        x = _feature(t_mod, t, tokens, m + PAD, m + PAD, m + PAD, 0)
        c = _emit(x, 0, columns, label, out, c)
        c = _emit(x, 1 + right, columns, label, out, c)
    for t in range(len(t_pair.seed)):
        x = _feature(t_pair, t, tokens, h + PAD, m + PAD, 0, 0)
        c = _emit(x, 0, columns, label, out, c)
        c = _emit(x, v, columns, label, out, c)
    tags = local_tags(tag)
    seen = np.full(len(tag) + 1, -1, np.int32)
    between = np.empty(len(tag), np.int32)
    for i in range(between_tags(tags, h, m, seen, 0, between)):
        for t in range(len(t_between.seed)):
            x = _feature(t_between, t, tokens, h + PAD, between[i] + PAD, m + PAD, 0)
            c = _emit(x, 1 + right, columns, label, out, c)
    return c
