"""The supertagger: probabilities of the lexical categories of every word (Clark & Curran 2004a)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from treebound.learning.loop import Progress
from treebound.systems.ccg.chain import (
    Features,
    Lattice,
    Weights,
    best_sequence,
    count_gold,
    emissions,
    expect,
    lattice,
    marginals,
)
from treebound.systems.ccg.optimise import TrainingCheckpoint, fit
from treebound.systems.ccg.words import TEMPLATES, Words, contexts, split

SHOWN = 200  #: sentences per step of the progress bar


class Dictionary:
    """The categories that each word may have: those seen with its form if it is frequent, else those seen with its tag.

    counts           form -> number of occurrences
    by_form, by_tag  form or tag -> ascending categories; a tag that was never seen allows every category
    """

    def __init__(self, counts: dict[str, int], by_form: dict[str, list[int]], by_tag: dict[str, list[int]], tags: int):
        self.counts, self.by_form, self.by_tag, self.tags = counts, by_form, by_tag, tags

    @classmethod
    def count(cls, strings: Iterable[tuple[str, str]], gold: Iterable[int], tags: int) -> Dictionary:
        """Return the dictionary of a treebank, given (form, tag) and the gold category of every word."""
        counts: dict[str, int] = defaultdict(int)
        by_form: dict[str, set[int]] = defaultdict(set)
        by_tag: dict[str, set[int]] = defaultdict(set)
        for (form, tag), category in zip(strings, gold, strict=True):
            counts[form] += 1
            by_form[form].add(category)
            by_tag[tag].add(category)
        lists = [{name: sorted(seen[name]) for name in sorted(seen)} for seen in (by_form, by_tag)]
        return cls(dict(sorted(counts.items())), lists[0], lists[1], tags)

    def groups(self, strings: Sequence[tuple[str, str]], cutoff: int) -> tuple[np.ndarray, Lattice]:
        """Return the list number of each word, int32[W], and the lists of allowed categories.

        Words whose form was seen at least `cutoff` times have the list of the form, other words the list of the tag.
        """
        numbers: dict[tuple[str, str], int] = {}
        lists: list[list[int]] = []
        group = np.empty(len(strings), np.int32)
        for i, (form, tag) in enumerate(strings):
            key = (form, "") if self.counts.get(form, 0) >= cutoff else ("", tag)
            if key not in numbers:
                numbers[key] = len(lists)
                lists.append(self.by_form[form] if key[0] else self.by_tag.get(tag) or list(range(self.tags)))
            group[i] = numbers[key]
        first = np.cumsum([0] + [len(listed) for listed in lists]).astype(np.int32)
        return group, Lattice(first, np.array([tag for listed in lists for tag in listed], np.int32))


class Supertagger:
    """A supertagger: categories by number, dictionary, templates and weights of a chain."""

    def __init__(self, categories: list[str], dictionary: Dictionary, weights: Weights, templates: tuple[str, ...]):
        self.categories, self.dictionary, self.templates = categories, dictionary, templates
        self.number = {category: i for i, category in enumerate(categories)}
        self.weights = weights
        self.potential = np.exp(weights.transition)

    def features(self, words: Words, cutoff: int, context: np.ndarray | None = None) -> Features:
        """Return the words in the form that the kernels read. O(W T) for W words and T templates.

        context  `contexts(words, templates)` if it is computed already
        """
        group, lists = self.dictionary.groups(words.strings, cutoff)
        return Features(contexts(words, self.templates) if context is None else context, words.offsets, group, lists)

    def scored(self, features: Features, s: int) -> tuple[Lattice, np.ndarray]:
        """Return the lattice of sentence s and the emission scores of its categories."""
        a, b = features.offsets[s], features.offsets[s + 1]
        choices = lattice(features.group[a:b], features.lists)
        return choices, emissions(features.context[a:b], choices, self.weights.table, self.weights.mask)

    def probabilities(self, features: Features, s: int) -> tuple[Lattice, np.ndarray]:
        """Return the lattice of sentence s and the probabilities of its categories."""
        choices, emission = self.scored(features, s)
        return choices, marginals(emission, choices, self.potential)[1]

    def best(self, words: Words, cutoff: int) -> np.ndarray:
        """Return int32[W], the categories of the most probable sequence of each sentence."""
        features, out = self.features(words, cutoff), np.empty(len(words.form), np.int32)
        for s in range(len(words.offsets) - 1):
            a, b = words.offsets[s], words.offsets[s + 1]
            choices, emission = self.scored(features, s)
            best_sequence(emission, choices, self.weights.transition, out[a:b])
            out[a:b] = choices.tags[out[a:b]]
        return out


def beam(choices: Lattice, probability: np.ndarray, beta: float) -> Lattice:
    """Keep the categories whose probability is at least beta times the highest probability of the word."""
    words = np.repeat(np.arange(len(choices.first) - 1), np.diff(choices.first))
    if not len(words):
        return choices
    top = np.maximum.reduceat(probability, choices.first[:-1])
    within = probability >= beta * top[words]
    counts = np.bincount(words[within], minlength=len(choices.first) - 1)
    return Lattice(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32), choices.tags[within])


def train_supertagger(
    words: Words,
    gold: Sequence[str],
    *,
    bits: int,
    cutoff: int,
    l2: float,
    iterations: int,
    kept: tuple[Path, str] | None = None,
    progress: Progress | None = None,
) -> tuple[Supertagger, list[dict]]:
    """Train a supertagger on the gold categories of all words and return it with one record per round of L-BFGS.

    Only features of gold sequences have weights, as in Clark & Curran (2007).

    bits    base-2 logarithm of the number of weights
    cutoff  dictionary cut-off, see `Dictionary.groups`
    kept    (path, key) of the checkpoint file
    """
    categories = sorted(set(gold))
    number = {category: i for i, category in enumerate(categories)}
    right, tags, mask = np.array([number[c] for c in gold], np.int32), len(categories), (1 << bits) - 1
    dictionary, templates = Dictionary.count(words.strings, right.tolist(), tags), split(TEMPLATES)

    def empty() -> Weights:
        return Weights(np.zeros(mask + 1 + tags), np.zeros((tags + 1, tags + 1)), mask)

    weights, counts, expected = empty(), empty(), empty()
    tagger = Supertagger(categories, dictionary, weights, templates)
    features = tagger.features(words, cutoff)
    count_gold(features, right, counts)
    used, moved = np.flatnonzero(counts.table), np.nonzero(counts.transition)
    observed = np.concatenate([counts.table[used], counts.transition[moved]])
    evaluations = 0

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal evaluations
        evaluations += 1
        weights.table[used], weights.transition[moved] = w[: len(used)], w[len(used) :]
        expected.table[:], expected.transition[:] = 0.0, 0.0
        potential, total = np.exp(weights.transition), 0.0
        parts = range(0, len(words.offsets) - 1, SHOWN)
        for start in progress(parts, f"supertagger, evaluation {evaluations}") if progress else parts:
            batch = features._replace(offsets=words.offsets[start : start + SHOWN + 1])
            total += expect(batch, weights, potential, expected)
        gradient = np.concatenate([expected.table[used], expected.transition[moved]]) - observed
        return total - float(w @ observed), gradient

    best, history = fit(objective, len(observed), l2, iterations, TrainingCheckpoint(*kept) if kept else None)
    best = best.astype(np.float32)  # the precision of the model file
    weights.table[used], weights.transition[moved] = best[: len(used)], best[len(used) :]
    return Supertagger(categories, dictionary, weights, templates), history
