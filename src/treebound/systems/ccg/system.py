"""CCG parsing as a system."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from treebound.core.dtypes import INDEX, NO_HEAD
from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.learning.conventions import under
from treebound.learning.system import InBatches, Labelled
from treebound.systems.ccg.decoding import Adaptive, Found
from treebound.systems.ccg.evaluation import evaluate
from treebound.systems.ccg.integration import Integration
from treebound.systems.ccg.model import CCGModel
from treebound.systems.ccg.settings import Settings, levels
from treebound.systems.ccg.training import key_for, read_derivations, train_model
from treebound.systems.ccg.words import Words, words_of
from treebound.treebanks.ccg.columns import heads_of


class Parser(InBatches):
    """A model with its attempts, by default those of its settings.

    A parse holds the heads of the derivation and the lexical categories as labels; its `record` is what was found
    (`decoding.Found`). The status of a whole derivation is `heuristic`: it is the best one of its chart, from which the
    supertagger kept others. Fragments, where there is no whole one, have the status `limit`; the head of the first one
    is the root, and the others' heads are its dependents.

    With `integrate` (`integration.Integration`), score, bound and status are those of the joint model in that chart.
    """

    derives = True  #: `treebound parse --derivations` writes its records

    def __init__(
        self, model: CCGModel, *, beams: tuple[str, ...] | None = None, limit: int | None = None, **joint: Any
    ):
        changed: dict[str, Any] = {"beams": beams, "limit": limit}
        self.spec = replace(model.spec, **{name: value for name, value in changed.items() if value is not None})
        self.model, self.reads, self.names = model, model.reads, model.label_names
        self.integration = Integration(**joint)

    def words(self, treebank: Treebank) -> Words:
        """Forms, and the tags by the model's conventions."""
        return words_of(under(self.model.meta, treebank), self.model.meta["tag"])

    def parse_words(self, words: Words) -> list[Parse]:
        """One a sentence, in order; `value` is the score of its derivation or the sum of those of its fragments."""
        number = self.model.tagger.number
        return [_parse(found, number) for found in self.adaptive().parse(words)]

    def adaptive(self) -> Adaptive:
        """What makes and decodes its charts, with memory for one."""
        model = self.model
        how = levels(self.spec.beams), self.spec.limit, self.integration.decoder
        return Adaptive(model.tagger, model.made_grammar(), model.weights.astype(np.float64), *how)


def _parse(found: Found, number: dict[str, int]) -> Parse:
    """A tree of heads over what was found."""
    heads, labels, root = [NO_HEAD], [-1], 0
    for derivation in found.derivations:
        begin = len(heads) - 1
        own = heads_of(derivation)
        top = begin + own.index(0) + 1
        heads += [begin + head if head else root for head in own]
        labels += [number[str(leaf.category)] for leaf in derivation.leaves()]
        root = root or top
    work = {"edges": found.edges, "level": found.level, "refused": found.refused}
    status, bound = "heuristic" if found.parsed else "limit", np.inf
    if found.joint is not None:
        status, bound = found.joint.status, found.joint.bound
        work |= {"rounds": found.joint.rounds, "nodes": found.joint.nodes}
    tree = np.array(heads, INDEX), found.value, bound
    return Parse(*tree, status, work, labels=np.array(labels, INDEX), record=found)  # type: ignore[arg-type]


class CCG(Labelled):
    """`treebound.core.system.System`."""

    settings, model, finder = Settings, CCGModel, Parser
    options = ("beams", "limit", *(field.name for field in fields(Integration)))
    attributes = False  #: forms and tags are all that it sees of words

    def fitted(self, settings: Settings, train: Treebank) -> Settings:
        """As they are. InputError for a treebank that holds no derivations."""
        read_derivations(train, train.meta.get("tag", "xpos"))
        return super().fitted(settings, train)

    def key(self, settings: Settings, train: Treebank, dev: Treebank) -> str:
        """Of settings and the training treebank."""
        return key_for(settings, train)

    def train(self, settings: Settings, train: Treebank, dev: Treebank, **how: Any) -> CCGModel:
        """The model at the end of training; dev has no part in it."""
        return train_model(settings, train, **how)

    def report(self, model: CCGModel, dev: Treebank) -> str:
        """Labelled and unlabelled F-score, supertag accuracy of the sentences that have a derivation; coverage."""
        parses = self.parser(model).parse(dev)
        found = [parse.record for parse in parses]
        scores = evaluate(read_derivations(dev, model.meta["tag"]), found).summary()
        figures = ", ".join(f"{name} {scores[name]:.2f}" for name in ("LF", "UF", "ST", "coverage"))
        left_out = sum(model.left_out.values())
        said = f", {left_out} sentences of TRAIN left out" if left_out else ""
        return f"dev {figures}{said}"
