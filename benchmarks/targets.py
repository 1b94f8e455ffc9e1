"""Run `make bench`: compare speed, memory, start-up, training time and accuracy with their targets, as ratios.

The benchmark trains its models on en_ewt and ptb_sample, in build/bench and build/bench-uncapped, unless they exist.
Speeds are medians of repeats in one run on this machine. Compilation, reading files and loading the model are left out.
Run it alone. Figures that have a target are also written to results/reference/targets.json, to which other benchmarks
may add.

    git worktree add ../b376700 b376700
    python benchmarks/targets.py --old ../b376700     # in make: make bench OLD=../b376700

With --old, the benchmark also compares with another checkout, in alternating runs: parsing and training (paired.py),
first use (first_use.py) and single calls of `treebound.decode` (own_scores.py). Further benchmarks follow: the growth
of training's memory (scale.py), two workers and one in a warm process (workers.py), and the reader (reader.py). Each
benchmark stores its own figures.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml
from goals import Row, keep
from numba import njit

from studies.pipeline import scratch
from treebound.features.tokens import TokenTable
from treebound.kernels.features.labels import context_words
from treebound.kernels.features.scoring import Output, Place, arc_features
from treebound.kernels.features.updates import all_arcs
from treebound.learning.difference import Difference
from treebound.systems.graph.parser import Parser, _table

HOW = "make bench"
FOLDER = Path("build/bench")
UNCAPPED = Path("build/bench-uncapped")  #: run with exact decoding of every training sentence
MODEL = "carreras+grandchild+sibling"
ALL_HEADS = "combined"  #: model with every factor family and all k heads of every word
EVERY = "combined-pruned"  #: model with every factor family, pruned with the defaults of `treebound train`
REPEATS = 3
#: number of sentences for the published configuration, and its limit of DP calls per sentence
SENTENCES, LIMIT = 200, 5000


def child(function: str, *arguments: str | int) -> dict:
    """Run a function of this module in a separate process, in FOLDER, and return its result from JSON."""
    command = [sys.executable, str(Path(__file__).resolve()), function, *map(str, arguments)]
    return json.loads(subprocess.run(command, cwd=FOLDER, stdout=subprocess.PIPE, check=True, text=True).stdout)


def speed(corpus: str, name: str, workers: str) -> dict:
    """Parse the test split with a named model, from features to heads, and return speeds and counts."""
    from studies.common.corpus import load
    from treebound.metrics.timing import Stopwatch
    from treebound.systems.graph.parser import load as load_parser

    parser = load_parser(f"results/models/{corpus}/{name}.npz", k=10)
    test = load(corpus, "test")
    counts = sorted({1, int(workers)})
    parser.parse(load(corpus, "test", 20), workers=int(workers))
    seconds: dict[int, list[tuple[float, float]]] = {n: [] for n in counts}
    for _ in range(REPEATS):  # interleaved, so that a slow minute of the machine affects both
        for n in counts:
            with Stopwatch() as watch:
                parses = parser.parse(test, workers=n)
            seconds[n].append((watch.cpu, watch.wall))
    return {
        "words": test.words,
        "sentences": len(test),
        "certified": sum(p.certified for p in parses),
        "dp_calls": sum(p.work["dp_calls"] for p in parses),
        "cpu": {n: statistics.median(c for c, _ in s) for n, s in seconds.items()},
        "wall": {n: statistics.median(w for _, w in s) for n, s in seconds.items()},
        "spread": max(w for _, w in seconds[1]) / min(w for _, w in seconds[1]),
        "mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def tuning(corpus: str) -> dict:
    """Return DP calls, nodes and decoding seconds of each configuration on the same scores."""
    from studies.common.corpus import load
    from treebound.systems.graph.parser import load as load_parser

    test = load(corpus, "test", SENTENCES)
    out = {}
    values = {}
    for name, options in {
        "tuned": {"config": "tuned"},
        "tuned over carreras": {"config": "tuned", "backbone": "carreras"},
        "published": {"config": "published", "backbone": "carreras", "max_dp_calls": LIMIT},
    }.items():
        parser = load_parser(f"results/models/{corpus}/{MODEL}.npz", k=10, **options)
        parser.parse(load(corpus, "test", 5))
        parses = parser.parse(test)
        values[name] = [p.value if p.certified else None for p in parses]
        out[name] = {
            "dp_calls": sum(p.work["dp_calls"] for p in parses),
            "nodes": sum(p.work["nodes"] for p in parses),
            "seconds": sum(sum(p.seconds.values()) - p.seconds["features"] for p in parses),
            "certified": sum(p.certified for p in parses),
        }
    pairs = zip(values["tuned"], values["published"], strict=True)
    out["same optimum"] = all(a == b for a, b in pairs if a is not None and b is not None)
    return out


def lookups(corpus: str) -> dict:
    """Return CPU seconds of parsing, and CPU seconds of bare sums of the weights that parsing looks up.

    The pruner looks up weights for all arcs. The model looks up one weight each for the remaining arcs and for all
    their parts. The labeller looks up a row of weights, one per label, for the remaining arcs and for the tree. Every
    set of slots is summed twice: with all repetitions, and with each slot of a sentence once, as if no look-up were
    repeated.
    """
    from studies.common.corpus import load
    from treebound.metrics.timing import Stopwatch
    from treebound.systems.graph.parser import load as load_parser

    parser = load_parser(f"results/models/{corpus}/{MODEL}.npz", k=10)
    test = load(corpus, "test")
    parses = parser.parse(test)
    sets: dict[str, list[Slots]] = {"distinct": [], "repeated": []}
    table = _table(parser.model, test)
    difference = Difference()
    for sentence in (slots_of(parser, table, i, parse.heads, difference) for i, parse in enumerate(parses)):
        sets["repeated"].append(sentence)
        sets["distinct"].append(Slots(*map(first_seen, sentence)))
    weights, width = parser._weights, len(parser.model.labelling.names)
    sums = np.zeros(width)
    bare: dict[str, Callable[[np.ndarray], object]] = {
        "pruner": lambda slots: gather(parser.model.pruner.weights, slots),
        "parts": lambda slots: gather(weights, slots),
        "labels": lambda slots: gather_rows(weights, slots, sums),
    }
    for part, add_up in bare.items():
        add_up(getattr(sets["distinct"][0], part))  # compiles
    names = [f"{name}, {part}" for name in sets for part in Slots._fields]
    seconds: dict[str, list[float]] = {name: [] for name in (*names, "whole")}
    for _ in range(REPEATS):
        for name, sentences in sets.items():
            for part, add_up in bare.items():
                with Stopwatch() as watch:
                    for slots in sentences:
                        add_up(getattr(slots, part))
                seconds[f"{name}, {part}"].append(watch.cpu)
        with Stopwatch() as watch:
            parser.parse(test)
        seconds["whole"].append(watch.cpu)
    counts = {
        f"{name}, {part} slots": sum(len(getattr(slots, part)) for slots in sentences)
        * (width if part == "labels" else 1)
        for name, sentences in sets.items()
        for part in Slots._fields
    }
    return {name: statistics.median(s) for name, s in seconds.items()} | counts


class Slots(NamedTuple):
    """Positions of weights, uint32 each: of the pruner, of arcs and parts, and of the starts of label rows."""

    pruner: np.ndarray
    parts: np.ndarray
    labels: np.ndarray


def slots_of(parser: Parser, table: TokenTable, i: int, heads: np.ndarray, difference: Difference) -> Slots:
    """Return the slots that parsing sentence i looks up, in the order of extraction.

    heads  int32[n + 1] of the tree that the parser finds
    """
    model = parser.model
    rows, tag = table.sentence(i)
    n = len(tag) - 1

    head, mod = all_arcs(n)
    every = np.arange(len(head), dtype=np.int32)
    pruner = model.pruner
    slots, signs, _ = difference.reserve(2 * len(every) * sum(len(group.seed) for group in pruner.templates))
    out = Output(slots, signs, 1.0, Place(0, pruner.mask))
    count = arc_features(pruner.templates, rows, tag, every, head, mod, out, 0)
    pruned = slots[:count].astype(np.uint32)

    scored, _ = parser._scores(table, i, parser.k)
    chosen = {f: np.arange(len(s), dtype=np.int32) for f, s in scored.by_family.items()}
    chosen["arc"] = arcs = np.arange(len(scored.arc), dtype=np.int32)
    slots, signs, _ = difference.reserve(model.scorer.room(chosen, n))
    count = model.scorer.features(chosen, 1.0, scored, rows, tag, slots, signs, 0)
    parts = slots[:count].astype(np.uint32)

    index, count, labelling = scored.arc_index, 0, model.labelling
    room = sum(part.room(len(arcs)) for part in (labelling.joint, labelling.stage) if part is not None)
    slots, signs, _ = difference.reserve(room)
    if labelling.joint is not None:
        first = np.zeros(len(arcs), np.int32)
        count = labelling.joint.arc_features(index.head, index.mod, first, 1.0, rows, slots, signs, count)
    if labelling.stage is not None:
        words, first = context_words(heads), np.zeros(n, np.int32)
        count = labelling.stage.tree_features(words, first, 1.0, rows, n, slots, signs, count)
    return Slots(pruned, parts, slots[:count].astype(np.uint32))


def first_seen(slots: np.ndarray) -> np.ndarray:
    """Return the distinct slots, in the order of their first position."""
    return slots[np.sort(np.unique(slots, return_index=True)[1])]


@njit
def gather(weights, slots):
    """Return the sum of the weights at some slots."""
    total = 0.0
    for i in slots:
        total += weights[i]
    return total


@njit
def gather_rows(weights, slots, out):
    """Add the rows of len(out) weights that begin at some slots to `out`."""
    for i in slots:
        row = weights[i : i + len(out)]
        for j in range(len(out)):
            out[j] += row[j]


def start_up() -> Iterator[Row]:
    """Yield wall-clock seconds of two commands, from start to end."""

    def seconds(*arguments: str) -> float:
        """Return the median wall-clock seconds of a command."""
        command = [str(Path(sys.executable).with_name("treebound")), *arguments]
        times = []
        for _ in range(1 + REPEATS):
            started = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            times.append(time.perf_counter() - started)
        return statistics.median(times[1:])

    yield Row("treebound --help, wall s", seconds("--help"), 1.0, more=False)
    blocks = (FOLDER / "data/converted/en_ewt/test.conllu").read_text(encoding="utf-8").split("\n\n")
    with tempfile.NamedTemporaryFile("w", suffix=".conllu", encoding="utf-8") as file:
        file.write("\n\n".join(blocks[:10]) + "\n\n")
        file.flush()
        model = str(FOLDER / f"results/models/en_ewt/{MODEL}.npz")
        yield Row("parsing 10 sentences, warm cache, wall s", seconds("parse", model, file.name), 3.0, more=False)


def scores(corpus: str, model: str) -> dict:
    """Read the metrics of a model, for which params/bench.yaml has one row."""
    path = FOLDER / f"results/metrics/decode/{corpus}/{model}.json"
    (measured,) = json.loads(path.read_text(encoding="utf-8")).values()
    return measured


def rows() -> Iterator[Row]:
    """Yield all figures, in the order in which they are printed."""
    for corpus, target in (("en_ewt", 89.5), ("ptb_sample", 91.4)):
        yield Row(
            f"{corpus} test UAS of {MODEL}, 1 seed, without punctuation, gold tags",
            scores(corpus, MODEL)["uas"],
            target,
        )
    timing = json.loads((FOLDER / f"results/metrics/timing/train/en_ewt/{MODEL}.json").read_text(encoding="utf-8"))
    yield Row("en_ewt training, all epochs, CPU minutes", timing["cpu_s"] / 60, 10.0, more=False)
    yield Row("en_ewt training, all epochs, wall minutes", timing["wall_s"] / 60)

    training = json.loads((UNCAPPED / f"results/metrics/timing/train/en_ewt/{MODEL}.json").read_text(encoding="utf-8"))
    yield Row("en_ewt training, exact, all epochs, CPU minutes", training["cpu_s"] / 60, 10.0, more=False)
    for name, folder in (("capped", FOLDER), ("exact", UNCAPPED)):
        path = folder / f"results/metrics/train/en_ewt/{MODEL}.json"
        history = json.loads(path.read_text(encoding="utf-8"))["history"]
        yield Row(f"en_ewt dev UAS, {name} in training", max(epoch["dev_uas"] for epoch in history))

    measured = child("speed", "en_ewt", MODEL, 2)
    words, note = measured["words"], f"max / min of repeats {measured['spread']:.2f}"
    yield Row("en_ewt test, one core, words per CPU second", words / measured["cpu"]["1"], 20000, note=note)
    yield Row("en_ewt test, one core, words per wall second", words / measured["wall"]["1"])
    yield Row("en_ewt test, certified, %", 100 * measured["certified"] / measured["sentences"], 100)
    yield Row("en_ewt test, DP calls per sentence", measured["dp_calls"] / measured["sentences"], 12, more=False)
    bound = 2 * measured["cpu"]["1"] / measured["cpu"]["2"]
    ratio, note = measured["wall"]["1"] / measured["wall"]["2"], f"at most {bound:.2f} by their CPU seconds"
    yield Row("en_ewt test, two workers to one, wall", ratio, 1.85, note=note)
    yield Row("peak memory, MiB", measured["mebibytes"], 2048, more=False)

    for name, label, target in ((ALL_HEADS, "every family", None), (EVERY, "the default model", 20000)):
        every = child("speed", "en_ewt", name, 1)
        yield Row(f"en_ewt test, {label}, words per CPU second", every["words"] / every["cpu"]["1"], target)
        yield Row(f"en_ewt test, {label}, certified, %", 100 * every["certified"] / every["sentences"], 100)
    for corpus in ("en_ewt", "ptb_sample"):
        pruned, whole = (scores(corpus, name) for name in (EVERY, ALL_HEADS))
        for measure in ("uas", "las"):
            gain = pruned[measure] - whole[measure]
            yield Row(f"{corpus} test {measure.upper()}, the default model against all heads", gain)

    cost = child("lookups", "en_ewt")
    for name, label in (("distinct", "each slot of a sentence once"), ("repeated", "as often as they occur")):
        for parts in (("parts",), Slots._fields):
            bare = sum(cost[f"{name}, {part}"] for part in parts)
            count = sum(cost[f"{name}, {part} slots"] for part in parts)
            note = f"{count / 1e6:.0f} million look-ups in {bare:.2f} s"
            which = "all" if len(parts) > 1 else "arcs and parts alone"
            title = f"en_ewt test, parsing to bare look-ups, {which}, {label}, CPU"
            yield Row(title, cost["whole"] / bare, 2.0, False, note)

    for corpus in ("en_ewt", "ptb_sample"):
        compared = child("tuning", corpus)
        same = "same optimum wherever both are certified" if compared.pop("same optimum") else "DIFFERENT OPTIMA"
        note = "; ".join(f"{name} certified {c['certified']} of {SENTENCES}" for name, c in compared.items())
        for other in ("tuned over carreras", "published"):
            for unit in ("dp_calls", "seconds"):
                ratio = compared[other][unit] / compared["tuned"][unit]
                yield Row(f"{corpus}: {other} to tuned, {unit.replace('_', ' ')}", ratio, note=same)
                same = ""
        yield Row(f"{corpus}: published, limit of DP calls", LIMIT, note=note)
    yield from start_up()


def others(old: Path | None) -> list[list[str]]:
    """Return the command of each further benchmark that has targets of its own, without `python benchmarks/`."""
    corpus = FOLDER / "data/converted/en_ewt"
    model, test = str(FOLDER / f"results/models/en_ewt/{EVERY}.npz"), str(corpus / "test.conllu")
    train, dev = (str(corpus / f"{split}.conllu") for split in ("train", "dev"))
    memory = ["--only", "train", "--sizes", "1000", "4000", "16000", "--kinds", "1 worker", "--corpus", str(corpus)]
    compared: list[list[str]] = []
    if old is not None:
        compared = [["paired.py", str(old), train, dev, test, "--epochs", "1", "--repeats", "3"]]
        model = "build/paired/new.npz"
    versus = ["--old", str(old), "--old-model", "build/paired/old.npz"] if old else []
    baseline = ["--baseline", str(old / "src")] if old else []
    return [
        *compared,
        ["first_use.py", model, test, *versus],
        ["own_scores.py", *baseline],
        ["scale.py", *memory],
        ["workers.py"],
    ]


def main(old: Path | None) -> None:
    """Train the missing models, then measure."""
    overlay = yaml.safe_load(Path("params/bench.yaml").read_text(encoding="utf-8"))
    ways = {MODEL: overlay["decode"][MODEL]}
    exact = scratch.overlaid(overlay, {"corpora": ["en_ewt"], "decode": ways, "train": {"max_dp_calls": 0}})
    for folder, settings, stage in ((FOLDER, overlay, "decode"), (UNCAPPED, exact, "train")):
        scratch.prepare(folder, settings)
        if code := scratch.run(folder, stage):
            sys.exit(code)
    print(f"{'':54} {'measured':>10} {'target':>10} {'ratio':>6}")
    measured = []
    for row in rows():
        measured.append(row)
        print(row, flush=True)
    keep(measured, how=HOW)
    train = str(FOLDER / "data/raw/en_ewt/en_ewt-ud-train.conllu")
    failed = 0
    for script, *arguments in [*([*command, "--keep"] for command in others(old)), ["reader.py", train]]:
        print(f"\npython benchmarks/{script} {' '.join(arguments)}", flush=True)
        failed |= subprocess.run([sys.executable, str(Path(__file__).with_name(script)), *arguments]).returncode
    sys.exit(failed)


if __name__ == "__main__":
    functions = {"speed": speed, "tuning": tuning, "lookups": lookups}
    if sys.argv[1:2] and sys.argv[1] in functions:
        print(json.dumps(functions[sys.argv[1]](*sys.argv[2:])))
    else:
        cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        cli.add_argument("--old", type=Path, help="Another checkout to compare with. Default: none.")
        main(cli.parse_args().old)
