"""The system `sampling`: parsing by sampling, ready for training and parsing."""

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
    """The system `sampling` (`treebound.core.system.System`)."""

    settings, model, parser_class = Settings, SamplingModel, Parser
    options = ("search", "restarts", "patience", "seed", "rerank")

    def adapted_settings(self, settings: Settings, train: Treebank) -> Settings:
        """Return the settings unchanged. InputError if labels are to be learned but missing in the treebank."""
        if settings.labels != "none" and not has_labels(train):
            raise InputError("not every word has a label", hint="train with --labels none")
        return settings

    def key(self, settings: Settings, train: Treebank, dev: Treebank) -> str:
        """Return the key of a training run: a digest of settings, templates and treebanks."""
        return key_for(settings, train, dev)

    def train(self, settings: Settings, train: Treebank, dev: Treebank, **options: Any) -> SamplingModel:
        """Train a model with its own pruner, and return the model of the best epoch on dev."""
        return train_model(settings, train, dev, **options)

    def report(self, model: SamplingModel, dev: Treebank) -> str:
        """Return a summary: the scores of the best epoch, and the share of gold heads that the pruner keeps."""
        best = max(model.history, key=lambda record: record["dev_uas"])
        las = f", LAS {best['dev_las']:.2f}" if "dev_las" in best else ""
        share, heads = model.pruner.kept(dev, model.spec.k, model.spec.threshold)
        return (
            f"dev UAS {best['dev_uas']:.2f}{las} "
            f"(pruning keeps {heads:.1f} heads per word and {100 * share:.2f} % of the gold heads)"
        )
