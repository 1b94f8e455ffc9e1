"""Parsing by sampling as a system."""

from __future__ import annotations

from typing import Any

from treebound.core.treebank import Treebank
from treebound.learning.system import Learned
from treebound.systems.sampling.model import SamplingModel
from treebound.systems.sampling.parser import Parser
from treebound.systems.sampling.settings import Settings
from treebound.systems.sampling.training import key_for, train_model


class SamplingSystem(Learned):
    """`treebound.core.system.System`."""

    settings, model, finder = Settings, SamplingModel, Parser
    options = ("search", "restarts", "patience", "seed")

    def key(self, settings: Settings, train: Treebank, dev: Treebank) -> str:
        """Of settings, templates and treebanks."""
        return key_for(settings, train, dev)

    def train(self, settings: Settings, train: Treebank, dev: Treebank, **how: Any) -> SamplingModel:
        """The model of the best epoch on dev, with a pruner of its own."""
        return train_model(settings, train, dev, **how)

    def report(self, model: SamplingModel, dev: Treebank) -> str:
        """The score of the best epoch, and what pruning loses."""
        best = max(record["dev_uas"] for record in model.history)
        kept, heads = model.pruner.kept(dev, model.spec.k, model.spec.threshold)
        return f"dev UAS {best:.2f} ({heads:.1f} heads a word, which are {100 * kept:.2f} % of dev's)"
