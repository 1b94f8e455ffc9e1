"""What a treebank is like before it is mined: the sentences that models may learn from, conventions, remarks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treebound.core.dtypes import INDEX, OFFSET
from treebound.core.treebank import STRING_COLUMNS, Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.features.long_sentences import check_lengths
from treebound.learning.survey import CROSSING, LIFTED, describe, survey
from treebound.metrics.attachment import unlabelled
from treebound.support.settings import read
from treebound.systems.graph.settings import Settings as Graph

#: share of sentences with several roots from which on they count as a convention of the treebank, not as errors
MANY_ROOTS = 0.05
#: share of words without a label from which on a treebank counts as unlabelled
UNLABELLED = 0.1


@dataclass(frozen=True)
class Prepared:
    """Two treebanks that are used alike, and how models are trained.

    treebank  what is mined
    examples  what models are trained on: the treebank itself, or a reference
    usable    int64[*]: the sentences of `examples` that a model can learn from
    training  settings of the models
    remarks   a line for everything that was left out or chosen
    """

    treebank: Treebank
    examples: Treebank
    usable: np.ndarray
    training: Graph
    remarks: list[str]


def prepare(treebank: Treebank, reference: Sequence[Treebank], training: Mapping[str, Any]) -> Prepared:
    """Choose conventions and training sentences.

    treebank   what is mined
    reference  treebanks to learn from; where there are none, models learn from the treebank itself
    training   settings of `treebound.systems.graph.settings.Settings`; `labels` is "none" for an
               unlabelled treebank

    Raises InputError for wrong settings and for sentences that are too long.
    """
    check_lengths(treebank)
    remarks: list[str] = []
    treebank = replace(treebank, meta=dict(treebank.meta))
    examples = joined(reference) if reference else treebank
    describe(examples, treebank)
    usable = np.arange(len(examples))
    if reference:
        check_lengths(examples)
        usable = _unlike(treebank, examples)
        if len(usable) < len(examples):
            shared = len(examples) - len(usable)
            remarks.append(f"{shared:,} sentences of the reference are also in the treebank: left out of training")
    settings = dict(training)
    single_root, usable = _roots(examples, usable, remarks)
    examples.meta["single_root"] = treebank.meta["single_root"] = single_root
    if settings.get("labels") != "none":
        labelled = _labelled(examples, usable, remarks)
        usable, settings = (usable, settings | {"labels": "none"}) if labelled is None else (labelled, settings)
    if "space" not in settings:
        _advise(examples.select(usable), remarks)
    return Prepared(treebank, examples, usable, read(Graph, settings), remarks)


def joined(treebanks: Sequence[Treebank]) -> Treebank:
    """Return one treebank of the sentences of several, in order."""
    if len(treebanks) == 1:
        return replace(treebanks[0], meta=dict(treebanks[0].meta))
    vocab = {name: Vocabulary() for name in STRING_COLUMNS}
    columns: dict[str, list[np.ndarray]] = {name: [] for name in STRING_COLUMNS}
    for treebank in treebanks:
        for name in STRING_COLUMNS:
            number = np.array([vocab[name].add(string) for string in treebank.vocab[name].strings], INDEX)
            columns[name].append(number[treebank.columns[name]])
    lengths = np.concatenate([treebank.lengths for treebank in treebanks])
    offsets = np.zeros(len(lengths) + 1, OFFSET)
    np.cumsum(lengths, out=offsets[1:])
    return Treebank(
        treebanks[0].name,
        offsets,
        {name: np.concatenate(parts) for name, parts in columns.items()},
        vocab,
        np.concatenate([treebank.head for treebank in treebanks]),
        dict(treebanks[0].meta),
    )


def _forms(treebank: Treebank) -> Iterable[tuple[str, ...]]:
    return (tuple(sentence.strings("form")) for sentence in treebank)


def _unlike(treebank: Treebank, reference: Treebank) -> np.ndarray:
    """Return the sentences of the reference whose forms are not those of a sentence of the treebank."""
    known = set(_forms(treebank))
    return np.array([i for i, forms in enumerate(_forms(reference)) if forms not in known], np.int64)


def _roots(examples: Treebank, usable: np.ndarray, remarks: list[str]) -> tuple[bool, np.ndarray]:
    """Return whether trees have a single root, and the sentences to learn from under this convention."""
    if not len(usable):
        return True, usable
    roots = np.array([np.count_nonzero(examples.heads(int(i)) == 0) for i in usable])
    several = roots > 1
    if several.mean() >= MANY_ROOTS:
        remarks.append(f"{several.sum():,} sentences have several roots: taken for a convention")
        return False, usable
    if several.any():
        remarks.append(f"{several.sum():,} sentences with several roots: left out of training")
    return True, usable[~several]


def _labelled(examples: Treebank, usable: np.ndarray, remarks: list[str]) -> np.ndarray | None:
    """Return the sentences whose words all have a label; None for a treebank that is not labelled."""
    number = examples.vocab["deprel"].get("_")
    if not unlabelled(examples):
        return usable
    if unlabelled(examples) >= UNLABELLED * examples.words:
        remarks.append("the treebank has no labels: only heads are doubted")
        return None
    missing = [bool((examples.columns["deprel"][slice(*examples.offsets[i : i + 2])] == number).any()) for i in usable]
    remarks.append(f"{sum(missing):,} sentences have words without a label: left out of training")
    return usable[~np.array(missing, bool)]


def _advise(examples: Treebank, remarks: list[str]) -> None:
    """Say where so many arcs cross that they may be a convention and no errors."""
    counts = survey(examples)
    if counts.lifted >= LIFTED * max(1, counts.words) or counts.crossing >= CROSSING * max(1, counts.sentences):
        share = 100 * counts.crossing / max(1, counts.sentences)
        remarks.append(
            f"{share:.1f} % of the sentences have crossing arcs, which projective models doubt; if crossing arcs are "
            "right as a rule, choose the space non-projective"
        )
