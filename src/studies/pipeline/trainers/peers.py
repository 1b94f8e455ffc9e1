"""Parsers of others, on the same splits and tags as ours.

Timed from treebank columns to heads, which includes filling the package's own data structures.
"""

from __future__ import annotations

import os
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from studies.common.corpus import load as load_split
from studies.common.params import Params, Row, digest
from studies.pipeline.trainers import Loaded, Trees
from studies.pipeline.trainers.learn import splits
from treebound.core.treebank import Treebank
from treebound.metrics.timing import Stopwatch
from treebound.systems.peers.peer import Tree
from treebound.systems.peers.registry import PEERS

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS"):
    os.environ[variable] = "1"  # before a package is imported


def train(params: Params, corpus: str, name: str, path: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """See `Trainer`."""
    model = params.models[name]
    peer, (_, seed) = PEERS[model.system], params.tags_and_seed(corpus, model)
    examples, dev = splits(params, corpus, name)
    with Stopwatch() as watch:
        peer.train(examples, dev, path, seed=seed, **model.settings)
    about = {"package": peer.package, "version": metadata.version(peer.package)}
    return about, {"cpu_s": watch.cpu, "wall_s": watch.wall}


def load(params: Params, corpus: str, row: Row, path: Path) -> Loaded:
    """See `Trainer`; roots get the label that they have in training, which packages name in their way."""
    peer, (tags, _) = PEERS[row.system], params.tags_and_seed(corpus, row)
    examples = load_split(corpus, "train", params.limit("train"), tags)
    facts = {"package": peer.package, "version": metadata.version(peer.package), "notes": peer.notes}
    facts |= {"params_hash": digest(row.system, params.models[row.trained].settings)}
    return Loaded(peer.load(path), partial(reported, examples, facts), lambda _: {})


def reported(train: Treebank, facts: dict[str, Any], gold: Treebank, found: list[Tree]) -> Trees:
    """The trees with the label that most roots of training have on their roots."""
    counts = np.bincount(train.columns["deprel"][train.head == 0], minlength=1)
    root = train.vocab["deprel"][int(counts.argmax())]
    labels = [
        [label if head else root for head, label in zip(heads[1:], labels, strict=True)] for heads, labels in found
    ]
    return Trees([heads for heads, _ in found], labels, facts=facts)
