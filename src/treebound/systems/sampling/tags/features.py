"""Features of tag sequences, up to five tags in a row (Zhang et al. 2014, section 4, Table 1), and of predicted tags.

The tag that a tagger predicts is evidence in itself. The paper combines its model with the model of a tagger. Here,
features join a tag with the predicted tag, and their weights are learned from jackknifed tags.
"""

from __future__ import annotations

import numpy as np

from treebound.factors.templates import ATTRIBUTES
from treebound.features.tokens import EXTRA, PAD
from treebound.kernels.features.hashing import finish
from treebound.support.jit import kernel
from treebound.systems.sampling.globals.view import begin, join

#: templates of the paper: positions, relative to a word, of the tags and of the forms that the template joins
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
#: all templates, with the positions of predicted tags as a third element
TEMPLATES = (
    *((*template, ()) for template in PUBLISHED),
    *(((0,), (), predicted) for predicted in ((0,), (-1, 0), (0, 1))),
)
TAG, WORD = ATTRIBUTES.index("tag"), ATTRIBUTES.index("lower")
GIVEN = len(ATTRIBUTES)  #: the row of the predicted tags (`with_tag_column`)
REACH = 2  #: number of words on either side whose features read a word's tag
CODE = 64  #: code of tag features in hashes; no global feature has this number

_ATOMS = [
    [(row, i) for row, places in zip((TAG, WORD, GIVEN), template, strict=True) for i in places]
    for template in TEMPLATES
]
_FIRST = np.cumsum([0, *map(len, _ATOMS)])
_ROW, _PLACE = np.array([atom for atoms in _ATOMS for atom in atoms]).T.copy()


def with_tag_column(rows: np.ndarray) -> np.ndarray:
    """Return token rows with a copy of the tag row as an additional row, which keeps the predicted tags.

    rows  the rows that `TokenTable.sentence` returns; moves change their tags
    """
    return np.vstack((rows, rows[TAG]))


@kernel
def name_tags(rows, w, names):
    """Write the hashes of all tag features at word w to `names`, int64[len(TEMPLATES)].

    `rows` is a result of `with_tag_column`.
    """
    for k in range(len(_FIRST) - 1):
        x = begin(CODE, k)
        for j in range(_FIRST[k], _FIRST[k + 1]):
            x = join(x, rows[_ROW[j], PAD + w + _PLACE[j]])
        names[k] = finish(x)


@kernel
def score_tags(rows, first, last, weights, names):
    """Return the score of the tag features at the words `first` to `last`; positions outside the sentence are left out.

    `names` is working memory for the hashes of one word.
    """
    mask, total = len(weights) - 1, 0.0
    for w in range(max(1, first), min(rows.shape[1] - EXTRA, last) + 1):
        name_tags(rows, w, names)
        for k in range(len(names)):
            total += weights[names[k] & mask]
    return total
