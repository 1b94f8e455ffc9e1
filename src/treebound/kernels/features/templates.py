"""Compiled templates, as kernels take them, and packed into one array.

Python hands every array to a kernel by itself, which takes a fraction of a microsecond; templates are some forty
arrays, and a short sentence is parsed in some hundred microseconds. Packed, they are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from treebound.support.jit import kernel


class Templates(NamedTuple):
    """Compiled templates.

    seed    int64[T] start of each template's hash
    start   int64[T + 1] template t has atoms start[t] .. start[t + 1] - 1
    slot    int64[K] which word of the part (0, 1, 2, 3)
    offset  int64[K] neighbour of that word
    attr    int64[K] column of the token table
    """

    seed: np.ndarray
    start: np.ndarray
    slot: np.ndarray
    offset: np.ndarray
    attr: np.ndarray


class FamilyTemplates(NamedTuple):
    """The templates of a model's families, one after another.

    code        int64[F] family numbers of `treebound.kernels.arcs.parts`
    slot        int64[F, 4] the two slots that pair templates speak about, then the third, then the fourth; -1: none
    part, part_first  Templates over all words; those of family f are part_first[f] .. part_first[f + 1] - 1
    pair, pair_first  Templates over the pair
    """

    code: np.ndarray
    slot: np.ndarray
    part: Templates
    part_first: np.ndarray
    pair: Templates
    pair_first: np.ndarray


def packed(groups: Sequence[Templates]) -> np.ndarray:
    """int64[*]: templates one after another, as `unpacked` reads them: numbers of templates and atoms, the arrays."""
    return np.concatenate([np.r_[len(t.seed), len(t.slot), np.concatenate(t)] for t in groups])


def packed_families(families: FamilyTemplates) -> np.ndarray:
    """int64[*], as `unpacked_families` reads them."""
    code, slot, part, part_first, pair, pair_first = families
    return np.concatenate([[len(code)], code, slot.ravel(), part_first, pair_first, packed((part, pair))])


@kernel
def unpacked(array, at):
    """(Templates, place behind them) of those that begin at a place of a packed array."""
    T, K = array[at], array[at + 1]
    seed = at + 2
    start = seed + T
    slot = start + T + 1
    offset, attr, end = slot + K, slot + 2 * K, slot + 3 * K
    return Templates(array[seed:start], array[start:slot], array[slot:offset], array[offset:attr], array[attr:end]), end


@kernel
def unpacked_arcs(array):
    """(head, modifier, pair, between or far) Templates, and the place behind them."""
    head, at = unpacked(array, np.int64(0))
    modifier, at = unpacked(array, at)
    pair, at = unpacked(array, at)
    last, at = unpacked(array, at)
    return (head, modifier, pair, last), at


@kernel
def unpacked_families(array, at):
    """The FamilyTemplates that begin at a place of a packed array."""
    F = array[at]
    code = at + 1
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
