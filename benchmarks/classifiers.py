"""Compare the decisions of our quadratic kernel with LIBSVM in one run: speed, and whether they are the same.

    python benchmarks/classifiers.py CORPUS [--sentences N]   # a corpus converted by the pipeline; run make classifiers

The benchmark trains on the training split (or its first N sentences) with the features F5, and classifies the
transitions of dev. LIBSVM classifies only a tenth of them, because it takes about a millisecond for each. The benchmark
prints both speeds, their ratio, the number of decisions that differ, and words per CPU second from features to labelled
trees.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from goals import Row, option, report

from treebound.systems.transition.configuration import configuration
from treebound.systems.transition.encoding import Encoding
from treebound.systems.transition.extraction import instances
from treebound.systems.transition.feature_models import load_models
from treebound.systems.transition.greedy import parse_in_parallel
from treebound.systems.transition.machines import binarised, libsvm
from treebound.systems.transition.model import classifier_for
from treebound.systems.transition.quadratic import pool_of, winners
from treebound.systems.transition.quadratic_svm import QuadraticSVM
from treebound.systems.transition.settings import Settings
from treebound.systems.transition.training import Derivations, derive_all, projective
from treebound.treebanks import storage

FEATURES = load_models()["F5"]
TIMES = 50  #: target: decisions per second, divided by the speed of LIBSVM
SPEED = {"ptb_sample": 20_000, "en_ewt": 15_000}  #: targets: words per CPU second, features to labelled trees


def seen(derived: Derivations) -> np.ndarray:
    """Return the instances before every transition of some derivations."""
    c = configuration(int(np.diff(derived.words.offsets).max()))
    machine = derived.machine
    return instances(machine.system, machine.cells, derived.words, c, machine.root, derived.moves, derived.counts)


def by_libsvm(svm: QuadraticSVM, X: np.ndarray, y: np.ndarray, held_out: np.ndarray) -> tuple[int, int, float]:
    """Repeat our decisions with LIBSVM; return (number of decisions, number that differ, CPU seconds of LIBSVM).

    LIBSVM is trained again, because our models store no LIBSVM object.
    """
    svmutil, problems, count, differ, seconds = libsvm(), svm.problems(X, y), 0, 0, 0.0
    first = winners(svm.pools, held_out, 0)
    steps = [np.arange(len(held_out)), *(np.flatnonzero(first == branch) for branch in svm.branching)]
    for step, reached in enumerate(steps):
        ours = winners(svm.pools, held_out[reached], step)
        pools = np.array([pool_of(svm.pools, x, step) for x in held_out[reached]])
        for p in np.unique(pools):
            chosen, machine = reached[pools == p], svm.machine(X, problems[p])
            if machine.model is not None:
                features = binarised(held_out[chosen], [np.unique(column) for column in X[problems[p].rows].T])
                begun = time.process_time()
                answers, _, _ = svmutil.svm_predict([], features, machine.model, "-q")
                seconds += time.process_time() - begun
                differ += int((ours[pools == p] != np.array(answers, int)).sum())
                count += len(chosen)
    return count, differ, seconds


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", help="name of a corpus in params.yaml")
    parser.add_argument("--sentences", type=int, help="Number of sentences of the training split. Default: all.")
    option(parser)
    arguments = parser.parse_args()
    corpus, folder = arguments.corpus, Path("data/converted") / arguments.corpus
    train, dev = (projective(storage.load(folder / f"{split}.npz")) for split in ("train", "dev"))
    train = train.select(np.arange(min(arguments.sentences or len(train), len(train))))
    encoding, settings = Encoding.learn(train, FEATURES), Settings(learning="quadratic", features="F5")
    derived = derive_all(train, encoding, settings, FEATURES)
    X, y, svm = seen(derived), derived.answers, classifier_for(settings, FEATURES, derived.machine.classes.kind)
    svm.fit(X, y, len(derived.machine.classes.kind))
    held_out = seen(derive_all(dev, encoding, settings, FEATURES))
    svm.best(held_out[:10])
    begun = time.process_time()
    svm.best(held_out)
    speed = len(held_out) / (time.process_time() - begun)
    count, differ, seconds = by_libsvm(svm, X, y, held_out[::10])
    words = encoding.words(dev)
    begun = time.process_time()
    parse_in_parallel(derived.machine, svm, words)
    parsed = dev.words / (time.process_time() - begun)
    print(f"{corpus}: {len(X):,} instances, {sum(vectors for _, vectors in svm.sizes):,} support vectors")
    print(f"ours    {speed:10,.0f} transitions / CPU s")
    theirs = len(held_out[::10]) / seconds
    print(f"LIBSVM  {theirs:10,.0f} transitions / CPU s")
    note, name = f"of {count:,} decisions", f"quadratic SVM, {corpus}"
    rows = [
        Row(f"{name}: transitions per CPU second to LIBSVM's", speed / theirs, TIMES),
        Row(f"{name}: decisions other than LIBSVM's", differ, 0, more=False, note=note),
        Row(f"{name}: words per CPU second", parsed, SPEED.get(corpus)),
    ]
    report(rows, arguments.keep)


if __name__ == "__main__":
    main()
