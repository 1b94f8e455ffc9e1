"""Measure the cost per sentence against the size of a corpus, for parsing and training, locally and with Dask workers.

    python benchmarks/scale.py                                       # 1,000 to 100,000 sentences, parsing and training

    python benchmarks/scale.py --full                                # up to 1,000,000 sentences

    python benchmarks/scale.py --only train --sizes 1000 4000 16000  # one task, with other sizes

    python benchmarks/scale.py --corpus data/converted/en_ewt        # a corpus that is converted already

The corpus repeats 1,000 sentences of real text, from the training or the test split, so that all sizes have the same
sentences and vocabulary. It goes through pipes and is never stored. Without --corpus, en_ewt is downloaded to
build/scale. The models are small: arcs and adjacent siblings, one epoch. Dask workers are two processes of one thread.
They are measured if `distributed` is installed (make cluster), and their scheduler and the client are included. Run the
benchmark alone: other work on the machine hardly changes CPU seconds, but it changes wall-clock seconds.

The table has a row for each task, kind of workers and size. It contains CPU seconds, wall-clock seconds and peak memory
of all processes together, and the same figures per sentence. The table is written to scale.csv, the figure to
scale.svg.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
from goals import Row, option, report
from measuring import Cost, measured, repeated, sentences_of

FOLDER = Path("build/scale")
BASE = 1000  #: number of sentences that are repeated
SIZES, FULL = (1000, 10_000, 100_000), 1_000_000
SMALL = ["--families", "adjacent-sibling", "--epochs", "1", "--bits", "18"]
SMALL += ["--pruner-bits", "16", "--pruner-epochs", "1"]
TREEBOUND = [sys.executable, "-c", "from treebound.cli import main; main()"]
KINDS = ("1 worker", "2 workers", "2 Dask workers")
#: target: ratio of the peak memory of training, largest corpus to smallest corpus
FLAT = 1.1
DASK = """
import sys
from distributed import LocalCluster
how = {"host": "127.0.0.1", "dashboard_address": None, "silence_logs": 50}
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, **how) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


def prepare(corpus: Path, model: Path) -> None:
    """Convert en_ewt if no corpus is named, and train the model for parsing."""
    if not (corpus / "test.conllu").exists():
        subprocess.run([*TREEBOUND, "convert", "en_ewt", "--data-dir", str(FOLDER / "data")], check=True)
    if not model.exists():
        files = [str(corpus / f"{split}.conllu") for split in ("train", "dev")]
        subprocess.run([*TREEBOUND, "train", *files, "-o", str(model), *SMALL], check=True)


def text(path: Path, sentences: int) -> Iterator[bytes]:
    """Yield a number of sentences of a file in CoNLL-U.

    BASE sentences are taken from the file at equal distances, and repeated as often as necessary.
    """
    blocks = sentences_of(path)
    return repeated(blocks[:: max(1, len(blocks) // BASE)][:BASE], sentences)


@contextmanager
def dask() -> Iterator[tuple[str, int]]:
    """Start a local cluster in a separate process, and return (address of its scheduler, process id)."""
    pipe = subprocess.PIPE
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "cluster.py"
        script.write_text(DASK)
        env = {**os.environ, "DASK_DISTRIBUTED__ADMIN__LOW_LEVEL_LOG_LENGTH": "10"}  # recommended by docs/cluster.md
        with subprocess.Popen([sys.executable, script], stdin=pipe, stdout=pipe, text=True, env=env) as process:
            assert process.stdout is not None
            yield process.stdout.readline().strip(), process.pid
            process.communicate()


def parsing(corpus: Path, model: Path, sentences: int, workers: int, cluster: tuple[str, int] | None) -> Cost:
    """Return the cost of `treebound parse` from one pipe to another."""
    where = ["--scheduler", cluster[0]] if cluster else ["--workers", str(workers)]
    stream = text(corpus / "test.conllu", sentences)
    return measured([*TREEBOUND, "parse", str(model), *where], stream, servers=[cluster[1]] if cluster else ())


def training(corpus: Path, _: Path, sentences: int, workers: int, cluster: tuple[str, int] | None) -> Cost:
    """Return the cost of training one model: `treebound train`, or `train-many` with a cluster.

    The training treebank comes through a named pipe.
    """
    stream, dev = text(corpus / "train.conllu", sentences), corpus / "dev.conllu"
    with tempfile.TemporaryDirectory() as folder:
        fifo, few = Path(folder) / "train", Path(folder) / "dev.conllu"
        few.write_bytes(b"".join(repeated(sentences_of(dev), 100)))
        os.mkfifo(fifo)
        if cluster is None:
            command = [*TREEBOUND, "train", str(fifo), str(few), "-o", str(Path(folder) / "model.npz"), *SMALL]
            return measured(command, stream, fifo)
        settings = dict(zip((name.removeprefix("--") for name in SMALL[::2]), SMALL[1::2], strict=True))
        listed = ", ".join(f"{name.replace('-', '_')}: {value}" for name, value in settings.items())
        models = Path(folder) / "models.yaml"
        listed = listed.replace("families: adjacent-sibling", "families: [adjacent-sibling]")
        models.write_text(f"models:\n  small: {{train: {fifo}, dev: {few}, {listed}}}\n")
        command = [*TREEBOUND, "train-many", str(models), "-o", folder, "--scheduler", cluster[0]]
        return measured(command, stream, fifo, servers=[cluster[1]])


TASKS = {"parse": parsing, "train": training}


def row(task: str, kind: str, sentences: int, cost: Cost) -> dict:
    """Return a row of the table."""
    each = {"cpu_ms": 1000 * cost.cpu, "wall_ms": 1000 * cost.wall, "kib": 1024 * cost.mebibytes}
    out = {"task": task, "workers": kind, "sentences": sentences, "cpu_s": round(cost.cpu, 2)}
    out |= {"wall_s": round(cost.wall, 2), "mebibytes": round(cost.mebibytes, 1)}
    out |= {f"{name}_per_sentence": round(value / sentences, 4) for name, value in each.items()}
    return out | {"load": round(os.getloadavg()[0], 1)}


def goals(table: pd.DataFrame) -> list[Row]:
    """Return the figures that have a target, if the table has the sizes for them."""
    rows, train = [], table[(table["task"] == "train") & (table["workers"] == KINDS[0])].sort_values("sentences")
    if len(train) > 1:
        small, large = train.iloc[0], train.iloc[-1]
        count = large["sentences"] - small["sentences"]
        growth = 1024 * 1024 * (large["mebibytes"] - small["mebibytes"]) / count
        name = "training, memory of the largest corpus to the smallest"
        note = f"{small['sentences']:,} and {large['sentences']:,} sentences: {growth:.0f} bytes a sentence"
        rows.append(Row(name, large["mebibytes"] / small["mebibytes"], FLAT, more=False, note=note))
    return rows


def write(table: pd.DataFrame, folder: Path) -> None:
    """Write the table and its figure."""
    from studies.site.charts import scale
    from treebound.plots.svg import as_svg

    folder.mkdir(parents=True, exist_ok=True)
    table.to_csv(folder / "scale.csv", index=False)
    as_svg(scale(table), "Cost of a sentence against the size of the corpus").save(folder / "scale.svg")


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=SIZES, help="Numbers of sentences. Default: 1000 10000 100000."
    )
    parser.add_argument("--full", action="store_true", help=f"Also measure {FULL:,} sentences, which takes hours.")
    parser.add_argument(
        "--only",
        choices=TASKS,
        help="Measure one task, and keep the rows of the other task in scale.csv. Default: both.",
    )
    parser.add_argument(
        "--kinds", nargs="+", choices=KINDS, default=KINDS, help="Kinds of workers to measure. Default: all."
    )
    parser.add_argument(
        "--corpus",
        type=Path,
        default=FOLDER / "data/converted/en_ewt",
        help="Folder of a converted corpus. Default: en_ewt, downloaded.",
    )
    parser.add_argument(
        "--out", type=Path, default=FOLDER, help="Folder for scale.csv and scale.svg. Default: build/scale."
    )
    option(parser)
    arguments = parser.parse_args()
    model = FOLDER / "small.npz"
    FOLDER.mkdir(parents=True, exist_ok=True)
    prepare(arguments.corpus, model)
    tasks = [arguments.only] if arguments.only else list(TASKS)
    path, rows = arguments.out / "scale.csv", []
    if arguments.only and path.exists():
        before = pd.read_csv(path)
        rows = before[before["task"] != arguments.only].to_dict("records")
    kinds = [kind for kind in KINDS if kind in arguments.kinds]
    if KINDS[2] in kinds and find_spec("distributed") is None:
        print("Dask workers are left out, because their packages are not installed (make cluster).")
        kinds.remove(KINDS[2])
    for task in tasks:
        TASKS[task](arguments.corpus, model, 200, 1, None)  # compiles
        for sentences in sorted({*arguments.sizes, *([FULL] if arguments.full else [])}):
            for kind in kinds:
                if task == "train" and kind == KINDS[1]:
                    continue  # one process trains one model
                if kind == KINDS[2]:
                    with dask() as cluster:
                        cost = TASKS[task](arguments.corpus, model, sentences, 2, cluster)
                else:
                    cost = TASKS[task](arguments.corpus, model, sentences, int(kind[0]), None)
                rows.append(row(task, kind, sentences, cost))
                print(" ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)
                write(pd.DataFrame(rows), arguments.out)
    report(goals(pd.DataFrame(rows)), arguments.keep)


if __name__ == "__main__":
    main()
