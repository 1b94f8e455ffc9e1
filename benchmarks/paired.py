"""Compare the parsing speed of this checkout with another checkout, in alternating runs.

    git worktree add ../old 64b772b
    python benchmarks/paired.py ../old train.conllu dev.conllu test.conllu --folder build/paired

Each checkout trains its own model with the same settings (every factor family, labels, k = 10), once per folder. Both
train at the same time, and each has its own compiled kernels. A short training compiles the kernels first, so that the
cost of training does not include compilation.

Then one process per checkout parses the test file warm, one after the other, `--repeats` times. Reading and loading are
left out. CPU time is counted, and other work on the machine affects both checkouts. The benchmark prints words per CPU
second (median, minimum, maximum), the ratio to the old checkout (median and quartiles of the pairs), the number of
proofs, and accuracy on all words. It also prints a digest of all trees with their labels, which is the same if the
models are the same.

`--threshold` adds a parser of this checkout with that threshold in its pruner (decision 016). `--models` names two
trained model files instead, for parsers of models that both checkouts can read.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from goals import Row, commit_of, option, report

#: targets, as ratios to this commit: words per CPU second, and CPU seconds of training
OLD, TIMES, TRAINED = "64b772b", 1.8, 0.5
FEW = 30  #: number of sentences of the training that compiles
FAMILIES = "adjacent-sibling,outermost-grandchild,grandchild,sibling,comb"
#: all settings are explicit, because the defaults of the two checkouts may differ
TRAINING = (
    f"--families {FAMILIES} --k 10 --bits 22 --C 0.01 --cost 0.5 --max-dp-calls 100 --labels both --label-cost 0.25"
)
TRAIN = "from treebound.cli import main; main()"
#: runs in both checkouts: prints the number of words, then the CPU seconds of one parse for every line of input
PARSE = """
import hashlib, json, sys, time
import numpy as np
import treebound
from treebound.treebanks.document import read

parser, gold = treebound.load(sys.argv[1], **json.loads(sys.argv[3])), read(sys.argv[2]).treebank
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
    """A checkout, its model, and a process that parses with the model and with options of the parser."""

    def __init__(self, name: str, checkout: Path, folder: Path, **options: Any):
        self.name, self.model, self.options = name, folder / f"{name}.npz", options
        self.environment = os.environ | {
            "PYTHONPATH": str(checkout.resolve() / "src"),
            "NUMBA_CACHE_DIR": str(folder.resolve() / f"kernels-{name}"),
        }
        self.seconds: list[float] = []
        self.training = float("nan")  #: CPU seconds of the training

    def train(self, few: Path, train: Path, dev: Path, epochs: int, patterns: str) -> None:
        """Train the model unless its file exists, after a short training that compiles the kernels."""
        if self.model.exists():
            return
        command = [sys.executable, "-c", TRAIN, "train"]
        help_text = subprocess.run(
            [*command, "--help"], env=self.environment, capture_output=True, text=True, check=True
        ).stdout
        options = [*TRAINING.split(), "--epochs", str(epochs), *(["--patterns", patterns] if patterns else [])]
        if "--attributes" in help_text:  # checkouts without this option use `suffix`
            options += ["--attributes", "suffix"]
        for examples, held_out, out in ((few, few, self.model.with_suffix(".few.npz")), (train, dev, self.model)):
            process = subprocess.Popen([*command, examples, held_out, "-o", out, *options], env=self.environment)
            _, status, used = os.wait4(process.pid, 0)
            if os.waitstatus_to_exitcode(status):
                sys.exit(f"{self.name}: training failed")
        self.training = used.ru_utime + used.ru_stime

    def start(self, test: Path) -> None:
        """Start the process, which reports the number of words in the test file."""
        command = [sys.executable, "-c", PARSE, str(self.model), str(test), json.dumps(self.options)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, env=self.environment, stdin=pipe, stdout=pipe, text=True)
        self.words = int(self._line())

    def parse(self) -> None:
        """Parse the test file once."""
        assert self.process.stdin is not None
        print(file=self.process.stdin, flush=True)
        self.seconds.append(float(self._line()))

    def end(self) -> str:
        """End the process, and return proofs, accuracy and digest in JSON."""
        return self.process.communicate()[0].strip()

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.name}: the parser ended with status {self.process.wait()}")
        return line


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="Checkout to compare with.")
    for name in ("train", "dev", "test"):
        parser.add_argument(name, type=Path)
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path("build/paired"),
        help="Folder for models and compiled kernels. Default: build/paired.",
    )
    parser.add_argument(
        "--models", type=Path, nargs=2, metavar=("OLD", "NEW"), help="Trained models. Default: train them."
    )
    parser.add_argument("--patterns", default="", help="Hand-crafted patterns, for instance en_ud. Default: none.")
    parser.add_argument("--epochs", type=int, default=2, help="number of training epochs (default: %(default)s)")
    parser.add_argument(
        "--repeats", type=int, default=9, help="number of measurements; the median is reported (default: %(default)s)"
    )
    parser.add_argument(
        "--threshold", type=float, default=0.0, help="Also parse with this threshold of the pruner. Default: 0, no."
    )
    option(parser)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    here = Path(__file__).parents[1]
    sides = [Side("old", arguments.old, arguments.folder), Side("new", here, arguments.folder)]
    if arguments.models:
        for side, model in zip(sides, arguments.models, strict=True):
            side.model = model
    else:
        few = arguments.folder / "few.conllu"
        few.write_text("\n\n".join(arguments.train.read_text().split("\n\n")[:FEW]) + "\n\n")
        with ThreadPoolExecutor() as pool:
            with_options = arguments.train, arguments.dev, arguments.epochs, arguments.patterns
            list(pool.map(lambda side: side.train(few, *with_options), sides))
    if arguments.threshold:
        sides.append(Side("new", here, arguments.folder, threshold=arguments.threshold))
        sides[-1].model = sides[1].model
    for side in sides:
        side.start(arguments.test)
    for turn in range(arguments.repeats):
        for side in sides[:: 1 if turn % 2 else -1]:
            side.parse()
    corpus = f"{arguments.test.resolve().parent.name}/{arguments.test.stem}"
    commit = commit_of(arguments.old)
    rows, target = [], TIMES if commit == OLD else None
    for side in sides:
        rates, ratios = side.words / np.array(side.seconds), np.array(sides[0].seconds) / np.array(side.seconds)
        speeds = " ".join(f"{x:,.0f}" for x in (np.median(rates), rates.min(), rates.max()))
        low, middle, high = np.quantile(ratios, (0.25, 0.5, 0.75))
        label = " ".join([side.name, *(f"{name} {value}" for name, value in side.options.items())])
        print(f"{label}: {side.words:,} words, per CPU second {speeds}; ratio {middle:.2f} ({low:.2f} to {high:.2f})")
        print("   ", side.end(), flush=True)
        if side is not sides[0]:
            rows.append(Row(f"{corpus}: {label}, words per CPU second to {commit}", middle, target))
    if (trained := sides[1].training / sides[0].training) > 0:  # NaN if a model existed already
        each = " and ".join(f"{side.training:.0f}" for side in sides[:2])
        note = f"{each} CPU s, {arguments.epochs} epochs"
        target = TRAINED if commit == OLD else None
        rows.append(Row(f"{corpus}: training, CPU seconds to {commit}", trained, target, more=False, note=note))
    report(rows, arguments.keep)


if __name__ == "__main__":
    main()
