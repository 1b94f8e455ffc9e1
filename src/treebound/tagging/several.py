"""Taggers of several columns in one file, applied in turn: each may see what those before it predicted.

UPOS and XPOS are tagged as sequences where they have few tags. Columns with many - features, fine-grained XPOS, lemmas
by their edits - are tagged word by word, given a tag that was predicted before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from treebound.core.errors import InputError, ModelError
from treebound.core.treebank import Treebank
from treebound.learning.storage import load_arrays, save_arrays
from treebound.tagging.learn import accuracy, train_tagger
from treebound.tagging.tagger import Tagger

#: columns that can be tagged, in the order in which they are
COLUMNS = ("upos", "xpos", "feats", "lemma")
SEQUENCE = 64  #: tags up to which a column is tagged as a sequence
KIND, VERSION = "taggers", 1

Progress = Callable[[Iterable, str], Iterable]


class Taggers:
    """One tagger a column, in the order in which they are applied."""

    def __init__(self, taggers: Sequence[Tagger]):
        self.taggers = tuple(taggers)

    @property
    def columns(self) -> tuple[str, ...]:
        """What they predict."""
        return tuple(tagger.column for tagger in self.taggers)

    def apply(self, treebank: Treebank) -> Treebank:
        """The treebank with predicted values in all their columns."""
        for tagger in self.taggers:
            treebank = tagger.apply(treebank)
        return treebank

    def save(self, path: str | Path) -> None:
        """Write one file, atomically; a single tagger as `Tagger.save` does."""
        if len(self.taggers) == 1:
            return self.taggers[0].save(path)
        header = {"kind": KIND, "version": VERSION, "taggers": [tagger.header() for tagger in self.taggers]}
        save_arrays(path, header, {tagger.column: tagger.weights for tagger in self.taggers})

    @classmethod
    def load(cls, path: str | Path) -> Taggers:
        """Read what `save` or `Tagger.save` wrote. ModelError for anything else."""
        try:
            header, arrays = load_arrays(path, KIND, VERSION)
        except ModelError:
            return cls([Tagger.load(path)])
        try:
            headers = {str(each["column"]): each for each in header["taggers"]}
            if len(headers) != len(header["taggers"]) or not headers:
                raise ValueError("columns given twice, or none")
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"damaged tagger file ({error})", path=path, hint="train it again") from None
        return cls([Tagger.restored(each, arrays.get(column), path) for column, each in headers.items()])


def train_taggers(
    train: Treebank,
    dev: Treebank | None,
    columns: Sequence[str],
    *,
    epochs: int = 6,
    bits: int = 22,
    seed: int = 1,
    progress: Progress | None = None,
) -> Taggers:
    """Taggers of these of COLUMNS. InputError for a column in which nothing is annotated.

    dev  the best epoch is chosen on it, for each column with the annotated values of the others
    """
    out: list[Tagger] = []
    given = ""
    for column in (name for name in COLUMNS if name in columns):
        many = column not in ("upos", "xpos") or len(np.unique(train.columns[column])) > SEQUENCE
        if many and not given:
            given = "upos"  # as it stands in the files
        tagger = train_tagger(
            train,
            dev,
            column=column,
            epochs=epochs,
            bits=bits,
            seed=seed,
            given=given if many else "",
            edits=column == "lemma",
            progress=progress,
        )
        if not many:
            given = column
        out.append(tagger)
    if not out:
        raise InputError("no column to tag", hint="choose from " + ", ".join(COLUMNS))
    return Taggers(out)


def accuracies(gold: Treebank, taggers: Taggers) -> dict[str, float]:
    """Words with the right value, in %, of each column; each tagger sees what those before it predicted."""
    out = {}
    found = gold
    for tagger in taggers.taggers:
        out[tagger.column] = accuracy(gold, tagger, found)
        found = tagger.apply(found)
    return out
