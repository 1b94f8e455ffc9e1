"""Trees of given scores beside what else there is to install: words per CPU second and agreement, on the same matrices.

    python benchmarks/own_scores.py                        # made-up matrices
    python benchmarks/own_scores.py scores.npz             # those of a parser, as `treebound decode` reads them

Others find maximum spanning arborescences with any number of roots, so this is what all are asked for; each gets its
matrices in the form that it takes, made before the clock starts. Packages that are not installed are named and left
out. SciPy has spanning trees of undirected graphs alone; no Eisner implementation was found on the package index that
comes without a neural network library. Prints medians of repeats that take turns, warm, on one core.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from goals import Row, option, told

import treebound
from treebound.scores import archive

Matrices = Sequence[np.ndarray]


def made_up(sentences: int, signal: float) -> Matrices:
    """Matrices of 5 to 45 words: noise, and `signal` on the arcs of some tree, as of a trained parser."""
    rng = np.random.default_rng(1)
    out = []
    for _ in range(sentences):
        n = int(rng.integers(5, 46))
        arc = rng.normal(size=(n + 1, n + 1)).astype(np.float32)
        order = np.append(0, rng.permutation(n) + 1)
        for i in range(1, n + 1):
            arc[order[rng.integers(max(0, i - 4), i)], order[i]] += signal
        out.append(arc)
    return out


def ours(arcs: Matrices, **how: Any) -> tuple[Any, Callable[[Any], list]]:
    return arcs, lambda given: [parse.heads for parse in treebound.decode_all(given, single_root=False, **how)]


def ufal(arcs: Matrices) -> tuple[Any, Callable[[Any], list]]:
    """TurboParser's C++: the head of a word in its row, NaN where there is no arc."""
    function = import_module("ufal.chu_liu_edmonds").chu_liu_edmonds
    given = [np.ascontiguousarray(arc.T, np.float64) for arc in arcs]
    for arc in given:
        np.fill_diagonal(arc, np.nan)
        arc[0] = np.nan
    return given, lambda given: [function(arc)[0] for arc in given]


def spacy(arcs: Matrices) -> tuple[Any, Callable[[Any], list]]:
    """Cython of Explosion's biaffine parser: float32, finite."""
    function = import_module("spacy_biaffine_parser.mst").chu_liu_edmonds
    given = [np.where(np.eye(len(arc), dtype=bool), np.float32(-1e4), arc).astype(np.float32) for arc in arcs]
    for arc in given:
        arc[:, 0] = -1e4
    return given, lambda given: [function(arc, 0) for arc in given]


def networkx(arcs: Matrices) -> tuple[Any, Callable[[Any], list]]:
    """Python, on its graphs."""
    nx = import_module("networkx")
    graphs = []
    for arc in arcs:
        graph = nx.DiGraph()
        n = len(arc)
        graph.add_weighted_edges_from((h, m, float(arc[h, m])) for h in range(n) for m in range(1, n) if h != m)
        graphs.append(graph)

    def heads(graph: Any) -> list[int]:
        out = [-1] * len(graph)
        for h, m in nx.maximum_spanning_arborescence(graph).edges:
            out[m] = h
        return out

    return graphs, lambda given: [heads(graph) for graph in given]


OTHERS: dict[str, Callable[[Matrices], tuple[Any, Callable]]] = {
    "ufal.chu_liu_edmonds": ufal,
    "spacy-biaffine-parser": spacy,
    "networkx": networkx,
}
SLOW = {"networkx": 20}  #: sentences that are enough of it


def value(arc: np.ndarray, heads: Sequence[int]) -> float:
    """Score of a tree."""
    return float(sum(float(arc[heads[m], m]) for m in range(1, len(arc))))


def compare(title: str, arcs: Matrices, repeats: int) -> list[Row]:
    """Print a table of all that is installed; how often others find trees of the same value, which is to be always."""
    words = sum(len(arc) - 1 for arc in arcs)
    print(f"\n{title}: {len(arcs)} sentences, {words} words\n")
    print("| | words per CPU second | of treebound's | same value, % | same tree, % |\n|---|---:|---:|---:|---:|")
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
    found = {name: function(given) for name, (_, given, function) in runs.items()}  # warm
    for _ in range(repeats):
        for name, (some, given, function) in runs.items():
            started = time.process_time()
            function(given)
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
        pairs = list(zip(some, found[best], found[name], strict=False))
        same = [abs(value(arc, a) - value(arc, b)) < 1e-4 for arc, a, b in pairs]
        trees = [list(a[1:]) == list(b[1:]) for _, a, b in pairs]
        print(f"{row} {100 * np.mean(same):.1f} | {100 * np.mean(trees):.1f} |")
        if name != best:
            rows.append(Row(f"own scores, {title}: value of {name}, %", 100 * float(np.mean(same)), 100))
    if absent:
        print(f"\nnot installed: {', '.join(absent)}")
    return rows


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", nargs="*", help="files of scores; without any, matrices are made up")
    parser.add_argument("--sentences", type=int, default=1000, help="of the made-up matrices")
    parser.add_argument("--repeats", type=int, default=5)
    option(parser)
    given = parser.parse_args()
    rows = []
    for path in given.scores:
        arcs = [scores["arc"] for scores in archive.read(path).sentences]
        rows += compare(Path(path).name, arcs, given.repeats)
    if not given.scores:
        rows += compare("noise on a tree", made_up(given.sentences, 5.0), given.repeats)
        rows += compare("noise alone, with many cycles", made_up(given.sentences, 0.0), given.repeats)
    print()
    told(rows, given.keep)


if __name__ == "__main__":
    main()
