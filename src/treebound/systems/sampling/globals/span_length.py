"""Feature `span-length`: the length of a word's span, whether it ends the sentence, and whether punctuation follows.

Zhang et al. (2014), section 4.
"""

from __future__ import annotations

from treebound.decoders.approximate.sampling import buffers as at
from treebound.support.jit import kernel
from treebound.systems.sampling.globals.view import COARSE, HIGH, LOW, PUNCTUATION, TAG, begin, bin_of, join, put


@kernel
def see(ints, view, w):
    """Describe the bin of the length, and the two flags: end of sentence, and punctuation after the span."""
    low, high = view.place[LOW, w], view.place[HIGH, w]
    view.seen[0] = bin_of(high - low + 1)
    view.seen[1] = 2 * (high == ints[at.N]) + view.words[PUNCTUATION, high + 1]
    return 2


@kernel
def name(code, view, w, count):
    """Name the length with the fine or coarse tag of the word, with and without the flags."""
    length, flags = view.seen[0], view.seen[1]
    i = put(view, 0, join(join(begin(code, 0), view.words[TAG, w]), length))
    i = put(view, i, join(join(join(begin(code, 1), view.words[TAG, w]), length), flags))
    return put(view, i, join(join(join(begin(code, 2), view.words[COARSE, w]), length), flags))
