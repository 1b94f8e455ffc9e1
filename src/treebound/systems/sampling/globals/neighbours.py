"""Feature `neighbours`: the tags before and after a span, with the tag of its head word and its length.

Zhang et al. (2014), section 4.
"""

from __future__ import annotations

from treebound.support.jit import kernel
from treebound.systems.sampling.globals.view import HIGH, LOW, TAG, begin, bin_of, join, put


@kernel
def see(ints, view, w):
    """Describe the surroundings of the span of w: write three integers to view.seen and return their number.

    The integers are the word before the span, the word after the span, and the bin of the span's length. `ints` holds
    the tree.
    """
    low, high = view.place[LOW, w], view.place[HIGH, w]
    view.seen[0], view.seen[1], view.seen[2] = low - 1, high + 1, bin_of(high - low + 1)
    return 3


@kernel
def name(code, view, w, count):
    """Write the feature hashes of the span of w to view.names and return their number.

    All features have the tag of w. They add the tags on both sides, with and without the span's length, or the tag on
    one side with the length. `code` is the number of the global feature, and `count` is the result of `see`.
    """
    tags, length = view.words[TAG], view.seen[2]
    tag, left, right = tags[w], tags[view.seen[0]], tags[view.seen[1]]
    i = put(view, 0, join(join(join(begin(code, 0), tag), left), right))
    i = put(view, i, join(join(join(join(begin(code, 1), tag), left), right), length))
    i = put(view, i, join(join(join(begin(code, 2), tag), left), length))
    return put(view, i, join(join(join(begin(code, 3), tag), right), length))
