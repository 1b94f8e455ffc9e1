"""What a peer is."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from treebound.core.treebank import Treebank
from treebound.support.extras import needs

#: int32[n + 1] heads (with -1 for the root itself) and n labels of one sentence
Tree = tuple[np.ndarray, list[str]]


class Peer(Protocol):
    """A parser of others.

    package  what has to be installed
    module   what is imported
    notes    what tables say about it: what it sees, which trees it builds
    """

    package: str
    module: str
    notes: str

    def train(self, train: Treebank, dev: Treebank, path: Path, *, seed: int, **settings: Any) -> None:
        """Train with its usual settings but for `settings`, on one thread, and write a model file."""

    def load(self, path: Path) -> Callable[[Treebank], list[Tree]]:
        """A parser from a model file, which sees forms and tags and nothing else of a treebank."""


def package(peer: Peer) -> Any:
    """The module of an installed peer. InputError says how to get a missing one."""
    with needs("peers"):
        return import_module(peer.module)


def single_rooted(heads: np.ndarray, single_root: bool) -> np.ndarray:
    """Heads in which every root but the first hangs on the first, where a corpus allows one only; in place.

    Also words without a head, which some parsers leave.
    """
    roots = np.flatnonzero(heads[1:] <= 0) + 1
    if len(roots):
        heads[roots] = roots[0] if single_root else 0
        heads[roots[0]] = 0
    return heads
