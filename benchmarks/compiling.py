"""What compiling the kernels costs that training and parsing need, and which of them are compiled more than once.

In the folder of a run that has converted the corpus:

    python ../../benchmarks/compiling.py tr_twt [--model carreras+grandchild+sibling]

trains on a few sentences with an empty cache of kernels and counts the CPU seconds of Numba;

    python benchmarks/compiling.py --parse model.npz test.conllu

parses ten of a file, as who has just installed the program and has a model does, and

    python benchmarks/compiling.py --train train.conllu dev.conllu [--space non-projective]

trains on the first sentences of files, with the settings of `treebound train` but for sizes and epochs. A kernel is
compiled anew for every combination of argument types; many come in two because a learner's weights are float32 and a
model's int32. Two checkouts are compared by running this in both side by side.
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
from goals import Row, option, told
from numba.core import event

SENTENCES = 20
PARSED = 10
SLOWEST = 12  #: kernels that are listed
COLD = 97.5  #: CPU s, target of training over crossing trees: half of what it once took


class Compilations(event.Listener):
    """Collects what Numba compiles: of each kernel the CPU seconds of every version, those that it calls left out."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)
        self.running: list[list[float]] = []  #: when it started, and the seconds of what it called so far

    def on_start(self, event: event.Event) -> None:
        """A kernel, perhaps called by the one that is being compiled."""
        self.running.append([time.process_time(), 0.0])

    def on_end(self, event: event.Event) -> None:
        """The kernel that started last is done."""
        started, called = self.running.pop()
        seconds = time.process_time() - started
        if self.running:
            self.running[-1][1] += seconds
        function: Any = event.data["dispatcher"].py_func
        self.seconds[f"{function.__module__}.{function.__name__}"].append(seconds - called)


def work(corpus: str, model: str) -> None:
    """Train a pruner and a model of the run's parameters, and parse."""
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
    system.train(system.fitted(settings, first), first, dev)


def parse(model: Path, file: Path) -> None:
    """Load a model and parse the first sentences of a file."""
    import numpy as np

    import treebound
    from treebound.treebanks.document import read

    treebank = read(file).treebank
    treebound.load(model).parse(treebank.select(np.arange(min(PARSED, len(treebank)))))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?", help="of the run in this folder")
    parser.add_argument("--model", default="carreras+grandchild+sibling", help="one of its params.yaml")
    parser.add_argument("--parse", nargs=2, type=Path, metavar=("MODEL", "FILE"), help="parse, and train nothing")
    parser.add_argument("--train", nargs=2, type=Path, metavar=("TRAIN", "DEV"), help="train on files, no corpus")
    parser.add_argument("--space", choices=("projective", "non-projective"), default="projective", help="of --train")
    option(parser)
    arguments = parser.parse_args()
    if not (arguments.parse or arguments.train or arguments.corpus):
        parser.error("name a corpus, a model and a file, or two files to train on")
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
        took = time.process_time() - started
    seconds = compilations.seconds
    ours = {name: found for name, found in sorted(seconds.items()) if name.startswith("treebound.")}
    versions, again = sum(map(len, ours.values())), sum(sum(found[1:]) for found in ours.values())
    print(f"{took:.1f} CPU s in all")
    every, own = (sum(map(sum, found.values())) for found in (seconds, ours))
    print(f"{every:.1f} CPU s of compiling, {own:.1f} of them for our kernels")
    print(f"{len(ours)} kernels in {versions} versions; {again:.1f} CPU s for second versions, which these have:")
    for name, found in ours.items():
        if len(found) > 1:
            print(f"  {name} {len(found)}")
    if arguments.train and arguments.space == "non-projective":
        told([Row("crossing training, nothing compiled, CPU s", took, COLD, more=False)], arguments.keep)
    print("slowest:")
    for name, found in sorted(ours.items(), key=lambda item: -sum(item[1]))[:SLOWEST]:
        print(f"  {name} {sum(found):.1f} s")


if __name__ == "__main__":
    main()
