"""Is every sentence of a test set solved to the end? Projective trees, trees that may cross, and no pruning.

    python benchmarks/certified.py CORPUS... [--model NAME] [--csv FILE] [--limit N]

parses the test sets with trained models, results/models/CORPUS/NAME.npz below the folder where it is started: over
projective trees and over all trees with the 10 best heads of every word, and without pruning up to --longest words. A
model that was trained for one space searches the other with the same weights. Prints, and writes to FILE, a row for
each: sentences, how many were proved optimal, dynamic programs, CPU seconds, and the lengths of those not proved.
Fails if any was not.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
from pathlib import Path

import numpy as np

from treebound.evaluation.timing import Stopwatch
from treebound.experiments import stage
from treebound.experiments.corpus import load
from treebound.parser import load as load_parser

#: name of a row -> space and heads kept for each word
SEARCHES: dict[str, tuple[str, int | None]] = {
    "projective": ("projective", 10),
    "non-projective": ("non-projective", 10),
    "projective, no pruning": ("projective", None),
}


def certify(corpus: str, model: str, search: str, longest: int, limit: int) -> dict[str, object]:
    """Parse one test set in one way."""
    space, k = SEARCHES[search]
    test = load(corpus, "test")
    if k is None:
        test = test.select(np.flatnonzero(np.asarray(test.lengths) <= longest))
    parser = load_parser(f"results/models/{corpus}/{model}.npz", k=k, space=space, max_dp_calls=limit)
    parser.parse(test.select(np.arange(5)))  # compiles
    with Stopwatch() as watch:
        parses = parser.parse(test)
    open_ones = [len(p.heads) - 1 for p in parses if not p.certified]
    calls = [p.work["dp_calls"] for p in parses]
    return {
        "corpus": corpus,
        "search": search,
        "sentences": len(parses),
        "proved": len(parses) - len(open_ones),
        "words of those not proved": " ".join(map(str, sorted(open_ones))),
        "DP calls a sentence": round(float(np.mean(calls)), 1),
        "most DP calls": max(calls),
        "CPU s": round(watch.cpu, 1),
    }


def main() -> int:
    """Exit status 1 if a sentence was not proved."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="+")
    parser.add_argument("--model", default="combined.mira", help="its name, with the learner (combined.mira)")
    parser.add_argument("--search", choices=list(SEARCHES), action="append", help="one of them alone (all)")
    parser.add_argument("--longest", type=int, default=40, help="words of a sentence that is not pruned (40)")
    parser.add_argument("--limit", type=int, default=0, help="of dynamic programs for a sentence (none)")
    parser.add_argument("--csv", type=Path, help="table to write; rows that it has of other corpora and searches stay")
    given = parser.parse_args()
    rows: list[dict[str, object]] = []
    for corpus in given.corpora:
        for search in given.search or SEARCHES:
            row = certify(corpus, given.model, search, given.longest, given.limit)
            print(*row.values(), sep="\t", flush=True)
            rows.append(row)
            if given.csv:
                write(given.csv, rows)
    return int(any(row["proved"] != row["sentences"] for row in rows))


def write(path: Path, rows: list[dict[str, object]]) -> None:
    """The table with `rows` in the place of what it had about the same corpora and searches."""
    key = ("corpus", "search")
    fresh = {tuple(row[name] for name in key): row for row in rows}
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            fresh = {tuple(row[name] for name in key): row for row in csv.DictReader(file)} | fresh
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(fresh.values())
    stage.write(path, text.getvalue())


if __name__ == "__main__":
    sys.exit(main())
