"""The likeliest taggings of a sentence, each with its tree: what there is to choose from."""

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
    """Sentences as they are listed: with the tagger's tags, and with its doubts."""

    table: TokenTable
    doubts: Doubts


class Listed(NamedTuple):
    """Taggings of a sentence, the tagger's own first: scored under each, the arcs int32[n] of its tree, its n tags, its
    features (`balance.Choice`).
    """

    sentences: list[Sentence]
    arcs: list[np.ndarray]
    tags: list[list[str]]
    features: sparse.csr_matrix


def listed(sampler: Sampler, words: Words, i: int, coarse: dict[str, str], count: int) -> Listed:
    """Those of sentence i, `count` at most."""
    rows, tag = words.table.sentence(i)
    span = slice(*words.table.offsets[i : i + 2])
    tags, deficits = words.doubts.tags[span], words.doubts.deficits[span]
    sentence, allowed = sampler.candidates(words.table, i)
    first = sampler.searched(sentence)[1]
    joint = Joint(sampler.scoring, rows, tag, allowed, options_of(rows, tag, tags, coarse), tag_features=False)
    found = ranked(joint, deficits, count, first, np.array([i + 1], np.uint64))
    chosen = [[own[c] for own, c in zip(tags, tagging, strict=True)] for tagging in found.taggings]
    changed = [np.count_nonzero(tagging) for tagging in found.taggings]
    gains = (found.values - found.values[0]) / (sampler.model.unit or 1.0)
    numbers = np.column_stack((gains, -TENTHS * found.deficits, np.negative(changed)))
    sentences = [joint.under(tagging).sentence for tagging in found.taggings]
    return Listed(sentences, found.arcs, chosen, features(chosen, numbers))


def errors(found: Listed, right: Sequence[str], heads: np.ndarray, scored: np.ndarray) -> np.ndarray:
    """float64[K]: words with a wrong tag and scored words (bool[n]) with a wrong head (int32[n]), of each tagging."""
    wrong = [sum(a != b for a, b in zip(tags, right, strict=True)) for tags in found.tags]
    made = zip(found.sentences, found.arcs, strict=True)
    return np.array(wrong) + [np.count_nonzero((one.problem.head[arcs] != heads) & scored) for one, arcs in made]
