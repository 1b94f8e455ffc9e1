"""Training of a transition-based parser, by any of four learners.

static   averaged perceptron on the instances of the static oracle
dynamic  the same with a dynamic oracle and exploration (Goldberg & Nivre 2013)
beam     structured perceptron (Zhang & Nivre 2011; Huang, Fayong & Guo 2012)
svm      linear support vector machine on the instances of the static oracle
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from treebound.core.errors import InputError, UnsupportedError
from treebound.core.treebank import Treebank
from treebound.evaluation.attachment import evaluate
from treebound.systems.transition.beam import beam_epoch, make_beam
from treebound.systems.transition.classifiers import LinearSVM
from treebound.systems.transition.configuration import SYSTEMS, configuration
from treebound.systems.transition.encoding import Encoding, classes_of
from treebound.systems.transition.extraction import Words, derivations, instances
from treebound.systems.transition.feature_models import FeatureModel
from treebound.systems.transition.greedy import Machine, explore_epoch
from treebound.systems.transition.linear import Linear, averaged, empty, perceptron_epoch
from treebound.systems.transition.model import Settings, TransitionModel
from treebound.systems.transition.oracles import has_dynamic_oracle
from treebound.treebanks.projectivise import projectivise


@dataclass(frozen=True)
class Derivations:
    """The static oracle's derivations of a treebank: what every learner starts from.

    machine    with the transitions that occur
    words      of the treebank
    moves      int32[N, 2] kinds and labels of transitions; answers int64[N] the same as classes
    counts     int64[S] transitions of each sentence
    derivable  bool[S]; a sentence that is not has no moves
    """

    machine: Machine
    words: Words
    moves: np.ndarray
    answers: np.ndarray
    counts: np.ndarray
    derivable: np.ndarray


def projective(treebank: Treebank) -> Treebank:
    """The treebank with its crossing arcs lifted. O(W) where there are none."""
    heads = [projectivise(treebank.heads(i))[0][1:] for i in range(len(treebank))]
    return treebank.with_heads(np.concatenate(heads)) if heads else treebank


def derive_all(train: Treebank, encoding: Encoding, settings: Settings, features: FeatureModel) -> Derivations:
    """Derivations of all sentences. InputError where there are none."""
    system, words = SYSTEMS[settings.system], encoding.words(train)
    c = configuration(int(train.lengths.max()))
    moves, counts, derivable = derivations(system, words, c, encoding.root)
    if not len(moves):
        raise InputError(f"{settings.system} derives no tree of {train.name}", hint="choose the system swap")
    classes = classes_of(moves, len(encoding.labels))
    machine = Machine(system, features.compiled(), classes, encoding.root)
    answers = classes.number[moves[:, 0], moves[:, 1] + 1].astype(np.int64)
    return Derivations(machine, words, moves, answers, counts, derivable)


def train_model(
    settings: Settings,
    features: FeatureModel,
    train: Treebank,
    dev: Treebank | None = None,
    report: Callable[[dict], None] | None = None,
) -> TransitionModel:
    """The model of the epoch that attaches most words of dev rightly, or of the last one without dev.

    report  is called with the record of every epoch: epoch, violations, and dev_uas where there is dev
    The model says how many sentences are not derivable (`derive_all` says which); only the dynamic oracle learns from
    them, the other learners leave them out.
    """
    system = SYSTEMS[settings.system]
    if settings.learner == "dynamic" and not has_dynamic_oracle(system):
        raise UnsupportedError(f"{settings.system} has no dynamic oracle", hint="use arc-eager or arc-hybrid")
    encoding = Encoding.learn(train, features)
    derived = derive_all(train if system.swap else projective(train), encoding, settings, features)
    skipped = int((~derived.derivable).sum())
    model = TransitionModel(settings, features, encoding, derived.machine.classes, None, (), skipped)
    history: list[dict] = []
    best: TransitionModel | None = None
    for linear, wrong in _epochs(settings, features, derived):
        record: dict = {"epoch": len(history) + 1, "violations": wrong}
        history.append(record)
        candidate = replace(model, linear=linear)
        if dev is not None:
            record["dev_uas"] = evaluate(dev, [parse.heads for parse in candidate.parse(dev)]).summary["uas"]
        if best is None or dev is None or record["dev_uas"] > max(r["dev_uas"] for r in history[:-1]):
            best = candidate
        if report is not None:
            report(record)
    if best is None:
        raise InputError("no epochs of training", hint="train for one or more")
    return replace(best, history=tuple(history))


def _epochs(settings: Settings, features: FeatureModel, derived: Derivations) -> Iterator[tuple[Linear, int]]:
    """(averaged model, wrong decisions) after every pass."""
    machine, words = derived.machine, derived.words
    c = configuration(int(np.diff(words.offsets).max()))
    if settings.learner in ("static", "svm"):
        X = instances(machine.system, machine.cells, words, c, machine.root, derived.moves, derived.counts)
    if settings.learner == "svm":
        svm = LinearSVM(features, settings.cost, settings.bits, settings.seed)
        svm.fit(X, derived.answers, len(machine.classes.kind))
        yield svm.linear, 0
        return
    linear = empty(features, len(machine.classes.kind), settings.bits)
    sums = np.zeros(len(linear.weights))
    starts = np.concatenate([[0], np.cumsum(derived.counts)])
    beam = make_beam(machine.system, settings.beam, int(np.diff(words.offsets).max()))
    seen = 0
    for epoch in range(settings.epochs):
        examples = len(derived.moves) if settings.learner == "static" else len(derived.counts)
        order = np.random.default_rng([settings.seed, epoch]).permutation(examples)
        if settings.learner == "static":
            wrong = perceptron_epoch(linear, sums, X, derived.answers, order, len(machine.classes.kind), float(seen))
            seen += examples
        elif settings.learner == "dynamic":
            explore = settings.explore if epoch else 0.0
            wrong, seen = explore_epoch(machine, linear, sums, words, order, c, explore, seen)
        else:
            rule = (int(settings.update == "early"), float(seen))
            wrong = beam_epoch(machine, linear, sums, words, (derived.answers, starts), order, beam, rule)
            seen += examples
        yield averaged(linear, sums, seen), wrong
