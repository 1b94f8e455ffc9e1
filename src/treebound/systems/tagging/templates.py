"""Feature templates of the tagger, as data.

A template is a string of atoms, separated by spaces. The atom ``w.form`` is an attribute of the tagged word, and
``w-1.lower`` an attribute of the word before it. The atoms ``t-1`` and ``t-2`` are the tags one word and two words
before. A template with ``t-2`` must also name ``t-1``.
"""

from __future__ import annotations

import numpy as np

from treebound.core.hashing import hash_string
from treebound.systems.tagging.sequence import ORDERS, PAD, SequenceTemplates

#: attributes of words, in the order of the rows of a word table (`treebound.systems.tagging.words`)
ATTRIBUTES = (
    "form",
    "lower",
    "shape",
    "kind",
    "class",
    "small",
    "capital",
    "stem",
    "prefix1",
    "prefix2",
    "prefix3",
    "prefix4",
    "suffix1",
    "suffix2",
    "suffix3",
    "suffix4",
    "suffix5",
    "case",
    "tag",
)

TEMPLATES = (
    # the tagged word
    "w.form; w.lower; w.shape; w.class; w.kind; w.kind w.class; w.lower w.kind"
    "; w.prefix1; w.prefix2; w.prefix3; w.prefix4; w.suffix1; w.suffix2; w.suffix3; w.suffix4; w.suffix5"
    "; w.kind w.suffix1; w.kind w.suffix2; w.kind w.suffix3"
    # its neighbours
    "; w-1.lower; w-2.lower; w+1.lower; w+2.lower; w-1.class; w+1.class; w+2.class; w-1.kind; w+1.kind"
    "; w-1.suffix3; w+1.suffix3; w+1.suffix2; w-1.suffix2"
    # combinations of words
    "; w-1.lower w.lower; w.lower w+1.lower; w-1.lower w+1.lower; w-2.lower w-1.lower; w+1.lower w+2.lower"
    "; w-1.class w.class; w.class w+1.class; w-1.class w+1.class; w-1.class w.class w+1.class; w+1.class w+2.class"
    "; w.class w+1.class w+2.class; w.suffix3 w+1.class; w.suffix3 w-1.class; w.lower w+1.class; w.lower w-1.class"
    # case: the tags of the same word in lower case and capitalised, and the share of capitalised words
    "; w.small; w.capital; w.small w.kind; w.capital w.kind; w.kind w.case; w.small w.kind w.case"
    "; w.class w.kind w.case; w-1.kind w.kind w+1.kind; w+1.small; w-1.small; w.suffix2 w.kind w.case"
    "; t-1 w.small w.kind; t-1 w.small"
    # parts of the tagged word
    "; w.stem; w.stem w.kind; t-1 w.stem; w.stem w+1.class; w-1.stem; w+1.stem"
    "; w.kind w-1.kind; w.kind w+1.kind; w.suffix2 w+1.suffix2; w.suffix2 w-1.lower; w.suffix2 w+1.lower"
    # the tags of the words before
    "; t-1; t-1 w.lower; t-1 w.class; t-1 w.suffix2; t-1 w.suffix3; t-1 w.kind; t-1 w+1.class; t-1 w-1.lower"
    "; t-1 w+1.lower; t-1 w.class w+1.class"
    "; t-2 t-1; t-2 t-1 w.class; t-2 t-1 w.lower; t-2 t-1 w+1.class"
)

#: additional templates for a tagger that reads the tags of another column and tags words one by one
GIVEN = (
    "w.tag; w.tag w.lower; w.tag w.suffix1; w.tag w.suffix2; w.tag w.suffix3; w.tag w.suffix4; w.tag w.suffix5"
    "; w.tag w.class; w.tag w.kind; w.tag w.prefix2; w.tag w.prefix3; w.tag w.stem"
    "; w-1.tag w.tag; w.tag w+1.tag; w-1.tag w.tag w+1.tag; w-2.tag w-1.tag w.tag; w.tag w+1.tag w+2.tag"
    "; w-1.tag w.tag w.suffix3; w.tag w+1.tag w.suffix3; w-1.lower w.tag; w.tag w+1.lower; w-1.suffix3 w.tag w.suffix3"
    "; w.tag w+1.suffix3; w.tag w-1.suffix2 w.suffix2; w.tag w.suffix2 w+1.suffix2"
)


def split(text: str) -> tuple[str, ...]:
    """Return the templates in a text, where ';' separates two templates."""
    return tuple(" ".join(t.split()) for t in text.split(";") if t.strip())


def compile_templates(templates: tuple[str, ...]) -> SequenceTemplates:
    """Return templates in the form that kernels read. ValueError names a malformed atom.

    Templates without previous tags come first, then templates with one previous tag (`t-1`), then templates with two.
    """
    by_order: list[list[tuple[int, list[tuple[int, int]]]]] = [[] for _ in range(ORDERS)]
    for template in templates:
        order, atoms = 0, []
        for atom in template.split():
            if atom in ("t-1", "t-2"):
                order = max(order, int(atom[2]))
            else:
                atoms.append(_atom(atom))
        if order == 2 and "t-1" not in template.split():
            raise ValueError(f"template {template!r}: t-2 also needs t-1")
        by_order[order].append((hash_string(f"tag|{template}"), atoms))
    flat = [template for listed in by_order for template in listed]
    atoms = [atom for _, listed in flat for atom in listed]
    return SequenceTemplates(
        np.array([seed for seed, _ in flat], np.int64),
        np.cumsum([0] + [len(listed) for _, listed in flat]).astype(np.int32),
        np.array([offset for offset, _ in atoms], np.int32),
        np.array([attribute for _, attribute in atoms], np.int32),
        np.cumsum([0] + [len(listed) for listed in by_order]).astype(np.int32),
    )


def _atom(atom: str) -> tuple[int, int]:
    word, _, attribute = atom.partition(".")
    offset = word[1:] or "0"
    if not word.startswith("w") or attribute not in ATTRIBUTES or not offset.lstrip("+-").isdecimal():
        raise ValueError(f"template atom {atom!r}: expected t-1, t-2 or w[+-offset].attribute of {ATTRIBUTES}")
    if abs(int(offset)) > PAD:
        raise ValueError(f"template atom {atom!r}: the offset must not exceed {PAD} words")
    return int(offset), ATTRIBUTES.index(attribute)
