"""A trained tagger: integer weights, tags and a dictionary in one file without pickle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from treebound.core.dtypes import INDEX
from treebound.core.errors import ModelError
from treebound.core.treebank import STRING_COLUMNS, Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.kernels.sequence import tag_sentences
from treebound.learning.storage import load_arrays, save_arrays
from treebound.tagging.lemmas import apply, parts
from treebound.tagging.templates import compile_templates
from treebound.tagging.words import Dictionary, alone, word_table

VERSION = 1


class Tagger:
    """Weights as integers: every score is an exact integer sum.

    column      what it predicts
    tags        the tags by number
    dictionary  the tags that words may have
    templates   the templates of its features
    weights     int32[2 ** bits + tags]
    history     one record per epoch
    given       a column whose tags it is given, or none. Given one, it looks at words one by one, and their tags may be
                many: the best sequence of them is searched for in the cube of their number
    edits       its tags are edits that make lemmas (`tagging.lemmas`)
    """

    def __init__(
        self,
        column: str,
        tags: list[str],
        dictionary: Dictionary,
        templates: tuple[str, ...],
        weights: np.ndarray,
        history: list[dict],
        given: str = "",
        edits: bool = False,
    ):
        self.given, self.edits = given, edits
        self.column, self.tags, self.dictionary, self.templates = column, tags, dictionary, templates
        self.weights, self.history = weights, history
        self.compiled = compile_templates(templates)
        self.mask = len(weights) - len(tags) - 1

    def tag(self, treebank: Treebank) -> np.ndarray:
        """int32[W]: the number of every word's tag in the best sequence of its sentence."""
        rows, starts, group = word_table(treebank, self.dictionary, self.given)
        offsets = treebank.offsets
        if self.given:
            starts, offsets = alone(starts, treebank)
        return tag_sentences(
            self.compiled,
            rows,
            starts,
            offsets,
            group,
            self.dictionary.candidates,
            self.weights,
            self.mask,
            len(self.tags),
        )

    def apply(self, treebank: Treebank) -> Treebank:
        """The treebank with predicted tags in the tagger's column."""
        found = self.tag(treebank)
        if not self.edits:
            return with_tags(treebank, self.column, self.tags, found)
        made: dict[tuple[int, int], int] = {}
        pairs = list(zip(treebank.columns["form"].tolist(), found.tolist(), strict=True))
        ids = np.array([made.setdefault(pair, len(made)) for pair in pairs], INDEX)
        forms = treebank.vocab["form"].strings
        lemmas = [apply(forms[form], self.tags[tag]) for form, tag in made]
        number = {lemma: i for i, lemma in enumerate(dict.fromkeys(lemmas))}
        return with_tags(treebank, self.column, list(number), np.array([number[s] for s in lemmas], INDEX)[ids])

    def save(self, path: str | Path) -> None:
        """Write one file, atomically."""
        save_arrays(path, {"kind": "tagger", "version": VERSION, **self.header()}, {"weights": self.weights})

    def header(self) -> dict[str, Any]:
        """All but the weights, as JSON values."""
        header: dict[str, Any] = {
            "column": self.column,
            "tags": self.tags,
            "templates": self.templates,
            "forms": self.dictionary.forms,
            "seen": self.dictionary.seen,
            "lists": self.dictionary.lists,
            "history": self.history,
        }
        if self.given:
            header |= {"given": self.given, "edits": self.edits, "lists_of_given": self.dictionary.given}
        return header

    @classmethod
    def load(cls, path: str | Path) -> Tagger:
        """Read what `save` wrote. ModelError for anything else."""
        header, arrays = load_arrays(path, "tagger", VERSION)
        return cls.restored(header, arrays.get("weights"), path)

    @classmethod
    def restored(cls, header: dict[str, Any], weights: np.ndarray | None, path: str | Path) -> Tagger:
        """From `header` and the weights. ModelError where they are damaged."""
        try:
            if weights is None:
                raise KeyError("weights")
            tags = list(header["tags"])
            lists = [tuple(tag for tag in listed) for listed in header["lists"]]
            size = len(weights) - len(tags)
            if weights.dtype != np.int32 or weights.ndim != 1 or size < 1 or size & (size - 1):
                raise ValueError("weight table of another shape")
            if not all(listed and 0 <= min(listed) <= max(listed) < len(tags) for listed in lists):
                raise ValueError("tags out of range")
            given, of_given = header.get("given", ""), dict(header.get("lists_of_given", {}))
            if not lists or not all(0 <= i < len(lists) for i in (*header["forms"].values(), *of_given.values())):
                raise ValueError("dictionary out of range")
            if header["column"] not in STRING_COLUMNS or given not in ("", *STRING_COLUMNS):
                raise ValueError("unknown column")
            for tag in tags if header.get("edits") else ():
                parts(tag)
            dictionary = Dictionary(dict(header["forms"]), lists, dict(header["seen"]), of_given)
            templates, history, edits = tuple(header["templates"]), header["history"], bool(header.get("edits"))
            return cls(header["column"], tags, dictionary, templates, weights, history, given, edits)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(f"damaged tagger file ({error})", path=path, hint="train it again") from None


def with_tags(treebank: Treebank, column: str, tags: list[str], ids: np.ndarray) -> Treebank:
    """The treebank with tags[ids] in a column."""
    columns = treebank.columns | {column: ids.astype(INDEX)}
    return replace(treebank, columns=columns, vocab=treebank.vocab | {column: Vocabulary(tags)})
