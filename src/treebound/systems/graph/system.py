"""Graph-based parsing as a system: pruner and model are trained one after the other."""

from __future__ import annotations

from typing import Any

from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.factors.pattern_language import named_patterns
from treebound.learning.system import Learned
from treebound.metrics.attachment import has_labels
from treebound.systems.graph.candidates import pruner_for
from treebound.systems.graph.model import Model, templates_for
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import accuracy, key_for
from treebound.systems.graph.trainer import train as train_model

RECALL = 0.99  #: share of dev's gold heads that the pruner should keep; below it, the report advises a larger k


class Graph(Learned):
    """The graph-based system, see `treebound.core.system.System`."""

    settings, model, parser_class = Settings, Model, Parser
    options = None

    def adapted_settings(self, settings: Settings, train: Treebank) -> Settings:
        """Return the settings that suit a treebank. Raises InputError if labels are missing."""
        if settings.labels != "none" and not has_labels(train):
            raise InputError("not every word has a label", hint="train with --labels none")
        return settings.adapted_settings(train)

    def key(self, settings: Settings, train: Treebank, dev: Treebank | None) -> str:
        """Return the key of a model: a digest of settings, treebanks, patterns and feature templates."""
        patterns = named_patterns(settings.families, train.meta)
        return key_for(settings, train, dev, patterns, templates_for(settings))

    def train(self, settings: Settings, train: Treebank, dev: Treebank | None, **how: Any) -> Model:
        """Train a pruner and a model; return the model of the best epoch on dev, or of the last epoch without dev."""
        return train_model(settings, train, dev, pruner_for(settings, train, how.get("progress")), **how)

    def report(self, model: Model, dev: Treebank) -> str:
        """Return a line with the scores of the best epoch and the share of dev's gold heads that the pruner keeps."""
        best = max(model.history, key=accuracy)
        scores = f"dev UAS {best['dev_uas']:.2f}" + (f", LAS {best['dev_las']:.2f}" if "dev_las" in best else "")
        k, threshold = model.spec.k, float(model.spec.threshold or 0)
        if k is None and not threshold:
            return scores
        recall, size = model.pruner.kept(dev, k, threshold)
        suggestion = "; a larger --k" + (" or a lower --threshold" if threshold else "") + " would keep more"
        advice = "" if recall >= RECALL else suggestion
        pruning = f"k {k or 'none'}" + (f", threshold {threshold:g}: {size:.1f} heads a word," if threshold else "")
        return f"{scores} ({pruning} keeps {100 * recall:.2f} % of dev's heads{advice})"
