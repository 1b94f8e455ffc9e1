"""Compiled templates in the form that kernels take, and packed into a single array.

Python passes every array to a kernel separately, which takes a fraction of a microsecond. Templates are about forty
arrays, and a short sentence is parsed in a few hundred microseconds. Packing avoids this cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from treebound.support.jit import kernel


class Templates(NamedTuple):
    """Compiled feature templates.

    - `seed`: int64[T]. The initial hash of each template.
    - `start`: int64[T + 1]. Template t has the atoms start[t] .. start[t + 1] - 1.
    - `slot`: int64[K]. The word of the part (0, 1, 2, 3) that each atom refers to.
    - `offset`: int64[K]. The number of words from this word to the word whose attribute the atom uses.
    - `attr`: int64[K]. The number of the attribute, on the first axis of the hashes of `TokenTable.sentence`.
    """

    seed: np.ndarray
    start: np.ndarray
    slot: np.ndarray
    offset: np.ndarray
    attr: np.ndarray


class FamilyTemplates(NamedTuple):
    """The templates of a model's families, one family after another.

    - `code`: int64[F]. Family codes of `treebound.kernels.arcs.parts`.
    - `slot`: int64[F, 4]. The two slots of pair templates, then the third slot, then the fourth; -1 if absent.
    - `part`, `part_first`: Templates over all words. Family f has the templates part_first[f] .. part_first[f + 1] - 1.
    - `pair`, `pair_first`: Templates over the two words of the pair.
    """

    code: np.ndarray
    slot: np.ndarray
    part: Templates
    part_first: np.ndarray
    pair: Templates
    pair_first: np.ndarray


def packed(groups: Sequence[Templates]) -> np.ndarray:
    """Return int64[*]: groups of templates one after another, as `unpacked` reads them.

    A group consists of its numbers of templates and atoms, and its arrays.
    """
    return np.concatenate([np.r_[len(t.seed), len(t.slot), np.concatenate(t)] for t in groups])


def packed_families(families: FamilyTemplates) -> np.ndarray:
    """Return int64[*]: the templates of families, as `unpacked_families` reads them."""
    code, slot, part, part_first, pair, pair_first = families
    return np.concatenate([[len(code)], code, slot.ravel(), part_first, pair_first, packed((part, pair))])


@kernel
def unpacked(array, begin):
    """Return (Templates, end) of the group that begins at index `begin` of a packed array."""
    T, K = array[begin], array[begin + 1]
    seed = begin + 2
    start = seed + T
    slot = start + T + 1
    offset, attr, end = slot + K, slot + 2 * K, slot + 3 * K
    return Templates(array[seed:start], array[start:slot], array[slot:offset], array[offset:attr], array[attr:end]), end


@kernel
def unpacked_arcs(array):
    """Return ((head, modifier, pair, between or far) Templates, end) of the groups at the start of a packed array."""
    head, end = unpacked(array, np.int64(0))
    modifier, end = unpacked(array, end)
    pair, end = unpacked(array, end)
    last, end = unpacked(array, end)
    return (head, modifier, pair, last), end


@kernel
def unpacked_families(array, begin):
    """Return the FamilyTemplates that begin at index `begin` of a packed array."""
    F = array[begin]
    code = begin + 1
    slot = code + F
    part_first = slot + 4 * F
    pair_first = part_first + F + 1
    part, end = unpacked(array, pair_first + F + 1)
    pair, _ = unpacked(array, end)
    return FamilyTemplates(
        array[code:slot],
        array[slot:part_first].reshape((F, 4)),
        part,
        array[part_first:pair_first],
        pair,
        array[pair_first : pair_first + F + 1],
    )
