"""What a system must offer: something that is trained on a treebank and then annotates others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

from treebound.core.parse import Parse
from treebound.core.treebank import Treebank

Progress = Callable[[Iterable, str], Iterable]


class Model(Protocol):
    """What training gives."""

    def save(self, path: Path) -> None:
        """Write one file, atomically; the same model gives the same bytes."""


class Parser(Protocol):
    """A model that finds trees.

    reads  the columns beside forms that it looks at
    """

    @property
    def reads(self) -> tuple[str, ...]: ...

    def parse(
        self, treebank: Treebank, workers: int = 1, progress: Progress | None = None, scheduler: str | None = None
    ) -> list[Parse]:
        """One Parse a sentence, in order; the same for any number of workers. The value is nan where there is none."""

    def label_names(self, parse: Parse) -> list[str]:
        """The n labels of a parse; `_` where the model has none."""


class System(Protocol):
    """A system is a package under `treebound.systems` with one of these, and a line in `treebound.systems.registry`.

    settings    the frozen class of its settings, a `treebound.support.settings.Checked`
    trees       whether it learns trees; what does not is trained on treebanks without any as well
    attributes  whether it looks at more of words than forms and tags
    """

    @property
    def settings(self) -> type[Any]: ...
    @property
    def trees(self) -> bool: ...
    @property
    def attributes(self) -> bool: ...

    def fitted(self, settings: Any, train: Treebank) -> Any:
        """The settings as far as they fit a treebank. InputError where there is nothing to learn."""

    def key(self, settings: Any, train: Treebank, dev: Treebank) -> str:
        """Identifies what `train` would give, before it is trained and in its file; empty: nothing does."""

    def train(
        self,
        settings: Any,
        train: Treebank,
        dev: Treebank,
        *,
        checkpoint: Path | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """A `Model`: the same bytes for the same settings and treebanks."""

    def load(self, path: Path) -> Any:
        """A `Model` from its file. ModelError for any other file."""

    def parser(self, model: Any, **options: Any) -> Parser:
        """What parses by a model. UnsupportedError for what predicts no trees; InputError for an unknown option."""

    def report(self, model: Any, dev: Treebank) -> str:
        """What is said of a model once it is trained: how good it is on dev, in a few words."""
