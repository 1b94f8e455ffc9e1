"""Training: the averaged structured perceptron (Collins 2002) with a margin."""

from __future__ import annotations

import numpy as np

from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.learning import loop
from treebound.learning.loop import Progress, Show
from treebound.systems.tagging.lemmas import edit
from treebound.systems.tagging.sequence import SequenceTemplates, Table, Words, contexts, train_epoch
from treebound.systems.tagging.tagger import Tagger
from treebound.systems.tagging.templates import GIVEN, TEMPLATES, compile_templates, split
from treebound.systems.tagging.words import FREQUENT, Dictionary, word_table

MARGIN = 100  #: by how much the gold tags must be ahead, for each wrong tag
SHOWN = 1000  #: sequences after which it is told how far training is
#: of a tagger that looks at words one by one
ALONE = (*(template for template in split(TEMPLATES) if "t-1" not in template.split()), *split(GIVEN))


def train_tagger(
    train: Treebank,
    dev: Treebank | None = None,
    *,
    column: str | None = None,
    epochs: int = 6,
    bits: int = 22,
    seed: int = 1,
    given: str = "",
    progress: Progress | None = None,
) -> Tagger:
    """The tagger of the last epoch, or of the one that is best on dev where that is given.

    column   what to predict; by default what the treebank's meta names as its fine tag, else xpos; of lemmas it learns
             how they are made of forms
    bits     log2 of the number of weights
    given    a column whose tags the tagger is given, as it was in training: see `Tagger`
    InputError where there is nothing to learn from.
    """
    column = column or str(train.meta.get("tag", "xpos"))
    if not train.words or set(train.strings(column)) == {"_"}:
        raise InputError(f"{train.name} has no tags in the column {column}", hint="choose another column")
    forms, right = train.strings("form"), train.strings(column)
    if edits := column == "lemma":
        right = [edit(form, lemma) for form, lemma in zip(forms, right, strict=True)]
    tags = sorted(set(right))
    number = {tag: i for i, tag in enumerate(tags)}
    gold = np.array([number[s] for s in right], np.int32)
    dictionary = Dictionary.count(forms, gold.tolist(), FREQUENT)
    if given:
        dictionary = dictionary.with_given(train.strings(given), gold.tolist())
    templates = ALONE if given else split(TEMPLATES)
    task = _Training(train, dictionary, compile_templates(templates), gold, (bits, len(tags)), given)

    def made(weights: np.ndarray, history: list[dict]) -> Tagger:
        return Tagger(column, tags, dictionary, templates, weights, history, given, edits)

    def judge(weights: np.ndarray, history: list[dict]) -> dict:
        assert dev is not None
        return {"dev_accuracy": accuracy(dev, made(weights, []))}

    found = loop.train(
        task,
        epochs,
        loop.shuffled(seed, len(task.words.offsets) - 1, first=1),
        title=f"tagger of {column}, ",
        judge=judge if dev is not None else None,
        score=(lambda record: record["dev_accuracy"]) if dev is not None else None,
        progress=progress,
    )
    tagger = made(found.best, found.history)
    tagger.unit = task.unit
    return tagger


class _Training:
    """A tagger in training, as `treebound.learning.loop` takes it. sizes: bits, number of tags."""

    def __init__(
        self,
        train: Treebank,
        dictionary: Dictionary,
        compiled: SequenceTemplates,
        gold: np.ndarray,
        sizes: tuple[int, int],
        given: str,
    ):
        rows, starts, group = word_table(train, dictionary, given)
        pieces = [contexts(compiled, rows[:, start:], n) for start, n in zip(starts, train.lengths, strict=True)]
        offsets = np.arange(train.words + 1) if given else train.offsets
        self.words = Words(np.concatenate(pieces), offsets, group, gold)
        self.compiled, self.candidates = compiled, dictionary.candidates
        bits, tags = sizes
        self.table = Table(np.zeros((1 << bits) + tags, np.int32), (1 << bits) - 1, tags)
        self.sums = np.zeros(len(self.table.weights), np.int64)
        self.examples = 0

    def learn(self, order: np.ndarray, show: Show) -> dict:
        """One epoch; `violations`: words that a tag other than gold's won or came too near."""
        task = self.candidates, self.table, self.sums, MARGIN
        wrong = 0
        for some in show(np.array_split(order, max(1, len(order) // SHOWN))):
            wrong += train_epoch(self.compiled, self.words, some, *task, self.examples)
            self.examples += len(some)
        return {"violations": wrong}

    def result(self) -> np.ndarray:
        """The averaged weights."""
        return averaged(self.table.weights, self.sums, self.examples)

    @property
    def unit(self) -> float:
        """The margin that training asks for each wrong tag, in the unit of the averaged weights."""
        total = self.table.weights.astype(np.int64) * self.examples - self.sums
        return MARGIN * self.examples / 2.0 ** _shift(total)


def averaged(weights: np.ndarray, sums: np.ndarray, examples: int) -> np.ndarray:
    """int32: the average over all examples, times their number or as many as fit."""
    total = weights.astype(np.int64) * examples - sums
    return (total >> _shift(total)).astype(np.int32)


def _shift(total: np.ndarray) -> int:
    """Return by how many bits sums of weights are shifted so that they fit into int32."""
    return max(0, int(np.abs(total).max(initial=0)).bit_length() - 31)


def accuracy(gold: Treebank, tagger: Tagger, seen: Treebank | None = None) -> float:
    """Words with the right tag, in %. `seen`: the same sentences as the tagger sees them, if not as annotated."""
    found = tagger.apply(seen or gold).strings(tagger.column)
    return 100.0 * sum(a == b for a, b in zip(found, gold.strings(tagger.column), strict=True)) / max(1, gold.words)
