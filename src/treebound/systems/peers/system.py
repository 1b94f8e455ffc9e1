"""Parsers of others as systems: what their package wrote, in a file of ours with the conventions of the treebank."""

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
from treebound.learning.conventions import Conventions, conventions, meta_of, under
from treebound.learning.loop import Progress
from treebound.learning.storage import Format, Header, Layout
from treebound.learning.system import Labelled, Naming
from treebound.systems.peers.peer import Peer, Tree
from treebound.systems.peers.registry import PEERS
from treebound.systems.peers.settings import Settings


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class PeerHeader(Header):
    """What stands beside what the package wrote."""

    key: str
    spec: Settings
    meta: Conventions


@dataclass(frozen=True)
class Model:
    """What a package wrote, whatever it is."""

    kind: str
    spec: Settings
    content: bytes
    meta: dict
    key: str

    def save(self, path: Path) -> None:
        """Write one file, atomically."""
        fields = {"key": self.key, "spec": self.spec.as_dict(), "meta": self.meta}
        _format(self.kind).save(path, fields, {"content": np.frombuffer(self.content, np.uint8)})


def _format(kind: str) -> Format[PeerHeader]:
    return Format(kind, 1, PeerHeader, lambda _: {"content": Layout(np.uint8)})


class Parser(Naming):
    """A loaded package. Trees are as it finds them: it gives no score, and proves nothing."""

    names: Vocabulary

    def __init__(self, model: Model, parse: Callable[[Treebank], list[Tree]]):
        self.model, self._parse, self.names = model, parse, Vocabulary(["_"])
        self.reads = tuple(dict.fromkeys((str(model.meta["tag"]), str(model.meta["coarse"]))))

    def parse(
        self, treebank: Treebank, workers: int = 1, progress: Progress | None = None, scheduler: str | None = None
    ) -> list[Parse]:
        """By one thread, whatever the number of workers."""
        own = under(self.model.meta, treebank)
        own.meta["single_root"] = self.model.meta["single_root"]
        return [self._named(tree) for tree in self._parse(own)]

    def _named(self, tree: Tree) -> Parse:
        heads, labels = tree
        numbers = np.array([-1, *(self.names.add(label) for label in labels)], np.int32)
        return Parse(heads, math.nan, math.inf, "heuristic", labels=numbers)


class Peers(Labelled):
    """`treebound.core.system.System` of one package."""

    settings = Settings

    def __init__(self, name: str):
        self.name = name
        self.peer: Peer = PEERS[name]

    def key(self, settings: Settings, train: Treebank, dev: Treebank) -> str:
        """Of settings and treebanks."""
        return key_of(settings.as_dict(), (train, dev), self.name.encode())

    def train(self, settings: Settings, train: Treebank, dev: Treebank, **how: Any) -> Model:
        """By the package, which tells nothing meanwhile."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model")
            self.peer.train(train, dev, path, seed=settings.seed, **settings.numbers())
            key, meta = self.key(settings, train, dev), conventions(meta_of(train))
            return Model(self.name, settings, path.read_bytes(), meta, key)

    def load(self, path: Path) -> Model:
        """Read a model file."""
        header, arrays = _format(self.name).load(path)
        meta = header.meta.as_meta()
        return Model(self.name, header.spec, arrays["content"].tobytes(), meta, header.key)

    def finder(self, model: Model) -> Parser:
        """The package with what it wrote."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model")
            path.write_bytes(model.content)
            return Parser(model, self.peer.load(path))
