"""How many modifiers a word has, and the string of their tags, punctuation left out (Zhang et al. 2014, section 4)."""

from __future__ import annotations

from treebound.core.problem import NONE
from treebound.decoders.approximate.sampling import buffers as at
from treebound.support.jit import kernel
from treebound.systems.sampling.globals.view import LOWER, PUNCTUATION, TAG, begin, bin_of, join, put


@kernel
def see(ints, view, w):
    """The modifiers in the order of the sentence."""
    count, m = 0, ints[ints[at.FIRST] + w]
    while m != NONE:
        if not view.words[PUNCTUATION, m]:
            view.seen[count] = m
            count += 1
        m = ints[ints[at.NEXT] + m]
    return count


@kernel
def name(code, view, w, count):
    """The number, on each side and on both, and the string, with the tag of the word; the number with its form."""
    tags, left = view.words[TAG], 0
    string = join(begin(code, 0), tags[w])
    for k in range(count):
        if view.seen[k] > w and left == k:
            string = join(string, 1)
        left += view.seen[k] < w
        string = join(string, tags[view.seen[k]])
    i = put(view, 0, string)
    i = put(view, i, join(join(begin(code, 1), tags[w]), bin_of(count)))
    i = put(view, i, join(join(join(begin(code, 2), tags[w]), bin_of(left)), bin_of(count - left)))
    return put(view, i, join(join(begin(code, 3), view.words[LOWER, w]), bin_of(count)))
