"""Measure the compilation of the kernels that training and parsing need, and find kernels with several versions.

In the folder of a run that has converted the corpus, this command

    python ../../benchmarks/compiling.py tr_twt [--model carreras+grandchild+sibling]

trains on a few sentences with an empty cache of kernels and counts the CPU seconds of Numba. The command

    python benchmarks/compiling.py --parse model.npz test.conllu

parses ten sentences of a file, like the first parse of a new user who has a model. The command

    python benchmarks/compiling.py --train train.conllu dev.conllu [--space non-projective]

trains on the first sentences of files, with the settings of `treebound train` except for sizes and epochs. A kernel is
compiled again for every combination of argument types. Many kernels have two versions, because a learner's weights are
float32 and a model's weights are int32. To compare two checkouts, run this command in both at the same time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numba
from goals import Row, option, report
from numba.core import event

SENTENCES = 20
PARSED = 10
SLOWEST = 12  #: number of kernels in the list of the slowest
COLD = 97.5  #: target in CPU s of training over non-projective trees: half of an earlier measurement


class Compilations(event.Listener):
    """Compilations of Numba: for each kernel the CPU seconds of every version, without the kernels that it calls."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)
        self.running: list[list[float]] = []  #: start time, and seconds of its callees so far

    def on_start(self, event: event.Event) -> None:
        """Note that the compilation of a kernel starts, perhaps within the compilation of a kernel that calls it."""
        self.running.append([time.process_time(), 0.0])

    def on_end(self, event: event.Event) -> None:
        """Note that the compilation that started last has ended, and store its CPU seconds."""
        started, called = self.running.pop()
        seconds = time.process_time() - started
        if self.running:
            self.running[-1][1] += seconds
        function: Any = event.data["dispatcher"].py_func
        self.seconds[f"{function.__module__}.{function.__name__}"].append(seconds - called)


def work(corpus: str, model: str) -> None:
    """Train a pruner and a model with the parameters of the run, and parse."""
    from studies.common import params as parameters
    from studies.common.corpus import load
    from studies.pipeline.trainers.graph import specification
    from treebound.learning.pruner import train_pruner
    from treebound.systems.graph.parser import Parser
    from treebound.systems.graph.trainer import train

    examples = load(corpus, "train", SENTENCES)
    pruner = train_pruner(examples, epochs=1, bits=12, seed=1)
    spec = specification(parameters.load(Path("params.yaml")), model, examples, seed=1)
    Parser(train(replace(spec, epochs=1, bits=12, label_bits=12), examples, examples, pruner)).parse(examples)


def train(train_file: Path, dev_file: Path, space: Any) -> None:
    """Train a model as `treebound train` does, for one epoch."""
    import numpy as np

    from treebound.systems.graph.settings import Settings
    from treebound.systems.graph.system import Graph
    from treebound.treebanks.document import read

    first, dev = (read(file).treebank for file in (train_file, dev_file))
    first, dev = (treebank.select(np.arange(min(SENTENCES, len(treebank)))) for treebank in (first, dev))
    settings = Settings(space=space, epochs=1, bits=12, label_bits=12, pruner_epochs=1, pruner_bits=12)
    system = Graph()
    system.train(system.adapted_settings(settings, first), first, dev)


def parse(model: Path, file: Path) -> None:
    """Load a model and parse the first sentences of a file."""
    import numpy as np

    import treebound
    from treebound.treebanks.document import read

    treebank = read(file).treebank
    treebound.load(model).parse(treebank.select(np.arange(min(PARSED, len(treebank)))))


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?", help="Corpus of the run in this folder.")
    parser.add_argument(
        "--model",
        default="carreras+grandchild+sibling",
        help="Model of the run's params.yaml. Default: carreras+grandchild+sibling.",
    )
    parser.add_argument(
        "--parse", nargs=2, type=Path, metavar=("MODEL", "FILE"), help="Parse FILE with MODEL instead of training."
    )
    parser.add_argument(
        "--train", nargs=2, type=Path, metavar=("TRAIN", "DEV"), help="Train on these files instead of a corpus."
    )
    parser.add_argument(
        "--space",
        choices=("projective", "non-projective"),
        default="projective",
        help="Tree space of --train. Default: projective.",
    )
    option(parser)
    arguments = parser.parse_args()
    if not (arguments.parse or arguments.train or arguments.corpus):
        parser.error("name a corpus, or use --parse with a model and a file, or use --train with two files")
    compilations = Compilations()
    event.register("numba:compile", compilations)
    with tempfile.TemporaryDirectory() as empty:
        numba.config.CACHE_DIR = empty
        started = time.process_time()
        if arguments.parse:
            parse(*arguments.parse)
        elif arguments.train:
            train(*arguments.train, arguments.space)
        else:
            work(arguments.corpus, arguments.model)
        total = time.process_time() - started
    seconds = compilations.seconds
    ours = {name: times for name, times in sorted(seconds.items()) if name.startswith("treebound.")}
    versions, repeated = sum(map(len, ours.values())), sum(sum(times[1:]) for times in ours.values())
    print(f"{total:.1f} CPU s in total")
    every, own = (sum(map(sum, times.values())) for times in (seconds, ours))
    print(f"{every:.1f} CPU s for compilation, {own:.1f} CPU s for our kernels")
    print(f"{len(ours)} kernels in {versions} versions; {repeated:.1f} CPU s for further versions of the kernels:")
    for name, times in ours.items():
        if len(times) > 1:
            print(f"  {name} {len(times)}")
    if arguments.train and arguments.space == "non-projective":
        report([Row("crossing training, nothing compiled, CPU s", total, COLD, more=False)], arguments.keep)
    print("slowest:")
    for name, times in sorted(ours.items(), key=lambda item: -sum(item[1]))[:SLOWEST]:
        print(f"  {name} {sum(times):.1f} s")


if __name__ == "__main__":
    main()
