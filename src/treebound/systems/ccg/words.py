"""Words as the models see them: forms, tags and their hashes, and the templates of the supertagger.

A template is a sequence of atoms. `w`, `p`, `s`, `f` and `k` are form, tag, last three letters, first three letters and
shape of the word that is tagged; `w-1` is the form of the word before it. The first line of TEMPLATES is the set of
Clark & Curran (2004a), the second line adds templates for rare words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from treebound.core.hashing import hash_string
from treebound.core.treebank import Treebank
from treebound.kernels.features.hashing import M1

TEMPLATES = (
    "w; p; w-1; w-2; w+1; w+2; p-1; p-2; p+1; p+2; p-2 p-1; p-1 p; p p+1; p+1 p+2; p-1 p+1"
    "; w p-1; w p+1; p w-1; p w+1; p-1 p p+1; p p+1 p+2; p-2 p-1 p; s p; f p; k p; s p+1"
)
ATTRIBUTES = "wpsfk"
REACH = 2  #: largest distance of a template atom from the tagged word


class Words(NamedTuple):
    """The words of some sentences.

    offsets     int64[S + 1]: sentence s has the words offsets[s] .. offsets[s + 1] - 1;
    form, tag   int64[W], hashes of the forms and of the tags;
    attributes  int64[len(ATTRIBUTES), W], hashes of the attributes that templates read;
    mark        int8[W], a class by the tag: 1 for punctuation, 2 for verbs, 0 for other words;
    strings     (form, tag) of every word
    """

    offsets: np.ndarray
    form: np.ndarray
    tag: np.ndarray
    attributes: np.ndarray
    mark: np.ndarray
    strings: list[tuple[str, str]]

    def part(self, i: int, j: int) -> Words:
        """Return the words of the sentences from i to before j."""
        a, b = self.offsets[i], self.offsets[j]
        columns = self.form[a:b], self.tag[a:b], self.attributes[:, a:b], self.mark[a:b]
        return Words(self.offsets[i : j + 1] - a, *columns, self.strings[a:b])


def words_of(treebank: Treebank, column: str) -> Words:
    """Return the W words of a treebank, with tags from a column. O(W + vocabulary)."""
    forms, tags = treebank.vocab["form"].strings, treebank.vocab[column].strings
    return _words(treebank.offsets, forms, treebank.columns["form"], tags, treebank.columns[column])


def words_of_strings(sentences: Sequence[Sequence[tuple[str, str]]]) -> Words:
    """Return the words of sentences that are lists of (form, tag). O(number of words)."""
    strings = [word for sentence in sentences for word in sentence]
    offsets = np.cumsum([0, *map(len, sentences)])
    each = np.arange(len(strings))
    return _words(offsets, [form for form, _ in strings], each, [tag for _, tag in strings], each)


def _words(offsets: np.ndarray, forms: Sequence[str], form: np.ndarray, tags: Sequence[str], tag: np.ndarray) -> Words:
    """Hash each distinct form and tag once and return the words."""
    of_forms = [[hash_string(f"{a}={value}") for value in map(_ATTRIBUTE[a], forms)] for a in "wsfk"]
    w, s, f, k = (np.array(hashes, np.int64)[form] for hashes in of_forms)
    p = np.array([hash_string(f"p={value}") for value in tags], np.int64)[tag]
    mark = np.array([mark_of(value) for value in tags], np.int8)[tag]
    strings = [(forms[i], tags[j]) for i, j in zip(form.tolist(), tag.tolist(), strict=True)]
    return Words(offsets, w, p, np.stack([w, p, s, f, k]), mark, strings)


def mark_of(tag: str) -> int:
    """Return 1 for tags of punctuation, 2 for tags of verbs, 0 for other tags, in the Penn or universal tag set."""
    if tag in ("PUNCT", "LRB", "RRB") or not any(c.isalnum() for c in tag) or tag in ("-LRB-", "-RRB-"):
        return 1
    return 2 if tag.startswith(("VB", "MD")) or tag in ("VERB", "AUX") else 0


def shape(form: str) -> str:
    """Return the kinds of characters of a form, without consecutive repeats: `Xx` for Ankara, `X-d` for B-52."""
    out = ""
    for c in form:
        kind = "d" if c.isdigit() else "X" if c.isupper() else "x" if c.isalpha() else c
        out += kind if not out.endswith(kind) else ""
    return out


_ATTRIBUTE = {"w": lambda x: x, "s": lambda x: x[-3:].lower(), "f": lambda x: x[:3].lower(), "k": shape}


def split(text: str) -> tuple[str, ...]:
    """Split a text at `;` into templates."""
    return tuple(" ".join(t.split()) for t in text.split(";") if t.strip())


def contexts(words: Words, templates: tuple[str, ...]) -> np.ndarray:
    """Return int64[W, T], the hash of the attributes that each of T templates reads around each of W words.

    Positions outside the sentence are border symbols. ValueError for a template with an unknown or distant atom.
    """
    rows = np.arange(len(words.form))
    begin = np.repeat(words.offsets[:-1], np.diff(words.offsets))
    end = np.repeat(words.offsets[1:], np.diff(words.offsets))
    out = np.empty((len(rows), len(templates)), np.int64)
    for t, template in enumerate(templates):
        x = np.full(len(rows), hash_string(f"supertag|{template}"), np.int64)
        for atom in template.split():
            name, offset = atom[0], int(atom[1:] or 0)
            if name not in ATTRIBUTES or abs(offset) > REACH:
                raise ValueError(f"template atom {atom!r}: expected one of {ATTRIBUTES}, at most {REACH} words away")
            position = rows + offset
            inside = (begin <= position) & (position < end)
            values = words.attributes[ATTRIBUTES.index(name), np.where(inside, position, rows)]
            border = np.int64(hash_string(f"border {offset}"))
            x = (x ^ np.where(inside, values, border)) * np.int64(M1)
        out[:, t] = x
    return out
