"""Feature `span-length`: the length of a word's span, whether it ends the sentence, and whether punctuation follows.

Zhang et al. (2014), section 4.
"""

from __future__ import annotations

from treebound.decoders.approximate.sampling import buffers as at
from treebound.support.jit import kernel
from treebound.systems.sampling.globals.view import COARSE, HIGH, LOW, PUNCTUATION, TAG, begin, bin_of, join, put


@kernel
def see(ints, view, w):
    """Describe the span of w: write two integers to view.seen and return their number.

    The integers are the bin of the span's length, and 2 if the span ends the sentence, plus 1 if punctuation follows.
    `ints` holds the tree.
    """
    low, high = view.place[LOW, w], view.place[HIGH, w]
    view.seen[0] = bin_of(high - low + 1)
    view.seen[1] = 2 * (high == ints[at.N]) + view.words[PUNCTUATION, high + 1]
    return 2


@kernel
def name(code, view, w, count):
    """Write the feature hashes of the span of w to view.names and return their number.

    The features join the span's length with the fine tag of w, with and without the flags for the end of the sentence
    and for punctuation, and with the coarse tag and the flags. `code` is the number of the global feature, and `count`
    is the result of `see`.
    """
    length, flags = view.seen[0], view.seen[1]
    i = put(view, 0, join(join(begin(code, 0), view.words[TAG, w]), length))
    i = put(view, i, join(join(join(begin(code, 1), view.words[TAG, w]), length), flags))
    return put(view, i, join(join(join(begin(code, 2), view.words[COARSE, w]), length), flags))
