"""Feature templates as data.

A template is a string of atoms `position[+-offset].attribute`, separated by spaces: ``"h.form m-1.tag m.tag"`` joins
the form of the head, the tag of the word before the modifier and the tag of the modifier. Positions:

- arcs: ``h m``;  sibling families: ``h s m``;  grandchild families: ``g h m`` (g -> h -> m);
- parts of up to four words: as their family says (`treebound.factors`).

Attributes are the columns of a token table (`treebound.features.tokens`): ``form lower tag coarse prefix suffix length
feats lemma``. A template whose attribute a corpus does not ask for is left out for that corpus.

Every template scores twice: by itself, and joined with a *variant* (distance and direction of its two words, and for
pairs within a larger part the side on which the third word stands). Both weights live in one cache line.

Templates over two words of a larger part are memoised per word pair, which makes them nearly free.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

#: what tells the features of different templates apart -> those templates: what a model is compiled from
Lines = dict[str, tuple[str, ...]]
REACH = 2  #: words to either side of a position that a template may look at

#: columns of a token table, in order
ATTRIBUTES = ("form", "lower", "tag", "coarse", "prefix", "suffix", "length", "feats", "lemma")
#: present for every corpus
ALWAYS = frozenset({"form", "lower", "tag", "coarse"})


@dataclass(frozen=True)
class TemplateSet:
    """The templates of one factor family.

    words     the positions of a part, in the order of the part's words: one to four
    parts     templates over all the words of a part
    pair      the two positions that `pairs` speak about
    pairs     templates over `pair` alone, memoised
    side      of more than three words, the one whose place left of, between or right of `pair` joins the variant; of
              three words it is the third
    """

    words: tuple[str, ...]
    parts: tuple[str, ...] = ()
    pair: tuple[str, str] = ("h", "m")
    pairs: tuple[str, ...] = ()
    side: str = ""

    def slots(self) -> tuple[int, int, int, int]:
        """Numbers of the pair's words, of the word at the side, and of the fourth; -1 for those that are not there."""
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
    """Templates from a text block: one per line or separated by ';'."""
    return tuple(" ".join(t.split()) for t in text.replace(";", "\n").splitlines() if t.strip())


def digest(templates: Mapping[str, tuple[str, ...]]) -> str:
    """Short hash of templates: other features, another digest."""
    return hashlib.blake2b(json.dumps(templates, sort_keys=True).encode(), digest_size=8).hexdigest()


def parse_atom(atom: str, words: tuple[str, ...]) -> tuple[int, int, str]:
    """(slot, offset, attribute) of one atom; ValueError names what is wrong."""
    position, _, attribute = atom.partition(".")
    name, offset = position[:1], position[1:] or "0"
    if name not in words or attribute not in ATTRIBUTES or abs(int(offset)) > REACH:
        raise ValueError(
            f"template atom {atom!r}: expected one of {words}, at most {REACH} words beside it, and one of {ATTRIBUTES}"
        )
    return words.index(name), int(offset), attribute
