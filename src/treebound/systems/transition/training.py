"""Training of a transition-based parser with one of six learners.

- static: averaged perceptron on the instances of the static oracle
- dynamic: averaged perceptron with a dynamic oracle and exploration (Goldberg & Nivre 2013)
- beam: structured perceptron (Zhang & Nivre 2011; Huang, Fayong & Guo 2012)
- svm: linear support vector machine on the instances of the static oracle
- quadratic: support vector machines with a quadratic kernel on the same instances (Hall, Nivre & Nilsson 2006)
- memory: memory-based learning on the same instances (Hall, Nivre & Nilsson 2006)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from treebound.core.errors import InputError, UnsupportedError
from treebound.core.treebank import Treebank
from treebound.learning import loop
from treebound.learning.checkpoint import Averages, Checkpoint, key_of
from treebound.learning.conventions import conventions, training_meta
from treebound.learning.loop import Progress, Show
from treebound.learning.updates import Learner, Perceptron
from treebound.metrics.attachment import evaluate
from treebound.systems.transition.beam import beam_epoch, make_beam
from treebound.systems.transition.classifiers import LinearSVM
from treebound.systems.transition.configuration import SYSTEMS, configuration
from treebound.systems.transition.encoding import Encoding, classes_of
from treebound.systems.transition.extraction import Words, derivations, instances
from treebound.systems.transition.feature_models import FeatureModel
from treebound.systems.transition.greedy import Machine, explore_epoch
from treebound.systems.transition.linear import UNIT, Linear, averaged, empty, perceptron_epoch
from treebound.systems.transition.model import TransitionModel, classifier_for
from treebound.systems.transition.oracles import has_dynamic_oracle
from treebound.systems.transition.quadratic_svm import QuadraticSVM
from treebound.systems.transition.settings import Settings
from treebound.treebanks.projectivise import projectivise

#: learner -> (module, name) of the package that the learner needs
PACKAGES = {"svm": ("sklearn", "scikit-learn"), "quadratic": ("libsvm", "LIBSVM"), "memory": ("timblapi", "TiMBL")}
SHOWN = 1000  #: sentences or instances between two updates of the progress display


@dataclass(frozen=True)
class Derivations:
    """The derivations of a treebank by the static oracle, from which every learner starts.

    machine    the transition system, with the transitions that occur;
    words      the words of the treebank;
    moves      int32[N, 2] kind and label of each transition;
    answers    int64[N] the same transitions, as classes;
    counts     int64[S] number of transitions of each sentence;
    derivable  bool[S]; a sentence that is not derivable has no moves.
    """

    machine: Machine
    words: Words
    moves: np.ndarray
    answers: np.ndarray
    counts: np.ndarray
    derivable: np.ndarray


def projective(treebank: Treebank) -> Treebank:
    """Return the treebank with crossing arcs lifted until every tree is projective. O(W) if no arcs cross."""
    heads = [projectivise(treebank.heads(i))[0][1:] for i in range(len(treebank))]
    return treebank.with_heads(np.concatenate(heads)) if heads else treebank


def derive_all(train: Treebank, encoding: Encoding, settings: Settings, features: FeatureModel) -> Derivations:
    """Return the derivations of all sentences. InputError if no sentence can be derived."""
    system, words = SYSTEMS[settings.transitions], encoding.words(train)
    c = configuration(int(train.lengths.max()))
    moves, counts, derivable = derivations(system, words, c, encoding.root)
    if not len(moves):
        raise InputError(
            f"{settings.transitions} derives no tree of {train.name}", hint="train with --transitions swap"
        )
    classes = classes_of(moves, len(encoding.labels))
    machine = Machine(system, features.compiled(), classes, encoding.root)
    answers = classes.number[moves[:, 0], moves[:, 1] + 1].astype(np.int64)
    return Derivations(machine, words, moves, answers, counts, derivable)


def key_for(settings: Settings, features: FeatureModel, train: Treebank, dev: Treebank | None) -> str:
    """Return the key of a training run: a digest of settings, features and treebanks."""
    seen = {"cells": features.cells, "joins": features.joins}
    return key_of({"spec": settings.as_dict(), **seen}, (train,) if dev is None else (train, dev))


def train_model(
    settings: Settings,
    features: FeatureModel,
    train: Treebank,
    dev: Treebank | None = None,
    *,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> TransitionModel:
    """Train a model with one of the six learners and return it.

    A perceptron returns the model of the epoch with the best UAS on dev, or of the last epoch without dev. The other
    learners have no epochs.

    checkpoint  file from which an interrupted training continues. It is written after every epoch of a perceptron, and
                from time to time while support vector machines are trained one by one

    The model records how many sentences are not derivable (`derive_all` lists them). Only the dynamic oracle learns
    from such sentences; the other learners leave them out.
    """
    system = SYSTEMS[settings.transitions]
    if settings.learning in ("quadratic", "memory"):
        if settings.beam > 1:
            raise UnsupportedError(
                f"--learning {settings.learning} cannot parse with a beam", hint="use a perceptron or svm"
            )
        classifier_for(settings, features, np.arange(0))  # raises an error in the settings before the long derivation
    if settings.learning == "dynamic" and not has_dynamic_oracle(system):
        raise UnsupportedError(f"{settings.transitions} has no dynamic oracle", hint="use arc-eager or arc-hybrid")
    encoding = Encoding.learn(train, features)
    derived = derive_all(train if system.swap else projective(train), encoding, settings, features)
    skipped, key = int((~derived.derivable).sum()), key_for(settings, features, train, dev)
    meta, classes = conventions(training_meta(train)), derived.machine.classes
    model = TransitionModel(settings, features, encoding, classes, None, meta, (), skipped, key)
    if settings.learning == "svm":
        cost = 0.1 if settings.svm_cost is None else settings.svm_cost
        svm = LinearSVM(features, cost, settings.bits, settings.seed)
        svm.fit(_instances(derived), derived.answers, len(classes.kind))
        return replace(model, linear=svm.linear)
    if settings.learning in ("quadratic", "memory"):
        classifier = classifier_for(settings, features, classes.kind)
        data = (_instances(derived), derived.answers, len(classes.kind))
        if isinstance(classifier, QuadraticSVM):
            classifier.learn(*data, checkpoint=checkpoint, key=key, progress=progress)
        else:
            classifier.fit(*data)
        return replace(model, other=classifier)
    task = _Perceptron(settings, features, derived)

    def judge(average: Averages, history: list[dict]) -> dict:
        assert dev is not None
        parses = replace(model, linear=task.linear_of(average)).parse(dev)
        return {"dev_uas": evaluate(dev, [parse.heads for parse in parses]).summary["uas"]}

    trained = loop.train(
        task,
        settings.epochs,
        loop.shuffled(settings.seed, task.count),
        judge=judge if dev is not None else None,
        score=(lambda record: record["dev_uas"]) if dev is not None else None,
        checkpoint=Checkpoint(checkpoint, key, task.learner) if checkpoint else None,
        progress=progress,
    )
    return replace(model, linear=task.linear_of(trained.best), history=tuple(trained.history))


def _instances(derived: Derivations) -> np.ndarray:
    """Return int32[N, m], the instances before all transitions of the derivations."""
    machine, words = derived.machine, derived.words
    c = configuration(int(np.diff(words.offsets).max()))
    return instances(machine.system, machine.cells, words, c, machine.root, derived.moves, derived.counts)


class _Perceptron:
    """A perceptron in training (`treebound.learning.loop.Task`) over `count` instances or sentences."""

    def __init__(self, settings: Settings, features: FeatureModel, derived: Derivations):
        self.settings, self.derived = settings, derived
        empty_model = empty(features, len(derived.machine.classes.kind), settings.bits)
        self.learner = Learner(len(empty_model.weights), Perceptron())
        self.linear = empty_model._replace(weights=self.learner.weights)
        longest = int(np.diff(derived.words.offsets).max())
        self.configuration, self.count = configuration(longest), len(derived.counts)
        if settings.learning == "static":
            self.X, self.count = _instances(derived), len(derived.moves)
        elif settings.learning == "beam":
            self.beam = make_beam(derived.machine.system, settings.beam, longest)
            self.starts = np.concatenate([[0], np.cumsum(derived.counts)])

    def learn(self, order: np.ndarray, show: Show) -> dict:
        """Train for one epoch. Return `violations`, the number of decisions that caused an update.

        With a beam, sentences are counted instead of decisions.
        """
        batches = show(np.array_split(order, max(1, len(order) // SHOWN)))
        step = {"static": self._instances, "dynamic": self._explored, "beam": self._searched}[self.settings.learning]
        first = self.learner.examples == 0
        return {"violations": sum(step(batch, first) for batch in batches)}

    def _instances(self, batch: np.ndarray, first: bool) -> int:
        answers, classes = self.derived.answers, len(self.derived.machine.classes.kind)
        time = float(self.learner.examples)
        self.learner.examples += len(batch)
        return perceptron_epoch(self.linear, self.learner.sums, self.X, answers, batch, classes, time)

    def _explored(self, batch: np.ndarray, first: bool) -> int:
        parser, explore = (
            (self.derived.machine, self.linear, self.learner.sums),
            0.0 if first else self.settings.explore,
        )
        seen = self.learner.examples
        wrong, seen = explore_epoch(*parser, self.derived.words, batch, self.configuration, explore, seen)
        self.learner.examples = int(seen)
        return wrong

    def _searched(self, batch: np.ndarray, first: bool) -> int:
        parser, gold = (self.derived.machine, self.linear, self.learner.sums), (self.derived.answers, self.starts)
        rule = (int(self.settings.update == "early"), float(self.learner.examples))
        self.learner.examples += len(batch)
        return beam_epoch(*parser, self.derived.words, gold, batch, self.beam, rule)

    def result(self) -> Averages:
        """Return the averaged weights as integers, and their unit."""
        mean = averaged(self.linear, self.learner.sums, self.learner.examples)
        return mean.weights.astype(np.int32), UNIT

    def linear_of(self, average: Averages) -> Linear:
        """Return a linear model with the averaged weights."""
        return self.linear._replace(weights=average[0].astype(np.float32))
