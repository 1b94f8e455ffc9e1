"""Parsers of others, on the same tags as ours.

Timed from treebank columns to heads, which includes filling the package's own data structures.
"""

from __future__ import annotations

import os
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from treebound.core.treebank import Treebank
from treebound.experiments.corpus import load as load_split
from treebound.experiments.params import Params, Row, digest
from treebound.experiments.rooms import Loaded, Trees
from treebound.systems.peers.peer import Tree
from treebound.systems.peers.registry import PEERS

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS"):
    os.environ[variable] = "1"  # before a package is imported


def load(params: Params, corpus: str, row: Row, path: Path) -> Loaded:
    """A peer; roots get the label that they have in training, which packages name in their way."""
    peer, (tags, _) = PEERS[row.system], params.tags_and_seed(corpus, row)
    examples = load_split(corpus, "train", params.limit("train"), tags)
    facts = {"package": peer.package, "version": metadata.version(peer.package), "notes": peer.notes}
    facts |= {"params_hash": digest(row.system, params.peer_settings.get(row.system, {}))}
    return Loaded(peer.load(path), partial(reported, examples, facts), lambda _: {})


def reported(train: Treebank, facts: dict[str, Any], gold: Treebank, found: list[Tree]) -> Trees:
    """The trees with the label that most roots of training have on their roots."""
    counts = np.bincount(train.columns["deprel"][train.head == 0], minlength=1)
    root = train.vocab["deprel"][int(counts.argmax())]
    labels = [
        [label if head else root for head, label in zip(heads[1:], labels, strict=True)] for heads, labels in found
    ]
    return Trees([heads for heads, _ in found], labels, facts=facts)
