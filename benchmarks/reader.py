"""Compare the speed of our CoNLL-U reader with the `conllu` package, in one run on one file.

    python benchmarks/reader.py data/raw/en_ewt/en_ewt-ud-train.conllu

Both read the same bytes in turn, including all checks. The figures are medians of CPU seconds of this process.
"""

from __future__ import annotations

import argparse
import io
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import conllu

from treebound.treebanks.document import read


def cpu_seconds(function: Callable[[], object]) -> float:
    """Return the CPU seconds of one call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def compare(data: bytes, repeats: int) -> dict[str, float]:
    """Return the median CPU seconds of both readers, their ratio, and our words per second."""
    ours, theirs = [], []
    for _ in range(repeats):
        ours.append(cpu_seconds(lambda: read(io.BytesIO(data), "conllu")))
        theirs.append(cpu_seconds(lambda: conllu.parse(data.decode())))
    words = read(io.BytesIO(data), "conllu").treebank.words
    seconds, reference = statistics.median(ours), statistics.median(theirs)
    return {"treebound": seconds, "conllu": reference, "ratio": reference / seconds, "words": words / seconds}


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="treebank to read")
    parser.add_argument(
        "--repeats", type=int, default=5, help="number of measurements; the median is reported (default: %(default)s)"
    )
    arguments = parser.parse_args()
    result = compare(arguments.file.read_bytes(), arguments.repeats)
    print(f"treebound {result['treebound']:.3f} s CPU ({result['words']:,.0f} words per second)")
    print(f"conllu    {result['conllu']:.3f} s CPU")
    print(f"ratio     {result['ratio']:.1f}")


if __name__ == "__main__":
    main()
