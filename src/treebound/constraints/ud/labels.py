"""The universal relations and tags, and selections of labels by their universal part."""

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
#: the format of a label: a relation, optionally with a subtype
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
    """Return the labels in `names` whose universal part is one of `relations`. O(L)."""
    return frozenset(name for name in names if relation(name) in relations)


@lru_cache(4096)
def labels_outside(names: tuple[str, ...], relations: frozenset[str]) -> frozenset[str]:
    """Return the labels of an inventory whose universal part is not among the given relations. O(L)."""
    return frozenset(name for name in names if relation(name) not in relations)


@lru_cache(256)
def labels_without(names: tuple[str, ...], prefixes: tuple[str, ...]) -> frozenset[str]:
    """Return the labels of an inventory that begin with none of the given prefixes. O(L)."""
    return frozenset(name for name in names if not name.startswith(prefixes))


@lru_cache(256)
def malformed_labels(names: tuple[str, ...]) -> frozenset[str]:
    """Return the labels that are not lower-case words, alone or with a subtype. O(L)."""
    return frozenset(name for name in names if not FORMAT.fullmatch(name))


@lru_cache(256)
def unknown_relations(names: tuple[str, ...]) -> frozenset[str]:
    """Return the well-formed labels whose universal part is not a universal relation. O(L)."""
    return labels_outside(names, RELATIONS) - malformed_labels(names)


@lru_cache(256)
def inner_subjects(names: tuple[str, ...]) -> frozenset[str]:
    """Return the labels of subjects, except subjects of outer clauses. O(L)."""
    outer = ("nsubj:outer", "csubj:outer")
    return frozenset(name for name in names if "subj" in relation(name) and name not in outer)


def unknown_labels(names: Iterable[str]) -> list[str]:
    """Return the labels that Universal Dependencies does not allow by their format or their universal part, sorted.

    Examples
    --------
    >>> unknown_labels(["nsubj:pass", "SUB", "root", "subj"])
    ['SUB', 'subj']
    """
    inventory = tuple(names)
    return sorted(malformed_labels(inventory) | unknown_relations(inventory))


def unknown_tags(tags: Iterable[str]) -> list[str]:
    """Return the tags that are not universal part-of-speech tags, sorted.

    Examples
    --------
    >>> unknown_tags(["NOUN", "NN", "VERB"])
    ['NN']
    """
    return sorted(set(tags) - TAGS)
