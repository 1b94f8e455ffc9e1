"""What does a threshold in the pruner save, and lose? Accuracy on dev and speed of one model under each threshold.

    python benchmarks/pruning.py train.conllu dev.conllu --sentences 1000 --thresholds 1e-4 1e-3 1e-2

trains the default model. Dev is parsed with all thresholds in turn, `--repeats` times, beside all k heads (0): medians
of the words per CPU second, and of their ratios.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from training import load

from treebound.evaluation.attachment import evaluate
from treebound.learning.pruner import train_pruner
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train


def main() -> None:
    """Print a line for every way of training and parsing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path)
    parser.add_argument("dev", type=Path)
    parser.add_argument("--sentences", type=int, default=1000, help="to train on; dev has a third of that at most")
    parser.add_argument("--epochs", type=int, default=Settings.epochs)
    parser.add_argument("--thresholds", type=float, nargs="+", default=[1e-4, 1e-3, 1e-2])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    examples, dev = load(given.train, given.sentences), load(given.dev, given.sentences // 3)
    settings = Settings(epochs=given.epochs, seed=given.seed).fitted(examples)
    pruner = train_pruner(examples, seed=given.seed)
    model = train(settings, examples, dev, pruner)
    parsers = {threshold: Parser(model, threshold=threshold) for threshold in (0.0, *given.thresholds)}
    parses = {threshold: parser.parse(dev) for threshold, parser in parsers.items()}
    rates: dict[float, list[float]] = {threshold: [] for threshold in parsers}
    for _ in range(given.repeats):
        for threshold, parser in parsers.items():
            started = time.process_time()
            parser.parse(dev)
            rates[threshold].append(dev.words / (time.process_time() - started))
    print(f"{len(examples)} sentences to train on, dev {len(dev)} of {dev.words} words, {settings.epochs} epochs")
    print("threshold recall heads_a_word UAS LAS same_trees proved words_per_cpu_s times")
    for threshold, found in parses.items():
        recall, heads = pruner.kept(dev, settings.k, threshold)
        scores = evaluate(dev, [p.heads for p in found], [model.label_names(p) for p in found]).summary
        same = np.mean([np.array_equal(p.heads, q.heads) for p, q in zip(found, parses[0.0], strict=True)])
        times = np.median(np.array(rates[threshold]) / np.array(rates[0.0]))
        print(
            f"{threshold:g} {100 * recall:.2f} {heads:.2f} {scores['uas']:.2f} {scores['las']:.2f} {100 * same:.1f} "
            f"{sum(p.certified for p in found)}/{len(found)} {np.median(rates[threshold]):.0f} {times:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
