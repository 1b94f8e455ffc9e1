"""Feature `valency`: the number of modifiers of a word and the string of their tags, without punctuation.

Zhang et al. (2014), section 4.
"""

from __future__ import annotations

from treebound.core.problem import NONE
from treebound.decoders.approximate.sampling import buffers as at
from treebound.support.jit import kernel
from treebound.systems.sampling.globals.view import LOWER, PUNCTUATION, TAG, begin, bin_of, join, put


@kernel
def see(ints, view, w):
    """Write the modifiers of w except punctuation to view.seen, from left to right, and return their number.

    `ints` holds the tree.
    """
    count, m = 0, ints[ints[at.FIRST] + w]
    while m != NONE:
        if not view.words[PUNCTUATION, m]:
            view.seen[count] = m
            count += 1
        m = ints[ints[at.NEXT] + m]
    return count


@kernel
def name(code, view, w, count):
    """Write the feature hashes of the modifiers of w to view.names and return their number.

    The features join the tag of w with the string of the modifiers' tags, with their number, or with their numbers on
    each side. One feature joins the form of w with their number. `code` is the number of the global feature, and
    `count` is the result of `see`.
    """
    tags, before = view.words[TAG], 0
    string = join(begin(code, 0), tags[w])
    for k in range(count):
        if view.seen[k] > w and before == k:
            string = join(string, 1)
        before += view.seen[k] < w
        string = join(string, tags[view.seen[k]])
    i = put(view, 0, string)
    i = put(view, i, join(join(begin(code, 1), tags[w]), bin_of(count)))
    i = put(view, i, join(join(join(begin(code, 2), tags[w]), bin_of(before)), bin_of(count - before)))
    return put(view, i, join(join(begin(code, 3), view.words[LOWER, w]), bin_of(count)))
