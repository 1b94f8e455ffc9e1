"""Preparation of a treebank for mining: choose the training sentences and conventions, and collect remarks."""

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

#: from this share of sentences with several roots on, several roots count as a convention and not as errors
MANY_ROOTS = 0.05
#: from this share of words without a label on, a treebank counts as unlabelled
UNLABELLED = 0.1


@dataclass(frozen=True)
class Prepared:
    """A treebank and its training examples under the same conventions, with the settings of the models.

    treebank  the treebank that is mined
    examples  the treebank that models are trained on: the same treebank, or a reference
    usable    int64[*]: indices of the sentences of `examples` that a model can be trained on
    training  settings of the models
    remarks   one line for each convention that was chosen, and one for each reason to leave out sentences
    """

    treebank: Treebank
    examples: Treebank
    usable: np.ndarray
    training: Graph
    remarks: list[str]


def prepare(treebank: Treebank, reference: Sequence[Treebank], training: Mapping[str, Any]) -> Prepared:
    """Choose the conventions and the training sentences for mining a treebank.

    treebank   the treebank that is mined
    reference  treebanks to train on. If there are none, models are trained on the treebank itself
    training   values for `treebound.systems.graph.settings.Settings`. The setting `labels` becomes "none" for an
               unlabelled treebank

    Raises InputError for invalid settings and for sentences that are too long.
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
            duplicates = len(examples) - len(usable)
            remarks.append(
                f"training leaves out {duplicates:,} sentences of the reference that are also in the treebank"
            )
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
    """Concatenate treebanks into one. Name and meta come from the first."""
    if len(treebanks) == 1:
        return replace(treebanks[0], meta=dict(treebanks[0].meta))
    vocab = {name: Vocabulary() for name in STRING_COLUMNS}
    columns: dict[str, list[np.ndarray]] = {name: [] for name in STRING_COLUMNS}
    for treebank in treebanks:
        for name in STRING_COLUMNS:
            new_ids = np.array([vocab[name].add(string) for string in treebank.vocab[name].strings], INDEX)
            columns[name].append(new_ids[treebank.columns[name]])
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
    """Return the forms of each sentence."""
    return (tuple(sentence.strings("form")) for sentence in treebank)


def _unlike(treebank: Treebank, reference: Treebank) -> np.ndarray:
    """Return the indices of reference sentences that do not occur, with the same forms, in the treebank."""
    treebank_forms = set(_forms(treebank))
    return np.array([i for i, forms in enumerate(_forms(reference)) if forms not in treebank_forms], np.int64)


def _roots(examples: Treebank, usable: np.ndarray, remarks: list[str]) -> tuple[bool, np.ndarray]:
    """Return whether trees must have a single root, and the training sentences that follow this convention."""
    if not len(usable):
        return True, usable
    roots = np.array([np.count_nonzero(examples.heads(int(i)) == 0) for i in usable])
    several = roots > 1
    if several.mean() >= MANY_ROOTS:
        remarks.append(
            f"{several.sum():,} sentences have several roots, which is taken as a convention of the treebank"
        )
        return False, usable
    if several.any():
        remarks.append(f"training leaves out {several.sum():,} sentences with several roots")
    return True, usable[~several]


def _labelled(examples: Treebank, usable: np.ndarray, remarks: list[str]) -> np.ndarray | None:
    """Return the training sentences in which every word has a label, or None if the treebank is unlabelled."""
    empty_label = examples.vocab["deprel"].get("_")
    if not unlabelled(examples):
        return usable
    if unlabelled(examples) >= UNLABELLED * examples.words:
        remarks.append("the treebank has no labels, so that only heads are checked")
        return None
    missing = [
        bool((examples.columns["deprel"][slice(*examples.offsets[i : i + 2])] == empty_label).any()) for i in usable
    ]
    remarks.append(f"training leaves out {sum(missing):,} sentences with unlabelled words")
    return usable[~np.array(missing, bool)]


def _advise(examples: Treebank, remarks: list[str]) -> None:
    """Add a remark if crossing arcs are so frequent that they may be a convention and not errors."""
    counts = survey(examples)
    if counts.lifted >= LIFTED * max(1, counts.words) or counts.crossing >= CROSSING * max(1, counts.sentences):
        share = 100 * counts.crossing / max(1, counts.sentences)
        remarks.append(
            f"{share:.1f} % of the sentences have crossing arcs, which projective models doubt; if these arcs are "
            "usually correct, choose the space non-projective"
        )
