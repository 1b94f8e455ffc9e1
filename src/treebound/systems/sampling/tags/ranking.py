"""Taggings that a tagger deems likely, each with the best tree that climbs find under it.

What remains is to weigh what the model scores against what the tagger does, for which nothing is searched anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.systems.sampling.moves import climb
from treebound.systems.sampling.tags.joint import Chain, Joint, Tagging


class Ranked(NamedTuple):
    """Taggings of a sentence, the one that comes in first.

    arcs      of each int32[n]: its tree
    values    float64[K]: the model's score of tags and tree
    deficits  float64[K]: how much less the tagger likes each than the one that comes in
    """

    taggings: list[Tagging]
    arcs: list[np.ndarray]
    values: np.ndarray
    deficits: np.ndarray


def likely(deficits: list[np.ndarray], count: int) -> list[tuple[float, Tagging]]:
    """(deficit, tagging) of the `count` taggings with the least sums of deficits, per word float64[k] from 0.

    O(count) for each candidate of a word.
    """
    found: list[tuple[float, Tagging]] = [(0.0, ())]
    for own in deficits:
        longer = [(value + float(d), (*tagging, i)) for value, tagging in found for i, d in enumerate(own)]
        found = sorted(longer)[:count] if len(own) > 1 else longer
    return found


def ranked(joint: Joint, deficits: list[np.ndarray], count: int, first: np.ndarray, rng: np.ndarray) -> Ranked:
    """The `count` likeliest taggings, each with the tree to which a climb leads; first int32[n]: the tree it begins at.

    O(count) sentences are scored.
    """
    listed = likely(deficits, count)
    arcs: list[np.ndarray] = []
    values = []
    for _, tagging in listed:
        chain = Chain(joint, tagging, arcs[0] if arcs else first)
        sentence = chain.made.sentence
        climb(*sentence.buffers, sentence.view, rng)
        arcs.append(sentence.arcs)
        values.append(chain.lay(tagging, arcs[-1]))
    return Ranked([tagging for _, tagging in listed], arcs, np.array(values), np.array([value for value, _ in listed]))
