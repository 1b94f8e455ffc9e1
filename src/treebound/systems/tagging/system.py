"""Tagging as a system: it is trained and kept like the others, and annotates columns instead of finding trees."""

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
    """The columns, in the order in which they are predicted. InputError where there are none."""
    auto = "auto" in settings.columns
    out = tuple(c for c in COLUMNS if c in settings.columns or (auto and filled(train, c) >= ENOUGH))
    if not out:
        raise InputError("has no tags in any column", hint="give a tagged treebank")
    return out


class Tagging(Learned):
    """`treebound.core.system.System`, but for `parser`: what is loaded has `apply(treebank)` and `columns`."""

    settings, model = Settings, Taggers
    trees = False

    def fitted(self, settings: Settings, train: Treebank) -> Settings:
        """As they are. InputError where no column has tags."""
        chosen(settings, train)
        return settings

    def train(
        self, settings: Settings, train: Treebank, dev: Treebank, *, progress: Progress | None = None, **how: Any
    ) -> Taggers:
        """A tagger for each column; training is too short for checkpoints."""
        return train_taggers(train, dev, chosen(settings, train), progress=progress, **settings.numbers)

    def parser(self, model: Taggers, **options: Any) -> NoReturn:
        """UnsupportedError."""
        raise UnsupportedError("a tagger finds no trees", hint="use it by treebound tag")

    def report(self, model: Taggers, dev: Treebank) -> str:
        """Words with the right tag, in %."""
        return "accuracy on dev: " + ", ".join(f"{name} {score:.2f}" for name, score in accuracies(dev, model).items())
