"""Transition-based parsing as a system."""

from __future__ import annotations

from typing import Any

import numpy as np

from treebound.core.errors import InputError
from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.learning.loop import Progress
from treebound.learning.system import Labelled, Naming
from treebound.support.workers import in_batches
from treebound.systems.transition.extraction import Words
from treebound.systems.transition.feature_models import chosen_model
from treebound.systems.transition.memory import MemoryBased
from treebound.systems.transition.model import TransitionModel
from treebound.systems.transition.settings import Settings
from treebound.systems.transition.training import key_for, train_model


class Parser(Naming):
    """A model with a beam: by default as wide as the model's settings say, 1 parses greedily.

    Trees are labelled and may have several roots. Nothing is proved of them: the status is `heuristic`.
    """

    def __init__(self, model: TransitionModel, *, beam: int | None = None):
        if beam is not None and not 1 <= beam <= 1024:
            raise InputError(f"a beam of {beam} sequences", hint="choose 1 to 1024")
        self.model, self.beam, self.reads, self.names = model, beam, model.reads, model.label_names

    def parse(
        self, treebank: Treebank, workers: int = 1, progress: Progress | None = None, scheduler: str | None = None
    ) -> list[Parse]:
        """One a sentence, in order; `value` is the sum of the scores of its transitions."""
        if isinstance(self.model.other, MemoryBased):
            self.model.other.forget()
        given = self, self.model.words(treebank)
        return in_batches(_parsed, given, len(treebank), workers=workers, scheduler=scheduler, progress=progress)


def _parsed(given: tuple[Parser, Words], part: tuple[int, int]) -> list[Parse]:
    """The sentences from part[0] to before part[1]."""
    (parser, words), (i, j) = given, part
    a, b = words.offsets[i], words.offsets[j]
    tokens = np.ascontiguousarray(words.tokens[:, a:b])
    own = Words(words.offsets[i : j + 1] - a, tokens, words.heads[a:b], words.labels[a:b])
    return parser.model.parse_words(own, parser.beam)


class Transition(Labelled):
    """`treebound.core.system.System`."""

    settings, model, finder, options = Settings, TransitionModel, Parser, ("beam",)

    def fitted(self, settings: Settings, train: Treebank) -> Settings:
        """As they are. InputError for a treebank without labels, and for features that are none."""
        chosen_model(settings.features)
        return super().fitted(settings, train)

    def key(self, settings: Settings, train: Treebank, dev: Treebank) -> str:
        """Of settings, features and treebanks."""
        return key_for(settings, chosen_model(settings.features), train, dev)

    def train(self, settings: Settings, train: Treebank, dev: Treebank, **how: Any) -> TransitionModel:
        """The model of the best epoch on dev."""
        return train_model(settings, chosen_model(settings.features), train, dev, **how)
