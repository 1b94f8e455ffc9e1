"""Measure the cost and gain of training over non-projective trees: CPU seconds per epoch in both tree spaces.

    python benchmarks/training.py train.conllu dev.conllu --sentences 1000 --epochs 4 --repeats 2

The benchmark trains with the default settings of `treebound train` in both tree spaces, in turn, with the same pruner.
Each model parses dev with a limit that is practically never reached. Other work on the machine changes the CPU seconds
of a repeat, so all repeats are printed.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from goals import Row, option, report

from treebound.core.treebank import Treebank
from treebound.learning.pruner import Pruner, train_pruner
from treebound.metrics.attachment import evaluate
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train
from treebound.treebanks.document import read
from treebound.treebanks.projectivise import is_projective

SPACES = ("projective", "non-projective")
SLOWER = 3.0  #: target: CPU ratio of training over non-projective trees to training over projective trees
PUNCTUATION = {"column": "upos", "tags": ["PUNCT"]}


def load(path: Path, sentences: int) -> Treebank:
    """Read a sample of the sentences of a file, drawn with a fixed seed."""
    treebank = read(path).treebank
    tag = "xpos" if any(x != "_" for x in treebank.vocab["xpos"].strings) else "upos"
    columns = {"tag": tag, "coarse": "upos", "attributes": ["lower", "suffix"]}
    treebank.meta.update(columns, single_root=True, punctuation=PUNCTUATION)
    chosen = np.random.default_rng(0).permutation(len(treebank))[:sentences]
    return treebank.select(np.sort(chosen))


def trained(space: str, examples: Treebank, dev: Treebank, pruner: Pruner, epochs: int) -> tuple[float, float, str]:
    """Train a model, and return CPU seconds per epoch of learning and of the whole training, and accuracy.

    The whole training includes the parse of dev. Accuracy is measured on dev, with an exact search.
    """
    started = time.process_time()
    model = train(Settings(epochs=epochs, space=space).adapted_settings(examples), examples, dev, pruner)
    whole = (time.process_time() - started) / epochs
    learning = model.seconds[0] / epochs
    parses = Parser(model, max_dp_calls=10_000).parse(dev)
    scores = evaluate(dev, [p.heads for p in parses], [model.label_names(p) for p in parses]).summary
    proved = sum(parse.certified for parse in parses)
    return learning, whole, f"{scores['uas']:.2f} {scores['las']:.2f} {proved}/{len(parses)}"


def main() -> None:
    """Print a line for every run and the ratios of their medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path, help="training treebank")
    parser.add_argument("dev", type=Path, help="development treebank")
    parser.add_argument(
        "--sentences",
        type=int,
        default=2000,
        help="Number of training sentences; dev has at most a fifth of this number. Default: 2000.",
    )
    parser.add_argument(
        "--epochs", type=int, default=Settings.epochs, help="number of training epochs (default: %(default)s)"
    )
    parser.add_argument(
        "--repeats", type=int, default=1, help="number of measurements; the median is reported (default: %(default)s)"
    )
    option(parser)
    arguments = parser.parse_args()
    examples, dev = load(arguments.train, arguments.sentences), load(arguments.dev, arguments.sentences // 5)
    crossing = sum(not is_projective(examples.heads(i)) for i in range(len(examples)))
    print(f"{len(examples)} sentences, {examples.words} words, {100 * crossing / len(examples):.0f} % not projective")
    few = examples.select(np.arange(min(20, len(examples)))), dev.select(np.arange(min(5, len(dev))))
    for space in SPACES:  # compiles the kernels, or loads compiled ones
        trained(space, *few, train_pruner(few[0], epochs=1), 1)
    pruner = train_pruner(examples)
    print("space cpu_s_of_learning_an_epoch with_dev UAS LAS proved")
    seconds: dict[str, list[tuple[float, float]]] = {space: [] for space in SPACES}
    for _ in range(arguments.repeats):
        for space in SPACES:
            learning, whole, accuracy = trained(space, examples, dev, pruner, arguments.epochs)
            seconds[space].append((learning, whole))
            print(f"{space} {learning:.2f} {whole:.2f} {accuracy}", flush=True)
    medians = {space: np.median(runs, axis=0) for space, runs in seconds.items()}
    ratio = medians["non-projective"] / medians["projective"]
    print(f"non-projective to projective, CPU ratio: {ratio[0]:.2f} for learning, {ratio[1]:.2f} with dev")
    corpus = f"{arguments.train.resolve().parent.name}/{arguments.train.stem}"
    report(
        [Row(f"training, {corpus}: crossing to projective, CPU", float(ratio[0]), SLOWER, more=False)], arguments.keep
    )


if __name__ == "__main__":
    main()
