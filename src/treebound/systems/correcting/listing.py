"""Choices for a sentence: its likeliest tag sequences, each with its tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from treebound.features.tokens import TokenTable
from treebound.systems.correcting.balance import TENTHS, features
from treebound.systems.correcting.doubts import Doubts
from treebound.systems.sampling.parser import Parser as Sampler
from treebound.systems.sampling.sentence import Sentence
from treebound.systems.sampling.tags.joint import Joint
from treebound.systems.sampling.tags.learning import options_of
from treebound.systems.sampling.tags.ranking import ranked


class Words(NamedTuple):
    """Sentences with the tags and the doubts of the tagger."""

    table: TokenTable
    doubts: Doubts


class Listed(NamedTuple):
    """Tag sequences of a sentence, the tagger's own first.

    sentences  the sentence, scored under each sequence
    arcs       int32[n] for each sequence: the arcs of its tree
    tags       n tags for each sequence
    features   sparse float64[K, 2 ** BITS], the features of each sequence for the balance
    """

    sentences: list[Sentence]
    arcs: list[np.ndarray]
    tags: list[list[str]]
    features: sparse.csr_matrix


def listed(sampler: Sampler, words: Words, i: int, coarse: dict[str, str], count: int) -> Listed:
    """Return at most `count` tag sequences of sentence i, each with its tree.

    coarse  fine tag -> the coarse tag that belongs to it
    """
    rows, tag = words.table.sentence(i)
    span = slice(*words.table.offsets[i : i + 2])
    tags, deficits = words.doubts.tags[span], words.doubts.deficits[span]
    sentence, allowed = sampler.candidates(words.table, i)
    first = sampler.searched(sentence)[1]
    joint = Joint(sampler.scoring, rows, tag, allowed, options_of(rows, tag, tags, coarse), tag_features=False)
    ranking = ranked(joint, deficits, count, first, np.array([i + 1], np.uint64))
    chosen = [[options[c] for options, c in zip(tags, tagging, strict=True)] for tagging in ranking.taggings]
    changed = [np.count_nonzero(tagging) for tagging in ranking.taggings]
    gains = (ranking.values - ranking.values[0]) / (sampler.model.unit or 1.0)
    numbers = np.column_stack((gains, -TENTHS * ranking.deficits, np.negative(changed)))
    sentences = [joint.under(tagging).sentence for tagging in ranking.taggings]
    return Listed(sentences, ranking.arcs, chosen, features(chosen, numbers))


def errors(choices: Listed, right: Sequence[str], heads: np.ndarray, scored: np.ndarray) -> np.ndarray:
    """Return float64[K], the number of errors of each tag sequence with its tree.

    Errors are words with a wrong tag, and words with a wrong head if the word counts in evaluation.

    right   gold tags of the n words
    heads   int32[n], gold heads
    scored  bool[n], whether the head of a word counts in evaluation
    """
    wrong = [sum(a != b for a, b in zip(tags, right, strict=True)) for tags in choices.tags]
    pairs = zip(choices.sentences, choices.arcs, strict=True)
    return np.array(wrong) + [
        np.count_nonzero((sentence.problem.head[arcs] != heads) & scored) for sentence, arcs in pairs
    ]
