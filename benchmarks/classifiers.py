"""Decisions of the quadratic kernel beside LIBSVM's own, in one run: speed, and whether they are the same.

    python benchmarks/classifiers.py CORPUS [--sentences N]   # converted by the pipeline; after make classifiers

Trains on the training split (or its first N sentences) with the features F5, and classifies the transitions of dev, a
tenth of them by LIBSVM, which takes about a millisecond for each. Prints both speeds, their ratio, how many decisions
differ, and words per CPU second from features to labelled trees.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from goals import Row, option, told

from treebound.systems.transition.configuration import configuration
from treebound.systems.transition.encoding import Encoding
from treebound.systems.transition.extraction import instances
from treebound.systems.transition.feature_models import load_models
from treebound.systems.transition.greedy import parse_in_step
from treebound.systems.transition.machines import binarised, libsvm
from treebound.systems.transition.model import classifier_for
from treebound.systems.transition.quadratic import pool_of, winners
from treebound.systems.transition.quadratic_svm import QuadraticSVM
from treebound.systems.transition.settings import Settings
from treebound.systems.transition.training import Derivations, derive_all, projective
from treebound.treebanks import storage

FEATURES = load_models()["F5"]
TIMES = 50  #: target: decisions a second to those of LIBSVM
SPEED = {"ptb_sample": 20_000, "en_ewt": 15_000}  #: targets: words per CPU second, features to labelled trees


def seen(derived: Derivations) -> np.ndarray:
    """The instances before every transition."""
    c = configuration(int(np.diff(derived.words.offsets).max()))
    machine = derived.machine
    return instances(machine.system, machine.cells, derived.words, c, machine.root, derived.moves, derived.counts)


def by_libsvm(svm: QuadraticSVM, X: np.ndarray, y: np.ndarray, asked: np.ndarray) -> tuple[int, int, float]:
    """(decisions of the instances asked, how many of ours differ, CPU seconds of LIBSVM for them).

    Trains again: our models keep no LIBSVM object.
    """
    svmutil, problems, count, differ, seconds = libsvm(), svm.problems(X, y), 0, 0, 0.0
    first = winners(svm.pools, asked, 0)
    steps = [np.arange(len(asked)), *(np.flatnonzero(first == branch) for branch in svm.branching)]
    for step, met in enumerate(steps):
        ours = winners(svm.pools, asked[met], step)
        pools = np.array([pool_of(svm.pools, x, step) for x in asked[met]])
        for p in np.unique(pools):
            here, machine = met[pools == p], svm.machine(X, problems[p])
            if machine.model is not None:
                features = binarised(asked[here], [np.unique(column) for column in X[problems[p].rows].T])
                begun = time.process_time()
                answers, _, _ = svmutil.svm_predict([], features, machine.model, "-q")
                seconds += time.process_time() - begun
                differ += int((ours[pools == p] != np.array(answers, int)).sum())
                count += len(here)
    return count, differ, seconds


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--sentences", type=int, help="of the training split; all by default")
    option(parser)
    given = parser.parse_args()
    corpus, folder = given.corpus, Path("data/converted") / given.corpus
    train, dev = (projective(storage.load(folder / f"{split}.npz")) for split in ("train", "dev"))
    train = train.select(np.arange(min(given.sentences or len(train), len(train))))
    encoding, settings = Encoding.learn(train, FEATURES), Settings(learning="quadratic", features="F5")
    derived = derive_all(train, encoding, settings, FEATURES)
    X, y, svm = seen(derived), derived.answers, classifier_for(settings, FEATURES, derived.machine.classes.kind)
    svm.fit(X, y, len(derived.machine.classes.kind))
    asked = seen(derive_all(dev, encoding, settings, FEATURES))
    svm.best(asked[:10])
    begun = time.process_time()
    svm.best(asked)
    speed = len(asked) / (time.process_time() - begun)
    count, differ, seconds = by_libsvm(svm, X, y, asked[::10])
    words = encoding.words(dev)
    begun = time.process_time()
    parse_in_step(derived.machine, svm, words)
    parsed = dev.words / (time.process_time() - begun)
    print(f"{corpus}: {len(X):,} instances, {sum(vectors for _, vectors in svm.sizes):,} support vectors")
    print(f"ours    {speed:10,.0f} transitions / CPU s")
    theirs = len(asked[::10]) / seconds
    print(f"LIBSVM  {theirs:10,.0f} transitions / CPU s")
    note, name = f"of {count:,} decisions", f"quadratic SVM, {corpus}"
    rows = [
        Row(f"{name}: transitions per CPU second to LIBSVM's", speed / theirs, TIMES),
        Row(f"{name}: decisions other than LIBSVM's", differ, 0, more=False, note=note),
        Row(f"{name}: words per CPU second", parsed, SPEED.get(corpus)),
    ]
    told(rows, given.keep)


if __name__ == "__main__":
    main()
