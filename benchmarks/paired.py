"""Words per CPU second of this checkout beside those of another one, as the parser of each works in turn.

    git worktree add ../old 64b772b
    python benchmarks/paired.py ../old train.conllu dev.conllu test.conllu --folder build/paired

Each checkout trains a model of its own with the same settings (every factor family, labels, k = 10), once a folder,
both at a time, and keeps its own compiled kernels: what training costs is counted after a short one that compiles.
Then a process of each parses the test file warm, one after the other, `--repeats` times: reading and loading are left
out, CPU time is counted, and what else the machine does meets both. Printed are the words per CPU second of each
(median, least, most), how many times those of the old one that is (median and quartiles of the pairs), what was
proved, accuracy on all words, and a digest of every tree with its labels: the same where the models are.
`--threshold` adds this checkout's parser with that threshold in its pruner (decision 016). `--models` names the two
model files instead, for parsers of models that both can read.
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
from goals import Row, commit_of, option, told

#: targets: words per CPU second, and CPU seconds of training, to those of this commit
OLD, TIMES, TRAINED = "64b772b", 1.8, 0.5
FEW = 30  #: sentences of the training that compiles
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
    """A checkout, with its model and a process that parses with it, by options of its parser."""

    def __init__(self, name: str, checkout: Path, folder: Path, **options: Any):
        self.name, self.model, self.options = name, folder / f"{name}.npz", options
        self.given = os.environ | {
            "PYTHONPATH": str(checkout.resolve() / "src"),
            "NUMBA_CACHE_DIR": str(folder.resolve() / f"kernels-{name}"),
        }
        self.seconds: list[float] = []
        self.training = float("nan")  #: CPU seconds

    def train(self, few: Path, train: Path, dev: Path, epochs: int, patterns: str) -> None:
        """Train the model, where that has not been done, after one of a few sentences."""
        if self.model.exists():
            return
        command = [sys.executable, "-c", TRAIN, "train"]
        told = subprocess.run([*command, "--help"], env=self.given, capture_output=True, text=True, check=True).stdout
        options = [*TRAINING.split(), "--epochs", str(epochs), *(["--patterns", patterns] if patterns else [])]
        if "--attributes" in told:  # of before there was a choice it was this one
            options += ["--attributes", "suffix"]
        for examples, held_out, out in ((few, few, self.model.with_suffix(".few.npz")), (train, dev, self.model)):
            process = subprocess.Popen([*command, examples, held_out, "-o", out, *options], env=self.given)
            _, status, used = os.wait4(process.pid, 0)
            if os.waitstatus_to_exitcode(status):
                sys.exit(f"{self.name}: training failed")
        self.training = used.ru_utime + used.ru_stime

    def start(self, test: Path) -> None:
        """Start the process, which says how many words it is to parse."""
        command = [sys.executable, "-c", PARSE, str(self.model), str(test), json.dumps(self.options)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, env=self.given, stdin=pipe, stdout=pipe, text=True)
        self.words = int(self._line())

    def parse(self) -> None:
        """Parse once."""
        assert self.process.stdin is not None
        print(file=self.process.stdin, flush=True)
        self.seconds.append(float(self._line()))

    def end(self) -> str:
        """What was found, in JSON."""
        return self.process.communicate()[0].strip()

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
    parser.add_argument(
        "--threshold", type=float, default=0.0, help="of the pruner: this checkout's model with it, too"
    )
    option(parser)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    here = Path(__file__).parents[1]
    sides = [Side("old", given.old, given.folder), Side("new", here, given.folder)]
    if given.models:
        for side, model in zip(sides, given.models, strict=True):
            side.model = model
    else:
        few = given.folder / "few.conllu"
        few.write_text("\n\n".join(given.train.read_text().split("\n\n")[:FEW]) + "\n\n")
        with ThreadPoolExecutor() as pool:
            with_options = given.train, given.dev, given.epochs, given.patterns
            list(pool.map(lambda side: side.train(few, *with_options), sides))
    if given.threshold:
        sides.append(Side("new", here, given.folder, threshold=given.threshold))
        sides[-1].model = sides[1].model
    for side in sides:
        side.start(given.test)
    for turn in range(given.repeats):
        for side in sides[:: 1 if turn % 2 else -1]:
            side.parse()
    corpus = f"{given.test.resolve().parent.name}/{given.test.stem}"
    commit = commit_of(given.old)
    rows, target = [], TIMES if commit == OLD else None
    for side in sides:
        rates, ratios = side.words / np.array(side.seconds), np.array(sides[0].seconds) / np.array(side.seconds)
        found = " ".join(f"{x:,.0f}" for x in (np.median(rates), rates.min(), rates.max()))
        low, middle, high = np.quantile(ratios, (0.25, 0.5, 0.75))
        what = " ".join([side.name, *(f"{name} {value}" for name, value in side.options.items())])
        print(
            f"{what}: {side.words:,} words, a CPU second {found}; {middle:.2f} ({low:.2f} to {high:.2f}) times as many"
        )
        print("   ", side.end(), flush=True)
        if side is not sides[0]:
            rows.append(Row(f"{corpus}: {what}, words per CPU second to {commit}", middle, target))
    if (trained := sides[1].training / sides[0].training) > 0:  # NaN where a model was there
        each = " and ".join(f"{side.training:.0f}" for side in sides[:2])
        note = f"{each} CPU s, {given.epochs} epochs"
        target = TRAINED if commit == OLD else None
        rows.append(Row(f"{corpus}: training, CPU seconds to {commit}", trained, target, more=False, note=note))
    told(rows, given.keep)


if __name__ == "__main__":
    main()
