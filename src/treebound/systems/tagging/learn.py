"""Training of a tagger: the averaged structured perceptron (Collins 2002) with a margin."""

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

MARGIN = 100  #: score difference to the gold tags that training requires for each wrong tag
SHOWN = 1000  #: number of sequences between two updates of the progress display
#: templates of a tagger that tags words one by one
ALONE = (*(template for template in split(TEMPLATES) if "t-1" not in template.split()), *split(GIVEN))


def train_tagger(
    train: Treebank,
    dev: Treebank | None = None,
    *,
    column: str | None = None,
    epochs: int = 6,
    bits: int = 22,
    seed: int = 1,
    tag_column: str = "",
    progress: Progress | None = None,
) -> Tagger:
    """Train a tagger and return the tagger of the best epoch on dev, or of the last epoch without dev.

    column      column to predict; the default is the fine tag in the treebank's meta, or xpos. For lemmas, the tagger
                learns the edits that make lemmas of forms
    bits        base-2 logarithm of the number of weights
    tag_column  column whose tags the tagger reads, in training and later (see `Tagger`)

    InputError if the column has no tags.
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
    if tag_column:
        dictionary = dictionary.with_tag_column(train.strings(tag_column), gold.tolist())
    templates = ALONE if tag_column else split(TEMPLATES)
    task = _Training(train, dictionary, compile_templates(templates), gold, (bits, len(tags)), tag_column)

    def tagger_of(weights: np.ndarray, history: list[dict]) -> Tagger:
        return Tagger(column, tags, dictionary, templates, weights, history, tag_column, edits)

    def judge(weights: np.ndarray, history: list[dict]) -> dict:
        assert dev is not None
        return {"dev_accuracy": accuracy(dev, tagger_of(weights, []))}

    trained = loop.train(
        task,
        epochs,
        loop.shuffled(seed, len(task.words.offsets) - 1, first=1),
        title=f"tagger of {column}, ",
        judge=judge if dev is not None else None,
        score=(lambda record: record["dev_accuracy"]) if dev is not None else None,
        progress=progress,
    )
    tagger = tagger_of(trained.best, trained.history)
    tagger.unit = task.unit
    return tagger


class _Training:
    """A tagger in training (`treebound.learning.loop.Task`); `sizes` is (bits, number of tags).

    `source` is the column whose tags the tagger reads, or "" for none. With such a column, words are tagged one by one.
    """

    def __init__(
        self,
        train: Treebank,
        dictionary: Dictionary,
        compiled: SequenceTemplates,
        gold: np.ndarray,
        sizes: tuple[int, int],
        source: str,
    ):
        rows, starts, group = word_table(train, dictionary, source)
        pieces = [contexts(compiled, rows[:, start:], n) for start, n in zip(starts, train.lengths, strict=True)]
        offsets = np.arange(train.words + 1) if source else train.offsets
        self.words = Words(np.concatenate(pieces), offsets, group, gold)
        self.compiled, self.candidates = compiled, dictionary.candidates
        bits, tags = sizes
        self.table = Table(np.zeros((1 << bits) + tags, np.int32), (1 << bits) - 1, tags)
        self.sums = np.zeros(len(self.table.weights), np.int64)
        self.examples = 0

    def learn(self, order: np.ndarray, show: Show) -> dict:
        """Train for one epoch. `violations` counts the words for which a wrong tag won or was within the margin."""
        task = self.candidates, self.table, self.sums, MARGIN
        wrong = 0
        for batch in show(np.array_split(order, max(1, len(order) // SHOWN))):
            wrong += train_epoch(self.compiled, self.words, batch, *task, self.examples)
            self.examples += len(batch)
        return {"violations": wrong}

    def result(self) -> np.ndarray:
        """Return the averaged weights as integers."""
        return averaged(self.table.weights, self.sums, self.examples)

    @property
    def unit(self) -> float:
        """The margin that training requires for each wrong tag, in units of the averaged weights."""
        total = self.table.weights.astype(np.int64) * self.examples - self.sums
        return MARGIN * self.examples / 2.0 ** _shift(total)


def averaged(weights: np.ndarray, sums: np.ndarray, examples: int) -> np.ndarray:
    """Return each weight summed over all examples, divided by a power of 2 so that all sums fit into int32.

    `sums` holds for each weight the sum of its updates, each times the number of examples before it.
    """
    total = weights.astype(np.int64) * examples - sums
    return (total >> _shift(total)).astype(np.int32)


def _shift(total: np.ndarray) -> int:
    """Return the number of bits by which `total`, int64 sums of weights, must be shifted to fit into int32."""
    return max(0, int(np.abs(total).max(initial=0)).bit_length() - 31)


def accuracy(gold: Treebank, tagger: Tagger, seen: Treebank | None = None) -> float:
    """Return the share of words with the right tag, in %.

    seen  the same sentences with the columns that the tagger reads; None takes `gold`
    """
    predicted = tagger.apply(seen or gold).strings(tagger.column)
    return 100.0 * sum(a == b for a, b in zip(predicted, gold.strings(tagger.column), strict=True)) / max(1, gold.words)
