"""Ranking of the tag sequences that a tagger considers likely, each with the best tree that greedy search finds.

A later step weighs the score of the parser against the score of the tagger, without another search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.systems.sampling.moves import climb
from treebound.systems.sampling.tags.joint import Chain, Joint, Tagging


class Ranked(NamedTuple):
    """Tag sequences of a sentence, the predicted sequence first, and the best tree found for each.

    taggings  each sequence as indices of the candidate tags of each word
    arcs      int32[n] for each sequence: the arcs of its tree
    values    float64[K]: score of tags and tree by the model
    deficits  float64[K]: the tagger's score of the predicted sequence, minus its score of each sequence
    """

    taggings: list[Tagging]
    arcs: list[np.ndarray]
    values: np.ndarray
    deficits: np.ndarray


def likely(deficits: list[np.ndarray], count: int) -> list[tuple[float, Tagging]]:
    """Return the `count` tag sequences with the smallest sums of deficits, each as (sum, tag sequence).

    deficits  float64[k] for each word: by how much the score of the tagger falls with each candidate; the first is 0

    O(count) for each candidate of a word.
    """
    sequences: list[tuple[float, Tagging]] = [(0.0, ())]
    for own in deficits:
        longer = [(value + float(d), (*tagging, i)) for value, tagging in sequences for i, d in enumerate(own)]
        sequences = sorted(longer)[:count] if len(own) > 1 else longer
    return sequences


def ranked(joint: Joint, deficits: list[np.ndarray], count: int, first: np.ndarray, rng: np.ndarray) -> Ranked:
    """Return the `count` likeliest tag sequences, each with the tree that greedy search reaches.

    deficits  float64[k] for each word: by how much the tagger's score falls with each candidate tag; the first is 0
    first     int32[n], the arcs of the tree from which the search starts

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
