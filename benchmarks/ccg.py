"""Measure the speed of a CCG parser with different beams: sentences per CPU second of one process.

    python benchmarks/ccg.py train.auto dev.auto

The benchmark trains a model and stores it in --folder for the next time. Options of `treebound train` are passed on. It
parses DEV by adaptive supertagging and by the reverse order (Auli & Lopez 2011, tables 1, 2 and 6). It prints coverage,
supertag accuracy and peak memory. It also prints the average number of categories per word and of edges of the chart,
at the beam with which each sentence was parsed. The figures of the paper for section 00 of CCGbank are 65.8 sentences
per second for adaptive supertagging and 5.9 for the reverse order. With --least, the benchmark fails if adaptive
supertagging is slower.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from goals import Row, option, report

from treebound.systems.ccg.settings import ADAPTIVE, REVERSE
from treebound.systems.ccg.system import CCG, Parser
from treebound.treebanks.document import read

PUBLISHED = 65.8  #: sentences per second in Auli & Lopez (2011), table 6
MEMORY = 2048  #: target: peak memory in MiB


def model(folder: Path, train: Path, dev: Path, options: list[str]) -> Path:
    """Return the path of a model file, and train the model if the file does not exist."""
    path = folder / "ccg.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = [Path(sys.executable).with_name("treebound"), "train", train, dev, "-o", path, "--system", "ccg"]
        subprocess.run([*command, *options], check=True)
    return path


def main() -> None:
    """Train a model if necessary, measure both orders of beams, and print one line for each."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("train", type=Path, help="training treebank")
    cli.add_argument("dev", type=Path, help="development treebank")
    cli.add_argument(
        "--folder",
        type=Path,
        default=Path("build/benchmarks/ccg"),
        help="Folder of the trained model. Default: build/benchmarks/ccg.",
    )
    cli.add_argument("--repeats", type=int, default=3, help="Number of runs; the fastest one counts. Default: 3.")
    cli.add_argument(
        "--least",
        type=float,
        default=0.0,
        help="Fail below this number of sentences per second. Default: 0, never fail.",
    )
    option(cli)
    arguments, options = cli.parse_known_args()  # options of `treebound train` are passed on
    loaded = CCG().load(model(arguments.folder, arguments.train, arguments.dev, options))
    dev = read(arguments.dev).treebank
    print(f"{len(dev)} sentences, {dev.words} words")
    speeds = {}
    for name, beams in (("adaptive", ADAPTIVE), ("reverse", REVERSE)):
        parser = Parser(loaded, beams=beams)
        parser.parse(dev.select(np.arange(min(3, len(dev)))))  # loads the compiled code
        seconds = []
        for _ in range(arguments.repeats):
            started = time.process_time()
            parses = parser.parse(dev)
            seconds.append(time.process_time() - started)
        whole = [i for i, parse in enumerate(parses) if parse.record.parsed]
        pairs = [
            (a, b) for i in whole for a, b in zip(parser.label_names(parses[i]), dev[i].strings("deprel"), strict=True)
        ]
        speeds[name] = len(dev) / min(seconds)
        levels = np.bincount([parses[i].record.level for i in whole], minlength=len(beams)).tolist()
        print(
            f"{name:9} {speeds[name]:7.1f} sentences/s, coverage {100 * len(whole) / len(dev):6.2f} %, "
            f"supertags {100 * np.mean([a == b for a, b in pairs]):5.2f} %, "
            f"{np.mean([parses[i].record.categories for i in whole]):.2f} categories per word, "
            f"{np.mean([parses[i].record.edges for i in whole]):,.0f} edges, attempts {levels}"
        )
    corpus = f"{arguments.dev.resolve().parent.name}/{arguments.dev.stem}"
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows = [
        Row(f"CCG, {corpus}: adaptive supertagging, sentences per CPU second", speeds["adaptive"], PUBLISHED),
        Row(f"CCG, {corpus}: peak memory, MiB", memory, MEMORY, more=False),
    ]
    report(rows, arguments.keep)
    if speeds["adaptive"] < arguments.least:
        raise SystemExit(f"Adaptive supertagging parsed fewer than {arguments.least} sentences per second.")


if __name__ == "__main__":
    main()
