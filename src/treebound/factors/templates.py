"""Represent feature templates as data.

A template is a string of atoms `position[+-offset].attribute`, separated by spaces: ``"h.form m-1.tag m.tag"`` joins
the form of the head, the tag of the word before the modifier and the tag of the modifier. Positions are:

- for arcs ``h m``, for sibling families ``h s m``, for grandchild families ``g h m`` (g -> h -> m);
- for parts of up to four words, the positions that their family names (`treebound.factors`).

Attributes are the columns of a token table (`treebound.features.tokens`): ``form lower tag coarse prefix suffix length
feats lemma``. A template with an attribute that a corpus does not use is left out for that corpus.

Every template scores twice: by itself, and joined with a *variant*. The variant is the distance and direction of its
two words. For pairs within a larger part, it is the side of the third word instead. Both weights share one cache line.

Templates over two words of a larger part are memoised per word pair, which makes them nearly free.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

#: salt -> feature templates of one set. The salt enters the hashes, so that the features of different sets differ
Lines = dict[str, tuple[str, ...]]
REACH = 2  #: largest offset from a position, in words

#: columns of a token table, in order
ATTRIBUTES = ("form", "lower", "tag", "coarse", "prefix", "suffix", "length", "feats", "lemma")
#: attributes that every corpus uses
ALWAYS = frozenset({"form", "lower", "tag", "coarse"})


@dataclass(frozen=True)
class TemplateSet:
    """The templates of one factor family.

    Attributes
    ----------
    words : tuple of str
        The one to four positions of a part, in the order of the part's words.
    parts : tuple of str
        Templates over all words of a part.
    pair : (str, str)
        The two positions used in `pairs`.
    pairs : tuple of str
        Templates over `pair` alone, which are memoised.
    side : str
        For parts of four words, a third position. The variant tells whether its word lies left of the two words of
        `pair`, between them or right of them. Empty for parts of three words, whose third position is always used.
    """

    words: tuple[str, ...]
    parts: tuple[str, ...] = ()
    pair: tuple[str, str] = ("h", "m")
    pairs: tuple[str, ...] = ()
    side: str = ""

    def slots(self) -> tuple[int, int, int, int]:
        """Return the indices in `words` of the two words of `pair`, the third (`side` if set) and the fourth, or -1."""
        if len(self.words) == 1:
            return 0, -1, -1, -1
        named = [*self.pair, self.side] if self.side else [*self.pair]
        order = [self.words.index(p) for p in named]
        order += [i for i in range(len(self.words)) if i not in order]
        x, y, z, u = [*order, -1][:4]
        return x, y, z, u

    def __len__(self) -> int:
        return len(self.parts) + len(self.pairs)


def lines(text: str) -> tuple[str, ...]:
    """Return the templates in a block of text, one per line or separated by ';'."""
    return tuple(" ".join(t.split()) for t in text.replace(";", "\n").splitlines() if t.strip())


def digest(templates: Mapping[str, tuple[str, ...]]) -> str:
    """Return a short hash of templates, which changes with any template."""
    return hashlib.blake2b(json.dumps(templates, sort_keys=True).encode(), digest_size=8).hexdigest()


def parse_atom(atom: str, words: tuple[str, ...]) -> tuple[int, int, str]:
    """Return (index into `words`, offset, attribute) of one atom. Raises ValueError that quotes an invalid atom."""
    position, _, attribute = atom.partition(".")
    name, offset = position[:1], position[1:] or "0"
    if name not in words or attribute not in ATTRIBUTES or abs(int(offset)) > REACH:
        raise ValueError(
            f"template atom {atom!r}: expected one of {words}, at most {REACH} words beside it, and one of {ATTRIBUTES}"
        )
    return words.index(name), int(offset), attribute
