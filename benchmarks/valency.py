"""Compare two bounds of a word's number of modifiers: affine majorants and a polynomial.

    python benchmarks/valency.py [--words 5 6 7 8] [--problems 50] [--steps 20 200]

The polynomial is from Qian & Liu (2013, section 5.1). A score f(s) of the number s of a word's modifiers is a
polynomial in the word's arcs: the sum over all sets T of modifiers of D(|T|) prod_{a in T} z_a, where
D(k) = sum_j (-1)^(k - j) C(k, j) f(j). Each product is a factor with its own bound. The number of products is
exponential in the number of candidate modifiers, while majorants need one slope per word.

Both searches get the same random integer problems (all arcs, scores of arcs and counts of the same size) and must find
the same score. For each size, the benchmark prints the number of factors and the gap between the bound at the root and
the best score, after each number of --steps. The gap is in % of the sum over all words of the largest score that the
count of a word's modifiers can have. It also prints the share solved at the root, and DP calls and CPU milliseconds
until the optimum is proved.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import time
from dataclasses import replace

import numpy as np

from treebound.core.problem import PartTable, Problem
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound

SIZE = 100  #: largest absolute score of an arc and of a count


def random_problem(n: int, rng: np.random.Generator) -> Problem:
    """Return a random problem over n words.

    It has all arcs between the words and the root, and a score for every number of modifiers of every word.
    """
    head, mod = (np.array(column, np.int32) for column in zip(*arcs(n), strict=True))
    count = [(h, c) for h in range(1, n + 1) for c in range(n)]  # a word has at most n - 1 modifiers
    score = rng.integers(-SIZE, SIZE + 1, len(count)).astype(float)
    table = PartTable("valency", np.array(count, np.int32), score)
    arc = rng.integers(-SIZE, SIZE + 1, len(head)).astype(float)
    return Problem(n, head, mod, arc, {"valency": table}, unit=1.0)


def arcs(n: int) -> list[tuple[int, int]]:
    """Return all arcs (head, modifier) in the order of `Problem`."""
    return [(h, m) for h in range(n + 1) for m in (*range(h - 1, 0, -1), *range(h + 1, n + 1))]


def expanded(problem: Problem) -> Problem:
    """Return the problem with the scores of modifier counts replaced by scores of products of arcs with one head.

    Constants and single arcs are added to the scores of the arcs.
    """
    n, table = problem.n, problem.parts["valency"]
    arc = problem.arc.copy()
    sets, scores = [], []
    for h in range(1, n + 1):
        f = table.score[table.arcs[:, 0] == h]
        out = np.flatnonzero(problem.head == h)
        arc[problem.mod == h] += f[0]  # every word has one head
        for k in range(1, len(out) + 1):
            difference = sum((-1) ** (k - j) * math.comb(k, j) * f[j] for j in range(k + 1))
            if k == 1:
                arc[out] += difference
                continue
            for chosen in itertools.combinations(out, k):
                sets.append((*chosen, *[-1] * (n - k)))
                scores.append(difference)
    parts = {"pattern": PartTable("pattern", np.array(sets, np.int32), np.array(scores, float))}
    return replace(problem, arc=arc, parts=parts)


def root_bound(problem: Problem, steps: int) -> float:
    """Return the bound after a number of steps at the root."""
    return BranchAndBound(root_steps=steps, max_nodes=1, max_dp_calls=steps + 1).decode(problem).bound


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--words", type=int, nargs="+", default=[5, 6, 7, 8], help="sentence lengths (default: %(default)s)"
    )
    parser.add_argument("--problems", type=int, default=50, help="Number of problems of each size. Default: 50.")
    parser.add_argument(
        "--steps", type=int, nargs="+", default=[20, 200], help="limits of steps (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: %(default)s)")
    arguments = parser.parse_args()
    wrong = 0
    gaps = "".join(f"{f'gap {s}, %':>14}" for s in arguments.steps)
    print(f"{'words':>5} {'bound':12}{'factors':>8}{gaps}{'root, %':>9}{'DP calls':>10}{'ms':>9}")
    for n in arguments.words:
        rng = np.random.default_rng([arguments.seed, n])
        stated = [(p, expanded(p)) for p in (random_problem(n, rng) for _ in range(arguments.problems))]
        best: list[float] = []
        for way, name in enumerate(("majorants", "polynomial")):
            problems = [pair[way] for pair in stated]
            search = BranchAndBound()
            search.decode(problems[0])  # compiles the kernels
            started = time.process_time()
            parses = [search.decode(problem) for problem in problems]
            seconds = time.process_time() - started
            values = [parse.value for parse in parses]
            wrong += sum(a != b for a, b in zip(best, values, strict=True)) if best else 0
            wrong += sum(not parse.certified for parse in parses)
            best = values
            gap = [[root_bound(p, s) - v for p, v in zip(problems, values, strict=True)] for s in arguments.steps]
            shown = "".join(f"{100 * np.mean(g) / (SIZE * n):14.1f}" for g in gap)
            factors = np.mean([len(table) for p in problems for table in p.parts.values()]) if way else n
            root = 100 * np.mean([parse.work["root_solved"] for parse in parses])
            calls = np.mean([parse.work["dp_calls"] for parse in parses])
            print(
                f"{n:5} {name:12}{factors:8.0f}{shown}{root:9.0f}{calls:10.1f}{1e3 * seconds / len(problems):9.2f}",
                flush=True,
            )
    sys.exit(f"error: {wrong} scores differ or are not proved" if wrong else 0)


if __name__ == "__main__":
    main()
