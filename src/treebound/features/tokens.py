"""Build token tables: each attribute of each word as a 64-bit hash, computed once per vocabulary entry.

Features need no vocabulary in the model: the hash of a word is the same in training and in parsing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treebound.core.hashing import hash_string
from treebound.core.treebank import Treebank
from treebound.factors.templates import ALWAYS, ATTRIBUTES

if TYPE_CHECKING:
    from treebound.features.patterns import Matches

PAD = 2  #: rows of padding before the root and after the last word, so that neighbours need no bounds check
#: rows in addition to the n words: padding, the root, the two empty words NONE and NONE_OUTER, a last row of padding
EXTRA = 2 * PAD + 4


def _column(treebank: Treebank, attribute: str) -> tuple[str, object]:
    """Return the column from which an attribute is read, and the function that maps its strings to the attribute."""
    meta = treebank.meta
    match attribute:
        case "form":
            return "form", lambda s: s
        case "lower":
            return "form", str.lower
        case "tag":
            return meta.get("tag", "xpos"), lambda s: s
        case "coarse":
            coarse = meta.get("coarse", "upos")
            return (coarse, lambda s: s) if coarse != "tag2" else (meta.get("tag", "xpos"), lambda s: s[:2])
        case "prefix":
            return "form", lambda s: s[: 1 if len(s) < 4 else 3].lower()
        case "suffix":
            return "form", lambda s: s[-1 if len(s) < 4 else -3 :].lower()
        case "length":
            return "form", lambda s: str(min(len(s), 8))
        case _:
            return attribute, lambda s: s


class TokenTable:
    """Hashed attributes of all words of a treebank; attributes that the corpus does not use are 0.

    Parameters
    ----------
    treebank : Treebank
        Sentences to hash.
    matches : Matches, optional
        Matches of the patterns of a model (`Scorer.matches`).
    """

    def __init__(self, treebank: Treebank, matches: Matches | None = None):
        self.pattern_matches = matches
        self.attributes = attributes_of(treebank)
        self.offsets = treebank.offsets
        sizes = treebank.lengths + EXTRA
        #: first row of each sentence; the attributes of a sentence follow one another, each padded
        self._first = np.concatenate([[0], np.cumsum(sizes)])
        self._rows = np.zeros(len(ATTRIBUTES) * self._first[-1], np.int64)
        tag = treebank.columns[_column(treebank, "tag")[0]]
        starts, of_words = self._first[:-1], np.repeat(np.arange(len(sizes)), treebank.lengths)
        place = PAD + 1 + np.arange(treebank.words) - treebank.offsets[of_words]
        self._tag = np.full(self._first[-1], -1, np.int32)
        self._tag[starts[of_words] + place - PAD] = tag
        for i, attribute in enumerate(ATTRIBUTES):
            begin = len(ATTRIBUTES) * starts + i * sizes
            for j in range(EXTRA):
                self._rows[begin + j + treebank.lengths * (j > PAD)] = _SPECIAL[i, j]
            if attribute in self.attributes:
                column, function = _column(treebank, attribute)
                strings, ids = treebank.vocab[column].strings, treebank.columns[column]
                used = np.flatnonzero(np.bincount(ids, minlength=len(strings)))  # a few sentences use few entries
                hashes = np.zeros(len(strings), np.int64)
                hashes[used] = [hash_string(f"{attribute}={function(strings[s])}") for s in used.tolist()]  # type: ignore[operator]
                if len(hashes):
                    self._rows[begin[of_words] + place] = hashes[ids]

    def sentence(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the hashes of a sentence, int64[attributes, n + EXTRA], and its tag ids, int32[n + 1]; read-only.

        The second axis of the hashes numbers the rows of the table. The root has row PAD, and word w has row PAD + w.
        Padding precedes and follows them. NONE and NONE_OUTER, which stand for missing words of a part, come next.
        The tag ids number the fine tags, -1 for the root; they serve to count distinct tags between two words.
        """
        a, b = self._first[i : i + 2].tolist()
        rows = self._rows[len(ATTRIBUTES) * a : len(ATTRIBUTES) * b]
        return rows.reshape(len(ATTRIBUTES), b - a), self._tag[a : b - EXTRA + 1]

    def matches(self, i: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Return `Matches.sentence(i)`, the matches of patterns in sentence i, or None for a model without patterns."""
        return None if self.pattern_matches is None else self.pattern_matches.sentence(i)


def attributes_of(treebank: Treebank) -> frozenset[str]:
    """Return the attributes whose templates are used for this corpus."""
    return ALWAYS | frozenset(treebank.meta.get("attributes", ())) & frozenset(ATTRIBUTES)


_SPECIAL_NAMES = ("<b2>", "<b1>", "<root>", "<e1>", "<e2>", "<none>", "<none-outer>", "<e3>")
_SPECIAL = np.array([[hash_string(f"{a}={name}") for name in _SPECIAL_NAMES] for a in ATTRIBUTES], np.int64)
