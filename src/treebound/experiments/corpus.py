"""The converted corpora as the stages read them."""

from __future__ import annotations

import numpy as np

from treebound.core.treebank import Treebank
from treebound.experiments import stage
from treebound.treebanks import storage


def load(corpus: str, split: str, limit: int | None = None) -> Treebank:
    """A split of a converted corpus, or its first `limit` sentences. Raises InputError if it is missing or damaged."""
    full = storage.load(stage.CONVERTED / corpus / f"{split}.npz")
    return full if limit is None or limit >= len(full) else full.select(np.arange(limit))


def checksum(corpus: str, split: str) -> str:
    """sha256 of the split's CoNLL-U file: what a metrics file was computed from."""
    return stage.sha256(stage.CONVERTED / corpus / f"{split}.conllu")
