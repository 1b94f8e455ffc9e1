"""Transition-based parsing as a system."""

from __future__ import annotations

from typing import Any

from treebound.core.errors import InputError
from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.learning.system import InBatches, Labelled
from treebound.systems.transition.extraction import Words
from treebound.systems.transition.feature_models import FeatureModel, chosen_model
from treebound.systems.transition.memory import MemoryBased
from treebound.systems.transition.model import TransitionModel
from treebound.systems.transition.settings import Settings
from treebound.systems.transition.training import key_for, train_model


class Parser(InBatches):
    """A model with a beam: by default as wide as the model's settings say, 1 parses greedily.

    Trees are labelled and may have several roots. Nothing is proved of them: the status is `heuristic`.
    """

    def __init__(self, model: TransitionModel, *, beam: int | None = None):
        if beam is not None and not 1 <= beam <= 1024:
            raise InputError(f"a beam of {beam} sequences", hint="choose 1 to 1024")
        self.model, self.beam, self.reads, self.names = model, beam, model.reads, model.label_names

    def words(self, treebank: Treebank) -> Words:
        """Those of the model, which begins anew."""
        if isinstance(self.model.other, MemoryBased):
            self.model.other.forget()
        return self.model.words(treebank)

    def parse_words(self, words: Words) -> list[Parse]:
        """One a sentence, in order; `value` is the sum of the scores of its transitions."""
        return self.model.parse_words(words, self.beam)


def _features(settings: Settings, train: Treebank) -> FeatureModel:
    """Return the feature model that the settings name, or that the attributes of the training treebank choose."""
    return chosen_model(settings.features, train.meta.get("attributes", ()))


class Transition(Labelled):
    """`treebound.core.system.System`."""

    settings, model, finder, options = Settings, TransitionModel, Parser, ("beam",)

    def fitted(self, settings: Settings, train: Treebank) -> Settings:
        """As they are. InputError for a treebank without labels, and for features that are none."""
        _features(settings, train)
        return super().fitted(settings, train)

    def key(self, settings: Settings, train: Treebank, dev: Treebank) -> str:
        """Of settings, features and treebanks."""
        return key_for(settings, _features(settings, train), train, dev)

    def train(self, settings: Settings, train: Treebank, dev: Treebank, **how: Any) -> TransitionModel:
        """The model of the best epoch on dev."""
        return train_model(settings, _features(settings, train), train, dev, **how)
