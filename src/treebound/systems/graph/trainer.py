"""Online structured learning: averaged perceptron as published, and margin-based MIRA with Hamming cost.

For each sentence: prune, score, decode (with cost for MIRA), and update on the difference between the features of the
gold tree and of the decoded tree. Projective trees are decoded by branch and bound for all factor families,
non-projective trees by hill climbing (`treebound.decoders.approximate.climbing`). The caller can name another decoder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from treebound.core.errors import InputError
from treebound.core.protocols import Decoder
from treebound.core.treebank import Treebank
from treebound.decoders import DECODERS
from treebound.decoders.approximate.climbing import HillClimbing
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound
from treebound.factors.pattern_language import PatternSet, named_patterns
from treebound.factors.templates import Lines, digest
from treebound.features.labelling import Labelling
from treebound.features.labels import inventory
from treebound.features.lazy_tokens import LazyTokenTable
from treebound.features.scorer import Scorer, Scores
from treebound.kernels.arcs.numbering import arcs_of_tree
from treebound.kernels.features.scoring import only_in
from treebound.learning import loop
from treebound.learning.checkpoint import Averages, Checkpoint, key_of
from treebound.learning.conventions import training_meta
from treebound.learning.difference import Difference
from treebound.learning.gold import GoldHeads, GoldLabels, projective
from treebound.learning.loop import Progress, Show
from treebound.learning.pruner import TEMPLATES as OF_THE_PRUNER
from treebound.learning.pruner import Pruner
from treebound.learning.updates import UPDATES, Learner
from treebound.metrics.attachment import evaluate, has_labels
from treebound.systems.graph.candidates import candidates
from treebound.systems.graph.model import Model, templates_for
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings

UNLIMITED = 2000  #: dynamic-program calls per sentence of dev if training has no limit
#: the registered name of a decoder, and its options
Search = tuple[str, dict[str, Any]]


def train(
    spec: Settings,
    train: Treebank,
    dev: Treebank | None,
    pruner: Pruner,
    *,
    templates: Lines | None = None,
    decoder: Search | None = None,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> Model:
    """Train a model; return the model of the epoch that is best on dev, or of the last epoch without dev.

    Epochs are compared by LAS, or by UAS if the model has no labels. Dev is decoded exactly, except that a sentence
    gets the best tree found so far when it reaches `max_dp_calls` (UNLIMITED if training has no limit).

    If the model's trees are projective, non-projective gold trees are projectivised for training (Nivre & Nilsson
    2005), but never for evaluation.

    templates   feature templates; by default `templates_for(spec)`
    decoder     decoder of training sentences and dev. Training skips a sentence for which it finds no tree
    checkpoint  file written after every epoch. Training resumes from it and removes it at the end
    progress    wraps an iterable to show progress

    Raises InputError if the model has labels and a word of the treebank has none.
    """
    if spec.labels != "none" and not has_labels(train):
        raise InputError(f"{train.name}: not every word has a label", hint="train without labels")
    names = inventory(train) if spec.labels != "none" else ()
    patterns = named_patterns(spec.families, train.meta)
    lines = templates_for(spec) if templates is None else templates
    key = key_for(spec, train, dev, patterns, lines)
    training = _Training(spec, train, names, pruner, patterns, lines)
    dev_search: Search = BranchAndBound.name, {"max_dp_calls": spec.max_dp_calls or UNLIMITED}
    if decoder is not None:
        dev_search, training.decoder = decoder, DECODERS[decoder[0]](**decoder[1])

    def model(averages: Averages, history: list[dict]) -> Model:
        return Model(
            spec, *averages, pruner, training_meta(train), history, names, patterns=patterns, templates=lines, key=key
        )

    def judge(averages: Averages, history: list[dict]) -> dict:
        """Parse dev with the current averages and return its scores."""
        assert dev is not None
        current = model(averages, history)
        parser = Parser(current, dev_search[0], **dev_search[1])
        title = f"dev, epoch {len(history) + 1}/{spec.epochs}"
        parses = parser.parse(dev, progress=progress and (lambda items, _: progress(items, title)))
        labelled = [current.label_names(p) for p in parses] if names else None
        summary = evaluate(dev, [p.heads for p in parses], labelled).summary
        return {"dev_uas": summary["uas"]} | ({"dev_las": summary["las"]} if names else {})

    stored = Checkpoint(checkpoint, key_with(key, pruner, decoder), training.learner) if checkpoint else None
    order = loop.shuffled(spec.seed, len(train))
    training.prepare(train, progress)
    judging: dict[str, Any] = {} if dev is None else {"judge": judge, "score": accuracy}
    outcome = loop.train(training, spec.epochs, order, **judging, checkpoint=stored, progress=progress)
    trained = model(outcome.best, outcome.history)
    trained.seconds = outcome.seconds
    return trained


def key_for(
    spec: Settings, train: Treebank, dev: Treebank | None, patterns: PatternSet | None, templates: Lines
) -> str:
    """Return the key of a model: a digest of its settings, templates, patterns and treebanks.

    The key is known before training, and is stored in the model file.
    """
    treebanks = (train,) if dev is None else (train, dev)
    digests = digest({**templates, **OF_THE_PRUNER}), patterns.digest if patterns else ""
    return key_of(spec.as_dict(), treebanks, *map(str.encode, digests))


def key_with(key: str, pruner: Pruner, decoder: Search | None = None) -> str:
    """Return the key of a training run: a digest of the model's key, the pruner's weights and the decoder.

    The pruner may have been trained with other settings, and the decoder may have been chosen by the caller.
    """
    search = {} if decoder is None else {"decoder": decoder[0], **decoder[1]}
    return key_of({"key": key, **search}, (), np.ascontiguousarray(pruner.weights).tobytes())


def accuracy(record: dict) -> float:
    """Return the score by which the best epoch is chosen: LAS on dev if the model has labels, else UAS."""
    return record.get("dev_las", record["dev_uas"])


class _Training:
    """A model in training, for `loop.train`. Call `prepare` first."""

    def __init__(
        self,
        spec: Settings,
        train: Treebank,
        names: tuple[str, ...],
        pruner: Pruner,
        patterns: PatternSet | None,
        templates: Lines,
    ):
        self.spec, self.pruner, self.words = spec, pruner, train.words
        self.labelling = Labelling(spec, names, pruner.attributes, templates)
        self.gold_labels = GoldLabels(train, names)
        self.rule = UPDATES[spec.learner](spec.C)
        self.learner = Learner(self.labelling.weights, self.rule, spec.average_degree)
        self.scorer = Scorer(spec.families, pruner.attributes, spec.bits, patterns, templates)
        self.projective = spec.space == "projective"
        self.single_root = bool(train.meta.get("single_root", True))
        self.gold, self.lifted = projective(train) if self.projective else (GoldHeads(train), 0)
        self.table = LazyTokenTable(train, self.scorer.matches(train))
        self.cost = 0.0 if self.rule.plain else spec.cost
        self.label_cost = 0.0 if self.rule.plain else spec.label_cost
        self.decoder = _decoder(spec)
        self.difference = Difference()
        self.counts = dict.fromkeys(("wrong", "updates", "dp_calls", "capped"), 0)

    def prepare(self, train: Treebank, progress: Progress | None) -> None:
        """Choose the candidate arcs of every sentence."""
        self.allowed = candidates(self.spec, train, self.table, self.gold, self.pruner, progress)

    def learn(self, order: np.ndarray, show: Show) -> dict:
        """Train for one epoch in the given order of sentences; return the epoch's record for the history."""
        self.counts = dict.fromkeys(self.counts, 0)
        for i in show(order):
            self.learner.examples += 1
            if self.labelling.stage is not None:
                self._learn_labels(i)
            self._learn_tree(i)
        wrong_heads, counts = self.counts["wrong"], self.counts
        return {
            "train_accuracy": 1.0 - wrong_heads / max(1, self.words),
            "updates": counts["updates"],
            "dp_calls": counts["dp_calls"],
            "capped": counts["capped"],
            "projectivised": self.lifted,
        }

    def result(self) -> Averages:
        """Return the averaged weights and their unit."""
        return self.learner.average()

    def _learn_labels(self, i: int) -> None:
        """Update the second-stage labeller, which labels a known tree, on the gold tree of sentence i."""
        gold, labels, rows = self.gold[i], self.gold_labels[i], self.table.sentence(i)[0]
        predicted = self.labelling.of_tree(self.learner.weights, rows, gold, labels, self.label_cost)
        slots, signs, rates = self.difference.reserve(self.labelling.room(len(labels)))
        count = self.labelling.stage_difference(gold, labels, predicted, rows, slots, signs)
        self.learner.update(slots, signs, rates, count, self.label_cost * int((predicted != labels).sum()))

    def _learn_tree(self, i: int) -> None:
        """Decode sentence i and update the weights of trees, and of labels if they are chosen jointly."""
        rows, tag = self.table.sentence(i)
        gold, labels = self.gold[i], self.gold_labels[i]
        weights, scale = self.learner.weights, self.rule.scale
        scored = self.scorer.score(
            weights, rows, tag, self.allowed[i], self.single_root, self.projective, self.table.matches(i)
        )
        scored, folded = self.labelling.fold(weights, rows, scored, labels, self.label_cost)
        index = scored.arc_index
        gold_arcs = arcs_of_tree(index, gold)
        cost_arc = np.full(len(scored.arc), self.cost)
        cost_arc[gold_arcs] = 0.0
        arc = np.rint((scored.arc + cost_arc) * scale)
        scores = {f: np.rint(s * scale) for f, s in scored.by_family.items()}
        parse = self.decoder.decode(scored._replace(arc=arc, by_family=scores).problem(1.0))
        self.counts["dp_calls"] += parse.work.get("dp_calls", 0)
        self.counts["capped"] += parse.status == "limit"
        if not np.isfinite(parse.value):
            # the candidates of a gold tree with several roots may contain no tree with one root, or the decoder may
            # have found no tree
            return
        errors = int((parse.heads[1:] != gold[1:]).sum())
        pred_arcs = arcs_of_tree(index, parse.heads)
        predicted = labels if folded is None else folded[pred_arcs]
        mislabelled = int((predicted != labels).sum())
        if errors == 0 and mislabelled == 0:
            return
        self.counts["wrong"] += errors
        self.counts["updates"] += 1
        cost = self.cost * errors + self.label_cost * mislabelled
        self._update(scored, rows, tag, ((gold_arcs, labels), (pred_arcs, predicted)), cost)

    def _update(
        self,
        scored: Scores,
        rows: np.ndarray,
        tag: np.ndarray,
        arcs_and_labels: tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
        cost: float,
    ) -> None:
        """Update the weights towards the gold tree and away from the decoded tree.

        scored           the scored candidate arcs and parts of the sentence
        rows, tag        the words, as returned by `TokenTable.sentence`
        arcs_and_labels  for the gold tree and for the decoded tree: the arc into each word, and its label
        cost             margin by which the gold tree must outscore the decoded tree
        """
        (gold, _), (pred, _) = arcs_and_labels
        gold_parts, predicted_parts = {}, {}
        for family in ("arc", *self.spec.families):
            g, p = scored.selected(family, gold), scored.selected(family, pred)
            gold_parts[family], predicted_parts[family] = only_in(g, p), only_in(p, g)
        n = len(gold)
        size = self.scorer.room(gold_parts, n) + self.scorer.room(predicted_parts, n) + self.labelling.room(n)
        slots, signs, rates = self.difference.reserve(size)
        count = self.scorer.features(gold_parts, 1.0, scored, rows, tag, slots, signs, 0, rates=rates)
        count = self.scorer.features(predicted_parts, -1.0, scored, rows, tag, slots, signs, count, rates=rates)
        if self.labelling.joint is not None:
            count = self.labelling.difference(*arcs_and_labels, scored.arc_index, rows, slots, signs, count)
        self.learner.update(slots, signs, rates, count, cost)


def _decoder(spec: Settings) -> Decoder:
    """Return the decoder of training sentences.

    Non-projective trees are decoded by hill climbing: exact search takes many times as long, and the trained model is
    no better.
    """
    return HillClimbing() if spec.space == "non-projective" else BranchAndBound(max_dp_calls=spec.max_dp_calls)
