"""Train or load the model and the taggers that decode the explored sentences."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from studies.common.paths import model_file
from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.metrics.attachment import evaluate
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.system import Graph
from treebound.systems.tagging.settings import Settings as Tagging
from treebound.systems.tagging.several import Taggers, accuracies
from treebound.systems.tagging.system import Tagging as TaggingSystem
from treebound.treebanks import storage

TAGGING = Tagging(epochs=3)
DEV = 500  #: largest number of development sentences on which accuracy is measured
#: settings of the model of the reference. The backbone of arcs bounds all other factors, so that the search has work
SETTINGS = Settings(families=("grandchild", "sibling", "comb", "pattern"), threshold=0.0001)


@dataclass(frozen=True)
class Trained:
    """A model and taggers of one treebank.

    name  name of the model
    dev   development sentences with annotated tags
    """

    corpus: str
    name: str
    model: Model
    taggers: Taggers
    sentences: int
    dev: Treebank

    @property
    def parser(self) -> Parser:
        """Return the parser of the model, with the candidate heads of its training."""
        return Parser(self.model)

    def measured(self) -> dict[str, float]:
        """Return the accuracy of the model under predicted tags, and of each tagger, in % of the words of `dev`."""
        tagged = self.taggers.apply(self.dev)
        parses = self.parser.parse(tagged)
        names = [self.model.label_names(p) for p in parses] if self.model.labelling.names else None
        summary = evaluate(self.dev, [p.heads for p in parses], names).summary
        scores = {name: float(summary[name]) for name in ("uas", "las") if summary.get(name) is not None}
        return scores | accuracies(self.dev, self.taggers)


def _splits(root: Path, corpus: str) -> tuple[Treebank, Treebank]:
    """Load the training and the development split of a converted corpus. Raises InputError if one is missing."""
    folder = root / "data" / "converted" / corpus
    if not folder.is_dir():
        raise InputError(
            "no such corpus", path=folder, hint=f"run treebound fetch {corpus} and treebound convert {corpus}"
        )
    train, dev = (storage.load(folder / f"{split}.npz") for split in ("train", "dev"))
    return train, dev.select(np.arange(min(len(dev), DEV)))


def trained(root: Path, corpus: str, sentences: int = 0) -> Trained:
    """Train taggers and the model of SETTINGS on the first `sentences` sentences of a corpus; 0 takes all.

    Raises InputError if the corpus is not converted.
    """
    train, dev = _splits(root, corpus)
    train = train.select(np.arange(sentences)) if 0 < sentences < len(train) else train
    system = Graph()
    settings = system.adapted_settings(SETTINGS, train)
    model = system.train(settings, train, dev)
    return Trained(corpus, "explore", model, TaggingSystem().train(TAGGING, train, dev), len(train), dev)


def model_path(root: Path, corpus: str, name: str) -> Path:
    """Return the path of a trained model of a run."""
    return root / model_file(corpus, name)


def loaded(root: Path, corpus: str, name: str) -> Trained:
    """Load a model of a run and train taggers on its corpus. Raises InputError if the model or corpus is missing."""
    path = model_path(root, corpus, name)
    if not path.is_file():
        raise InputError("no such model", path=path, hint="run: make reproduce")
    train, dev = _splits(root, corpus)
    return Trained(corpus, name, Model.load(path), TaggingSystem().train(TAGGING, train, dev), len(train), dev)
