"""Parsing by sampling as a system."""

from __future__ import annotations

from typing import Any

from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.learning.system import Learned
from treebound.metrics.attachment import has_labels
from treebound.systems.sampling.model import SamplingModel
from treebound.systems.sampling.parser import Parser
from treebound.systems.sampling.settings import Settings
from treebound.systems.sampling.training import key_for, train_model


class SamplingSystem(Learned):
    """`treebound.core.system.System`."""

    settings, model, finder = Settings, SamplingModel, Parser
    options = ("search", "restarts", "patience", "seed", "rerank")

    def fitted(self, settings: Settings, train: Treebank) -> Settings:
        """As they are. InputError where labels are missing."""
        if settings.labels != "none" and not has_labels(train):
            raise InputError("not every word has a label", hint="train with --labels none")
        return settings

    def key(self, settings: Settings, train: Treebank, dev: Treebank) -> str:
        """Of settings, templates and treebanks."""
        return key_for(settings, train, dev)

    def train(self, settings: Settings, train: Treebank, dev: Treebank, **how: Any) -> SamplingModel:
        """The model of the best epoch on dev, with a pruner of its own."""
        return train_model(settings, train, dev, **how)

    def report(self, model: SamplingModel, dev: Treebank) -> str:
        """The score of the best epoch, and what pruning loses."""
        best = max(model.history, key=lambda record: record["dev_uas"])
        las = f", LAS {best['dev_las']:.2f}" if "dev_las" in best else ""
        kept, heads = model.pruner.kept(dev, model.spec.k, model.spec.threshold)
        return f"dev UAS {best['dev_uas']:.2f}{las} ({heads:.1f} heads a word, which are {100 * kept:.2f} % of dev's)"
