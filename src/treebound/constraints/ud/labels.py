"""The universal relations and tags, and sets of labels by their universal part."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

#: the 37 universal relations
RELATIONS = frozenset({
    "acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound", "conj", "cop",
    "csubj", "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "mark",
    "nmod", "nsubj", "nummod", "obj", "obl", "orphan", "parataxis", "punct", "reparandum", "root", "vocative",
    "xcomp",
})  # fmt: skip
#: the 17 universal part-of-speech tags
TAGS = frozenset({
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ",
    "SYM", "VERB", "X",
})  # fmt: skip
#: the form of a label: a relation, and perhaps a subtype
FORMAT = re.compile(r"[a-z]+(:[a-z]+)?")


def relation(label: str) -> str:
    """Return the universal part of a label.

    Examples
    --------
    >>> relation("nsubj:pass")
    'nsubj'
    """
    return label.partition(":")[0]


@lru_cache(4096)
def labels_of(names: tuple[str, ...], relations: frozenset[str]) -> frozenset[str]:
    """Return the labels of an inventory whose universal part is one of some relations. O(L)."""
    return frozenset(name for name in names if relation(name) in relations)


@lru_cache(4096)
def labels_outside(names: tuple[str, ...], relations: frozenset[str]) -> frozenset[str]:
    """Return the labels of an inventory whose universal part is none of some relations. O(L)."""
    return frozenset(name for name in names if relation(name) not in relations)


def unknown_labels(names: Iterable[str]) -> list[str]:
    """Return the labels whose format or whose universal part is not that of Universal Dependencies, sorted.

    Examples
    --------
    >>> unknown_labels(["nsubj:pass", "SUB", "root", "subj"])
    ['SUB', 'subj']
    """
    return sorted({name for name in names if not FORMAT.fullmatch(name) or relation(name) not in RELATIONS})


def unknown_tags(tags: Iterable[str]) -> list[str]:
    """Return the tags that are not universal part-of-speech tags, sorted.

    Examples
    --------
    >>> unknown_tags(["NOUN", "NN", "VERB"])
    ['NN']
    """
    return sorted(set(tags) - TAGS)
