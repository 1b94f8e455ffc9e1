"""Compile templates for the kernels into numbers of columns, offsets and hashes."""

from __future__ import annotations

import numpy as np

from treebound.core.hashing import hash_string
from treebound.factors.templates import ATTRIBUTES, parse_atom
from treebound.kernels.features.templates import Templates


def compile_templates(
    templates: tuple[str, ...], words: tuple[str, ...], salt: str, attributes: frozenset[str]
) -> Templates:
    """Compile `templates`, leaving out each template with an attribute that is not in `attributes`.

    `words` names the positions that the atoms of the templates refer to. `salt` keeps the features of different
    families apart. The hash of a template does not depend on other templates, so that removing one template does not
    move the features of the others.
    """
    seed, start, slot, offset, attr = [], [0], [], [], []
    for template in templates:
        atoms = [parse_atom(a, words) for a in template.split()]
        if not all(a[2] in attributes for a in atoms):
            continue
        seed.append(hash_string(f"{salt}|{template}"))
        for s, o, a in atoms:
            slot.append(s)
            offset.append(o)
            attr.append(ATTRIBUTES.index(a))
        start.append(len(slot))
    return Templates(
        np.array(seed, np.int64),
        np.array(start, np.int64),
        np.array(slot, np.int64),
        np.array(offset, np.int64),
        np.array(attr, np.int64),
    )
