"""The interface of a system: it is trained on a treebank and then annotates other treebanks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

from treebound.core.parse import Parse
from treebound.core.treebank import Treebank

Progress = Callable[[Iterable, str], Iterable]


class Model(Protocol):
    """The result of training a system."""

    def save(self, path: Path) -> None:
        """Write the model to one file, atomically. The same model always gives the same bytes."""


class Parser(Protocol):
    """A loaded model that finds trees.

    - `reads`: the columns, besides the forms, that the parser uses.
    """

    @property
    def reads(self) -> tuple[str, ...]: ...

    def parse(
        self, treebank: Treebank, workers: int = 1, progress: Progress | None = None, scheduler: str | None = None
    ) -> list[Parse]:
        """Return one Parse per sentence, in order.

        The result does not depend on the number of workers. The value of a parse is nan if the system computes no
        score.
        """

    def label_names(self, parse: Parse) -> list[str]:
        """Return the n labels of a parse, or `_` for each word if the model has no labels."""


class System(Protocol):
    """The interface that a package under `treebound.systems` implements and `treebound.systems.registry` lists.

    - `settings`: the frozen class of its settings, a `treebound.support.settings.Checked`.
    - `trees`: whether the system learns trees. A system that learns none can be trained on treebanks without trees.
    - `attributes`: whether the system uses other attributes of words than forms and tags.
    """

    @property
    def settings(self) -> type[Any]: ...
    @property
    def trees(self) -> bool: ...
    @property
    def attributes(self) -> bool: ...

    def adapted_settings(self, settings: Any, train: Treebank) -> Any:
        """Return the settings, reduced to those that the treebank supports. Raises InputError if there is nothing to
        learn.
        """

    def key(self, settings: Any, train: Treebank, dev: Treebank) -> str:
        """Return a key that identifies a model, both before it is trained and in the model file.

        The key is an empty string if the system has no keys.
        """

    def train(
        self,
        settings: Any,
        train: Treebank,
        dev: Treebank,
        *,
        checkpoint: Path | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """Train a `Model`. The same settings and treebanks give the same bytes."""

    def load(self, path: Path) -> Any:
        """Read a `Model` from its file. Raises ModelError for any other file."""

    def parser(self, model: Any, **options: Any) -> Parser:
        """Return the parser of a model.

        Raises UnsupportedError if the model predicts no trees, and InputError for an unknown option.
        """

    def report(self, model: Any, dev: Treebank) -> str:
        """Return a short text about the quality of a trained model on the development treebank."""
