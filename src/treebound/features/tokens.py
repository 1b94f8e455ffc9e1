"""Token tables: every attribute of every word as a 64-bit hash, computed once per vocabulary entry.

Features need no vocabulary of the model: a word's hash is the same in training and in parsing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treebound.core.hashing import hash_string
from treebound.core.treebank import Treebank
from treebound.factors.templates import ALWAYS, ATTRIBUTES

if TYPE_CHECKING:
    from treebound.features.patterns import Matches

PAD = 2  #: rows before the root and after the last word, so that neighbours need no test
EXTRA = 2 * PAD + 4  #: rows beyond the n words: padding, the root, NONE, NONE_OUTER and a last row of padding


def _column(treebank: Treebank, attribute: str) -> tuple[str, object]:
    """(column, function of the string) that an attribute is read from."""
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
    """Hashed attributes of all words of a treebank.

    rows    int64[len(ATTRIBUTES), W]; attributes that the corpus does not ask for are 0
    tag     int32[W] ids of the fine tag, for counting distinct tags between two words
    found   where the patterns of a model match (`Scorer.matches`)
    """

    def __init__(self, treebank: Treebank, found: Matches | None = None):
        self.found = found
        self.attributes = attributes_of(treebank)
        self.offsets = treebank.offsets
        self.rows = np.zeros((len(ATTRIBUTES), treebank.words), np.int64)
        for i, attribute in enumerate(ATTRIBUTES):
            if attribute in self.attributes:
                column, function = _column(treebank, attribute)
                strings = treebank.vocab[column].strings
                hashes = np.array([hash_string(f"{attribute}={function(s)}") for s in strings], np.int64)  # type: ignore[operator]
                if len(hashes):
                    self.rows[i] = hashes[treebank.columns[column]]
        self.tag = treebank.columns[_column(treebank, "tag")[0]].astype(np.int32)

    def sentence(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """(int64[attributes, n + EXTRA], int32[n + 1]): the padded rows and the tag ids (-1 for the root).

        Word w stands in row PAD + w, the root in row PAD, NONE and NONE_OUTER stand behind the padding.
        """
        a, b = self.offsets[i], self.offsets[i + 1]
        n = b - a
        out = np.empty((len(ATTRIBUTES), n + EXTRA), np.int64)
        out[:, : PAD + 1] = _SPECIAL[:, : PAD + 1]
        out[:, PAD + 1 : PAD + 1 + n] = self.rows[:, a:b]
        out[:, PAD + 1 + n :] = _SPECIAL[:, PAD + 1 :]
        tag = np.empty(n + 1, np.int32)
        tag[0] = -1
        tag[1:] = self.tag[a:b]
        return out, tag

    def matches(self, i: int) -> tuple[np.ndarray, np.ndarray] | None:
        """(pattern int32[M], places int32[M, words]) of the matches in sentence i; None without patterns."""
        return None if self.found is None else self.found.sentence(i)


def attributes_of(treebank: Treebank) -> frozenset[str]:
    """Attributes whose templates are used for this corpus."""
    return ALWAYS | frozenset(treebank.meta.get("attributes", ())) & frozenset(ATTRIBUTES)


_SPECIAL_NAMES = ("<b2>", "<b1>", "<root>", "<e1>", "<e2>", "<none>", "<none-outer>", "<e3>")
_SPECIAL = np.array([[hash_string(f"{a}={name}") for name in _SPECIAL_NAMES] for a in ATTRIBUTES], np.int64)
