"""Two workers beside one, in a warm process: parsing, jackknifing, feature extraction, and parsing by a Dask cluster.

    python benchmarks/workers.py          # in build/scale, with the corpus and the model of benchmarks/scale.py

Reading and writing are part of the time, starting and compiling are not. Medians of repeats in turn; the benchmark
stops where the number of workers changes a byte. Run it alone: `by the clock` is right on a machine that does nothing
else. `at most` is the ratio that the CPU seconds of the two allow, which depends less on other work.
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
from goals import Row, option, told
from measuring import repeated, sentences_of
from scale import FOLDER, prepare

MODEL = FOLDER / "small.npz"
CONVERTED = FOLDER / "data/converted/en_ewt"
PARSED = 3000  #: sentences of the tasks that a warm process does
TAGGED = 1200  #: of jackknifing, which trains ten taggers
REPEATS = 3
TIMES = 1.85  #: target: wall seconds of one worker to those of two, parsing


def sentences(path: Path, count: int) -> Iterator[bytes]:
    """Yield so many sentences of a file, over and over."""
    return repeated(sentences_of(path), count)


# --- in a warm process ---


def parsing(workers: int, scheduler: str | None = None) -> str:
    """Read, parse, write."""
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
    """Tags of ten folds, each by a tagger of the others, two epochs."""
    from treebound.systems.tagging.jackknife import jackknife
    from treebound.treebanks.document import read

    text = cached("train", lambda: b"".join(sentences(CONVERTED / "train.conllu", TAGGED)))
    treebank = cached("treebank", lambda: read(io.BytesIO(text)).treebank)
    found = jackknife(treebank, "xpos", workers=workers, epochs=2, bits=18)
    return hashlib.sha256("\0".join(found.strings("xpos")).encode()).hexdigest()


def features(workers: int) -> str:
    """Candidate arcs, parts and their scores. They stay where they are made, as in parsing."""
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


def scored(given: tuple, block: range) -> bytes:
    """Digest of all scores of some sentences."""
    parser, table = given
    digest = hashlib.blake2b()
    for i in block:
        found, _ = parser._scores(table, i, parser.k)
        for scores in (found.arc, *found.by_family.values()):
            digest.update(scores)
    return digest.digest()


def cluster(workers: int) -> str:
    """Parsing by the workers of a local Dask cluster; `workers` of one thread each."""
    return parsing(workers, cached("scheduler", lambda: None))


TASKS: dict[str, Callable[[int], str]] = {
    "parsing": parsing,
    "jackknifing": jackknifing,
    "feature extraction": features,
    "parsing, cluster": cluster,
}
_cache: dict = {}


def cached(name: str, make: Callable[[], object]):
    """Return what `make` returned when it was first called for this name."""
    if name not in _cache:
        _cache[name] = make()
    return _cache[name]


def cpu() -> float:
    """CPU seconds of this process and of those below it that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def warm(task: str) -> list[dict]:
    """Wall and CPU seconds of one and of two workers, in turn."""
    digests, rows = set(), []
    counts = (2,) if task == "parsing, cluster" else (1, 2)
    with local_cluster() if task == "parsing, cluster" else nullcontext() as found:
        _cache["scheduler"] = found and found.scheduler_address
        for repeat in range(1 + REPEATS):
            for workers in counts:
                started, used = time.perf_counter(), cpu()
                digests.add(TASKS[task](workers))
                if repeat:  # the first time compiles
                    rows.append({"workers": workers, "wall": time.perf_counter() - started, "cpu": cpu() - used})
    if len(digests) > 1:
        sys.exit(f"{task}: the number of workers changes the result")
    return rows


def local_cluster():
    """Two worker processes of one thread on loopback."""
    from distributed import LocalCluster

    return LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50)


def main() -> None:
    """Command line."""
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
            print("parsing, cluster: left out, its packages are not installed (make cluster)")
            continue
        command = [sys.executable, str(Path(__file__).resolve()), "--task", task]
        done = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
        middle = pd.DataFrame(done).groupby("workers").median()
        for number, row in middle.iterrows():
            print(f"{task:20} {number} workers {row['wall']:6.2f} s {row['cpu']:6.2f} s CPU", flush=True)
        if len(middle) > 1:
            one, two = (middle.loc[n] for n in (1, 2))
            note = f"at most {2 * one['cpu'] / two['cpu']:.2f} by their CPU seconds"
            target = TIMES if task == "parsing" else None
            rows.append(Row(f"{task}: two workers to one, by the clock", one["wall"] / two["wall"], target, note=note))
    told(rows, arguments.keep)


if __name__ == "__main__":
    main()
