"""The catalogue of global features: the functions that describe, score and update each of them.

A new feature needs a module with `see` and `name` (see `view`), a line in `table`, and a line in each of the functions
`see` and `name` of this module.
"""

from __future__ import annotations

import numpy as np

from treebound.core.hashing import hash_string
from treebound.decoders.approximate.sampling import buffers as at
from treebound.kernels.features.hashing import finish
from treebound.support.jit import kernel
from treebound.systems.sampling.globals import (
    attachment,
    coordination,
    crossing,
    neighbours,
    right_branch,
    span_length,
    valency,
)
from treebound.systems.sampling.globals.table import COORDINATORS, FEATURES, PATHS, PREPOSITIONS, TREE
from treebound.systems.sampling.globals.view import (
    COORDINATOR,
    MARK,
    NAMES,
    PREPOSITION,
    find_spans,
    join,
    mark_path,
)

_ANCHORS = np.array(list(FEATURES.values()))


def codes_of(names: tuple[str, ...]) -> np.ndarray:
    """Return int64[F], the numbers of the named features: their positions in FEATURES, in ascending order."""
    return np.array([i for i, name in enumerate(FEATURES) if name in names], np.int64)


#: start of the keys of the cache, so that keys differ if the set of features changes
SALT = np.int64(hash_string("|".join(FEATURES)))


@kernel
def see(code, ints, view, w):
    """Describe the tree near word w, the anchor, for global feature number `code`.

    The description is written to view.seen. Return its number of integers. `ints` holds the tree.
    """
    if code == 0:
        return right_branch.see(ints, view, w)
    if code == 1:
        return coordination.see(ints, view, w)
    if code == 2:
        return attachment.see(ints, view, w)
    if code == 3:
        return span_length.see(ints, view, w)
    if code == 4:
        return neighbours.see(ints, view, w)
    if code == 5:
        return valency.see(ints, view, w)
    return crossing.see(ints, view, w)


@kernel
def name(code, view, w, count):
    """Write the feature hashes for the description that `see` left in view.seen to view.names; return their number.

    code   number of the global feature
    w      anchor of the feature
    count  number of integers in the description, as returned by `see`
    """
    if code == 0:
        return right_branch.name(code, view, w, count)
    if code == 1:
        return coordination.name(code, view, w, count)
    if code == 2:
        return attachment.name(code, view, w, count)
    if code == 3:
        return span_length.name(code, view, w, count)
    if code == 4:
        return neighbours.name(code, view, w, count)
    if code == 5:
        return valency.name(code, view, w, count)
    return crossing.name(code, view, w, count)


@kernel
def look(f, ints, view, w):
    """Update the score of global feature view.codes[f] at word w, its anchor, from the cache if possible."""
    code = view.codes[f]
    count = see(code, ints, view, w)
    key = join(join(SALT, code), w)
    for i in range(count):
        key = join(key, view.seen[i])
    key = finish(join(key, count))
    slot = key & (len(view.keys) - 1)
    if view.keys[slot] != key:
        mask, value = len(view.weights) - 1, 0.0
        for i in range(name(code, view, w, count)):
            value += view.weights[view.names[i] & mask]
        view.keys[slot], view.values[slot] = key, value
    view.total[0] += view.values[slot] - view.held[f, w]
    view.held[f, w] = view.values[slot]


@kernel(inline="always")
def anchored(anchors, ints, view, w):
    """Return whether word w belongs to `anchors`, a kind of anchor words that the module `table` defines."""
    if anchors == TREE:
        return w == 0
    if anchors == COORDINATORS:
        return view.words[COORDINATOR, w] == 1
    if anchors == PREPOSITIONS:
        return view.words[PREPOSITION, w] == 1
    return w > 0 and (anchors == PATHS or ints[at.PROJECTIVE] == 0)


@kernel
def refresh(ints, view):
    """Update the scores of global features at marked words, and return the score of all global features.

    `mark_path` has marked the words whose features may have changed. The marks are removed.

    O(n) to find spans, plus the features at the marked words, at coordinators, prepositions and the root. The feature
    `crossing` is scored at every word if arcs may cross.
    """
    if len(view.codes) == 0:
        return 0.0
    n, marked = ints[at.N], view.marked
    find_spans(ints, view)
    for f in range(len(view.codes)):
        anchors = _ANCHORS[view.codes[f]]
        if anchors == PATHS:
            for i in range(1, marked[0] + 1):
                look(f, ints, view, marked[i])
        elif anchors == TREE:
            look(f, ints, view, 0)
        else:
            for w in range(1, n + 1):
                if anchored(anchors, ints, view, w):
                    look(f, ints, view, w)
    for i in range(1, marked[0] + 1):
        view.place[MARK, marked[i]] = 0
    marked[0] = 0
    return view.total[0]


@kernel
def score_all(ints, view):
    """Compute the score of all global features from scratch, for a new tree or new weights, and return it."""
    view.held[:] = 0.0
    view.total[0] = 0.0
    view.keys[:] = 0
    view.place[MARK] = 0
    view.marked[0] = 0
    if len(view.codes):
        for w in range(1, ints[at.N] + 1):
            mark_path(ints, view, w)
    return refresh(ints, view)


@kernel
def append(ints, view, sign, slots, signs, count):
    """Append the weight index of every global feature of the tree to `slots`, and `sign` to `signs`.

    `count` is the number of slots before the call. Return the number after it. `slots` and `signs` must have space for
    as many further entries as `room` returns.
    """
    find_spans(ints, view)
    mask = len(view.weights) - 1
    for f in range(len(view.codes)):
        code = view.codes[f]
        for w in range(ints[at.N] + 1):
            if anchored(_ANCHORS[code], ints, view, w):
                for i in range(name(code, view, w, see(code, ints, view, w))):
                    slots[count], signs[count] = view.names[i] & mask, sign
                    count += 1
    return count


def room(codes: np.ndarray, n: int) -> int:
    """Return an upper bound on the number of slots that `append` writes for a sentence of n words."""
    return NAMES * len(codes) * (n + 1)
