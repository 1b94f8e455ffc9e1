"""Whether the two conjuncts beside a coordinator agree in tag and length.

Zhang et al. (2014), section 4. Treebanks attach coordinators in three ways, which are told apart: both conjuncts hang
from it; it hangs from the right one, which hangs from the left one; it hangs from the left one, and from it the right.
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
    """How it is attached, the conjuncts, and how many words they reach from the coordinator; 0: to none."""
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
    """Tags, whether they are the same, lengths and their difference, with and without the coordinator."""
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
