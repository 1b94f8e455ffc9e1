"""Training of parsers of others, on the same splits and tags as ours."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any

from treebound.evaluation.timing import Stopwatch
from treebound.experiments.corpus import load
from treebound.experiments.params import Params, Row
from treebound.systems.peers.registry import PEERS


def train(params: Params, corpus: str, row: Row, path: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """Write the model of a peer."""
    peer, (tags, seed) = PEERS[row.system], params.tags_and_seed(corpus, row)
    examples, dev = (load(corpus, split, params.limit(split), tags) for split in ("train", "dev"))
    with Stopwatch() as watch:
        peer.train(examples, dev, path, seed=seed, **params.peer_settings.get(row.system, {}))
    about = {"package": peer.package, "version": metadata.version(peer.package)}
    return about, {"cpu_s": watch.cpu, "wall_s": watch.wall}
