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
from treebound.systems.transition.quadratic import pool_of
from treebound.systems.transition.quadratic_svm import QuadraticSVM, binarised, libsvm, split_of
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


def by_libsvm(svm: QuadraticSVM, X: np.ndarray, y: np.ndarray, asked: np.ndarray) -> tuple[np.ndarray, float]:
    """LIBSVM's classes of the instances asked, and its CPU seconds. Trains again: our models keep no LIBSVM object."""
    svmutil, found, seconds = libsvm(), np.empty(len(asked), int), 0.0
    pools = np.array([pool_of(svm.pools, x) for x in asked])
    for p, rows in enumerate(svm.parts(X)):
        here = np.flatnonzero(pools == p)
        if not len(here):
            continue
        machine = svm.machine(X, y, rows)
        if machine.model is None:
            found[here] = machine.classes[0]
            continue
        features = binarised(asked[here], [np.unique(column) for column in X[rows].T])
        begun = time.process_time()
        answers, _, _ = svmutil.svm_predict([], features, machine.model, "-q")
        seconds += time.process_time() - begun
        found[here] = np.array(answers, int)
    return found, seconds


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
    encoding, settings = Encoding.learn(train, FEATURES), Settings(features="F5")
    derived = derive_all(train, encoding, settings, FEATURES)
    X, y, svm = seen(derived), derived.answers, QuadraticSVM(split_of(FEATURES))
    svm.fit(X, y, len(derived.machine.classes.kind))
    asked = seen(derive_all(dev, encoding, settings, FEATURES))
    svm.best(asked[:10])
    begun = time.process_time()
    ours = svm.best(asked)
    speed = len(asked) / (time.process_time() - begun)
    theirs, seconds = by_libsvm(svm, X, y, asked[::10])
    words = encoding.words(dev)
    begun = time.process_time()
    parse_in_step(derived.machine, svm, words)
    parsed = dev.words / (time.process_time() - begun)
    print(f"{corpus}: {len(X):,} instances, {sum(vectors for _, vectors in svm.sizes):,} support vectors")
    print(f"ours    {speed:10,.0f} decisions / CPU s")
    ratio = speed * seconds / len(theirs)
    print(f"LIBSVM  {len(theirs) / seconds:10,.0f} decisions / CPU s")
    differ, note, name = int((ours[::10] != theirs).sum()), f"of {len(theirs):,}", f"quadratic SVM, {corpus}"
    rows = [
        Row(f"{name}: decisions per CPU second to LIBSVM's", ratio, TIMES),
        Row(f"{name}: decisions other than LIBSVM's", differ, 0, more=False, note=note),
        Row(f"{name}: words per CPU second", parsed, SPEED.get(corpus)),
    ]
    told(rows, given.keep)


if __name__ == "__main__":
    main()
