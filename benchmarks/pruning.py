"""What does a threshold in the pruner save, and lose? Dev accuracy and speed, trained and parsed with each threshold.

    python benchmarks/pruning.py train.conllu dev.conllu --sentences 1000 --thresholds 0 1e-4 1e-3 1e-2

trains one pruner and, with each threshold, the default model. Dev is parsed by all of them in turn, `--repeats` times;
of each the median of the words per CPU second is printed. `as trained` 0 means that a model without a threshold parses
with one.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from training import load

from treebound.evaluation.attachment import evaluate
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.pruner import train_pruner
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train


def main() -> None:
    """Print a line for every way of training and parsing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path)
    parser.add_argument("dev", type=Path)
    parser.add_argument("--sentences", type=int, default=1000, help="to train on; dev has a third of that at most")
    parser.add_argument("--epochs", type=int, default=Settings.epochs)
    parser.add_argument("--thresholds", type=float, nargs="+", default=[0.0, 1e-4, 1e-3, 1e-2])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    examples, dev = load(given.train, given.sentences), load(given.dev, given.sentences // 3)
    settings = Settings(epochs=given.epochs, seed=given.seed).fitted(examples)
    pruner = train_pruner(examples, seed=given.seed)
    models, seconds = {}, {}
    for threshold in given.thresholds:
        started = time.process_time()
        models[threshold] = train(replace(settings, threshold=threshold), examples, dev, pruner)
        seconds[threshold] = time.process_time() - started
    ways = [(t, t) for t in given.thresholds] + [(0.0, t) for t in given.thresholds if t and 0.0 in models]
    parsers = {way: Parser(models[way[0]], threshold=way[1]) for way in ways}
    parses, rates = {way: parser.parse(dev) for way, parser in parsers.items()}, {way: [] for way in ways}
    for _ in range(given.repeats):
        for way, parser in parsers.items():
            started = time.process_time()
            parser.parse(dev)
            rates[way].append(dev.words / (time.process_time() - started))
    print(f"{len(examples)} sentences to train on, dev {len(dev)} of {dev.words} words, {settings.epochs} epochs")
    print("trained_with parsed_with recall heads_a_word UAS LAS same_trees proved words_per_cpu_s train_cpu_s")
    for way, found in parses.items():
        model, plain = models[way[0]], parses.get((0.0, 0.0), found)
        recall, heads = pruner.kept(dev, settings.k, way[1])
        scores = evaluate(dev, [p.heads for p in found], [model.label_names(p) for p in found]).summary
        same = np.mean([np.array_equal(p.heads, q.heads) for p, q in zip(found, plain, strict=True)])
        print(
            f"{way[0]:g} {way[1]:g} {100 * recall:.2f} {heads:.2f} {scores['uas']:.2f} {scores['las']:.2f} "
            f"{100 * same:.1f} {sum(p.certified for p in found)}/{len(found)} {np.median(rates[way]):.0f} "
            f"{seconds[way[0]]:.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
