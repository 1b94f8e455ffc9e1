"""The properties of a word that validity rules read, other than its head and its label."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from treebound.constraints.rows import Words

EMPTY = ("", "_")


class Entry(NamedTuple):
    """A word as validity rules see it.

    - tag: its part-of-speech tag.
    - feats: column FEATS; "_" if it is empty or unknown.
    - outer: whether MISC marks a subject of an outer clause: `Subject=Outer`.
    - no_space: whether MISC marks that the next word follows without a space: `SpaceAfter=No`.
    - lemmatised: whether the word has a lemma.
    """

    tag: str
    feats: str = "_"
    outer: bool = False
    no_space: bool = False
    lemmatised: bool = False

    def feature(self, name: str) -> str:
        """Return the value of a feature; "" if the word does not have the feature."""
        return attributes(self.feats).get(name, "")

    @property
    def external(self) -> str:
        """Return the tag of the expression that the word heads: the feature ExtPos, or else the word's own tag."""
        return self.feature("ExtPos") or self.tag

    @property
    def negative(self) -> bool:
        """Return whether the word is a negative adverb or particle, which may modify function words."""
        return self.tag in ("PART", "ADV") and self.feature("Polarity") == "Neg"


#: the entry of the root; no rule is about the properties of the root
ROOT = Entry("")


@lru_cache(1 << 16)
def attributes(column: str) -> Mapping[str, str]:
    """Return the names and values in a column FEATS or MISC.

    Examples
    --------
    >>> attributes("Case=Nom|Number=Sing")["Case"]
    'Nom'
    """
    if column in EMPTY:
        return {}
    pairs = (item.partition("=") for item in column.split("|"))
    return {name: value for name, equals, value in pairs if equals}


def entry(tag: str, feats: str | None, misc: str | None, lemma: str | None) -> Entry:
    """Return the `Entry` of one word from the values of its columns; None means an unknown column."""
    outer = no_space = False
    if misc is not None and misc not in EMPTY:
        pairs = attributes(misc)
        outer, no_space = pairs.get("Subject") == "Outer", pairs.get("SpaceAfter") == "No"
    return Entry(tag, feats or "_", outer, no_space, lemma is not None and lemma not in EMPTY)


def entries(words: Words) -> tuple[Entry, ...]:
    """Return the `Entry` of the root and of each word of a sentence. O(n); the result is stored in `words`."""
    known: tuple[Entry, ...] | None = words.__dict__.get("_entries")
    if known is None:
        columns = (column or (None,) * (words.n + 1) for column in (words.feats, words.misc, words.lemma))
        known = (ROOT, *(entry(*word) for word in list(zip(words.word_class, *columns, strict=True))[1:]))
        words.__dict__["_entries"] = known  # stored here, because a cache would hash all columns at every call
    return known
