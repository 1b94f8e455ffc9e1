"""Measure the time that a threshold of the pruner saves and the accuracy that it costs, in parsing and in training.

    python benchmarks/pruning.py train.conllu dev.conllu --sentences 1000 --thresholds 1e-4 1e-3 1e-2 --seeds 1 2 3

The benchmark trains the default model on all k heads and parses with each threshold (the rows with 0 folds). It also
trains one model for each threshold with jackknifed pruners (`--folds`). CPU seconds are for training including all
pruners. The next column is their ratio to the first row of the same seed. All models parse dev in turn, `--repeats`
times. Words per CPU second are medians, and `times` are medians of the ratios to the first row.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from training import load

from treebound.core.treebank import Treebank
from treebound.metrics.attachment import evaluate
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.system import Graph

COLUMNS = "seed folds threshold train_cpu_s share dp_calls recall heads_a_word UAS LAS proved words_per_cpu_s times"


class Trained(NamedTuple):
    """A model, the CPU seconds of its training, and the number of dynamic-program calls in its last epoch."""

    model: Model
    seconds: float
    dp_calls: int


def trained(settings: Settings, examples: Treebank, dev: Treebank) -> Trained:
    """Train a model, including its pruners and the parses of dev."""
    started = time.process_time()
    model = Graph().train(settings, examples, dev)
    return Trained(model, time.process_time() - started, model.history[-1]["dp_calls"])


def compare(settings: Settings, examples: Treebank, dev: Treebank, thresholds: list[float], repeats: int) -> None:
    """Print a line for every combination of training and parsing, for one seed.

    The first combination has no threshold.
    """
    plain = trained(Settings(**settings.as_dict() | {"threshold": 0, "pruner_folds": 0}), examples, dev)
    ways = {(0, threshold): plain for threshold in (0.0, *thresholds)}
    for threshold in thresholds if settings.pruner_folds else []:
        pruned = Settings(**settings.as_dict() | {"threshold": threshold})
        ways[settings.pruner_folds, threshold] = trained(pruned, examples, dev)
    parsers = {way: Parser(result.model, threshold=way[1]) for way, result in ways.items()}
    rates: dict[tuple[int, float], list[float]] = {way: [] for way in ways}
    for _ in range(repeats):
        for way, parser in parsers.items():
            started = time.process_time()
            parser.parse(dev)
            rates[way].append(dev.words / (time.process_time() - started))
    for (folds, threshold), (model, seconds, calls) in ways.items():
        way = folds, threshold
        result = parsers[way].parse(dev)
        recall, heads = model.pruner.kept(dev, settings.k, threshold)
        scores = evaluate(dev, [p.heads for p in result], [model.label_names(p) for p in result]).summary
        times = np.median(np.array(rates[way]) / np.array(rates[0, 0.0]))
        print(
            f"{settings.seed} {folds} {threshold:g} {seconds:.1f} {seconds / plain.seconds:.2f} {calls} "
            f"{100 * recall:.2f} {heads:.2f} {scores['uas']:.2f} {scores['las']:.2f} "
            f"{sum(p.certified for p in result)}/{len(result)} {np.median(rates[way]):.0f} {times:.2f}",
            flush=True,
        )


def main() -> None:
    """Print a line for every combination of training and parsing, for every seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path, help="training treebank")
    parser.add_argument("dev", type=Path, help="development treebank")
    parser.add_argument(
        "--sentences",
        type=int,
        default=1000,
        help="Number of training sentences; dev has at most a third of this number. Default: 1000.",
    )
    parser.add_argument(
        "--epochs", type=int, default=Settings.epochs, help="number of training epochs (default: %(default)s)"
    )
    parser.add_argument(
        "--thresholds",
        type=float,
        nargs="+",
        default=[1e-4, 1e-3, 1e-2],
        help="pruning thresholds to compare (default: %(default)s)",
    )
    parser.add_argument(
        "--space",
        choices=["projective", "non-projective"],
        default=Settings.space,
        help="set of trees (default: %(default)s)",
    )
    parser.add_argument(
        "--folds",
        type=int,
        default=2,
        help="Number of folds for jackknifing; 0 uses thresholds in parsing only. Default: 2.",
    )
    parser.add_argument(
        "--repeats", type=int, default=5, help="number of measurements; the median is reported (default: %(default)s)"
    )
    parser.add_argument(
        "--seeds", type=int, nargs="+", default=[1], help="random seeds of the trainings (default: %(default)s)"
    )
    arguments = parser.parse_args()
    examples, dev = load(arguments.train, arguments.sentences), load(arguments.dev, arguments.sentences // 3)
    settings = Settings(epochs=arguments.epochs, pruner_folds=arguments.folds, space=arguments.space).adapted_settings(
        examples
    )
    few = examples.select(np.arange(min(20, len(examples)))), dev.select(np.arange(min(5, len(dev))))
    trained(Settings(**settings.as_dict() | {"epochs": 1}), *few)  # compiles the kernels, or loads compiled ones
    print(f"{len(examples)} sentences to train on, dev {len(dev)} of {dev.words} words, {settings.epochs} epochs")
    print(COLUMNS)
    for seed in arguments.seeds:
        own = Settings(**settings.as_dict() | {"seed": seed})
        compare(own, examples, dev, arguments.thresholds, arguments.repeats)


if __name__ == "__main__":
    main()
