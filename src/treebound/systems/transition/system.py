"""The system `transition`: transition-based parsing, ready for training and parsing."""

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
    """A parser that searches with a beam.

    By default the beam is as wide as the model's settings say; a width of 1 parses greedily. Trees are labelled. They
    may have several roots, unless the model is restricted to trees with a single root. No tree is proved to be optimal:
    the status is `heuristic`. Raises InputError for a beam outside 1 to 1024.
    """

    def __init__(self, model: TransitionModel, *, beam: int | None = None):
        if beam is not None and not 1 <= beam <= 1024:
            raise InputError(f"a beam of {beam} sequences is out of range", hint="choose 1 to 1024")
        self.model, self.beam, self.reads, self.names = model, beam, model.reads, model.label_names

    def words(self, treebank: Treebank) -> Words:
        """Return the words of a treebank as the model reads them. A memory-based model forgets its stored answers."""
        if isinstance(self.model.other, MemoryBased):
            self.model.other.forget()
        return self.model.words(treebank)

    def parse_words(self, words: Words) -> list[Parse]:
        """Return one parse per sentence, in order.

        `value` is the sum of the scores of the transitions, or nan if the classifier is not linear.
        """
        return self.model.parse_words(words, self.beam)


def _features(settings: Settings, train: Treebank) -> FeatureModel:
    """Return the feature model that the settings name; `auto` chooses it by the attributes of the treebank."""
    return chosen_model(settings.features, train.meta.get("attributes", ()))


class Transition(Labelled):
    """The system `transition` (`treebound.core.system.System`)."""

    settings, model, parser_class, options = Settings, TransitionModel, Parser, ("beam",)

    def adapted_settings(self, settings: Settings, train: Treebank) -> Settings:
        """Return the settings unchanged. InputError for a treebank without labels and for an unknown feature model."""
        _features(settings, train)
        return super().adapted_settings(settings, train)

    def key(self, settings: Settings, train: Treebank, dev: Treebank) -> str:
        """Return the key of a training run: a digest of settings, features and treebanks."""
        return key_for(settings, _features(settings, train), train, dev)

    def train(self, settings: Settings, train: Treebank, dev: Treebank, **options: Any) -> TransitionModel:
        """Train a model and return it; if the learner has epochs, return the model of the best epoch on dev."""
        return train_model(settings, _features(settings, train), train, dev, **options)
