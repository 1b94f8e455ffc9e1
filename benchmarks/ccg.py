"""How fast is a CCG parser, and what do its beams cost? Sentences per CPU second of one process.

    python benchmarks/ccg.py train.auto dev.auto

trains a model, kept in --folder for the next time (options of `treebound train` are passed on), and parses DEV by
adaptive supertagging and by its reverse (Auli & Lopez 2011, tables 1, 2 and 6): coverage, supertag accuracy, categories
a word and edges of the charts of the attempts that gave the parse, peak memory. Their figures for section 00 of CCGbank
are 65.8 sentences per second for adaptive supertagging and 5.9 for the reverse. --least fails below so many of the
first.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from goals import Row, option, told

from treebound.systems.ccg.settings import ADAPTIVE, REVERSE
from treebound.systems.ccg.system import CCG, Parser
from treebound.treebanks.document import read

PUBLISHED = 65.8  #: sentences per second of Auli & Lopez (2011), table 6
MEMORY = 2048  #: MiB


def model(folder: Path, train: Path, dev: Path, options: list[str]) -> Path:
    """A model file, trained if it is not there."""
    path = folder / "ccg.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = [Path(sys.executable).with_name("treebound"), "train", train, dev, "-o", path, "--system", "ccg"]
        subprocess.run([*command, *options], check=True)
    return path


def main() -> None:
    """The table."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("train", type=Path)
    cli.add_argument("dev", type=Path)
    cli.add_argument("--folder", type=Path, default=Path("build/benchmarks/ccg"), help="where the model is kept")
    cli.add_argument("--repeats", type=int, default=3, help="the fastest of so many runs counts")
    cli.add_argument("--least", type=float, default=0.0, help="sentences per second that are asked for")
    option(cli)
    given, options = cli.parse_known_args()  # options of `treebound train` are passed on
    loaded = CCG().load(model(given.folder, given.train, given.dev, options))
    dev = read(given.dev).treebank
    print(f"{len(dev)} sentences, {dev.words} words")
    speeds = {}
    for name, beams in (("adaptive", ADAPTIVE), ("reverse", REVERSE)):
        parser = Parser(loaded, beams=beams)
        parser.parse(dev.select(np.arange(min(3, len(dev)))))  # compiled code is loaded
        seconds = []
        for _ in range(given.repeats):
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
            f"{np.mean([parses[i].record.categories for i in whole]):.2f} categories a word, "
            f"{np.mean([parses[i].record.edges for i in whole]):,.0f} edges, attempts {levels}"
        )
    corpus = f"{given.dev.resolve().parent.name}/{given.dev.stem}"
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows = [
        Row(f"CCG, {corpus}: adaptive supertagging, sentences per CPU second", speeds["adaptive"], PUBLISHED),
        Row(f"CCG, {corpus}: peak memory, MiB", memory, MEMORY, more=False),
    ]
    told(rows, given.keep)
    if speeds["adaptive"] < given.least:
        raise SystemExit(f"fewer than {given.least} sentences per second")


if __name__ == "__main__":
    main()
