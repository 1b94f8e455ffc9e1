"""The converted corpora as the stages read them, with the tags that parsers are to see."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from studies.common import stage
from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.treebanks import storage

SPLITS = ("train", "dev", "test")
TAGGED = stage.DATA / "tagged"  #: <corpus>/tags.json, and {train,dev,test}.npz where the tags are predicted


def gold(corpus: str, split: str, limit: int | None = None) -> Treebank:
    """A split of a converted corpus, or its first `limit` sentences. Raises InputError if it is missing or damaged."""
    full = storage.load(stage.CONVERTED / corpus / f"{split}.npz")
    return full if limit is None or limit >= len(full) else full.select(np.arange(limit))


def load(corpus: str, split: str, limit: int | None = None, tags: str = "") -> Treebank:
    """As `gold`, but with predicted tags where those are what the parsers of the corpus see, or `tags` says so.

    What is punctuation remains a matter of gold tags. Raises InputError if the tags have not been predicted.
    """
    truth = gold(corpus, split, limit)
    return _predicted(truth, corpus, split) if (tags or tags_of(corpus)) == "predicted" else truth


def tags_of(corpus: str) -> str:
    """ "gold" or "predicted": what the parsers of the corpus see, as the tagger's stage wrote it down."""
    path = TAGGED / corpus / "tags.json"
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["tags"])
    except (OSError, ValueError, KeyError):
        hint = f"run: python -m studies.pipeline.tagger {corpus}"
        raise InputError("does not say which tags the parsers see", path=path, hint=hint) from None


def _predicted(truth: Treebank, corpus: str, split: str) -> Treebank:
    path = TAGGED / corpus / f"{split}.npz"
    tagged = storage.load(path)
    if len(tagged) < len(truth) or (tagged.offsets[: len(truth) + 1] != truth.offsets).any():
        raise InputError("holds other sentences than the corpus", path=path, hint="run the tagger's stage again")
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
    """Numbers of so many of its sentences, evenly spaced; of all where there are fewer."""
    count = min(count, len(treebank))
    return [i * len(treebank) // count for i in range(count)]


def checksum(corpus: str, split: str) -> str:
    """sha256 of the split's CoNLL-U file: what a metrics file was computed from."""
    return stage.sha256(stage.CONVERTED / corpus / f"{split}.conllu")
