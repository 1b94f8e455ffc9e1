"""Feature `coordination`: agreement in tag and length of the two conjuncts beside a coordinator.

Zhang et al. (2014), section 4. Treebanks attach coordinators in three ways, which the feature distinguishes. Both
conjuncts depend on the coordinator; or it depends on the right conjunct, which depends on the left one; or it depends
on the left conjunct and is the head of the right one.
"""

from __future__ import annotations

from treebound.core.problem import NONE
from treebound.decoders.approximate.sampling.forest import head_of
from treebound.support.jit import kernel
from treebound.systems.sampling.globals.view import (
    COARSE,
    HIGH,
    LOW,
    LOWER,
    TAG,
    begin,
    bin_of,
    first_right,
    join,
    last_left,
    put,
)


@kernel
def see(ints, view, w):
    """Describe the two conjuncts beside coordinator w: write integers to view.seen and return their number.

    The integers are the kind of attachment, the left and the right conjunct, and the reach of each conjunct. The kind
    is 1 if both conjuncts depend on w, 2 if w depends on the right conjunct, and 3 if w depends on the left conjunct.
    The reach is the number of words from the coordinator to the far end of the conjunct, as a bin. Without conjuncts,
    the kind is 0 and the only integer. `ints` holds the tree.
    """
    seen, h, left, right = view.seen, head_of(ints, w), last_left(ints, view, w), first_right(ints, view, w)
    seen[0] = 0
    if left != NONE and right != NONE:
        seen[0] = 1
    elif h > w and 0 < head_of(ints, h) < w:
        seen[0], left, right = 2, head_of(ints, h), h
    elif 0 < h < w and right != NONE:
        seen[0], left = 3, h
    if seen[0] == 0:
        return 1
    seen[1], seen[2] = left, right
    seen[3], seen[4] = bin_of(w - view.place[LOW, left]), bin_of(view.place[HIGH, right] - w)
    return 5


@kernel
def name(code, view, w, count):
    """Write the feature hashes of coordinator w to view.names and return their number.

    `code` is the number of the global feature, and `count` is the result of `see`.

    Each feature joins the kind of attachment with one or two other properties. The properties are the form of the
    coordinator, the tags of the conjuncts, the agreement of the tags, the reaches, and their difference.
    """
    seen, words = view.seen, view.words
    way = join(begin(code, 0), seen[0])
    i = put(view, 0, join(way, words[LOWER, w]))
    if seen[0] == 0:
        return i
    left, right, long, wide = seen[1], seen[2], seen[3], seen[4]
    same = (words[TAG, left] == words[TAG, right]) + 2 * (words[COARSE, left] == words[COARSE, right])
    longer = 8 + long - wide
    i = put(view, i, join(join(way, 1), same))
    i = put(view, i, join(join(join(way, 2), words[TAG, left]), words[TAG, right]))
    i = put(view, i, join(join(join(way, 3), words[LOWER, w]), same))
    i = put(view, i, join(join(way, 4), longer))
    i = put(view, i, join(join(join(way, 5), long), wide))
    i = put(view, i, join(join(join(way, 6), same), longer))
    return put(view, i, join(join(join(way, 7), words[TAG, right]), longer))
