"""Measure how close sampling comes to proved optima, and how fast it is.

    python benchmarks/sampling.py MODEL TREEBANK

The benchmark parses the treebank with branch and bound, whose trees are proved. It parses again with each sampling
decoder, with several seeds and budgets. No decoder uses the optimum to stop. For each decoder, the benchmark prints the
share of proved optima found, over all sentences and over sentences of more than 30 words, and the share of the total
score. It also prints runs per sentence, CPU microseconds per word of decoding alone, and words per CPU second end to
end (features, arcs and parts, and decoding). It uses one process.

MODEL is a file of `treebound train` (system graph). TREEBANK is a CoNLL-U file, or the .npz of a converted corpus.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import goals
import numpy as np

from studies.zhang_2014.score_time.tables import TARGETS
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.treebank import Treebank
from treebound.decoders import DECODERS
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser
from treebound.treebanks import storage
from treebound.treebanks.document import read

LONG = 30  #: sentences with more words are reported separately, because short sentences hide failures
T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return (result of the function, CPU seconds)."""
    started = time.process_time()
    return work(), time.process_time() - started


def treebank_of(path: Path, conventions: dict) -> Treebank:
    """Read the treebank in a file, and set the conventions of a model."""
    treebank = storage.load(path) if path.suffix == ".npz" else read(path).treebank
    treebank.meta.update(conventions)
    return treebank


def found_optima(parses: list[Parse], proved: list[Parse]) -> float:
    """Return the share of the proved optima that were found, in %."""
    pairs = [(p.value, best.value) for p, best in zip(parses, proved, strict=True) if best.certified]
    return 100 * float(np.mean([value >= most for value, most in pairs])) if pairs else np.nan


def goal(shares: dict[tuple[str, int], list[tuple[float, float]]], target: tuple[float, int], name: str) -> goals.Row:
    """Return the largest share of optima among the decoders that are fast enough, as a figure with a target.

    shares  (decoder, budget) -> (share of optima in %, words per CPU second) of each seed
    target  (share of optima in %, least number of words per CPU second)
    """
    share, speed = target
    means = {how: np.mean(runs, axis=0) for how, runs in shares.items()}
    fast = {how: mean[0] for how, mean in means.items() if mean[1] >= speed}
    best = max(fast, key=lambda how: fast[how], default=None)
    note = (
        "no decoder is fast enough" if best is None else f"{best[0]}, patience {best[1]}, {means[best][1]:,.0f} words/s"
    )
    return goals.Row(f"sampling, {name}: optima at {speed:,} words/s, %", fast[best] if best else 0.0, share, note=note)


def line(name: str, parses: list[Parse], proved: list[Parse], cpu: float, features: float, sizes: np.ndarray) -> str:
    """Return a row of the table."""
    optimal = np.array([p.certified for p in proved])
    hit = np.array([p.value >= best.value for p, best in zip(parses, proved, strict=True)])[optimal]
    far = hit[sizes[optimal] > LONG]
    share = sum(p.value for p in parses) / sum(p.value for p in proved)
    runs = np.mean([p.work.get("restarts", 1) for p in parses])
    words = sizes.sum()
    shares = f"{100 * hit.mean():7.2f} {100 * far.mean() if len(far) else np.nan:7.2f} {100 * share:9.4f}"
    return f"{name:44} {shares} {runs:6.1f} {1e6 * cpu / words:9.1f} {words / (cpu + features):9.0f}"


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="model file")
    parser.add_argument("treebank", type=Path, help="treebank to parse")
    parser.add_argument(
        "--sentences",
        type=int,
        default=300,
        help="Number of sentences from the start of TREEBANK; 0 takes all. Default: 300.",
    )
    parser.add_argument(
        "--decoders", default="greedy,gibbs", help="Names of decoders, separated by commas. Default: greedy,gibbs."
    )
    parser.add_argument("--patience", default="4,8,16,32", help="Budgets, separated by commas. Default: 4,8,16,32.")
    parser.add_argument("--seeds", type=int, default=2, help="Number of seeds, starting from 1. Default: 2.")
    goals.option(parser)
    arguments = parser.parse_args()
    model = Model.load(arguments.model)
    parsing, treebank = Parser(model), treebank_of(arguments.treebank, model.meta)
    treebank = treebank.select(np.arange(min(arguments.sentences or len(treebank), len(treebank))))
    parsing.parse(treebank.select(np.arange(min(3, len(treebank)))))  # compiles
    whole = timed(lambda: parsing.parse(treebank))[1]
    problems: list[Problem] = [parsing.problem(treebank, i) for i in range(len(treebank))]
    sizes = np.array([problem.n for problem in problems])
    exact = DECODERS["branch-and-bound"](space=model.spec.space)
    proved, cpu = timed(lambda: [exact.decode(problem) for problem in problems])
    features = whole - cpu
    print(f"{len(sizes)} sentences, {sizes.sum()} words, {(sizes > LONG).sum()} of more than {LONG} words")
    print(f"features {1e6 * features / sizes.sum():.1f} us per word; {', '.join(sorted(model.spec.families))}")
    print(f"{'':44} optimal    long     score   runs  us/word   words/s")
    print(line(exact.name, proved, proved, cpu, features, sizes), flush=True)
    names, budgets = arguments.decoders.split(","), [int(x) for x in arguments.patience.split(",")]
    shares: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for name, patience, seed in itertools.product(names, budgets, range(1, arguments.seeds + 1)):
        decoder = DECODERS[name](seed=seed, patience=patience)
        if decoder.space != model.spec.space:
            decoder = DECODERS[name](seed=seed, patience=patience, space=model.spec.space)
        decoder.decode(problems[0])
        parses, cpu = timed(lambda decoder=decoder: [decoder.decode(problem) for problem in problems])
        print(line(f"{name}, patience {patience}, seed {seed}", parses, proved, cpu, features, sizes), flush=True)
        pair = found_optima(parses, proved), sizes.sum() / (cpu + features)
        shares.setdefault((name, patience), []).append(pair)
    corpus = f"{arguments.treebank.resolve().parent.name}/{arguments.treebank.stem}"
    goals.report([goal(shares, TARGETS["head-bigram" in model.spec.families], corpus)], arguments.keep)


if __name__ == "__main__":
    main()
