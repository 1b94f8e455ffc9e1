"""SampleRank with MIRA steps (Zhang et al. 2014, section 3.3 and Figure 4; Wick et al. 2011).

Each sentence has a chain of trees that goes on from epoch to epoch. At each visit it is scored once, and the chain
makes `sweeps` steps a word under these scores. Where two successive trees break their constraint under them, or the
tree that a visit ends with breaks that of the right tree, a MIRA step is made; its size is that of the weights of the
moment, and global features are scored by these from then on. That is the schedule `visit`.

The schedule `sample` is Figure 4: every proposal is compared with the tree before it, accepted or not, and every sample
with the gold tree, under the weights of the moment, since the sentence is scored anew after every update. The average
is over updates. Two details are ours: chains go on from epoch to epoch, of which Figure 4 says nothing, and a random
walk proposes no head with less than `LEAST_SHARE` of the weight of the best head.

The paper's figure orders the two errors the wrong way round in Delta Err; the text's equation (5) is meant.
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
from treebound.learning.conventions import meta_of
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

UNKNOWN = -1  #: the head of a word in a chain that has not begun


def key_for(spec: Settings, train: Treebank, dev: Treebank) -> str:
    """Identifies a model by its settings, templates and treebanks, before it is trained and in its file."""
    return key_of(spec.as_dict(), (train, dev), digest({**templates_for(spec), **OF_THE_PRUNER}).encode())


def train_model(
    spec: Settings,
    train: Treebank,
    dev: Treebank,
    *,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> SamplingModel:
    """The model of the epoch with the best UAS on dev. InputError where there are no labels to be learnt.

    checkpoint  a file written after every epoch, chains and all; training goes on from it and removes it at the end
    Where trees must not cross, right trees that do are projectivised for training, and never for evaluation.
    """
    if spec.labels != "none" and not has_labels(train):
        raise InputError(f"{train.name}: not every word has a label", hint="train without labels")
    bits = min(20, spec.bits)
    pruner = train_pruner(train, epochs=spec.pruner_epochs, bits=bits, seed=spec.seed, progress=progress)
    task, key = Training(spec, train, pruner), key_for(spec, train, dev)

    def model(averages: Averages, history: list[dict]) -> SamplingModel:
        return SamplingModel(spec, *averages, pruner, meta_of(train), history, labels=task.labelling.names, key=key)

    def judge(averages: Averages, history: list[dict]) -> dict:
        what = f"dev, epoch {len(history) + 1}/{spec.epochs}"
        shown = progress and (lambda items, _: progress(items, what))
        parser = Parser(model(averages, history))
        parses = parser.parse(dev, progress=shown)
        names = [parser.label_names(p) for p in parses] if parser.names else None
        summary = evaluate(dev, [p.heads for p in parses], names).summary
        return {f"dev_{name}": summary[name] for name in ("uas", "las") if name in summary}

    kept = Checkpoint(checkpoint, key, task.learner, {"chains": task.chains}) if checkpoint else None
    order = loop.shuffled(spec.seed, len(train))
    found = loop.train(
        task, spec.epochs, order, judge=judge, score=lambda r: r["dev_uas"], checkpoint=kept, progress=progress
    )
    return model(found.best, found.history)


class Training:
    """A model in training, as `loop.train` takes it.

    chains  int32[W] the heads of each sentence's tree; UNKNOWN before its first visit
    """

    def __init__(self, spec: Settings, train: Treebank, pruner: Pruner):
        self.spec, self.offsets = spec, train.offsets
        names = inventory(train) if spec.labels != "none" else ()
        self.labelling = Labelling(spec, names, pruner.attributes)
        self.labels = np.split(numbered(train, names), train.offsets[1:-1])
        self.learner = Learner(self.labelling.weights, Mira(spec.C))
        scorer, projective = Scorer(spec.families, pruner.attributes, spec.bits), spec.space == "projective"
        of_trees = bool(train.meta.get("single_root", True)), projective
        weights, codes = self.learner.weights, codes_of(spec.global_features)
        own = weights[: 1 << spec.bits]
        self.scoring = Scoring(scorer, weights, own, codes, *of_trees, labelling=self.labelling)
        self.table, self.pruner = TokenTable(train), pruner
        each = [train.heads(i) for i in range(len(train))]
        self.gold = [projectivise(heads)[0] for heads in each] if projective else each
        self.chains = np.full(train.words, UNKNOWN, np.int32)
        self.difference = Difference()
        if spec.schedule == "sample":
            self.learner.examples = 1  # the average counts the first weights and those after every update
        self.counts = dict.fromkeys(("wrong", "neighbour", "gold"), 0)

    def learn(self, order: np.ndarray, show: Show) -> dict:
        """One epoch: errors of the trees that visits end with, and the steps made for either constraint."""
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
        """The averaged weights."""
        return self.learner.average()

    def _visit(self, i: int) -> None:
        """Let the chain of sentence i go on, and learn from it."""
        spec, gold = self.spec, self.gold[i]
        rows, tag = self.table.sentence(i)
        allowed = allowed_arcs(self.scoring, self.pruner, rows, tag, spec.training_k)
        allowed[gold[1:], np.arange(1, len(tag))] = True
        made = scored(self.scoring, rows, tag, allowed, (gold, self.labels[i]))
        if made is None:  # a right tree with several roots where one is asked for, and no other tree left
            return
        n, chain = len(tag) - 1, self.chains[self.offsets[i] : self.offsets[i + 1]]
        rng = self._random()
        made.lay(made.first_tree(rng) if chain[0] == UNKNOWN else self._arcs(made, chain))
        right = self._arcs(made, gold[1:])
        pair, steps = Pair(np.full(n + 1, -1, np.int64), gold.astype(np.int64)), spec.sweeps * n
        way = spec.cost, spec.temperature
        while steps > 0:
            steps, less = next_pair(*made.buffers, made.view, pair, steps, *way, rng)
            if less == 0 or spec.constraints == "gold":
                continue
            now, before = made.arcs, self._arcs(made, pair.before[1:])
            better, worse = (now, before) if less > 0 else (before, now)
            self._update(made, rows, tag, better, worse, abs(less))
            self.counts["neighbour"] += 1
            made.lay(now)
        last = made.arcs
        chain[:] = made.problem.head[last]
        self.counts["wrong"] += int((last != right).sum())
        if made.labels is not None:
            self._learn_labels(made, rows, right)
        if spec.constraints == "neighbour":
            return
        if spec.violator == "climb":
            made.ask(right, spec.cost)
            climb(*made.buffers, made.view, rng)
            last = made.arcs
        if errors := int((last != right).sum()):
            self._update(made, rows, tag, right, last, errors)
            self.counts["gold"] += 1

    def _visit_samples(self, i: int) -> None:
        """Let the chain of sentence i go on as in Figure 4, with an update wherever a constraint is broken."""
        spec, gold, n = self.spec, self.gold[i], len(self.gold[i]) - 1
        rows, tag = self.table.sentence(i)
        allowed = allowed_arcs(self.scoring, self.pruner, rows, tag, spec.training_k)
        allowed[gold[1:], np.arange(1, n + 1)] = True
        made = self._proposing(rows, tag, allowed)
        if made is None:  # as in `_visit`
            return
        chain, rng = self.chains[self.offsets[i] : self.offsets[i + 1]], self._random(i)
        now = made.first_tree(rng) if chain[0] == UNKNOWN else self._arcs(made, chain)
        right = self._arcs(made, gold[1:])
        trees = Trees(np.full(n + 1, -1, np.int64), np.full(n + 1, -1, np.int64), gold.astype(np.int64))
        method = WALK if spec.proposal == "random-walk" else GIBBS
        chosen = spec.constraints != "gold", spec.constraints != "neighbour"
        rule, steps = Rule(*chosen, spec.cost, method, WORDS, spec.temperature), spec.samples or spec.sweeps * n
        while True:
            behind = made.lay(right) - made.lay(now)
            steps, constraint, less = next_violation(*made.buffers, made.view, trees, steps, behind, rule, rng)
            now = made.arcs
            if constraint == NOTHING:
                break
            pair = right, now
            if constraint == NEIGHBOUR:
                before, proposal = self._arcs(made, trees.before[1:]), self._arcs(made, trees.proposal[1:])
                pair = (proposal, before) if less > 0 else (before, proposal)
            made = self._updated(made, (rows, tag, allowed), pair, abs(less), constraint)
            errors = int((now != right).sum())
            if constraint == NEIGHBOUR and rule.gold and made.lay(right) - made.lay(now) < spec.cost * errors:
                made = self._updated(made, (rows, tag, allowed), (right, now), errors, GOLD)
        chain[:] = made.problem.head[now]
        self.counts["wrong"] += int((now != right).sum())

    def _updated(
        self,
        made: Sentence,
        sentence: tuple[np.ndarray, np.ndarray, np.ndarray],
        pair: tuple[np.ndarray, np.ndarray],
        errors: int,
        constraint: int,
    ) -> Sentence:
        """Step from the second tree of a pair towards the first; return the sentence, scored by the new weights."""
        rows, tag, _ = sentence
        self.learner.examples += 1
        self._update(made, rows, tag, *pair, errors)
        self.counts["gold" if constraint == GOLD else "neighbour"] += 1
        new = self._proposing(*sentence, made.view)
        assert new is not None
        return new

    def _proposing(
        self, rows: np.ndarray, tag: np.ndarray, allowed: np.ndarray, view: View | None = None
    ) -> Sentence | None:
        """Return a scored sentence whose random walks draw heads by exp(score of the arc), as published."""
        made = scored(self.scoring, rows, tag, allowed, view=view)
        if made is not None:
            first, count = made.buffers.ints[S_SHARE], made.problem.arcs
            made.buffers.reals[first : first + count] = shares(made.problem.arc, made.problem)
        return made

    def _learn_labels(self, made: Sentence, rows: np.ndarray, arcs: np.ndarray) -> None:
        """Step towards the labels of the right arcs int32[n], which they have in `made`."""
        labels, index, joint = made.labels, made.scores.arc_index, self.labelling.joint
        assert labels is not None
        assert joint is not None
        right, n, cost = labels[arcs], len(arcs), self.spec.label_cost
        table = joint.of_arcs(self.learner.weights, rows, n, index.head[arcs], index.mod[arcs])
        found = joint.best(table, right, cost)[1]
        slots, signs, rates = self.difference.reserve(self.labelling.room(n))
        count = self.labelling.difference((arcs, right), (arcs, found), index, rows, slots, signs, 0)
        self.learner.update(slots, signs, rates, count, cost * int((found != right).sum()))

    def _random(self, sentence: int = 0) -> np.ndarray:
        """The state of the generator of a visit."""
        number = self.learner.examples * 2654435761 + self.spec.seed * 40503 + sentence * 11400714819323198485
        return np.array([number % 2**64], np.uint64)

    @staticmethod
    def _arcs(made: Sentence, heads: np.ndarray) -> np.ndarray:
        return arcs_of_tree(index_of(made.problem).arcs, np.append(-1, heads).astype(np.int32))

    def _update(
        self, made: Sentence, rows: np.ndarray, tag: np.ndarray, better: np.ndarray, worse: np.ndarray, errors: int
    ) -> None:
        """Step from one tree towards another, arcs int32[n], with so many errors less."""
        scorer, scores, ours, theirs = self.scoring.scorer, made.scores, {}, {}
        for family in ("arc", *self.spec.families):
            g, p = scores.selected(family, better), scores.selected(family, worse)
            ours[family], theirs[family] = only_in(g, p), only_in(p, g)
        n = len(better)
        space = scorer.room(ours, n) + scorer.room(theirs, n) + 2 * room(self.scoring.codes, n)
        space += self.labelling.room(n)
        slots, signs, rates = self.difference.reserve(space)
        count = scorer.features(ours, 1.0, scores, rows, tag, slots, signs, 0, rates=rates)
        count = scorer.features(theirs, -1.0, scores, rows, tag, slots, signs, count, rates=rates)
        for arcs, sign in ((better, 1.0), (worse, -1.0)):
            made.lay_only(arcs)
            count = append(made.buffers.ints, made.view, sign, slots, signs, count)
        if made.labels is not None:
            ways = (better, made.labels[better]), (worse, made.labels[worse])
            count = self.labelling.difference(*ways, scores.arc_index, rows, slots, signs, count)
        self.learner.update(slots, signs, rates, count, self.spec.cost * errors)
