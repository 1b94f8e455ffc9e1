"""How a parser that corrects tags is trained: as one that samples, and in what the tagger may be overruled."""

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
    """Those of `systems.sampling.settings` and these."""

    tagger_epochs: Epochs = option(6, "Passes over TRAIN of the tagger.")
    tagger_bits: Annotated[int, Field(ge=8, le=28)] = option(22, "Log2 of the number of the tagger's weights.")
    tagger_folds: Folds = option(10, "Of TRAIN, each tagged by a tagger of the others.")
    folds: Folds = option(4, "Of TRAIN, each parsed by a parser of the others, to learn when to overrule the tagger.")
    doubt: Annotated[float, Field(ge=0, le=100)] = option(
        0.6, "Tags to choose from: those that the tagger gives so much less than its own, in means of second-best tags."
    )
    tags: Count = option(3, "Tags of a word to choose from, at most.")
    taggings: Count = option(10, "Taggings of a sentence that are tried, at most.")
    penalty: Annotated[float, Field(gt=0, le=1e6)] = option(3.0, "L2 of the weights by which the tagger is overruled.")

    @property
    def of_tagger(self) -> dict[str, Any]:
        """What `systems.tagging.learn.train_tagger` takes."""
        return {"epochs": self.tagger_epochs, "bits": self.tagger_bits, "seed": self.seed}
