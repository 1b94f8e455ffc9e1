"""The system `correcting`: tagging and parsing by sampling, ready for training and parsing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.learning.survey import filled
from treebound.learning.system import Learned
from treebound.metrics.attachment import evaluate, has_labels
from treebound.systems.correcting.jackknifed import column_of
from treebound.systems.correcting.model import CorrectingModel
from treebound.systems.correcting.parser import Parser
from treebound.systems.correcting.settings import Settings
from treebound.systems.correcting.training import train_model
from treebound.systems.sampling.training import key_for

ANNOTATED = ("feats", "lemma")  #: attributes of words that this system does not predict


def bare(treebank: Treebank) -> Treebank:
    """Return the treebank without the attributes that this system would have to predict: features and lemmas."""
    attributes = [name for name in treebank.meta.get("attributes", []) if name not in ANNOTATED]
    return replace(treebank, meta=treebank.meta | {"attributes": attributes})


class Correcting(Learned):
    """The system `correcting` (`treebound.core.system.System`). It ignores the tags of the sentences that it parses."""

    settings, model, parser_class = Settings, CorrectingModel, Parser
    options = ("search", "restarts", "patience", "seed", "taggings")

    def adapted_settings(self, settings: Settings, train: Treebank) -> Settings:
        """Return the settings unchanged. InputError if tags or labels are missing, or if a fold would get no sentence.

        The attributes of `train` are reduced to those that the model reads, so that messages name no others.
        """
        if not filled(train, column_of(train.meta)):
            raise InputError("no word has a tag", hint="give a tagged treebank")
        if settings.labels != "none" and not has_labels(train):
            raise InputError("not every word has a label", hint="train with --labels none")
        if len(train) < (needed := max(settings.folds, settings.tagger_folds)):
            raise InputError(
                f"{len(train)} sentences are too few for {needed} folds", hint="give more sentences, or fewer folds"
            )
        train.meta.update(bare(train).meta)
        return settings

    def key(self, settings: Settings, train: Treebank, dev: Treebank) -> str:
        """Return the key of a training run: a digest of settings, templates and treebanks."""
        return key_for(settings, bare(train), bare(dev))

    def train(self, settings: Settings, train: Treebank, dev: Treebank, **options: Any) -> CorrectingModel:
        """Train a model on words and tags, without features and lemmas."""
        model = train_model(settings, bare(train), bare(dev), **options)
        model.model.key = self.key(settings, train, dev)  # the key of the parser itself depends on jackknifed tags
        return model

    def report(self, model: CorrectingModel, dev: Treebank) -> str:
        """Return the accuracy of tags and the UAS on dev, by the tagger alone and with corrected tags."""
        scores = []
        for taggings in (1, None):
            parser = Parser(model, taggings=taggings)
            parses = parser.parse(dev)
            tags = [tag for parse in parses for tag in parser.tags_of(parse)]
            right = sum(a == b for a, b in zip(tags, dev.strings(parser.column), strict=True))
            uas = evaluate(dev, [parse.heads for parse in parses]).summary["uas"]
            scores.append(f"{100 * right / max(1, dev.words):.2f} % of tags right and UAS {uas:.2f}")
        return f"dev: {scores[0]} as a pipeline; {scores[1]} with corrected tags"
