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
    """Describe the modifiers, in the order of the sentence."""
    count, m = 0, ints[ints[at.FIRST] + w]
    while m != NONE:
        if not view.words[PUNCTUATION, m]:
            view.seen[count] = m
            count += 1
        m = ints[ints[at.NEXT] + m]
    return count


@kernel
def name(code, view, w, count):
    """Name the number of modifiers, in total and on each side, and the string of tags, with the tag of the word.

    The total is also named with the word's form.
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
