"""Measure the first use of two checkouts: CPU seconds of `treebound parse` and `treebound.decode`, cold and warm.

    git worktree add ../b376700 b376700
    python benchmarks/first_use.py --old ../b376700 model.npz test.conllu

A cold run has an empty folder of compiled kernels, like a machine on which the program has just been installed. A warm
run is the same command once more. The input is the first ten sentences of the file. `decode` is `treebound.decode` of
one matrix of 20 words from Python. The checkouts run in turn. Without --old, only this checkout is measured.

File formats change, so each checkout may need its own model file (--old-model). Seconds are for the whole process,
including its start. The benchmark also prints the number of kernel versions that the cold parse leaves in the folder,
and the number that searches with other options add.
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

from goals import Row, commit_of, option, report

SENTENCES = 10
COMMAND = [sys.executable, "-c", "from treebound.cli import main; main()"]
COLD = 22.0  #: target: CPU seconds of the cold parse
DECODE = """
import numpy as np
import treebound
treebound.decode(np.random.default_rng(0).normal(size=(21, 21)))
"""
#: options of the search; one compiled search reads them as values, and only head stars need another version
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
    """Return the CPU seconds of a command with the sources and the compiled kernels of a checkout."""
    env = {**os.environ, "PYTHONPATH": str(checkout.resolve() / "src"), "NUMBA_CACHE_DIR": str(kernels)}
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    messages = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{checkout}: {' '.join(command)}\n{messages}")
    return usage.ru_utime + usage.ru_stime


def versions(kernels: Path) -> int:
    """Return the number of compiled versions in a folder of kernels.

    The folder belongs to this checkout (.kernel) or to an older one (.nbc).
    """
    return sum(1 for file in kernels.rglob("*") if file.suffix in (".kernel", ".nbc"))


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="model file")
    parser.add_argument("text", type=Path, help="CoNLL-U file.")
    parser.add_argument(
        "--old", type=Path, help="Another checkout to compare with, in alternating runs. Default: none."
    )
    parser.add_argument("--old-model", type=Path, help="Model file of the other checkout. Default: MODEL.")
    parser.add_argument(
        "--repeats", type=int, default=1, help="Number of cold runs; three warm runs follow each. Default: 1."
    )
    option(parser)
    arguments = parser.parse_args()
    sides = {"new": (Path(__file__).parents[1], arguments.model)}
    if arguments.old:
        sides["old"] = arguments.old, arguments.old_model or arguments.model
    times: dict[tuple[str, str], list[float]] = {}
    compiled: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        few = Path(folder) / "few.conllu"
        few.write_bytes(b"\n\n".join(arguments.text.read_bytes().split(b"\n\n")[:SENTENCES]) + b"\n\n")
        for repeat in range(arguments.repeats):
            for name, (checkout, model) in sides.items():
                parse, decode = [*COMMAND, "parse", str(model), str(few)], [sys.executable, "-c", DECODE]
                for task, command in (("parse", parse), ("decode", decode)):
                    kernels = Path(folder) / f"{name}-{task}-{repeat}"
                    times.setdefault((f"{task}, cold", name), []).append(seconds(command, checkout, kernels))
                    compiled[f"{task}, {name}"] = versions(kernels)
                    warm = times.setdefault((f"{task}, warm", name), [])
                    warm += [seconds(command, checkout, kernels) for _ in range(3)]
        kernels = Path(folder) / "new-parse-0"
        others = [sys.executable, "-c", PARSE, str(arguments.model), str(few), json.dumps(OTHERS)]
        seconds(others, sides["new"][0], kernels)
        more = versions(kernels) - compiled["parse, new"]
    rows = [
        Row("first use: kernel versions of the default parse", compiled["parse, new"]),
        Row("first use: kernel versions that other options of the search add", more, 0, more=False),
    ]
    for task in dict.fromkeys(task for task, _ in times):
        new = statistics.median(times[task, "new"])
        target = COLD if task == "parse, cold" else None
        rows.append(Row(f"first use: {task}, CPU s", new, target, more=False))
        if arguments.old:
            old = statistics.median(times[task, "old"])
            note = f"{new:.2f} and {old:.2f} CPU s"
            rows.append(
                Row(f"first use: {task}, CPU s, ratio to {commit_of(arguments.old)}", new / old, 1.0, False, note)
            )
    report(rows, arguments.keep)


if __name__ == "__main__":
    main()
