"""Time and memory against the size of the input, and what a second worker brings; docs/scale.md has the figures.

    python benchmarks/scale.py                 # 10 thousand, 100 thousand and 1 million words
    python benchmarks/scale.py --full          # 10 million as well
    python benchmarks/scale.py --out docs      # write scale.csv and scale.svg there, by default in build/scale
    python benchmarks/scale.py --only sizes    # or workers: half of it; the other rows of scale.csv stay

Fetches en_ewt and trains a second-order model in build/scale where that has not been done. The input is the test split
over and over, through a pipe. Run it alone: `load` is what else the machine had to do.

parse, streamed: the whole command, start included, as a user has it; `mebibytes` is the most memory that its processes
hold together, shared pages and libraries counted once (Linux). The other tasks: a warm process, reading and writing
included, medians of repeats in turn; they check that every number of workers gives the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import itertools
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

FOLDER = Path("build/scale")
MODEL = FOLDER / "model.npz"
CONVERTED = FOLDER / "data/converted/en_ewt"
SIZES = (10_000, 100_000, 1_000_000)
FULL = 10_000_000
STREAMED = "parse, streamed"
WARM_WORDS = 50_000  #: words of the tasks that a warm process does
TAG_WORDS = 20_000  #: of jackknifing, which trains ten taggers
REPEATS = 3
TREEBOUND = str(Path(sys.executable).with_name("treebound"))


def prepare() -> None:
    """The corpus and the model."""
    if not (CONVERTED / "test.conllu").exists():
        subprocess.run([TREEBOUND, "convert", "en_ewt", "--data-dir", str(FOLDER / "data")], check=True)
    if not MODEL.exists():
        files = [str(CONVERTED / f"{split}.conllu") for split in ("train", "dev")]
        options = ["-o", str(MODEL), "--families", "adjacent-sibling,outermost-grandchild", "--epochs", "3"]
        subprocess.run([TREEBOUND, "train", *files, *options], check=True)


def sentences(path: Path, words: int) -> Iterator[bytes]:
    """Sentences of a file, over and over, until they have so many words."""
    blocks = [block + b"\n\n" for block in path.read_bytes().split(b"\n\n") if block.strip()]
    lengths = [sum(line.partition(b"\t")[0].isdigit() for line in block.splitlines()) for block in blocks]
    left = words
    for block, length in itertools.cycle(zip(blocks, lengths, strict=True)):
        if left <= 0:
            return
        left -= length
        yield block


def streamed(words: int, workers: int) -> dict:
    """`treebound parse` from one pipe to another."""
    started = time.perf_counter()
    command = [TREEBOUND, "parse", str(MODEL), "--workers", str(workers)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    peak = Peak(process.pid)
    feeder = threading.Thread(target=feed, args=(process.stdin, words))
    feeder.start()
    digest, found = hashlib.sha256(), 0
    for line in process.stdout:
        digest.update(line)
        found += line.partition(b"\t")[0].isdigit()
    feeder.join()
    mebibytes = peak.stop()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit("treebound parse failed")
    wall, cpu = time.perf_counter() - started, usage.ru_utime + usage.ru_stime
    return {"words": found, "wall": wall, "cpu": cpu, "mebibytes": mebibytes, "digest": digest.hexdigest()}


def feed(pipe: io.BufferedIOBase, words: int) -> None:
    """Write the input."""
    with pipe:
        for block in sentences(CONVERTED / "test.conllu", words):
            pipe.write(block)


class Peak:
    """The most memory that a process and those below it held together, looked at ten times a second."""

    def __init__(self, pid: int):
        self.pid, self.most, self.running = pid, 0, True
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self) -> None:
        while self.running:
            self.most = max(self.most, held(self.pid))
            time.sleep(0.1)

    def stop(self) -> float:
        """In MiB."""
        self.running = False
        self.thread.join()
        return self.most / 1024


def held(pid: int) -> int:
    """KiB of a process and those below it: their own pages, shared ones once, and the first one's mapped files.

    The proportional size of mapped files would depend on who else on the machine runs Python at the moment.
    """
    sizes = memory(pid)
    return sizes.get("Rss", 0) - sizes.get("Anonymous", 0) + own_pages(pid)


def own_pages(pid: int) -> int:
    """KiB of anonymous memory of a process and those below it, in proportion where several share a page."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # it has ended
        return 0
    return memory(pid).get("Pss_Anon", 0) + sum(own_pages(int(child)) for child in children)


def memory(pid: int) -> dict[str, int]:
    """KiB by kind, as Linux tells them; nothing of a process that has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return {}
    return {name: int(size.split()[0]) for name, _, size in (line.partition(":") for line in lines)}


# --- in a warm process ---


def parsing(workers: int, scheduler: str | None = None) -> str:
    """Read, parse, write."""
    from treebound.cli.annotate import Parsing, parsed
    from treebound.cli.parsing import BATCH
    from treebound.support.workers import spread
    from treebound.systems.graph.parser import load
    from treebound.treebanks.document import stream

    parser = cached("parser", lambda: load(MODEL))
    text = cached("text", lambda: b"".join(sentences(CONVERTED / "test.conllu", WARM_WORDS)))
    parts = stream(io.BytesIO(text), BATCH, annotated=False)
    digest = hashlib.sha256()
    for done in spread(parsed, Parsing(parser), parts, workers=workers, scheduler=scheduler, short=True):
        digest.update(done.text)
    return digest.hexdigest()


def jackknifing(workers: int) -> str:
    """Tags of ten folds, each by a tagger of the others, two epochs."""
    from treebound.systems.tagging.jackknife import jackknife
    from treebound.treebanks.document import read

    text = cached("train", lambda: b"".join(sentences(CONVERTED / "train.conllu", TAG_WORDS)))
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
    text = cached("text", lambda: b"".join(sentences(CONVERTED / "test.conllu", WARM_WORDS)))
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
        found = parser._scores(table, i, False)
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
    """What `make` gave the first time."""
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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help=f"parse {FULL:,} words as well")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for scale.csv and scale.svg")
    parser.add_argument("--only", choices=("sizes", "workers"), help="half of it; the other rows of scale.csv stay")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.task:
        print(json.dumps(warm(arguments.task)))
        return
    prepare()
    sizes, workers = arguments.only != "workers", arguments.only != "sizes"
    rows: list[dict] = []
    if arguments.only and (arguments.out / "scale.csv").exists():
        before = pd.read_csv(arguments.out / "scale.csv")
        rows = before[(before["task"] == STREAMED) != sizes].to_dict("records")

    def add(task: str, workers: int, words: int, wall: float, cpu: float, mebibytes: float | None = None) -> None:
        load = os.getloadavg()[0]
        row = {"task": task, "workers": workers, "words": words, "wall_s": round(wall, 2), "cpu_s": round(cpu, 2)}
        row |= {"words_per_s": round(words / wall), "mebibytes": mebibytes and round(mebibytes), "load": round(load, 1)}
        rows.append(row)
        memory = "" if mebibytes is None else f"{mebibytes:8.0f} MiB"
        speed = f"{words / wall:10,.0f} words/s"
        print(
            f"{task:20} {workers} workers {words:10,} words {wall:9.2f} s {cpu:9.2f} s CPU {speed} {memory}", flush=True
        )

    chosen = (*SIZES, FULL) if arguments.full else SIZES
    if sizes:
        streamed(100, 1)  # compiles
    for words in chosen if sizes else ():
        counts = (1, 2) if words < FULL else (2,)  # the longest text once: every other length shows that bytes agree
        found = [streamed(words, count) | {"workers": count} for count in counts]
        for one in found:
            add(STREAMED, one["workers"], one["words"], one["wall"], one["cpu"], one["mebibytes"])
        if len({one["digest"] for one in found}) > 1:
            sys.exit("the number of workers changes the output")
        write(pd.DataFrame(rows), arguments.out)

    for task in TASKS if workers else ():
        if task == "parsing, cluster" and find_spec("distributed") is None:
            print("parsing, cluster: left out, its packages are not installed (make cluster)")
            continue
        command = [sys.executable, str(Path(__file__).resolve()), "--task", task]
        done = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
        middle = pd.DataFrame(done).groupby("workers").median()
        for number, row in middle.iterrows():
            words = TAG_WORDS if task == "jackknifing" else WARM_WORDS
            add(task, int(str(number)), words, row["wall"], row["cpu"])
        if len(middle) > 1:
            one, two = (middle.loc[n] for n in (1, 2))
            ratio, bound = one["wall"] / two["wall"], 2 * one["cpu"] / two["cpu"]
            print(f"{task:20} two workers to one: {ratio:.2f} by the clock, at most {bound:.2f} by their CPU seconds")
    write(pd.DataFrame(rows), arguments.out)


def write(table: pd.DataFrame, folder: Path) -> None:
    """The table, and its figure."""
    from studies.site.charts import scale
    from treebound.plots.svg import as_svg

    folder.mkdir(parents=True, exist_ok=True)
    table.to_csv(folder / "scale.csv", index=False)
    whole = table[table["task"] == STREAMED]
    as_svg(scale(whole), "Time and memory of parsing against the size of the input").save(folder / "scale.svg")


if __name__ == "__main__":
    main()
