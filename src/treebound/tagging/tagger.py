"""A trained tagger: integer weights, tags and a dictionary in one file without pickle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from treebound.core.dtypes import INDEX
from treebound.core.errors import ModelError
from treebound.core.treebank import Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.kernels.sequence import tag_sentences
from treebound.learning.storage import load_arrays, save_arrays
from treebound.tagging.templates import compile_templates
from treebound.tagging.words import Dictionary, word_table

VERSION = 1


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
        header, arrays = load_arrays(path, "tagger", VERSION)
        try:
            weights, tags = arrays["weights"], list(header["tags"])
            lists = [tuple(tag for tag in listed) for listed in header["lists"]]
            size = len(weights) - len(tags)
            if weights.dtype != np.int32 or weights.ndim != 1 or size < 1 or size & (size - 1):
                raise ValueError("weight table of another shape")
            if not all(listed and 0 <= min(listed) <= max(listed) < len(tags) for listed in lists):
                raise ValueError("tags out of range")
            if not lists or not all(0 <= i < len(lists) for i in header["forms"].values()):
                raise ValueError("dictionary out of range")
            dictionary = Dictionary(dict(header["forms"]), lists, dict(header["seen"]))
            return cls(header["column"], tags, dictionary, tuple(header["templates"]), weights, header["history"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(f"damaged tagger file ({error})", path=path, hint="train it again") from None


def with_tags(treebank: Treebank, column: str, tags: list[str], ids: np.ndarray) -> Treebank:
    """The treebank with tags[ids] in a column."""
    columns = treebank.columns | {column: ids.astype(INDEX)}
    return replace(treebank, columns=columns, vocab=treebank.vocab | {column: Vocabulary(tags)})
