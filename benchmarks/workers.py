"""Compare two workers with one in a warm process: parsing, jackknifing, feature extraction, and a Dask cluster.

    python benchmarks/workers.py          # in build/scale, with the corpus and the model of benchmarks/scale.py

Reading and writing are part of the time; starting and compiling are not. Figures are medians of alternating repeats.
The benchmark stops if the number of workers changes the output. Run it alone: `by the clock` is correct only on a
machine without other work. `at most` is the largest ratio that is possible with the measured CPU seconds of one and of
two workers. It depends less on other work.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
from goals import Row, option, report
from measuring import repeated, sentences_of
from scale import FOLDER, prepare

MODEL = FOLDER / "small.npz"
CONVERTED = FOLDER / "data/converted/en_ewt"
PARSED = 3000  #: number of sentences of the tasks in a warm process
TAGGED = 1200  #: number of sentences of jackknifing, which trains ten taggers
REPEATS = 3
TIMES = 1.85  #: target: ratio of the wall-clock seconds of parsing, one worker to two workers


def sentences(path: Path, count: int) -> Iterator[bytes]:
    """Yield a number of sentences by repeating the sentences of a file."""
    return repeated(sentences_of(path), count)


# --- tasks in a warm process ---


def parsing(workers: int, scheduler: str | None = None) -> str:
    """Read, parse and write sentences, and return a digest of the output."""
    from treebound.cli.annotate import Parsing, parsed
    from treebound.cli.parsing import BATCH
    from treebound.support.workers import spread
    from treebound.systems.graph.parser import load
    from treebound.treebanks.document import stream

    parser = cached("parser", lambda: load(MODEL))
    text = cached("text", lambda: b"".join(sentences(CONVERTED / "test.conllu", PARSED)))
    parts = stream(io.BytesIO(text), BATCH, annotated=False)
    digest = hashlib.sha256()
    for done in spread(parsed, Parsing(parser), parts, workers=workers, scheduler=scheduler, short=True):
        digest.update(done.text)
    return digest.hexdigest()


def jackknifing(workers: int) -> str:
    """Tag ten folds, each with a tagger trained on the other folds for two epochs.

    A digest of the tags is returned.
    """
    from treebound.systems.tagging.jackknife import jackknife
    from treebound.treebanks.document import read

    text = cached("train", lambda: b"".join(sentences(CONVERTED / "train.conllu", TAGGED)))
    treebank = cached("treebank", lambda: read(io.BytesIO(text)).treebank)
    tagged = jackknife(treebank, "xpos", workers=workers, epochs=2, bits=18)
    return hashlib.sha256("\0".join(tagged.strings("xpos")).encode()).hexdigest()


def features(workers: int) -> str:
    """Compute candidate arcs, parts and their scores, and return a digest.

    The scores stay in the worker that computes them, as in parsing.
    """
    from treebound.features.tokens import TokenTable
    from treebound.support.workers import spread
    from treebound.systems.graph.parser import BLOCK, load
    from treebound.treebanks.document import read

    parser = cached("parser", lambda: load(MODEL))
    text = cached("text", lambda: b"".join(sentences(CONVERTED / "test.conllu", PARSED)))
    treebank = cached("input", lambda: read(io.BytesIO(text)).treebank)
    treebank.meta.update({name: parser.model.meta[name] for name in ("tag", "coarse", "attributes")})
    blocks = [range(i, min(i + BLOCK, len(treebank))) for i in range(0, len(treebank), BLOCK)]
    digest = hashlib.sha256()
    for scores in spread(scored, (parser, TokenTable(treebank)), blocks, workers=workers, short=True):
        digest.update(scores)
    return digest.hexdigest()


def scored(state: tuple, block: range) -> bytes:
    """Return a digest of all scores of some sentences."""
    parser, table = state
    digest = hashlib.blake2b()
    for i in block:
        result, _ = parser._scores(table, i, parser.k)
        for scores in (result.arc, *result.by_family.values()):
            digest.update(scores)
    return digest.digest()


def cluster(workers: int) -> str:
    """Parse with the workers of a local Dask cluster, `workers` processes of one thread each."""
    return parsing(workers, cached("scheduler", lambda: None))


TASKS: dict[str, Callable[[int], str]] = {
    "parsing": parsing,
    "jackknifing": jackknifing,
    "feature extraction": features,
    "parsing, cluster": cluster,
}
_cache: dict = {}


def cached(name: str, make: Callable[[], object]):
    """Return the object that `make` returned when it was first called for this name."""
    if name not in _cache:
        _cache[name] = make()
    return _cache[name]


def cpu() -> float:
    """Return the CPU seconds of this process and of its descendants that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def warm(task: str) -> list[dict]:
    """Measure wall-clock and CPU seconds of a task with one and with two workers, in turn.

    The task with a Dask cluster is measured with two workers only.
    """
    digests, rows = set(), []
    counts = (2,) if task == "parsing, cluster" else (1, 2)
    with local_cluster() if task == "parsing, cluster" else nullcontext() as dask:
        _cache["scheduler"] = dask and dask.scheduler_address
        for repeat in range(1 + REPEATS):
            for workers in counts:
                started, used = time.perf_counter(), cpu()
                digests.add(TASKS[task](workers))
                if repeat:  # the first repeat compiles
                    rows.append({"workers": workers, "wall": time.perf_counter() - started, "cpu": cpu() - used})
    if len(digests) > 1:
        sys.exit(f"{task}: the output with two workers differs from the output with one")
    return rows


def local_cluster():
    """Start two worker processes of one thread each on this machine."""
    from distributed import LocalCluster

    return LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50)


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", help=argparse.SUPPRESS)
    option(parser)
    arguments = parser.parse_args()
    if arguments.task:
        print(json.dumps(warm(arguments.task)))
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    prepare(CONVERTED, MODEL)
    rows = []
    for task in TASKS:
        if task == "parsing, cluster" and find_spec("distributed") is None:
            print("parsing, cluster: left out, because its packages are not installed (make cluster)")
            continue
        command = [sys.executable, str(Path(__file__).resolve()), "--task", task]
        done = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
        middle = pd.DataFrame(done).groupby("workers").median()
        for number, row in middle.iterrows():
            print(f"{task:20} {number} workers {row['wall']:6.2f} s {row['cpu']:6.2f} s CPU", flush=True)
        if len(middle) > 1:
            single, double = (middle.loc[n] for n in (1, 2))
            note = f"at most {2 * single['cpu'] / double['cpu']:.2f} by their CPU seconds"
            target = TIMES if task == "parsing" else None
            rows.append(
                Row(
                    f"{task}: two workers to one, by the clock",
                    single["wall"] / double["wall"],
                    target,
                    note=note,
                )
            )
    report(rows, arguments.keep)


if __name__ == "__main__":
    main()
