"""A trained tagger: integer weights, tags and a dictionary in one file without pickle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass as checked

from treebound.core.dtypes import INDEX
from treebound.core.errors import ModelError
from treebound.core.treebank import Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.kernels.sequence import tag_sentences
from treebound.learning.storage import History, Layout, Names, load_arrays, save_arrays, tables
from treebound.tagging.templates import compile_templates
from treebound.tagging.words import Dictionary, word_table

VERSION = 1
Number = Annotated[int, Field(ge=0)]


@checked(config=ConfigDict(extra="forbid"))
class Header:
    """What stands in a tagger's file beside its weights."""

    format: str
    kind: str
    version: int
    column: Literal["upos", "xpos", "feats", "lemma"]
    tags: Annotated[Names, Field(min_length=1, max_length=1 << 15)]  # the search numbers candidates in 16 bits
    templates: tuple[str, ...]
    forms: dict[str, Number]
    seen: dict[str, Number]
    lists: Annotated[list[Annotated[list[Number], Field(min_length=1)]], Field(min_length=1)]
    history: History

    def __post_init__(self) -> None:
        if any(sorted(set(listed)) != listed or listed[-1] >= len(self.tags) for listed in self.lists):
            raise ValueError("lists: tags out of range")
        if any(max(given.values(), default=0) >= len(self.lists) for given in (self.forms, self.seen)):
            raise ValueError("forms, seen: lists out of range")


HEADER = TypeAdapter(Header)


def layouts(header: dict) -> dict[str, Layout]:
    """The array of a tagger with this header."""
    return {"weights": Layout(np.int32, tables(0, 28, beyond=len(header["tags"])))}


class Tagger:
    """Weights as integers: every score is an exact integer sum.

    column      what it predicts: xpos or upos
    tags        the tags by number
    dictionary  the tags that words may have
    templates   the templates of its features
    weights     int32[2 ** bits + tags]
    history     one record per epoch
    """

    def __init__(
        self,
        column: str,
        tags: list[str],
        dictionary: Dictionary,
        templates: tuple[str, ...],
        weights: np.ndarray,
        history: list[dict],
    ):
        self.column, self.tags, self.dictionary, self.templates = column, tags, dictionary, templates
        self.weights, self.history = weights, history
        self.compiled = compile_templates(templates)
        self.mask = len(weights) - len(tags) - 1

    def tag(self, treebank: Treebank) -> np.ndarray:
        """int32[W]: the number of every word's tag in the best sequence of its sentence."""
        rows, starts, group = word_table(treebank, self.dictionary)
        return tag_sentences(
            self.compiled,
            rows,
            starts,
            treebank.offsets,
            group,
            self.dictionary.candidates,
            self.weights,
            self.mask,
            len(self.tags),
        )

    def apply(self, treebank: Treebank) -> Treebank:
        """The treebank with predicted tags in the tagger's column."""
        return with_tags(treebank, self.column, self.tags, self.tag(treebank))

    def save(self, path: str | Path) -> None:
        """Write one file, atomically."""
        header = {
            "kind": "tagger",
            "version": VERSION,
            "column": self.column,
            "tags": self.tags,
            "templates": self.templates,
            "forms": self.dictionary.forms,
            "seen": self.dictionary.seen,
            "lists": self.dictionary.lists,
            "history": self.history,
        }
        save_arrays(path, header, {"weights": self.weights})

    @classmethod
    def load(cls, path: str | Path) -> Tagger:
        """Read what `save` wrote. ModelError for anything else."""
        header, arrays = load_arrays(path, "tagger", VERSION, HEADER, layouts)
        try:
            lists = [tuple(listed) for listed in header["lists"]]
            dictionary = Dictionary(header["forms"], lists, header["seen"])
            templates = tuple(header["templates"])
            return cls(header["column"], header["tags"], dictionary, templates, arrays["weights"], header["history"])
        except ValueError as error:  # of a template
            raise ModelError(f"damaged tagger file ({error})", path=path, hint="train it again") from None


def with_tags(treebank: Treebank, column: str, tags: list[str], ids: np.ndarray) -> Treebank:
    """The treebank with tags[ids] in a column."""
    columns = treebank.columns | {column: ids.astype(INDEX)}
    return replace(treebank, columns=columns, vocab=treebank.vocab | {column: Vocabulary(tags)})
