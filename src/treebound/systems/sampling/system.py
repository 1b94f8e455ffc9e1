"""Parsing by sampling as a system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.learning.loop import Progress
from treebound.systems.sampling.model import SamplingModel
from treebound.systems.sampling.parser import Parser
from treebound.systems.sampling.settings import Settings
from treebound.systems.sampling.training import key_for, train_model

OPTIONS = ("search", "restarts", "patience", "seed")  #: that a parser has


class SamplingSystem:
    """`treebound.core.system.System`."""

    settings = Settings
    trees = True
    attributes = True

    def fitted(self, settings: Settings, train: Treebank) -> Settings:
        """As they are."""
        return settings

    def key(self, settings: Settings, train: Treebank, dev: Treebank) -> str:
        """Of settings, templates and treebanks."""
        return key_for(settings, train, dev)

    def train(
        self,
        settings: Settings,
        train: Treebank,
        dev: Treebank,
        *,
        checkpoint: Path | None = None,
        progress: Progress | None = None,
    ) -> SamplingModel:
        """The model of the best epoch on dev, with a pruner of its own."""
        return train_model(settings, train, dev, checkpoint=checkpoint, progress=progress)

    def load(self, path: Path) -> SamplingModel:
        """Read a model file."""
        return SamplingModel.load(path)

    def parser(self, model: SamplingModel, **options: Any) -> Parser:
        """Options as for `Parser`."""
        if unknown := [name for name in options if name not in OPTIONS]:
            known = ", ".join(OPTIONS)
            raise InputError(f"a sampling parser has no option {unknown[0]!r}", hint=f"leave it out; there is {known}")
        return Parser(model, **options)

    def report(self, model: SamplingModel, dev: Treebank) -> str:
        """The score of the best epoch, and what pruning loses."""
        best = max(record["dev_uas"] for record in model.history)
        kept, heads = model.pruner.kept(dev, model.spec.k, model.spec.threshold)
        return f"dev UAS {best:.2f} ({heads:.1f} heads a word, which are {100 * kept:.2f} % of dev's)"
