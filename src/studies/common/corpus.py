"""Load the converted corpora for the stages, with the tags that the parsers see."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from studies.common import stage
from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.treebanks import storage

SPLITS = ("train", "dev", "test")
TAGGED = stage.DATA / "tagged"  #: has <corpus>/tags.json and, for predicted tags, {train,dev,test}.npz


def gold(corpus: str, split: str, limit: int | None = None) -> Treebank:
    """Load a split of a converted corpus with gold tags, or its first `limit` sentences.

    Raises InputError if the split is missing or damaged.
    """
    full = storage.load(stage.CONVERTED / corpus / f"{split}.npz")
    return full if limit is None or limit >= len(full) else full.select(np.arange(limit))


def load(corpus: str, split: str, limit: int | None = None, tags: str = "") -> Treebank:
    """Load a split with the tags that the parsers of the corpus see, or with the kind of tags in `tags`.

    tags  "gold" or "predicted"; empty: the tags that `tags_of` returns for the corpus

    Gold tags always decide what is punctuation. Raises InputError if predicted tags are needed and missing.
    """
    truth = gold(corpus, split, limit)
    return _predicted(truth, corpus, split) if (tags or tags_of(corpus)) == "predicted" else truth


def tags_of(corpus: str) -> str:
    """Return "gold" or "predicted": the tags that the parsers of a corpus see, as the stage `tagger` recorded.

    Raises InputError if the record is missing.
    """
    path = TAGGED / corpus / "tags.json"
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["tags"])
    except (OSError, ValueError, KeyError):
        hint = f"run: python -m studies.pipeline.tagger {corpus}"
        raise InputError("the file does not say which tags the parsers see", path=path, hint=hint) from None


def _predicted(truth: Treebank, corpus: str, split: str) -> Treebank:
    """Replace the tags of a split by predicted ones, and keep the gold tags that decide what is punctuation."""
    path = TAGGED / corpus / f"{split}.npz"
    tagged = storage.load(path)
    if len(tagged) < len(truth) or (tagged.offsets[: len(truth) + 1] != truth.offsets).any():
        raise InputError("sentences differ from those in the corpus", path=path, hint="run the stage tagger again")
    tagged = tagged.select(np.arange(len(truth)))
    rule = truth.meta["punctuation"]
    column = f"gold {rule['column']}"
    return replace(
        truth,
        columns=tagged.columns | {column: truth.columns[rule["column"]]},
        vocab=tagged.vocab | {column: truth.vocab[rule["column"]]},
        meta=truth.meta | {"punctuation": rule | {"column": column}},
    )


def evenly(treebank: Treebank, count: int) -> list[int]:
    """Return the indices of `count` evenly spaced sentences, or of all sentences if there are fewer."""
    count = min(count, len(treebank))
    return [i * len(treebank) // count for i in range(count)]


def checksum(corpus: str, split: str) -> str:
    """Return the sha256 checksum of the CoNLL-U file of a split, from which metrics are computed."""
    return stage.sha256(stage.CONVERTED / corpus / f"{split}.conllu")
