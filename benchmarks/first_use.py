"""First use of two checkouts, in turns: CPU seconds of `treebound parse` and `treebound decode`, cold and warm.

    git worktree add ../b376700 b376700
    python benchmarks/first_use.py --old ../b376700 model.npz test.conllu

Cold is a run with an empty folder of compiled kernels, as on a machine where the program has just been installed; warm
is the same command once more. The input is the first ten sentences of the file. `decode` is `treebound.decode` of one
matrix of 20 words from Python. Without --old the seconds of this checkout are printed alone.

Each checkout may need a model file of its own (--old-model), as formats change. Seconds are those of the whole process,
start included. Printed are also the numbers of kernel versions that the cold parse leaves in the folder, and of those
that searches with other options add to it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from goals import Row, commit_of, option, told

SENTENCES = 10
COMMAND = [sys.executable, "-c", "from treebound.cli import main; main()"]
COLD = 22.0  #: target: CPU seconds of the cold parse
DECODE = """
import numpy as np
import treebound
treebound.decode(np.random.default_rng(0).normal(size=(21, 21)))
"""
#: options of the search, which are values that one compiled search reads; head stars alone have another version
OTHERS: list[dict[str, Any]] = [
    *({"order": name} for name in ("depth-first", "best-first", "level")),
    *({"scheme": name} for name in ("polyak", "momentum", "averaged", "block-coordinate")),
    *({"branching": name} for name in ("slack", "max-marginal")),
    {"eliminate": False},
    {"record": True},
    {"max_dp_calls": 7, "max_nodes": 5},
]
PARSE = """
import json, sys
import treebound
from treebound.treebanks.document import read

treebank = read(sys.argv[2], annotated=False).treebank
for options in json.loads(sys.argv[3]):
    treebound.load(sys.argv[1], **options).parse(treebank)
"""


def seconds(command: list[str], checkout: Path, kernels: Path) -> float:
    """CPU seconds of a command with the sources of a checkout and its compiled kernels."""
    env = {**os.environ, "PYTHONPATH": str(checkout.resolve() / "src"), "NUMBA_CACHE_DIR": str(kernels)}
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    messages = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{checkout}: {' '.join(command)}\n{messages}")
    return usage.ru_utime + usage.ru_stime


def versions(kernels: Path) -> int:
    """Return the number of compiled versions in a folder of kernels: of this checkout, or of older ones (.nbc)."""
    return sum(1 for file in kernels.rglob("*") if file.suffix in (".kernel", ".nbc"))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("text", type=Path, help="CoNLL-U")
    parser.add_argument("--old", type=Path, help="another checkout, which runs in turn with this one")
    parser.add_argument("--old-model", type=Path, help="its model file, where it cannot read MODEL")
    parser.add_argument("--repeats", type=int, default=1, help="cold runs; each is followed by three warm ones")
    option(parser)
    given = parser.parse_args()
    sides = {"new": (Path(__file__).parents[1], given.model)}
    if given.old:
        sides["old"] = given.old, given.old_model or given.model
    found: dict[tuple[str, str], list[float]] = {}
    compiled: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        few = Path(folder) / "few.conllu"
        few.write_bytes(b"\n\n".join(given.text.read_bytes().split(b"\n\n")[:SENTENCES]) + b"\n\n")
        for repeat in range(given.repeats):
            for name, (checkout, model) in sides.items():
                parse, decode = [*COMMAND, "parse", str(model), str(few)], [sys.executable, "-c", DECODE]
                for task, command in (("parse", parse), ("decode", decode)):
                    kernels = Path(folder) / f"{name}-{task}-{repeat}"
                    found.setdefault((f"{task}, cold", name), []).append(seconds(command, checkout, kernels))
                    compiled[f"{task}, {name}"] = versions(kernels)
                    warm = found.setdefault((f"{task}, warm", name), [])
                    warm += [seconds(command, checkout, kernels) for _ in range(3)]
        kernels = Path(folder) / "new-parse-0"
        others = [sys.executable, "-c", PARSE, str(given.model), str(few), json.dumps(OTHERS)]
        seconds(others, sides["new"][0], kernels)
        more = versions(kernels) - compiled["parse, new"]
    rows = [
        Row("first use: kernel versions of the default parse", compiled["parse, new"]),
        Row("first use: kernel versions that other options of the search add", more, 0, more=False),
    ]
    for task in dict.fromkeys(task for task, _ in found):
        new = statistics.median(found[task, "new"])
        target = COLD if task == "parse, cold" else None
        rows.append(Row(f"first use: {task}, CPU s", new, target, more=False))
        if given.old:
            old = statistics.median(found[task, "old"])
            note = f"{new:.2f} and {old:.2f} CPU s"
            rows.append(
                Row(f"first use: {task}, CPU s to those of {commit_of(given.old)}", new / old, 1.0, False, note)
            )
    told(rows, given.keep)


if __name__ == "__main__":
    main()
