"""Settings of a parser that corrects tags: its training, and how far it may overrule the tagger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from treebound.support.settings import Epochs, option
from treebound.systems.sampling.settings import Count
from treebound.systems.sampling.settings import Settings as Sampling

Folds = Annotated[int, Field(ge=2, le=1000)]


@dataclass(frozen=True)
class Settings(Sampling):
    """Settings of `systems.sampling.settings`, extended by settings of the tagger and of the correction of its tags."""

    tagger_epochs: Epochs = option(6, "Number of passes over TRAIN for the tagger.")
    tagger_bits: Annotated[int, Field(ge=8, le=28)] = option(
        22, "Base-2 logarithm of the number of the tagger's weights."
    )
    tagger_folds: Folds = option(
        10, "Number of folds of TRAIN for the tagger. Each fold is tagged by a tagger of the other folds."
    )
    folds: Folds = option(
        4,
        "Number of folds of TRAIN for the parser. Each fold is parsed by a parser of the other folds, to learn when to "
        "overrule the tagger.",
    )
    doubt: Annotated[float, Field(ge=0, le=100)] = option(
        0.6,
        "Tolerance for candidate tags: a tag is a candidate if it lowers the tagger's score of the sentence by "
        "at most this amount. The unit is the mean amount by which a second-best tag lowers the score.",
    )
    tags: Count = option(3, "Number of candidate tags per word, at most.")
    taggings: Count = option(10, "Number of tag sequences that the parser tries per sentence, at most.")
    penalty: Annotated[float, Field(gt=0, le=1e6)] = option(
        3.0, "Strength of the L2 penalty on the weights that decide when to overrule the tagger."
    )

    @property
    def of_tagger(self) -> dict[str, Any]:
        """Return the keyword arguments for `systems.tagging.learn.train_tagger`."""
        return {"epochs": self.tagger_epochs, "bits": self.tagger_bits, "seed": self.seed}
