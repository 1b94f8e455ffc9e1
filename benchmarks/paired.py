"""Words per CPU second of this checkout beside those of another one, as the parser of each works in turn.

    git worktree add ../old 64b772b
    python benchmarks/paired.py ../old train.conllu dev.conllu test.conllu --folder build/paired

Each checkout trains a model of its own with the same settings (every factor family, labels, k = 10), once a folder,
and keeps its own compiled kernels. Then a process of each parses the test file warm, one after the other, `--repeats`
times: reading and loading are left out, CPU time is counted, and what else the machine does meets both. Printed are
the words per CPU second of each (median, least, most), the median of the ratios of neighbours with its quartiles, what
was proved, accuracy on all words, and a digest of every tree with its labels: where the models are the same, so are
the digests.
`--models` names the two model files instead, for parsers of models that both can read.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

FAMILIES = "adjacent-sibling,outermost-grandchild,grandchild,sibling,comb"
#: named, as the defaults of the two may differ
TRAINING = (
    f"--families {FAMILIES} --k 10 --bits 22 --C 0.01 --cost 0.5 --max-dp-calls 100 --labels both --label-cost 0.25"
)
TRAIN = "from treebound.cli import main; main()"
#: runs in either checkout: prints the words, then for every line that it reads the CPU seconds of parsing them
PARSE = """
import hashlib, json, sys, time
import numpy as np
import treebound
from treebound.treebanks.document import read

parser, gold = treebound.load(sys.argv[1]), read(sys.argv[2]).treebank
parser.parse(gold.select(np.arange(min(len(gold), 20))))
print(gold.words, flush=True)
for line in sys.stdin:
    started = time.process_time()
    parses = parser.parse(gold)
    print(time.process_time() - started, flush=True)
heads, right = hashlib.sha256(), np.zeros(2)
for i, parse in enumerate(parses):
    names = parser.model.label_names(parse)
    heads.update(parse.heads.tobytes() + " ".join(names).encode())
    attached = parse.heads[1:] == gold.heads(i)[1:]
    right += attached.sum(), (attached & (np.array(names) == gold[i].strings("deprel"))).sum()
uas, las = 100 * right / gold.words
proved = sum(parse.status == "optimal" for parse in parses)
print(json.dumps({"proved": f"{proved}/{len(parses)}", "uas": uas, "las": las, "trees": heads.hexdigest()[:16]}))
"""


class Side:
    """A checkout, with its model and a process that parses with it."""

    def __init__(self, name: str, checkout: Path, folder: Path):
        self.name, self.folder, self.model = name, folder, folder / f"{name}.npz"
        self.given = os.environ | {
            "PYTHONPATH": str(checkout.resolve() / "src"),
            "NUMBA_CACHE_DIR": str(folder.resolve() / f"kernels-{name}"),
        }
        self.seconds: list[float] = []

    def train(self, train: Path, dev: Path, epochs: int, patterns: str) -> None:
        """Train the model, where that has not been done."""
        if self.model.exists():
            return
        command = [sys.executable, "-c", TRAIN, "train"]
        told = subprocess.run([*command, "--help"], env=self.given, capture_output=True, text=True, check=True).stdout
        options = [*TRAINING.split(), "--epochs", str(epochs), *(["--patterns", patterns] if patterns else [])]
        if "--attributes" in told:  # of before there was a choice it was this one
            options += ["--attributes", "suffix"]
        subprocess.run([*command, train, dev, "-o", self.model, *options], env=self.given, check=True)

    def start(self, test: Path) -> None:
        """Start the process, which says how many words it is to parse."""
        command = [sys.executable, "-c", PARSE, str(self.model), str(test)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, env=self.given, stdin=pipe, stdout=pipe, text=True)
        self.words = int(self._line())

    def parse(self) -> None:
        """Parse once."""
        assert self.process.stdin is not None
        print(file=self.process.stdin, flush=True)
        self.seconds.append(float(self._line()))

    def end(self) -> dict[str, Any]:
        """What was found."""
        out = self.process.communicate()[0]
        return json.loads(out)

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.name}: the parser ended with status {self.process.wait()}")
        return line


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="checkout to compare with")
    for name in ("train", "dev", "test"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--folder", type=Path, default=Path("build/paired"), help="for models and compiled kernels")
    parser.add_argument("--models", type=Path, nargs=2, metavar=("OLD", "NEW"), help="trained ones")
    parser.add_argument("--patterns", default="", help="hand-crafted patterns, as en_ud")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=9)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    sides = Side("old", given.old, given.folder), Side("new", Path(__file__).parents[1], given.folder)
    for i, side in enumerate(sides):
        if given.models:
            side.model = given.models[i]
        else:
            side.train(given.train, given.dev, given.epochs, given.patterns)
        side.start(given.test)
    for turn in range(given.repeats):
        for side in sides[:: 1 if turn % 2 else -1]:
            side.parse()
    for side in sides:
        rates = side.words / np.array(side.seconds)
        found = " ".join(f"{x:,.0f}" for x in (np.median(rates), rates.min(), rates.max()))
        print(f"{side.name}: {side.words:,} words, a CPU second {found}; {json.dumps(side.end())}")
    ratios = np.array(sides[0].seconds) / np.array(sides[1].seconds)
    low, middle, high = np.quantile(ratios, (0.25, 0.5, 0.75))
    print(f"new to old: {middle:.2f} times (quartiles {low:.2f} to {high:.2f} of {given.repeats} pairs)")


if __name__ == "__main__":
    main()
