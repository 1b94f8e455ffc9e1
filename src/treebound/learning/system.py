"""What most systems do alike: the rest of a `treebound.core.system.System` is its own."""

from __future__ import annotations

from typing import Any

from treebound.core.errors import InputError
from treebound.core.system import Parser
from treebound.core.treebank import Treebank
from treebound.evaluation.attachment import evaluate, has_labels


class Labelled:
    """A system that learns labelled trees, whatever dev is like."""

    trees = True
    attributes = True

    def fitted(self, settings: Any, train: Treebank) -> Any:
        """As they are. InputError for a treebank without labels."""
        if not has_labels(train):
            raise InputError("not every word has a label", hint="train another system, for instance graph")
        return settings

    def key(self, settings: Any, train: Treebank, dev: Treebank) -> str:
        """None: models are trained again where they are asked for again."""
        return ""

    def parser(self, model: Any, **options: Any) -> Parser:
        """What parses by a model."""
        raise NotImplementedError

    def report(self, model: Any, dev: Treebank) -> str:
        """Scores on dev."""
        parser = self.parser(model)
        parses = parser.parse(dev)
        score = evaluate(dev, [p.heads for p in parses], [parser.label_names(p) for p in parses]).summary
        las = f", LAS {score['las']:.2f}" if "las" in score else ""
        return f"dev UAS {score['uas']:.2f}{las}"
