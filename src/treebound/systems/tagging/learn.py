"""Training: the averaged structured perceptron (Collins 2002) with a margin."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.systems.tagging.lemmas import edit
from treebound.systems.tagging.sequence import contexts, train_epoch
from treebound.systems.tagging.tagger import Tagger
from treebound.systems.tagging.templates import GIVEN, TEMPLATES, compile_templates, split
from treebound.systems.tagging.words import FREQUENT, Dictionary, word_table

#: of a tagger that looks at words one by one
ALONE = (*(template for template in split(TEMPLATES) if "t-1" not in template.split()), *split(GIVEN))


def train_tagger(
    train: Treebank,
    dev: Treebank | None = None,
    *,
    column: str | None = None,
    epochs: int = 6,
    bits: int = 22,
    margin: int = 100,
    frequent: int = FREQUENT,
    seed: int = 1,
    templates: tuple[str, ...] | None = None,
    given: str = "",
    edits: bool = False,
    progress: Callable[[Iterable, str], Iterable] | None = None,
) -> Tagger:
    """The tagger of the last epoch, or of the one that is best on dev where that is given.

    column   what to predict; by default what the treebank's meta names as its fine tag, else xpos
    bits     log2 of the number of weights
    margin   by how much the gold tags must be ahead, for each wrong tag
    templates of the features; by default those of a sequence or, with `given`, of words one by one
    given    a column whose tags the tagger is given, as it was in training: see `Tagger`
    edits    the column holds lemmas: learn how they are made of forms
    InputError where there is nothing to learn from.
    """
    column = column or str(train.meta.get("tag", "xpos"))
    if not train.words or set(train.strings(column)) == {"_"}:
        raise InputError(f"{train.name} has no tags in the column {column}", hint="choose another column")
    forms, right = train.strings("form"), train.strings(column)
    if edits:
        right = [edit(form, lemma) for form, lemma in zip(forms, right, strict=True)]
    tags = sorted(set(right))
    number = {tag: i for i, tag in enumerate(tags)}
    gold = np.array([number[s] for s in right], np.int32)
    dictionary = Dictionary.count(forms, gold.tolist(), frequent)
    if given:
        dictionary = dictionary.with_given(train.strings(given), gold.tolist())
    templates = templates or (ALONE if given else split(TEMPLATES))
    rows, starts, group = word_table(train, dictionary, given)
    compiled = compile_templates(templates)
    offsets = np.arange(train.words + 1) if given else train.offsets
    sequences = len(offsets) - 1
    context = np.concatenate(
        [contexts(compiled, rows[:, start:], n) for start, n in zip(starts, train.lengths, strict=True)]
    )
    mask = (1 << bits) - 1
    weights = np.zeros(mask + 1 + len(tags), np.int32)
    sums = np.zeros(len(weights), np.int64)
    history: list[dict] = []
    best: Tagger | None = None
    steps: Iterable[int] = range(1, epochs + 1)
    for epoch in progress(steps, f"tagger of {column}") if progress else steps:
        order = np.random.default_rng([seed, epoch]).permutation(sequences)
        examples = (epoch - 1) * sequences
        wrong = train_epoch(
            compiled,
            context,
            offsets,
            group,
            gold,
            order,
            dictionary.candidates,
            weights,
            sums,
            mask,
            len(tags),
            margin,
            examples,
        )
        record: dict = {"epoch": epoch, "violations": wrong}  # words that a tag other than gold's won or came too near
        if dev is None and epoch < epochs:
            history.append(record)
            continue
        mean = averaged(weights, sums, examples + sequences)
        tagger = Tagger(column, tags, dictionary, templates, mean, history, given, edits)
        if dev is not None:
            record["dev_accuracy"] = accuracy(dev, tagger)
        if best is None or dev is None or record["dev_accuracy"] > max(r["dev_accuracy"] for r in history):
            best = tagger
        history.append(record)
    assert best is not None
    return best


def averaged(weights: np.ndarray, sums: np.ndarray, examples: int) -> np.ndarray:
    """int32: the average over all examples, times their number or as many as fit."""
    total = weights.astype(np.int64) * examples - sums
    largest = int(np.abs(total).max(initial=0))
    shift = max(0, largest.bit_length() - 31)
    return (total >> shift).astype(np.int32)


def accuracy(gold: Treebank, tagger: Tagger, seen: Treebank | None = None) -> float:
    """Words with the right tag, in %. `seen`: the same sentences as the tagger sees them, if not as annotated."""
    found = tagger.apply(seen or gold).strings(tagger.column)
    return 100.0 * sum(a == b for a, b in zip(found, gold.strings(tagger.column), strict=True)) / max(1, gold.words)
