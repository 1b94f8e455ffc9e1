"""The system `tagging`, which is trained and stored like other systems, but predicts columns instead of trees."""

from __future__ import annotations

from typing import Any, NoReturn

from treebound.core.errors import InputError, UnsupportedError
from treebound.core.treebank import Treebank
from treebound.learning.loop import Progress
from treebound.learning.survey import ENOUGH, filled
from treebound.learning.system import Learned
from treebound.systems.tagging.settings import Settings
from treebound.systems.tagging.several import COLUMNS, Taggers, accuracies, train_taggers


def chosen(settings: Settings, train: Treebank) -> tuple[str, ...]:
    """Return the columns to predict, in the order of prediction. InputError if no column has tags."""
    auto = "auto" in settings.columns
    out = tuple(c for c in COLUMNS if c in settings.columns or (auto and filled(train, c) >= ENOUGH))
    if not out:
        raise InputError("has no tags in any column", hint="give a tagged treebank")
    return out


class Tagging(Learned):
    """The system `tagging` (`treebound.core.system.System`), without `parser`.

    A loaded model has `apply(treebank)` and `columns` instead.
    """

    settings, model = Settings, Taggers
    trees = False

    def adapted_settings(self, settings: Settings, train: Treebank) -> Settings:
        """Return the settings unchanged. InputError if no column has tags."""
        chosen(settings, train)
        return settings

    def train(
        self, settings: Settings, train: Treebank, dev: Treebank, *, progress: Progress | None = None, **options: Any
    ) -> Taggers:
        """Train a tagger for each column. Checkpoints are not written, because training is short."""
        return train_taggers(train, dev, chosen(settings, train), progress=progress, **settings.numbers)

    def parser(self, model: Taggers, **options: Any) -> NoReturn:
        """Raise UnsupportedError, because a tagger finds no trees."""
        raise UnsupportedError("a tagger finds no trees", hint="use it with treebound tag")

    def report(self, model: Taggers, dev: Treebank) -> str:
        """Return the accuracy on dev of each column, in %."""
        return "accuracy on dev: " + ", ".join(f"{name} {score:.2f}" for name, score in accuracies(dev, model).items())
