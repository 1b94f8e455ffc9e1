"""Features of tag sequences, up to five tags in a row (Zhang et al. 2014, section 4, Table 1)."""

from __future__ import annotations

import numpy as np
from numba import njit

from treebound.factors.templates import ATTRIBUTES
from treebound.features.tokens import EXTRA, PAD
from treebound.kernels.features.hashing import finish
from treebound.systems.sampling.globals.view import begin, join

#: places, seen from a word, of the tags and of the words that a template joins
TEMPLATES = (
    ((0,), ()),
    *(((0,), (i,)) for i in (-2, -1, 0, 1, 2)),
    ((-1, 0), ()),
    ((-2, 0), ()),
    ((-1, 0), (-1,)),
    ((-1, 0), (0,)),
    ((-1, 0, 1), ()),
    ((-2, 0, 1), ()),
    ((-1, 0, 2), ()),
    ((-2, 0, 2), ()),
    ((-2, -1, 0, 1), ()),
    ((-2, -1, 0, 2), ()),
    ((-2, 0, 1, 2), ()),
    ((-2, -1, 0, 1, 2), ()),
)
TAG, WORD = ATTRIBUTES.index("tag"), ATTRIBUTES.index("lower")
REACH = 2  #: words to either side whose features read a word's tag
CODE = 64  #: no global feature's

_ATOMS = [[*((TAG, i) for i in tags), *((WORD, i) for i in words)] for tags, words in TEMPLATES]
_FIRST = np.cumsum([0, *map(len, _ATOMS)])
_ROW, _PLACE = np.array([atom for atoms in _ATOMS for atom in atoms]).T.copy()


@njit(cache=True, nogil=True)
def name_tags(rows, w, names):
    """The hashed names of all features at word w into names int64[len(TEMPLATES)]; rows as of `TokenTable.sentence`."""
    for k in range(len(_FIRST) - 1):
        x = begin(CODE, k)
        for j in range(_FIRST[k], _FIRST[k + 1]):
            x = join(x, rows[_ROW[j], PAD + w + _PLACE[j]])
        names[k] = finish(x)


@njit(cache=True, nogil=True)
def score_tags(rows, first, last, weights, names):
    """The score of the features at words first .. last, both cut off at the ends of the sentence."""
    mask, total = len(weights) - 1, 0.0
    for w in range(max(1, first), min(rows.shape[1] - EXTRA, last) + 1):
        name_tags(rows, w, names)
        for k in range(len(names)):
            total += weights[names[k] & mask]
    return total
