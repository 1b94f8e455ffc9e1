"""Compare treebound with other packages that find trees for given scores: time and agreement, on the same matrices.

    python benchmarks/own_scores.py                          # synthetic matrices
    python benchmarks/own_scores.py scores.npz               # matrices of a parser, in a file for `treebound decode`
    python benchmarks/own_scores.py --baseline ../other/src  # also `treebound.decode` of another checkout

The first tables show words per CPU second of `treebound.decode_all`. The last tables, printed only without files of
scores, show CPU microseconds of one call of `treebound.decode` at 10 to 80 words, and the time outside the dynamic
program.

The other packages find maximum spanning arborescences with any number of roots. Each package gets its matrices in its
own input format, which is prepared before the clock starts. Packages that are not installed are named and left out;
`pip install --no-deps` of ufal.chu-liu-edmonds and spacy-biaffine-parser is enough. SciPy has spanning trees of
undirected graphs alone. The Python package index has no implementation of Eisner's algorithm without a neural network
library. The figures are medians of alternating repeats, warm, on one core.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from goals import Row, option, report

import treebound
from treebound.scores import archive

Matrices = Sequence[np.ndarray]
SIZES = (10, 20, 40, 80)  #: numbers of words in single calls
SIGNALS = {"noise alone": 0.0, "a tree in noise": 5.0}
BEYOND = 15.0  #: target: microseconds of a call outside the dynamic program


def matrix(rng: np.random.Generator, n: int, signal: float) -> np.ndarray:
    """Return scores of n words: noise, with `signal` added to the arcs of some tree, like a trained parser's scores."""
    arc = rng.normal(size=(n + 1, n + 1))
    order = np.append(0, rng.permutation(n) + 1)
    for i in range(1, n + 1):
        arc[order[rng.integers(max(0, i - 4), i)], order[i]] += signal
    return arc


def synthetic(sentences: int, signal: float) -> Matrices:
    """Return synthetic matrices of 5 to 45 words."""
    rng = np.random.default_rng(1)
    return [matrix(rng, int(rng.integers(5, 46)), signal).astype(np.float32) for _ in range(sentences)]


def of_size(n: int, signal: float) -> Matrices:
    """Return twenty synthetic matrices of n words."""
    rng = np.random.default_rng(n)
    return [matrix(rng, n, signal) for _ in range(20)]


def ours(arcs: Matrices, **how: Any) -> tuple[Any, Callable[[Any], list]]:
    """Return the matrices, and a function that decodes them with treebound."""
    return arcs, lambda inputs: [parse.heads for parse in treebound.decode_all(inputs, single_root=False, **how)]


def ufal(arcs: Matrices) -> tuple[Any, Callable[[Any], list]]:
    """Return inputs and decoder of ufal.chu_liu_edmonds, which contains C++ code of TurboParser.

    The rows of its matrices are words, the columns are heads, and NaN forbids an arc.
    """
    function = import_module("ufal.chu_liu_edmonds").chu_liu_edmonds
    inputs = [np.ascontiguousarray(arc.T, np.float64) for arc in arcs]
    for arc in inputs:
        np.fill_diagonal(arc, np.nan)
        arc[0] = np.nan
    return inputs, lambda inputs: [function(arc)[0] for arc in inputs]


def spacy(arcs: Matrices) -> tuple[Any, Callable[[Any], list]]:
    """Return inputs and decoder of Explosion's biaffine parser, which is written in Cython.

    The decoder takes finite float32 matrices. Its module is loaded without its package, which would import spaCy.
    """
    package = find_spec("spacy_biaffine_parser")
    if package is None or package.origin is None:
        raise ImportError("spacy-biaffine-parser")
    name = "spacy_biaffine_parser.mst"
    spec = spec_from_file_location(name, next(Path(package.origin).parent.glob("mst.*.so")))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    function = module.chu_liu_edmonds
    inputs = [np.where(np.eye(len(arc), dtype=bool), np.float32(-1e4), arc).astype(np.float32) for arc in arcs]
    for arc in inputs:
        arc[:, 0] = -1e4
    return inputs, lambda inputs: [function(arc, 0) for arc in inputs]


def networkx(arcs: Matrices) -> tuple[Any, Callable[[Any], list]]:
    """Return inputs and decoder of networkx, which is written in Python and takes graphs of its own."""
    nx = import_module("networkx")
    graphs = []
    for arc in arcs:
        graph = nx.DiGraph()
        n = len(arc)
        graph.add_weighted_edges_from((h, m, float(arc[h, m])) for h in range(n) for m in range(1, n) if h != m)
        graphs.append(graph)

    def heads(graph: Any) -> list[int]:
        """Return the head of every node in the best arborescence, -1 for the root."""
        out = [-1] * len(graph)
        for h, m in nx.maximum_spanning_arborescence(graph).edges:
            out[m] = h
        return out

    return graphs, lambda inputs: [heads(graph) for graph in inputs]


OTHERS: dict[str, Callable[[Matrices], tuple[Any, Callable]]] = {
    "ufal.chu_liu_edmonds": ufal,
    "spacy-biaffine-parser": spacy,
    "networkx": networkx,
}
SLOW = {"networkx": 20}  #: number of sentences for slow packages


def value(arc: np.ndarray, heads: Sequence[int]) -> float:
    """Return the score of a tree."""
    return float(sum(float(arc[heads[m], m]) for m in range(1, len(arc))))


def compare(title: str, arcs: Matrices, repeats: int) -> list[Row]:
    """Print a table of all installed packages, and return the figures that have a target.

    The target is that every tree of another package has the same value as ours.
    """
    words = sum(len(arc) - 1 for arc in arcs)
    print(f"\n{title}: {len(arcs)} sentences, {words} words\n")
    print("| | words per CPU second | ratio to treebound | same value, % | same tree, % |\n|---|---:|---:|---:|---:|")
    runs = {
        "treebound, several roots, arcs may cross": (arcs, *ours(arcs, space="non-projective")),
        "treebound, several roots, projective": (arcs, *ours(arcs)),
    }
    absent = []
    for name, make in OTHERS.items():
        some = arcs[: SLOW.get(name, len(arcs))]
        try:
            runs[name] = (some, *make(some))
        except ImportError:
            absent.append(name)
    speeds: dict[str, list[float]] = {name: [] for name in runs}
    outputs = {name: function(inputs) for name, (_, inputs, function) in runs.items()}  # warm
    for _ in range(repeats):
        for name, (some, inputs, function) in runs.items():
            started = time.process_time()
            function(inputs)
            speeds[name].append(sum(len(arc) - 1 for arc in some) / (time.process_time() - started))
    best = next(iter(runs))
    rows = []
    reference = statistics.median(speeds[best])
    for name, (some, _, _) in runs.items():
        speed = statistics.median(speeds[name])
        row = f"| {name} | {speed:,.0f} | {speed / reference:.3f} |"
        if "projective" in name:
            print(row + " | |")
            continue
        pairs = list(zip(some, outputs[best], outputs[name], strict=False))
        same = [abs(value(arc, a) - value(arc, b)) < 1e-4 for arc, a, b in pairs]
        trees = [list(a[1:]) == list(b[1:]) for _, a, b in pairs]
        print(f"{row} {100 * np.mean(same):.1f} | {100 * np.mean(trees):.1f} |")
        if name != best:
            rows.append(Row(f"own scores, {title}: value of {name}, %", 100 * float(np.mean(same)), 100))
    if absent:
        print(f"\nnot installed: {', '.join(absent)}")
    return rows


def call_time(function: Callable[[Any], Any], inputs: Sequence[Any]) -> float:
    """Return the CPU microseconds of one call.

    The function is called with each of `inputs` in turn, for about a hundredth of a second.
    """
    calls, started = 0, time.process_time()
    while (passed := time.process_time() - started) < 0.01:
        for item in inputs:
            function(item)
        calls += len(inputs)
    return 1e6 * passed / calls


def call_of_ours(space: Any, single_root: bool) -> Callable[[np.ndarray], Any]:
    """Return a function that calls `treebound.decode` on a matrix."""
    return lambda arc: treebound.decode(arc, space=space, single_root=single_root)


def kernel_of_ours(space: str, single_root: bool) -> Callable[[np.ndarray], Any]:
    """Return a function that runs the dynamic program alone on a matrix."""
    best_tree = import_module("treebound.kernels.chart.first_order").best_tree
    return lambda arc: best_tree(arc, space == "projective", single_root, np.empty(len(arc), np.int32))


def serve() -> None:
    """Time single calls for another process.

    The other process writes a line `n signal space single_root` for each measurement, and reads the microseconds.
    """
    for line in sys.stdin:
        n, signal, space, single_root = line.split()
        arcs = of_size(int(n), float(signal))
        decode = call_of_ours(space, single_root == "True")
        decode(arcs[0])
        print(call_time(decode, arcs), flush=True)


class Baseline:
    """A process that times `treebound.decode` of another checkout."""

    def __init__(self, source: Path):
        command, environment = [sys.executable, __file__, "--serve"], {**os.environ, "PYTHONPATH": str(source)}
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, *case: Any) -> float:
        """Return the CPU microseconds of one call, measured by the process, for (n, signal, space, single_root)."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(*case, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def compare_calls(title: str, repeats: int, source: Path | None) -> list[Row]:
    """Print a table of single calls, and return the figures that have a target.

    The other packages find non-projective trees with several roots. From 20 words on they should take at least as long
    as treebound, even if treebound alone must find a single root. In the tables of projective trees, their times have
    no target.
    """
    baseline = Baseline(source) if source else None
    signal = SIGNALS[title]
    ways = list(product(("non-projective", "projective"), (False, True)))
    peers: dict[str, Callable[[Matrices], tuple[Any, Callable]]] = {}
    for name in ("ufal.chu_liu_edmonds", "spacy-biaffine-parser"):
        try:
            OTHERS[name](of_size(2, signal))
            peers[name] = OTHERS[name]
        except ImportError:
            print(f"\nnot installed: {name}")
    print(f"\nOne call, {title}: CPU microseconds\n")
    columns = ["baseline", "decode", "dynamic program", "beyond it", *(f"{name}, times decode" for name in peers)]
    print("| words | trees | " + " | ".join(columns) + " |\n|---:|---|" + "---:|" * len(columns))
    beyond: list[float] = []
    ratios: dict[bool, list[float]] = {False: [], True: []}  # keys: whether a single root is required
    for n in SIZES:
        arcs = of_size(n, signal)
        inputs = {name: make(arcs) for name, make in peers.items()}
        for space, single_root in ways:
            decode, kernel = call_of_ours(space, single_root), kernel_of_ours(space, single_root)
            samples: dict[str, list[float]] = {name: [] for name in columns}
            for repeat in range(repeats + 1):
                times = {"decode": call_time(decode, arcs), "dynamic program": call_time(kernel, arcs)}
                times |= {
                    f"{name}, times decode": call_time(lambda item, run=run: run([item]), matrices)
                    for name, (matrices, run) in inputs.items()
                }
                times["baseline"] = baseline(n, signal, space, single_root) if baseline else float("nan")
                for name, value in times.items():
                    samples[name] += [value] if repeat else []  # the first repeat warms up
            ours, program = statistics.median(samples["decode"]), statistics.median(samples["dynamic program"])
            cells = [f"{statistics.median(samples['baseline']):.1f}", f"{ours:.1f}", f"{program:.1f}"]
            cells.append(f"{ours - program:.1f}")
            beyond.append(ours - program)
            for name in columns[4:]:
                theirs = statistics.median(samples[name])
                cells.append(f"{theirs:.1f}, {theirs / ours:.2f}")
                if n >= 20 and space == "non-projective":
                    ratios[single_root].append(theirs / ours)
            roots = "one root" if single_root else "several roots"
            print(f"| {n} | {space}, {roots} | " + " | ".join(cells) + " |", flush=True)
    rows = [Row(f"own scores, {title}: a call beyond the program, us", max(beyond), BEYOND, more=False)]
    for single_root, measured in ratios.items():
        if measured:
            roots = "one root" if single_root else "several roots"
            rows.append(Row(f"own scores, {title}, {roots}: peers' time by decode's", min(measured), 1.0))
    return rows


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", nargs="*", help="Files of scores. Default: synthetic matrices.")
    parser.add_argument("--sentences", type=int, default=1000, help="Number of synthetic matrices. Default: 1000.")
    parser.add_argument(
        "--repeats", type=int, default=5, help="number of measurements; the median is reported (default: %(default)s)"
    )
    option(parser)
    parser.add_argument(
        "--baseline", type=Path, metavar="SRC", help="Folder src of another checkout to measure as well. Default: none."
    )
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
        return
    rows = []
    for path in arguments.scores:
        arcs = [scores["arc"] for scores in archive.read(path).sentences]
        rows += compare(Path(path).name, arcs, arguments.repeats)
    if not arguments.scores:
        rows += compare("noise on a tree", synthetic(arguments.sentences, 5.0), arguments.repeats)
        rows += compare("noise alone, with many cycles", synthetic(arguments.sentences, 0.0), arguments.repeats)
        for title in SIGNALS:
            rows += compare_calls(title, arguments.repeats, arguments.baseline)
    print()
    report(rows, arguments.keep)


if __name__ == "__main__":
    main()
