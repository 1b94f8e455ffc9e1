"""Feature `crossing`: an arc that is not projective, because it spans a word that is not a descendant of its head.

Zhang et al. (2014), section 4, after Martins et al. (2011).
"""

from __future__ import annotations

from treebound.decoders.approximate.sampling.forest import head_of
from treebound.support.jit import kernel
from treebound.systems.sampling.globals.view import LOWER, TAG, begin, join, put


@kernel
def see(ints, view, w):
    """Write the head of w to view.seen and return 1 if the arc into w is not projective; otherwise return 0.

    `ints` holds the tree. O(length depth) for the length of the arc and the depth of the tree.
    """
    h = head_of(ints, w)
    for k in range(min(h, w) + 1, max(h, w)):
        u = k
        while u not in (0, h):
            u = head_of(ints, u)
        if u != h:
            view.seen[0] = h
            return 1
    return 0


@kernel
def name(code, view, w, count):
    """Write the feature hashes of the crossing arc into w to view.names and return their number.

    The features are the arc by itself, and the arc with the tag or form of its head, of w, or of both. `code` is the
    number of the global feature, and `count` is the result of `see`; without a crossing arc there are no features.
    """
    if count == 0:
        return 0
    h, words = view.seen[0], view.words
    i = put(view, 0, begin(code, 0))
    i = put(view, i, join(begin(code, 1), words[TAG, h]))
    i = put(view, i, join(begin(code, 2), words[TAG, w]))
    i = put(view, i, join(join(begin(code, 3), words[TAG, h]), words[TAG, w]))
    i = put(view, i, join(begin(code, 4), words[LOWER, h]))
    i = put(view, i, join(begin(code, 5), words[LOWER, w]))
    return put(view, i, join(join(begin(code, 6), words[LOWER, h]), words[LOWER, w]))
