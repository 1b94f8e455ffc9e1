"""Taggers of several columns in one file, applied one after another; later taggers may read earlier predictions.

UPOS and XPOS are tagged as sequences if they have few tags. Columns with many tags (features, fine-grained XPOS, lemmas
by their edits) are tagged word by word, given a tag that was predicted before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, get_args

import numpy as np
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked

from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.learning.storage import Format, Header, kind_of
from treebound.systems.tagging.learn import accuracy, train_tagger
from treebound.systems.tagging.tagger import Column, Description, Tagger

#: columns that can be tagged, in the order of tagging
COLUMNS = ("upos", "xpos", "feats", "lemma")
SEQUENCE = 64  #: largest number of tags of a column that is tagged as a sequence

Progress = Callable[[Iterable, str], Iterable]


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class TaggersHeader(Header):
    """The header of a file with several taggers."""

    taggers: Annotated[list[Description], Field(min_length=1)]

    def __post_init__(self) -> None:
        if len({tagger.column for tagger in self.taggers}) < len(self.taggers):
            raise ValueError("taggers: a column occurs twice")


FORMAT = Format(
    "taggers", 1, TaggersHeader, lambda header: {tagger.column: tagger.layout for tagger in header.taggers},
    sparse=get_args(Column),
)  # fmt: skip


class Taggers:
    """A tagger for each of several columns, in the order in which they are applied."""

    def __init__(self, taggers: Sequence[Tagger]):
        self.taggers = tuple(taggers)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the taggers predict."""
        return tuple(tagger.column for tagger in self.taggers)

    @property
    def given(self) -> dict[str, list[str]]:
        """The column that the first tagger reads from its input, with its values in training; empty for most models."""
        first = self.taggers[0]
        return {first.tag_column: sorted(first.dictionary.lists_by_tag)} if first.tag_column else {}

    def apply(self, treebank: Treebank) -> Treebank:
        """Return the treebank with predicted values in all columns of the taggers."""
        for tagger in self.taggers:
            treebank = tagger.apply(treebank)
        return treebank

    def save(self, path: str | Path) -> None:
        """Write the taggers to one file, atomically. A single tagger is written by `Tagger.save`."""
        if len(self.taggers) == 1:
            return self.taggers[0].save(path)
        headers = [tagger.header() for tagger in self.taggers]
        FORMAT.save(path, {"taggers": headers}, {tagger.column: tagger.weights for tagger in self.taggers})

    @classmethod
    def load(cls, path: str | Path) -> Taggers:
        """Read a file that `save` or `Tagger.save` wrote. ModelError for any other file."""
        if kind_of(path, "tagger") != FORMAT.kind:
            return cls([Tagger.load(path)])
        header, arrays = FORMAT.load(path)
        return cls([Tagger.restored(each, arrays[each.column], path) for each in header.taggers])


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
    """Train a tagger for each of `columns`, which are some of COLUMNS. InputError for a column without annotation.

    dev  treebank on which the best epoch of each tagger is chosen, with annotated values in all columns. None takes
         the last epoch
    """
    out: list[Tagger] = []
    source = ""
    for column in (name for name in COLUMNS if name in columns):
        many = column not in ("upos", "xpos") or len(np.unique(train.columns[column])) > SEQUENCE
        if many and not source:
            source = "upos"  # from the input: no tagger comes before this one
        tagger = train_tagger(
            train,
            dev,
            column=column,
            epochs=epochs,
            bits=bits,
            seed=seed,
            tag_column=source if many else "",
            progress=progress,
        )
        if not many:
            source = column
        out.append(tagger)
    if not out:
        raise InputError("no column to tag", hint="choose from " + ", ".join(COLUMNS))
    return Taggers(out)


def accuracies(gold: Treebank, taggers: Taggers) -> dict[str, float]:
    """Return the accuracy of each column, in % of words. Each tagger reads the predictions of the taggers before it."""
    out = {}
    predicted = gold
    for tagger in taggers.taggers:
        out[tagger.column] = accuracy(gold, tagger, predicted)
        predicted = tagger.apply(predicted)
    return out
