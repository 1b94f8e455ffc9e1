"""The interface of a peer, a parser of another project, and helpers for its trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from treebound.core.treebank import Treebank
from treebound.support.extras import needs
from treebound.support.settings import SettingError

#: int32[n + 1] heads (with -1 for the root itself) and n labels of one sentence
Tree = tuple[np.ndarray, list[str]]


class Peer(Protocol):
    """A parser of another project.

    package  name of the distribution to install
    module   name of the module to import
    notes    description for tables: the columns that the parser reads and the trees that it builds
    """

    package: str
    module: str
    notes: str

    def train(self, train: Treebank, dev: Treebank, path: Path, *, seed: int, **settings: Any) -> None:
        """Train with the package's usual settings, overridden by `settings`, on one thread, and write a model file."""

    def load(self, path: Path) -> Callable[[Treebank], list[Tree]]:
        """Read a model file and return a function that parses treebanks by their forms and tags alone.

        The label of the root's dependents is `root_label` of the training treebank, if the package can store it.
        """


def package(peer: Peer) -> Any:
    """Return the module of an installed peer. InputError says how to install a missing package."""
    with needs("peers"):
        return import_module(peer.module)


def check_names(settings: Iterable[str], valid: Iterable[str]) -> None:
    """Raise SettingError if a setting is not in `valid`: the packages would train without it and report nothing."""
    if unknown := [name for name in settings if name not in valid]:
        raise SettingError("options", f"unknown setting {unknown[0]!r}", f"choose from {', '.join(valid)}")


def root_label(treebank: Treebank) -> str:
    """Return the most frequent label of the root's dependents. Packages write a label of their own in its place."""
    counts = np.bincount(treebank.columns["deprel"][treebank.head == 0], minlength=1)
    return treebank.vocab["deprel"][int(counts.argmax())]


def single_rooted(heads: np.ndarray, single_root: bool) -> np.ndarray:
    """Attach all other roots to the first root if the corpus demands a single root; return the heads, changed in place.

    Words to which the parser gave no head count as roots. Without `single_root`, all roots are attached to 0.
    """
    roots = np.flatnonzero(heads[1:] <= 0) + 1
    if len(roots):
        heads[roots] = roots[0] if single_root else 0
        heads[roots[0]] = 0
    return heads
