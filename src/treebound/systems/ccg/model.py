"""The trained CCG parser and its file format, which needs no pickle."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked

from treebound.core.errors import ModelError
from treebound.learning.conventions import Conventions
from treebound.learning.storage import Format, Header, History, Layout, Names
from treebound.systems.ccg.chain import Weights
from treebound.systems.ccg.grammar import Binary, Grammar, Stated
from treebound.systems.ccg.settings import Settings
from treebound.systems.ccg.supertagger import Dictionary, Supertagger
from treebound.systems.ccg.words import contexts, split, words_of_strings
from treebound.treebanks.ccg.categories import parse

KIND = "CCG model"
Number = Annotated[int, Field(ge=0)]
Side = Literal[0, 1]


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class CCGHeader(Header):
    """Header of a model file, which refers to categories by their index in `categories`.

    lexical          number of categories that words may have; they come first
    binary, unary    rules, as the fields of `grammar.Stated` hold them
    roots            categories that the root of a derivation may have
    counts           form -> number of occurrences in training
    by_form, by_tag  form or tag -> categories that its words may have
    left_out         reason -> number of training sentences that were not learnt from
    """

    key: str
    spec: Settings
    meta: Conventions
    categories: Annotated[Names, Field(min_length=1)]
    lexical: Annotated[int, Field(ge=1)]
    binary: tuple[tuple[Number, Number, Number, str, Side], ...]
    unary: tuple[tuple[Number, Number], ...]
    roots: tuple[Number, ...]
    templates: tuple[str, ...]
    counts: dict[str, Number]
    by_form: dict[str, list[Number]]
    by_tag: dict[str, list[Number]]
    history: History
    left_out: dict[str, Number]

    def __post_init__(self) -> None:
        for category in self.categories:
            parse(category)
        size = len(self.categories)
        if self.lexical > size or any(max(rule[:3]) >= size for rule in self.binary):
            raise ValueError("lexical, binary: numbers without a category")
        if any(max(rule) >= size for rule in self.unary) or max(self.roots, default=0) >= size:
            raise ValueError("unary, roots: numbers without a category")
        for listed in (*self.by_form.values(), *self.by_tag.values()):
            if not listed or sorted(set(listed)) != listed or listed[-1] >= self.lexical:
                raise ValueError("by_form, by_tag: categories out of range")
        if self.counts.keys() != self.by_form.keys():
            raise ValueError("counts: other forms than in by_form")
        contexts(words_of_strings([]), self.templates)

    @property
    def layouts(self) -> dict[str, Layout]:
        """Return the layouts of the weight arrays."""
        tags = self.lexical
        return {
            "parser": Layout(np.float32, {(1 << self.spec.chart_bits,)}),
            "table": Layout(np.float32, {((1 << self.spec.tag_bits) + tags,)}),
            "transition": Layout(np.float32, {((tags + 1) ** 2,)}),
        }


FORMAT = Format(KIND, 1, CCGHeader, lambda header: header.layouts)


@dataclass(frozen=True)
class CCGModel:
    """A trained CCG parser: a supertagger, a grammar and the parser's weights float32[2^bits].

    grammar   rules and categories seen in training; charts add further rules to a copy only (`made_grammar`)
    left_out  reason -> number of training sentences that were not learnt from
    """

    spec: Settings
    meta: dict[str, Any]
    tagger: Supertagger
    grammar: Stated
    weights: np.ndarray
    history: list[dict] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    key: str = ""

    @property
    def label_names(self) -> list[str]:
        """Return the lexical categories; parses refer to them by their index."""
        return self.tagger.categories

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the columns that the parser reads in addition to the forms."""
        return (self.meta["tag"],)

    def made_grammar(self) -> Grammar:
        """Return a new grammar, to which charts may add rules."""
        return Grammar(*self.grammar, productive=self.spec.rules == "all")

    def save(self, path: str | Path) -> None:
        """Write the model to one file, atomically."""
        dictionary, weights = self.tagger.dictionary, self.tagger.weights
        header: dict[str, Any] = {
            "key": self.key,
            "spec": self.spec.as_dict(),
            "meta": self.meta,
            "categories": self.grammar.categories,
            "lexical": len(self.tagger.categories),
            "binary": [list(rule) for rule in self.grammar.binary],
            "unary": self.grammar.unary,
            "roots": self.grammar.roots,
            "templates": self.tagger.templates,
            "counts": dictionary.counts,
            "by_form": dictionary.by_form,
            "by_tag": dictionary.by_tag,
            "history": self.history,
            "left_out": self.left_out,
        }
        table, transition = weights.table.astype(np.float32), weights.transition.astype(np.float32).reshape(-1)
        FORMAT.save(path, header, {"parser": self.weights, "table": table, "transition": transition})

    @classmethod
    def load(cls, path: str | Path) -> CCGModel:
        """Read a model file that `save` wrote. ModelError for any other file."""
        header, arrays = FORMAT.load(path)
        if split("; ".join(header.templates)) != header.templates:
            raise ModelError("damaged CCG model file (templates)", path=path, hint="train it again")
        lexical = list(header.categories[: header.lexical])
        dictionary = Dictionary(header.counts, header.by_form, header.by_tag, header.lexical)
        mask = (1 << header.spec.tag_bits) - 1
        transition = arrays["transition"].astype(np.float64).reshape(header.lexical + 1, header.lexical + 1)
        weights = Weights(arrays["table"].astype(np.float64), transition, mask)
        tagger = Supertagger(lexical, dictionary, weights, header.templates)
        binary = [Binary(*rule) for rule in header.binary]
        grammar = Stated(list(header.categories), binary, list(header.unary), list(header.roots))
        training = header.history, header.left_out, header.key
        return cls(header.spec, header.meta.as_meta(), tagger, grammar, arrays["parser"], *training)
