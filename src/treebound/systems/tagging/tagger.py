"""A trained tagger: integer weights, tags and a dictionary, stored in one file without pickle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked

from treebound.core.dtypes import INDEX
from treebound.core.errors import ModelError
from treebound.core.treebank import Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.learning.storage import Format, Header, History, Layout, Names, tables
from treebound.systems.tagging.lemmas import apply, parts
from treebound.systems.tagging.sequence import Table, tag_sentences
from treebound.systems.tagging.templates import compile_templates
from treebound.systems.tagging.words import Dictionary, alone, word_table

#: largest number of candidate tags of a word, because the search stores their indices in 16 bits
MOST_CANDIDATES = 1 << 15
Number = Annotated[int, Field(ge=0)]
Column = Literal["upos", "xpos", "feats", "lemma"]


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class Description:
    """The description of a tagger in a model file: everything except its weights.

    column          the column that the tagger predicts
    forms           frequent form -> number of its list of candidate tags
    seen            form of the training treebank -> number of the list of its tags
    lists           the lists of tags, as numbers of `tags`
    tag_column      column whose tags the tagger reads, or ""
    edits           whether the tags are edits that make lemmas
    lists_of_given  tag of `tag_column` -> number of the list for infrequent forms with this tag
    """

    column: Column
    tags: Annotated[Names, Field(min_length=1)]
    templates: tuple[str, ...]
    forms: dict[str, Number]
    seen: dict[str, Number]
    lists: Annotated[
        list[Annotated[list[Number], Field(min_length=1, max_length=MOST_CANDIDATES)]], Field(min_length=1)
    ]
    history: History
    tag_column: Column | Literal[""] = Field("", alias="given")
    edits: bool = False
    lists_of_given: dict[str, Number] = Field(default_factory=dict)

    def __post_init__(self) -> None:
        if any(sorted(set(listed)) != listed or listed[-1] >= len(self.tags) for listed in self.lists):
            raise ValueError("lists: tags out of range")
        if any(
            max(numbers.values(), default=0) >= len(self.lists)
            for numbers in (self.forms, self.seen, self.lists_of_given)
        ):
            raise ValueError("forms, seen: lists out of range")
        for tag in self.tags if self.edits else ():
            parts(tag)

    @property
    def layout(self) -> Layout:
        """The layout of the array of weights."""
        return Layout(np.int32, tables(0, 28, beyond=len(self.tags)))


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class TaggerHeader(Header, Description):
    """The header of a file with one tagger."""


FORMAT = Format("tagger", 1, TaggerHeader, lambda header: {"weights": header.layout}, sparse=("weights",))


class Tagger:
    """A trained tagger. Its weights are integers, so that every score is an exact integer sum.

    column      the column that the tagger predicts;
    tags        names of the tags; numbers are positions in this list;
    dictionary  the candidate tags of words;
    templates   the templates of its features;
    weights     int32[2 ** bits + tags];
    history     one record per epoch;
    tag_column  a column whose tags the tagger reads, or "". With such a column, it tags words one by one. Otherwise it
                searches for the best tag sequence, in time that is cubic in the number of tags of a word;
    edits       whether the tags are edits that make lemmas (`tagging.lemmas`);
    unit        margin of the training for each wrong tag, in units of the weights; 1.0 if it is unknown, as for a
                tagger from a file.
    """

    unit = 1.0

    def __init__(
        self,
        column: str,
        tags: list[str],
        dictionary: Dictionary,
        templates: tuple[str, ...],
        weights: np.ndarray,
        history: list[dict],
        source: str = "",
        edits: bool = False,
    ):
        self.tag_column, self.edits = source, edits
        self.column, self.tags, self.dictionary, self.templates = column, tags, dictionary, templates
        self.weights, self.history = weights, history
        self.compiled = compile_templates(templates)
        self.mask = len(weights) - len(tags) - 1

    def tag(self, treebank: Treebank) -> np.ndarray:
        """Return int32[W], the number of every word's tag in the best tag sequence of its sentence."""
        rows, starts, group = word_table(treebank, self.dictionary, self.tag_column)
        offsets = treebank.offsets
        if self.tag_column:
            starts, offsets = alone(starts, treebank)
        table = Table(self.weights, self.mask, len(self.tags))
        return tag_sentences(self.compiled, rows, starts, offsets, group, self.dictionary.candidates, table)

    def apply(self, treebank: Treebank) -> Treebank:
        """Return the treebank with predicted tags in the tagger's column."""
        ids_of_tags = self.tag(treebank)
        if not self.edits:
            return with_tags(treebank, self.column, self.tags, ids_of_tags)
        edited: dict[tuple[int, int], int] = {}
        pairs = list(zip(treebank.columns["form"].tolist(), ids_of_tags.tolist(), strict=True))
        pair_ids = np.array([edited.setdefault(pair, len(edited)) for pair in pairs], INDEX)
        forms = treebank.vocab["form"].strings
        lemmas = [apply(forms[form], self.tags[tag]) for form, tag in edited]
        number = {lemma: i for i, lemma in enumerate(dict.fromkeys(lemmas))}
        return with_tags(treebank, self.column, list(number), np.array([number[s] for s in lemmas], INDEX)[pair_ids])

    def save(self, path: str | Path) -> None:
        """Write the tagger to one file, atomically."""
        FORMAT.save(path, self.header(), {"weights": self.weights})

    def header(self) -> dict[str, Any]:
        """Return the description of the tagger as JSON values: everything except the weights."""
        header: dict[str, Any] = {
            "column": self.column,
            "tags": self.tags,
            "templates": self.templates,
            "forms": self.dictionary.forms,
            "seen": self.dictionary.seen,
            "lists": self.dictionary.lists,
            "history": self.history,
        }
        if self.tag_column:
            header |= {"given": self.tag_column, "edits": self.edits, "lists_of_given": self.dictionary.lists_by_tag}
        return header

    @classmethod
    def load(cls, path: str | Path) -> Tagger:
        """Read a file that `save` wrote. ModelError for any other file."""
        header, arrays = FORMAT.load(path)
        return cls.restored(header, arrays["weights"], path)

    @classmethod
    def restored(cls, header: Description, weights: np.ndarray, path: str | Path) -> Tagger:
        """Return the tagger of a checked header and its weights. ModelError for invalid templates."""
        try:
            lists = [tuple(listed) for listed in header.lists]
            options = header.tag_column, header.edits
            dictionary = Dictionary(header.forms, lists, header.seen, header.lists_of_given)
            tags, history = list(header.tags), header.history
            return cls(header.column, tags, dictionary, header.templates, weights, history, *options)
        except ValueError as error:
            raise ModelError(f"damaged tagger file ({error})", path=path, hint="train it again") from None


def with_tags(treebank: Treebank, column: str, tags: list[str], ids: np.ndarray) -> Treebank:
    """Return the treebank with tags[ids] in a column."""
    columns = treebank.columns | {column: ids.astype(INDEX)}
    return replace(treebank, columns=columns, vocab=treebank.vocab | {column: Vocabulary(tags)})
