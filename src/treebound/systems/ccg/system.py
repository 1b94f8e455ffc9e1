"""CCG parsing as a system: training, parsing and the report of scores."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from treebound.core.dtypes import INDEX, NO_HEAD
from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.learning.conventions import under
from treebound.learning.system import InBatches, Labelled
from treebound.systems.ccg.decoding import Adaptive, Decoded
from treebound.systems.ccg.evaluation import evaluate
from treebound.systems.ccg.integration import Integration
from treebound.systems.ccg.model import CCGModel
from treebound.systems.ccg.settings import Settings, levels
from treebound.systems.ccg.training import key_for, read_derivations, train_model
from treebound.systems.ccg.words import Words, words_of
from treebound.treebanks.ccg.columns import heads_of


class Parser(InBatches):
    """A CCG parser: a model with its attempts (`Adaptive`), by default the attempts of its settings.

    A parse holds the heads of the derivation and the lexical categories as labels; its `record` is the result of
    decoding (`decoding.Decoded`). The status of a complete derivation is `heuristic`: it is the best one of its chart,
    but the supertagger excludes other derivations from the chart. Without a complete derivation the status is `limit`
    and the parse holds fragments: the head of the first fragment is the root, and the heads of the others are its
    dependents.

    With `integrate` (`integration.Integration`), score, bound and status refer to the joint model in that chart.
    """

    derives = True  #: allows `treebound parse --derivations`, which writes the derivations of the parses

    def __init__(
        self, model: CCGModel, *, beams: tuple[str, ...] | None = None, limit: int | None = None, **joint: Any
    ):
        changed: dict[str, Any] = {"beams": beams, "limit": limit}
        self.spec = replace(model.spec, **{name: value for name, value in changed.items() if value is not None})
        self.model, self.reads, self.names = model, model.reads, model.label_names
        self.integration = Integration(**joint)

    def words(self, treebank: Treebank) -> Words:
        """Return forms and tags of a treebank under the model's conventions."""
        return words_of(under(self.model.meta, treebank), self.model.meta["tag"])

    def parse_words(self, words: Words) -> list[Parse]:
        """Parse all sentences, in order; `value` is the score of the derivation or the sum over its fragments."""
        number = self.model.tagger.number
        return [_parse(decoded, number) for decoded in self.adaptive().parse(words)]

    def adaptive(self) -> Adaptive:
        """Return the adaptive parser, with memory for one chart at a time."""
        model = self.model
        attempts = levels(self.spec.beams), self.spec.limit, self.integration.decoder
        return Adaptive(model.tagger, model.made_grammar(), model.weights.astype(np.float64), *attempts)


def _parse(decoded: Decoded, number: dict[str, int]) -> Parse:
    """Return the parse of a decoding result: one tree of heads over its derivation or fragments."""
    heads, labels, root = [NO_HEAD], [-1], 0
    for derivation in decoded.derivations:
        begin = len(heads) - 1
        own_heads = heads_of(derivation)
        top = begin + own_heads.index(0) + 1
        heads += [begin + head if head else root for head in own_heads]
        labels += [number[str(leaf.category)] for leaf in derivation.leaves()]
        root = root or top
    work = {"edges": decoded.edges, "level": decoded.level, "refused": decoded.refused}
    status, bound = "heuristic" if decoded.parsed else "limit", np.inf
    if decoded.joint is not None:
        status, bound = decoded.joint.status, decoded.joint.bound
        work |= {"rounds": decoded.joint.rounds, "nodes": decoded.joint.nodes}
    tree = np.array(heads, INDEX), decoded.value, bound
    return Parse(*tree, status, work, labels=np.array(labels, INDEX), record=decoded)  # type: ignore[arg-type]


class CCG(Labelled):
    """CCG parsing as a system (`treebound.core.system.System`)."""

    settings, model, parser_class = Settings, CCGModel, Parser
    options = ("beams", "limit", *(field.name for field in fields(Integration)))
    attributes = False  #: the models read forms and tags only

    def adapted_settings(self, settings: Settings, train: Treebank) -> Settings:
        """Return the settings unchanged. InputError for a treebank without derivations."""
        read_derivations(train, train.meta.get("tag", "xpos"))
        return super().adapted_settings(settings, train)

    def key(self, settings: Settings, train: Treebank, dev: Treebank) -> str:
        """Return the key of a training run: a digest of the settings and the training treebank."""
        return key_for(settings, train)

    def train(self, settings: Settings, train: Treebank, dev: Treebank, **options: Any) -> CCGModel:
        """Train and return the final model. The development treebank is not used."""
        return train_model(settings, train, **options)

    def report(self, model: CCGModel, dev: Treebank) -> str:
        """Return a line of scores on dev: labelled and unlabelled F-score, supertag accuracy, coverage.

        The first three count only sentences that have a complete derivation.
        """
        parses = self.parser(model).parse(dev)
        decoded = [parse.record for parse in parses]
        scores = evaluate(read_derivations(dev, model.meta["tag"]), decoded).summary()
        figures = ", ".join(f"{name} {scores[name]:.2f}" for name in ("LF", "UF", "ST", "coverage"))
        left_out = sum(model.left_out.values())
        note = f", {left_out} sentences of TRAIN left out" if left_out else ""
        return f"dev {figures}{note}"
