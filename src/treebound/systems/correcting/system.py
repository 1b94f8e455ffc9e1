"""Tagging and parsing by sampling as one system."""

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

ANNOTATED = ("feats", "lemma")  #: attributes of words that no one predicts here


def bare(treebank: Treebank) -> Treebank:
    """Without attributes that would have to be predicted, too: features and lemmas."""
    kept = [name for name in treebank.meta.get("attributes", []) if name not in ANNOTATED]
    return replace(treebank, meta=treebank.meta | {"attributes": kept})


class Correcting(Learned):
    """`treebound.core.system.System`; words come without tags, and with any."""

    settings, model, finder = Settings, CorrectingModel, Parser
    options = ("search", "restarts", "patience", "seed", "taggings")

    def fitted(self, settings: Settings, train: Treebank) -> Settings:
        """As they are. InputError where tags or labels are missing, or sentences for every fold.

        The attributes of `train` are cut to those that are looked at, so that what is said of it is right.
        """
        if not filled(train, column_of(train.meta)):
            raise InputError("no word has a tag", hint="give a tagged treebank")
        if settings.labels != "none" and not has_labels(train):
            raise InputError("not every word has a label", hint="train with --labels none")
        if len(train) < (most := max(settings.folds, settings.tagger_folds)):
            raise InputError(f"{len(train)} sentences for {most} folds", hint="give more, or fewer folds")
        train.meta.update(bare(train).meta)
        return settings

    def key(self, settings: Settings, train: Treebank, dev: Treebank) -> str:
        """Of settings, templates and treebanks."""
        return key_for(settings, bare(train), bare(dev))

    def train(self, settings: Settings, train: Treebank, dev: Treebank, **how: Any) -> CorrectingModel:
        """By what words show and tags."""
        model = train_model(settings, bare(train), bare(dev), **how)
        model.model.key = self.key(settings, train, dev)  # the parser's own is of jackknifed tags
        return model

    def report(self, model: CorrectingModel, dev: Treebank) -> str:
        """Tags and trees of dev, by the tagger alone and corrected."""
        said = []
        for taggings in (1, None):
            parser = Parser(model, taggings=taggings)
            parses = parser.parse(dev)
            found = [tag for parse in parses for tag in parser.tags_of(parse)]
            right = sum(a == b for a, b in zip(found, dev.strings(parser.column), strict=True))
            uas = evaluate(dev, [parse.heads for parse in parses]).summary["uas"]
            said.append(f"{100 * right / max(1, dev.words):.2f} % of tags and UAS {uas:.2f}")
        return f"dev: {said[0]} as a pipeline, {said[1]} corrected"
