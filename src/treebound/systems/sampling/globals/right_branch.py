"""Feature `right-branch`: how far a tree branches to the right.

The measure is the depth of the last word that is not punctuation, in tenths of the sentence length. Zhang et al.
(2014), section 4. The paper's feature is a real number; here each tenth has its own weight.
"""

from __future__ import annotations

from treebound.core.problem import NONE
from treebound.decoders.approximate.sampling import buffers as at
from treebound.decoders.approximate.sampling.forest import head_of
from treebound.support.jit import kernel
from treebound.systems.sampling.globals.view import PUNCTUATION, TAG, begin, join, put


@kernel
def see(ints, view, w):
    """Describe how far the tree branches to the right: write two integers to view.seen and return their number.

    The integers are the depth of the last word that is not punctuation, in tenths of the sentence length, and the last
    dependent of the root. `ints` holds the tree; w is not read.
    """
    n, depth = ints[at.N], 0
    m = n
    while m > 0 and view.words[PUNCTUATION, m]:
        m -= 1
    while m > 0:
        depth += 1
        m = head_of(ints, m)
    view.seen[0], view.seen[1] = 10 * depth // n, ints[ints[at.LAST]]
    return 2


@kernel
def name(code, view, w, count):
    """Write the feature hashes of the tree to view.names and return their number.

    The features are the depth in tenths by itself, and the depth with the tag of the root's last dependent. `code` is
    the number of the global feature, and `count` is the result of `see`.
    """
    tenth, root = view.seen[0], view.seen[1]
    i = put(view, 0, join(begin(code, 0), tenth))
    return put(view, i, join(join(begin(code, 1), tenth), view.words[TAG, root])) if root != NONE else i
