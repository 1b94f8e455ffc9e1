"""Online structured learning: averaged perceptron as published, and margin-based MIRA with Hamming cost.

Per sentence: prune, score, decode (with cost for MIRA), update on the difference of the features of the gold tree and
of the decoded one. The decoder is branch and bound, whatever the model's families; where arcs may cross, a climb from
head to head (`treebound.decoders.approximate.climbing`); or any other one that is asked for.
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
from treebound.learning.conventions import meta_of
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

UNLIMITED = 2000  #: dynamic programs for a sentence of dev where training has no limit
#: a decoder as registered, and its options
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
    """The model of the epoch with the best dev UAS - LAS, if it labels; without dev the model of the last epoch.

    Dev is decoded exactly but for what takes more dynamic programs than training allows (UNLIMITED where it has no
    limit): the best tree found by then counts.

    templates   other ones than `templates_for(spec)`
    decoder     what decodes training sentences and dev; a sentence that it finds no tree for is left out
    checkpoint  a file written after every epoch; training resumes from it and removes it at the end
    Where the model's trees are projective, non-projective gold trees are projectivised for training (Nivre & Nilsson
    2005), and never for evaluation.
    """
    if spec.labels != "none" and not has_labels(train):
        raise InputError(f"{train.name}: not every word has a label", hint="train without labels")
    names = inventory(train) if spec.labels != "none" else ()
    patterns = named_patterns(spec.families, train.meta)
    lines = templates_for(spec) if templates is None else templates
    key = key_for(spec, train, dev, patterns, lines)
    task = _Training(spec, train, names, pruner, patterns, lines)
    on_dev: Search = BranchAndBound.name, {"max_dp_calls": spec.max_dp_calls or UNLIMITED}
    if decoder is not None:
        on_dev, task.decoder = decoder, DECODERS[decoder[0]](**decoder[1])

    def model(averages: Averages, history: list[dict]) -> Model:
        return Model(
            spec, *averages, pruner, meta_of(train), history, names, patterns=patterns, templates=lines, key=key
        )

    def judge(averages: Averages, history: list[dict]) -> dict:
        assert dev is not None
        now = model(averages, history)
        parser = Parser(now, on_dev[0], **on_dev[1])
        what = f"dev, epoch {len(history) + 1}/{spec.epochs}"
        parses = parser.parse(dev, progress=progress and (lambda items, _: progress(items, what)))
        labelled = [now.label_names(p) for p in parses] if names else None
        summary = evaluate(dev, [p.heads for p in parses], labelled).summary
        return {"dev_uas": summary["uas"]} | ({"dev_las": summary["las"]} if names else {})

    kept = Checkpoint(checkpoint, key_with(key, pruner, decoder), task.learner) if checkpoint else None
    order = loop.shuffled(spec.seed, len(train))
    task.prepare(train, progress)
    judged: dict[str, Any] = {} if dev is None else {"judge": judge, "score": accuracy}
    found = loop.train(task, spec.epochs, order, **judged, checkpoint=kept, progress=progress)
    trained = model(found.best, found.history)
    trained.seconds = found.seconds
    return trained


def key_for(
    spec: Settings, train: Treebank, dev: Treebank | None, patterns: PatternSet | None, templates: Lines
) -> str:
    """Identifies a model by its settings, templates, patterns and treebanks: before it is trained, and in its file."""
    treebanks = (train,) if dev is None else (train, dev)
    more = digest({**templates, **OF_THE_PRUNER}), patterns.digest if patterns else ""
    return key_of(spec.as_dict(), treebanks, *map(str.encode, more))


def key_with(key: str, pruner: Pruner, decoder: Search | None = None) -> str:
    """Of a training with a pruner that may have been trained otherwise than the settings say, or another decoder."""
    other = {} if decoder is None else {"decoder": decoder[0], **decoder[1]}
    return key_of({"key": key, **other}, (), np.ascontiguousarray(pruner.weights).tobytes())


def accuracy(record: dict) -> float:
    """What the best epoch is chosen by: LAS on dev where the model has labels, else UAS."""
    return record.get("dev_las", record["dev_uas"])


class _Training:
    """A model in training, as `loop.train` takes it; `prepare` comes first."""

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
        """One epoch."""
        self.counts = dict.fromkeys(self.counts, 0)
        for i in show(order):
            self.learner.examples += 1
            if self.labelling.stage is not None:
                self._learn_labels(i)
            self._learn_tree(i)
        wrong, count = self.counts["wrong"], self.counts
        return {
            "train_accuracy": 1.0 - wrong / max(1, self.words),
            "updates": count["updates"],
            "dp_calls": count["dp_calls"],
            "capped": count["capped"],
            "projectivised": self.lifted,
        }

    def result(self) -> Averages:
        """The averaged weights."""
        return self.learner.average()

    def _learn_labels(self, i: int) -> None:
        """The second stage: the labels of the gold tree."""
        gold, labels, rows = self.gold[i], self.gold_labels[i], self.table.sentence(i)[0]
        found = self.labelling.of_tree(self.learner.weights, rows, gold, labels, self.label_cost)
        slots, signs, rates = self.difference.reserve(self.labelling.room(len(labels)))
        count = self.labelling.stage_difference(gold, labels, found, rows, slots, signs)
        self.learner.update(slots, signs, rates, count, self.label_cost * int((found != labels).sum()))

    def _learn_tree(self, i: int) -> None:
        """The tree, with its labels where they are chosen jointly."""
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
            # a gold tree with several roots in a single-root corpus, and no other tree left; or none was met
            return
        errors = int((parse.heads[1:] != gold[1:]).sum())
        pred_arcs = arcs_of_tree(index, parse.heads)
        found = labels if folded is None else folded[pred_arcs]
        mislabelled = int((found != labels).sum())
        if errors == 0 and mislabelled == 0:
            return
        self.counts["wrong"] += errors
        self.counts["updates"] += 1
        cost = self.cost * errors + self.label_cost * mislabelled
        self._update(scored, rows, tag, ((gold_arcs, labels), (pred_arcs, found)), cost)

    def _update(
        self,
        scored: Scores,
        rows: np.ndarray,
        tag: np.ndarray,
        ways: tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
        cost: float,
    ) -> None:
        """Step towards the right tree and away from the one found: (arcs, labels) into each word of either."""
        (gold, _), (pred, _) = ways
        ours, theirs = {}, {}
        for family in ("arc", *self.spec.families):
            g, p = scored.selected(family, gold), scored.selected(family, pred)
            ours[family], theirs[family] = only_in(g, p), only_in(p, g)
        n = len(gold)
        room = self.scorer.room(ours, n) + self.scorer.room(theirs, n) + self.labelling.room(n)
        slots, signs, rates = self.difference.reserve(room)
        count = self.scorer.features(ours, 1.0, scored, rows, tag, slots, signs, 0, rates=rates)
        count = self.scorer.features(theirs, -1.0, scored, rows, tag, slots, signs, count, rates=rates)
        if self.labelling.joint is not None:
            count = self.labelling.difference(*ways, scored.arc_index, rows, slots, signs, count)
        self.learner.update(slots, signs, rates, count, cost)


def _decoder(spec: Settings) -> Decoder:
    """How training sentences are decoded.

    Where arcs may cross, a good tree has to do: the search for the best one costs many times as much and a model is
    no better for it.
    """
    return HillClimbing() if spec.space == "non-projective" else BranchAndBound(max_dp_calls=spec.max_dp_calls)
