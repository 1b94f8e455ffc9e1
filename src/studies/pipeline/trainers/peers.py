"""Train and apply parsers of other projects, on the same splits and tags as our own parser.

The time is measured from treebank columns to heads, which includes filling the data structures of the package.
"""

from __future__ import annotations

import os
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from studies.common.corpus import load as load_split
from studies.common.params import Params, Row, digest
from studies.pipeline.trainers import Loaded, Trees
from studies.pipeline.trainers.learn import splits
from treebound.core.treebank import Treebank
from treebound.metrics.timing import Stopwatch
from treebound.systems.peers.peer import Tree, root_label
from treebound.systems.peers.registry import PEERS

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS"):
    os.environ[variable] = "1"  # the variable must be set before a package is imported


def train(params: Params, corpus: str, name: str, path: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """Train a parser of another project, see `Trainer`."""
    model = params.models[name]
    peer, (_, seed) = PEERS[model.system], params.tags_and_seed(corpus, model)
    examples, dev = splits(params, corpus, name)
    with Stopwatch() as watch:
        peer.train(examples, dev, path, seed=seed, **model.settings)
    description = {"package": peer.package, "version": metadata.version(peer.package)}
    return description, {"cpu_s": watch.cpu, "wall_s": watch.wall}


def load(params: Params, corpus: str, row: Row, path: Path) -> Loaded:
    """Load a parser of another project, see `Trainer`.

    UDPipe writes its own label for dependents of the root. All dependents of the root therefore get one label, the most
    frequent label of the root's dependents in the training set.
    """
    peer, (tags, _) = PEERS[row.system], params.tags_and_seed(corpus, row)
    examples = load_split(corpus, "train", params.limit("train"), tags)
    facts = {"package": peer.package, "version": metadata.version(peer.package), "notes": peer.notes}
    facts |= {"params_hash": digest(row.system, params.models[row.trained].settings)}
    return Loaded(peer.load(path), partial(reported, examples, facts), lambda _: {})


def reported(training: Treebank, facts: dict[str, Any], gold: Treebank, trees: list[Tree]) -> Trees:
    """Return the trees with one label for all dependents of the root: their most frequent label in training."""
    root = root_label(training)
    labels = [
        [label if head else root for head, label in zip(heads[1:], labels, strict=True)] for heads, labels in trees
    ]
    return Trees([heads for heads, _ in trees], labels, facts=facts)
