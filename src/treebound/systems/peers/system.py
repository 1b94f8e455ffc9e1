"""Peers as systems: the package's model is stored in a file of treebound, with the conventions of its treebank."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as checked

from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.learning.checkpoint import key_of
from treebound.learning.conventions import Conventions, conventions, training_meta, under
from treebound.learning.loop import Progress
from treebound.learning.storage import Format, Header, Layout
from treebound.learning.system import Labelled, Naming
from treebound.systems.peers.peer import Peer, Tree
from treebound.systems.peers.registry import PEERS
from treebound.systems.peers.settings import Settings


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class PeerHeader(Header):
    """Header of a peer's model file, which also holds the bytes that the package wrote."""

    key: str
    spec: Settings
    meta: Conventions


@dataclass(frozen=True)
class Model:
    """A trained model of a peer: the bytes that its package wrote, with settings and conventions."""

    kind: str
    spec: Settings
    content: bytes
    meta: dict
    key: str

    def save(self, path: Path) -> None:
        """Write the model to one file, atomically."""
        fields = {"key": self.key, "spec": self.spec.as_dict(), "meta": self.meta}
        _format(self.kind).save(path, fields, {"content": np.frombuffer(self.content, np.uint8)})


def _format(kind: str) -> Format[PeerHeader]:
    """Return the file format of a peer's models."""
    return Format(kind, 1, PeerHeader, lambda _: {"content": Layout(np.uint8)})


class Parser(Naming):
    """A loaded peer. Its parses have no score and no proof: value NaN, bound infinity, status `heuristic`."""

    names: Vocabulary

    def __init__(self, model: Model, parse: Callable[[Treebank], list[Tree]]):
        self.model, self._parse, self.names = model, parse, Vocabulary(["_"])
        self.reads = tuple(dict.fromkeys((str(model.meta["tag"]), str(model.meta["coarse"]))))

    def parse(
        self, treebank: Treebank, workers: int = 1, progress: Progress | None = None, scheduler: str | None = None
    ) -> list[Parse]:
        """Parse all sentences on one thread, whatever the number of workers."""
        input_treebank = under(self.model.meta, treebank)
        input_treebank.meta["single_root"] = self.model.meta["single_root"]
        return [self._named(tree) for tree in self._parse(input_treebank)]

    def _named(self, tree: Tree) -> Parse:
        """Return a tree as a Parse whose labels are indices of `names`."""
        heads, labels = tree
        numbers = np.array([-1, *(self.names.add(label) for label in labels)], np.int32)
        return Parse(heads, math.nan, math.inf, "heuristic", labels=numbers)


class Peers(Labelled):
    """Adapter that makes one peer a system (`treebound.core.system.System`)."""

    settings = Settings

    def __init__(self, name: str):
        self.name = name
        self.peer: Peer = PEERS[name]

    def key(self, settings: Settings, train: Treebank, dev: Treebank) -> str:
        """Return the key that identifies a training run: a digest of settings, both treebanks and the peer's name."""
        return key_of(settings.as_dict(), (train, dev), self.name.encode())

    def train(self, settings: Settings, train: Treebank, dev: Treebank, **options: Any) -> Model:
        """Train the peer with its own package, which reports no progress, and return its model."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model")
            self.peer.train(train, dev, path, seed=settings.seed, **settings.numbers())
            key, meta = self.key(settings, train, dev), conventions(training_meta(train))
            return Model(self.name, settings, path.read_bytes(), meta, key)

    def load(self, path: Path) -> Model:
        """Read a model file that `Model.save` wrote."""
        header, arrays = _format(self.name).load(path)
        meta = header.meta.as_meta()
        return Model(self.name, header.spec, arrays["content"].tobytes(), meta, header.key)

    def parser_class(self, model: Model) -> Parser:
        """Return the parser of a model: the package loads the bytes that it wrote in training."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model")
            path.write_bytes(model.content)
            return Parser(model, self.peer.load(path))
