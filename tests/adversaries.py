"""Search for errors of the library with random cases: `python tests/adversaries.py NAME --minutes 60 --seed N`.

A generator runs one case per seed, from the seed N on, until its time is over or `--cases` cases have run. It prints
how many cases of each kind it has run. For each failure it prints the error and the seed that repeats it: add `--seed
SEED --cases 1`. The exit status is 1 if there was a failure.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import chdir
from importlib import import_module
from pathlib import Path

GENERATORS = {
    "problems": "the decoders against the enumeration of all trees",
    "certificates": "the checker, with honest and damaged proofs of true and false claims",
    "valid": "the best valid trees against the enumeration of all labelled trees",
    "files": "the commands, with odd files and options",
    "margins": "lists of k best trees, margins and marginals against enumeration",
}
INTERVAL = 60.0  #: seconds between two lines of progress
Case = Callable[[int], Iterable[str]]


def report(counts: Counter[str], cases: int, failures: list[int], started: float) -> None:
    """Print one line of progress."""
    minutes = (time.monotonic() - started) / 60
    print(f"{minutes:.1f} min: {cases} cases, {len(counts)} kinds, {len(failures)} failures {failures[:5]}", flush=True)


def table(counts: Counter[str]) -> str:
    """Return the number of cases of each kind, as lines."""
    return "\n".join(f"{count:9d}  {kind}" for kind, count in sorted(counts.items()))


def attack(case: Case, seed: int, cases: int | None, seconds: float, most: int) -> list[int]:
    """Run cases from `seed` on, print what happens, and return the seeds of the failures.

    cases    number of cases; None for no limit
    seconds  time limit
    most     number of failures after which the generator stops
    """
    counts: Counter[str] = Counter()
    failures: list[int] = []
    started = shown = time.monotonic()
    number = 0
    while time.monotonic() - started < seconds and (cases is None or number < cases) and len(failures) < most:
        try:
            counts.update(case(seed + number))
        except Exception:
            failures.append(seed + number)
            print(f"seed {seed + number}:\n{traceback.format_exc(limit=-6)}", flush=True)
        number += 1
        if time.monotonic() - shown > INTERVAL:
            shown = time.monotonic()
            report(counts, number, failures, started)
    print(table(counts))
    report(counts, number, failures, started)
    return failures


def main(arguments: list[str]) -> int:
    """Run the generator of the command line; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = "; ".join(f"{name}: {about}" for name, about in GENERATORS.items())
    parser.add_argument("name", choices=GENERATORS, metavar="NAME", help=names)
    parser.add_argument("--minutes", type=float, default=1.0, help="stop after this time; 1 by default")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first case; 1 by default")
    parser.add_argument("--cases", type=int, help="stop after this number of cases")
    parser.add_argument("--failures", type=int, default=20, help="stop after this number of failures; 20 by default")
    options = parser.parse_args(arguments)
    attacks = import_module(f"attacks.{options.name}")
    # commands write outputs with odd names, such as xpos or %s, into the working folder
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as working, chdir(working):
        case = attacks.cases(Path(folder))
        failures = attack(case, options.seed, options.cases, 60 * options.minutes, options.failures)
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
