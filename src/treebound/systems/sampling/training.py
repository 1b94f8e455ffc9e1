"""Training by SampleRank with MIRA steps (Zhang et al. 2014, section 3.3 and Figure 4; Wick et al. 2011).

Each sentence has a chain of trees that continues from epoch to epoch. There are two schedules.

In the schedule `visit`, a sentence is scored once per visit, and the chain makes `sweeps` steps per word under these
scores. A MIRA step is made where two successive trees violate their constraint under these scores, or where the last
tree of the visit violates its constraint with the gold tree. The size of the step is computed with the current weights.
Global features are scored with the updated weights from then on.

The schedule `sample` follows Figure 4. Every proposal, accepted or not, is compared with the tree before it, and every
sample with the gold tree. The comparisons use the current weights, because the sentence is scored again after every
update. The average is over updates. Two details are our choice: chains continue from epoch to epoch, which Figure 4
does not specify, and a random walk proposes no head with less than `LEAST_SHARE` of the weight of the best head.

The paper's figure has the two error counts of Delta Err in the wrong order. We follow equation (5) of the text.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.decoders.approximate.sampling.buffers import S_SHARE
from treebound.decoders.approximate.sampling.decoder import shares
from treebound.factors.templates import digest
from treebound.features.labelling import Labelling
from treebound.features.labels import inventory, numbered
from treebound.features.scorer import Scorer
from treebound.features.tokens import TokenTable
from treebound.kernels.arcs.numbering import arcs_of_tree
from treebound.kernels.arcs.problem_index import index_of
from treebound.kernels.features.scoring import only_in
from treebound.learning import loop
from treebound.learning.checkpoint import Averages, Checkpoint, key_of
from treebound.learning.conventions import training_meta
from treebound.learning.difference import Difference
from treebound.learning.loop import Progress, Show
from treebound.learning.pruner import TEMPLATES as OF_THE_PRUNER
from treebound.learning.pruner import Pruner, train_pruner
from treebound.learning.updates import Learner, Mira
from treebound.metrics.attachment import evaluate, has_labels
from treebound.systems.sampling.globals.catalogue import append, codes_of, room
from treebound.systems.sampling.globals.view import View
from treebound.systems.sampling.model import SamplingModel, templates_for
from treebound.systems.sampling.moves import climb
from treebound.systems.sampling.parser import WORDS, Parser
from treebound.systems.sampling.search import (
    GIBBS,
    GOLD,
    NEIGHBOUR,
    NOTHING,
    WALK,
    Pair,
    Rule,
    Trees,
    next_pair,
    next_violation,
)
from treebound.systems.sampling.sentence import Scoring, Sentence, allowed_arcs, scored
from treebound.systems.sampling.settings import Settings
from treebound.treebanks.projectivise import projectivise

UNKNOWN = -1  #: the head of a word in a chain that has not started


def key_for(spec: Settings, train: Treebank, dev: Treebank) -> str:
    """Return the key of a training run: a digest of settings, templates and treebanks, which the model file stores."""
    return key_of(spec.as_dict(), (train, dev), digest({**templates_for(spec), **OF_THE_PRUNER}).encode())


def train_model(
    spec: Settings,
    train: Treebank,
    dev: Treebank,
    *,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> SamplingModel:
    """Train a model and return the model of the epoch with the best UAS on dev.

    checkpoint  file written after every epoch, with the chains; an interrupted training continues from it and removes
                it at the end

    If arcs must not cross, gold trees are projectivised for training, but not for evaluation. InputError if labels are
    to be learned but missing.
    """
    if spec.labels != "none" and not has_labels(train):
        raise InputError(f"{train.name}: not every word has a label", hint="train without labels")
    bits = min(20, spec.bits)
    pruner = train_pruner(train, epochs=spec.pruner_epochs, bits=bits, seed=spec.seed, progress=progress)
    task, key = Training(spec, train, pruner), key_for(spec, train, dev)

    def model(averages: Averages, history: list[dict]) -> SamplingModel:
        return SamplingModel(
            spec, *averages, pruner, training_meta(train), history, labels=task.labelling.names, key=key
        )

    def judge(averages: Averages, history: list[dict]) -> dict:
        title = f"dev, epoch {len(history) + 1}/{spec.epochs}"
        shown = progress and (lambda items, _: progress(items, title))
        parser = Parser(model(averages, history))
        parses = parser.parse(dev, progress=shown)
        names = [parser.label_names(p) for p in parses] if parser.names else None
        summary = evaluate(dev, [p.heads for p in parses], names).summary
        return {f"dev_{name}": summary[name] for name in ("uas", "las") if name in summary}

    stored = Checkpoint(checkpoint, key, task.learner, {"chains": task.chains}) if checkpoint else None
    order = loop.shuffled(spec.seed, len(train))
    trained = loop.train(
        task, spec.epochs, order, judge=judge, score=lambda r: r["dev_uas"], checkpoint=stored, progress=progress
    )
    return model(trained.best, trained.history)


class Training:
    """A model in training (`treebound.learning.loop.Task`).

    chains  int32[W] the heads of each sentence's current tree; UNKNOWN before the first visit
    """

    def __init__(self, spec: Settings, train: Treebank, pruner: Pruner):
        self.spec, self.offsets = spec, train.offsets
        names = inventory(train) if spec.labels != "none" else ()
        self.labelling = Labelling(spec, names, pruner.attributes)
        self.labels = np.split(numbered(train, names), train.offsets[1:-1])
        self.learner = Learner(self.labelling.weights, Mira(spec.C))
        scorer, projective = Scorer(spec.families, pruner.attributes, spec.bits), spec.space == "projective"
        tree_rules = bool(train.meta.get("single_root", True)), projective
        weights, codes = self.learner.weights, codes_of(spec.global_features)
        shared = weights[: 1 << spec.bits]
        self.scoring = Scoring(scorer, weights, shared, codes, *tree_rules, labelling=self.labelling)
        self.table, self.pruner = TokenTable(train), pruner
        trees = [train.heads(i) for i in range(len(train))]
        self.gold = [projectivise(heads)[0] for heads in trees] if projective else trees
        self.chains = np.full(train.words, UNKNOWN, np.int32)
        self.difference = Difference()
        if spec.schedule == "sample":
            self.learner.examples = 1  # the average counts the first weights and those after every update
        self.counts = dict.fromkeys(("wrong", "neighbour", "gold"), 0)

    def learn(self, order: np.ndarray, show: Show) -> dict:
        """Train for one epoch. Record the accuracy of the last trees of visits, and the updates per constraint."""
        self.counts = dict.fromkeys(self.counts, 0)
        for i in show(order):
            if self.spec.schedule == "sample":
                self._visit_samples(int(i))
                continue
            self.learner.examples += 1
            self._visit(int(i))
        return {"train_accuracy": 1.0 - self.counts["wrong"] / max(1, len(self.chains))} | {
            name: self.counts[name] for name in ("neighbour", "gold")
        }

    def result(self) -> Averages:
        """Return the averaged weights and their unit."""
        return self.learner.average()

    def _visit(self, i: int) -> None:
        """Continue the chain of sentence i by the schedule `visit`, and learn from the trees of the chain."""
        spec, gold = self.spec, self.gold[i]
        rows, tag = self.table.sentence(i)
        allowed = allowed_arcs(self.scoring, self.pruner, rows, tag, spec.training_k)
        allowed[gold[1:], np.arange(1, len(tag))] = True
        sentence = scored(self.scoring, rows, tag, allowed, (gold, self.labels[i]))
        if (
            sentence is None
        ):  # the gold tree has several roots, but one is required, and the candidate arcs make up no other tree
            return
        n, chain = len(tag) - 1, self.chains[self.offsets[i] : self.offsets[i + 1]]
        rng = self._random()
        sentence.lay(sentence.first_tree(rng) if chain[0] == UNKNOWN else self._arcs(sentence, chain))
        gold_arcs = self._arcs(sentence, gold[1:])
        pair, steps = Pair(np.full(n + 1, -1, np.int64), gold.astype(np.int64)), spec.sweeps * n
        margin = spec.cost, spec.temperature
        while steps > 0:
            steps, less = next_pair(*sentence.buffers, sentence.view, pair, steps, *margin, rng)
            if less == 0 or spec.constraints == "gold":
                continue
            now, before = sentence.arcs, self._arcs(sentence, pair.before[1:])
            better, worse = (now, before) if less > 0 else (before, now)
            self._update(sentence, rows, tag, better, worse, abs(less))
            self.counts["neighbour"] += 1
            sentence.lay(now)
        last = sentence.arcs
        chain[:] = sentence.problem.head[last]
        self.counts["wrong"] += int((last != gold_arcs).sum())
        if sentence.labels is not None:
            self._learn_labels(sentence, rows, gold_arcs)
        if spec.constraints == "neighbour":
            return
        if spec.violator == "climb":
            sentence.ask(gold_arcs, spec.cost)
            climb(*sentence.buffers, sentence.view, rng)
            last = sentence.arcs
        if errors := int((last != gold_arcs).sum()):
            self._update(sentence, rows, tag, gold_arcs, last, errors)
            self.counts["gold"] += 1

    def _visit_samples(self, i: int) -> None:
        """Continue the chain of sentence i by the schedule `sample`, with an update at every violated constraint."""
        spec, gold, n = self.spec, self.gold[i], len(self.gold[i]) - 1
        rows, tag = self.table.sentence(i)
        allowed = allowed_arcs(self.scoring, self.pruner, rows, tag, spec.training_k)
        allowed[gold[1:], np.arange(1, n + 1)] = True
        sentence = self._proposing(rows, tag, allowed)
        if sentence is None:  # as in `_visit`
            return
        chain, rng = self.chains[self.offsets[i] : self.offsets[i + 1]], self._random(i)
        now = sentence.first_tree(rng) if chain[0] == UNKNOWN else self._arcs(sentence, chain)
        gold_arcs = self._arcs(sentence, gold[1:])
        trees = Trees(np.full(n + 1, -1, np.int64), np.full(n + 1, -1, np.int64), gold.astype(np.int64))
        method = WALK if spec.proposal == "random-walk" else GIBBS
        chosen = spec.constraints != "gold", spec.constraints != "neighbour"
        rule, steps = Rule(*chosen, spec.cost, method, WORDS, spec.temperature), spec.samples or spec.sweeps * n
        while True:
            behind = sentence.lay(gold_arcs) - sentence.lay(now)
            steps, constraint, less = next_violation(*sentence.buffers, sentence.view, trees, steps, behind, rule, rng)
            now = sentence.arcs
            if constraint == NOTHING:
                break
            pair = gold_arcs, now
            if constraint == NEIGHBOUR:
                before, proposal = self._arcs(sentence, trees.before[1:]), self._arcs(sentence, trees.proposal[1:])
                pair = (proposal, before) if less > 0 else (before, proposal)
            sentence = self._updated(sentence, (rows, tag, allowed), pair, abs(less), constraint)
            errors = int((now != gold_arcs).sum())
            if (
                constraint == NEIGHBOUR
                and rule.gold
                and sentence.lay(gold_arcs) - sentence.lay(now) < spec.cost * errors
            ):
                sentence = self._updated(sentence, (rows, tag, allowed), (gold_arcs, now), errors, GOLD)
        chain[:] = sentence.problem.head[now]
        self.counts["wrong"] += int((now != gold_arcs).sum())

    def _updated(
        self,
        sentence: Sentence,
        inputs: tuple[np.ndarray, np.ndarray, np.ndarray],
        pair: tuple[np.ndarray, np.ndarray],
        errors: int,
        constraint: int,
    ) -> Sentence:
        """Update the weights towards the first tree of a pair; return the sentence, scored with the new weights.

        inputs      token rows, tags and candidate arcs of the sentence
        pair        the better and the worse tree, as arcs int32[n]
        errors      number of errors that the worse tree has more
        constraint  the violated constraint, GOLD or NEIGHBOUR
        """
        rows, tag, _ = inputs
        self.learner.examples += 1
        self._update(sentence, rows, tag, *pair, errors)
        self.counts["gold" if constraint == GOLD else "neighbour"] += 1
        new = self._proposing(*inputs, sentence.view)
        assert new is not None
        return new

    def _proposing(
        self, rows: np.ndarray, tag: np.ndarray, allowed: np.ndarray, view: View | None = None
    ) -> Sentence | None:
        """Return a scored sentence whose random walks draw arcs in proportion to exp(arc score), as published."""
        sentence = scored(self.scoring, rows, tag, allowed, view=view)
        if sentence is not None:
            first, count = sentence.buffers.ints[S_SHARE], sentence.problem.arcs
            sentence.buffers.reals[first : first + count] = shares(sentence.problem.arc, sentence.problem)
        return sentence

    def _learn_labels(self, sentence: Sentence, rows: np.ndarray, arcs: np.ndarray) -> None:
        """Update the weights of labels towards the gold labels of the gold arcs `arcs` (int32[n]).

        `sentence.labels` holds the gold labels, because `scored` was called with the gold tree.
        """
        labels, index, joint = sentence.labels, sentence.scores.arc_index, self.labelling.joint
        assert labels is not None
        assert joint is not None
        gold_labels, n, cost = labels[arcs], len(arcs), self.spec.label_cost
        table = joint.of_arcs(self.learner.weights, rows, n, index.head[arcs], index.mod[arcs])
        best_labels = joint.best(table, gold_labels, cost)[1]
        slots, signs, rates = self.difference.reserve(self.labelling.room(n))
        count = self.labelling.difference((arcs, gold_labels), (arcs, best_labels), index, rows, slots, signs, 0)
        self.learner.update(slots, signs, rates, count, cost * int((best_labels != gold_labels).sum()))

    def _random(self, sentence: int = 0) -> np.ndarray:
        """Return the state of the random generator for the next visit of a sentence."""
        number = self.learner.examples * 2654435761 + self.spec.seed * 40503 + sentence * 11400714819323198485
        return np.array([number % 2**64], np.uint64)

    @staticmethod
    def _arcs(sentence: Sentence, heads: np.ndarray) -> np.ndarray:
        return arcs_of_tree(index_of(sentence.problem).arcs, np.append(-1, heads).astype(np.int32))

    def _update(
        self, sentence: Sentence, rows: np.ndarray, tag: np.ndarray, better: np.ndarray, worse: np.ndarray, errors: int
    ) -> None:
        """Update the weights from the worse tree towards the better tree.

        better, worse  the trees, as arcs int32[n]
        errors         number of errors that the worse tree has more
        """
        scorer, scores, better_parts, worse_parts = self.scoring.scorer, sentence.scores, {}, {}
        for family in ("arc", *self.spec.families):
            g, p = scores.selected(family, better), scores.selected(family, worse)
            better_parts[family], worse_parts[family] = only_in(g, p), only_in(p, g)
        n = len(better)
        space = scorer.room(better_parts, n) + scorer.room(worse_parts, n) + 2 * room(self.scoring.codes, n)
        space += self.labelling.room(n)
        slots, signs, rates = self.difference.reserve(space)
        count = scorer.features(better_parts, 1.0, scores, rows, tag, slots, signs, 0, rates=rates)
        count = scorer.features(worse_parts, -1.0, scores, rows, tag, slots, signs, count, rates=rates)
        for arcs, sign in ((better, 1.0), (worse, -1.0)):
            sentence.set_tree_unscored(arcs)
            count = append(sentence.buffers.ints, sentence.view, sign, slots, signs, count)
        if sentence.labels is not None:
            labelled = (better, sentence.labels[better]), (worse, sentence.labels[worse])
            count = self.labelling.difference(*labelled, scores.arc_index, rows, slots, signs, count)
        self.learner.update(slots, signs, rates, count, self.spec.cost * errors)
