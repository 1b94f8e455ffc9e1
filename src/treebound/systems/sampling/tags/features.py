"""Features of tag sequences, up to five tags in a row (Zhang et al. 2014, section 4, Table 1), and of what came in.

A tagger's tag is evidence of its own: the paper combines its model with that of a tagger, here a tag is seen beside the
one that came in, whose weights are learnt from jackknifed tags.
"""

from __future__ import annotations

import numpy as np

from treebound.factors.templates import ATTRIBUTES
from treebound.features.tokens import EXTRA, PAD
from treebound.kernels.features.hashing import finish
from treebound.support.jit import kernel
from treebound.systems.sampling.globals.view import begin, join

#: places, seen from a word, of the tags and of the words that a template of the paper joins
PUBLISHED = (
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
#: the same, and the places of tags that came in
TEMPLATES = (*((*template, ()) for template in PUBLISHED), *(((0,), (), given) for given in ((0,), (-1, 0), (0, 1))))
TAG, WORD = ATTRIBUTES.index("tag"), ATTRIBUTES.index("lower")
GIVEN = len(ATTRIBUTES)  #: the row of tags that came in: `with_given`
REACH = 2  #: words to either side whose features read a word's tag
CODE = 64  #: no global feature's

_ATOMS = [
    [(row, i) for row, places in zip((TAG, WORD, GIVEN), template, strict=True) for i in places]
    for template in TEMPLATES
]
_FIRST = np.cumsum([0, *map(len, _ATOMS)])
_ROW, _PLACE = np.array([atom for atoms in _ATOMS for atom in atoms]).T.copy()


def with_given(rows: np.ndarray) -> np.ndarray:
    """Rows of `TokenTable.sentence`, and the tags in them once more, which stay what came in."""
    return np.vstack((rows, rows[TAG]))


@kernel
def name_tags(rows, w, names):
    """The hashed names of all features at word w into names int64[len(TEMPLATES)]; rows as of `with_given`."""
    for k in range(len(_FIRST) - 1):
        x = begin(CODE, k)
        for j in range(_FIRST[k], _FIRST[k + 1]):
            x = join(x, rows[_ROW[j], PAD + w + _PLACE[j]])
        names[k] = finish(x)


@kernel
def score_tags(rows, first, last, weights, names):
    """The score of the features at words first .. last, both cut off at the ends of the sentence."""
    mask, total = len(weights) - 1, 0.0
    for w in range(max(1, first), min(rows.shape[1] - EXTRA, last) + 1):
        name_tags(rows, w, names)
        for k in range(len(names)):
            total += weights[names[k] & mask]
    return total
