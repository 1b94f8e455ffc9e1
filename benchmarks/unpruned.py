"""Is every sentence of moderate length proved optimal where no arc is pruned?

    cd build/multilingual && python ../../benchmarks/unpruned.py combined non-projective

decodes, in the workspace of a run of the pipeline, the test sentences of up to 40 words of all its corpora with all n^2
arcs, and prints how many are proved. Exit status 1 if one is not.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from studies.common import stage
from studies.common.corpus import load
from studies.common.params import load as load_params
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser


def main() -> int:
    """Print a table of corpora and models."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="for instance combined")
    parser.add_argument("--corpora", nargs="*", help="of those of the run")
    parser.add_argument("--longest", type=int, default=40, help="words of a sentence")
    parser.add_argument("--calls", type=int, default=10_000, help="calls of the tree oracle that a sentence has")
    given = parser.parse_args()
    left = 0
    print("corpus model sentences proved dp_calls most_dp_calls cpu_s")
    for corpus in given.corpora or load_params().corpora:
        test = load(corpus, "test")
        test = test.select(np.flatnonzero(test.lengths <= given.longest))
        for name in given.models:
            model = Model.load(stage.MODELS / corpus / f"{name}.npz")
            started = time.process_time()
            parses = Parser(model, k=None, max_dp_calls=given.calls).parse(test)
            proved = sum(p.status == "optimal" for p in parses)
            calls = [p.work["dp_calls"] for p in parses]
            left += len(test) - proved
            seconds = time.process_time() - started
            print(corpus, name, len(test), proved, sum(calls), max(calls), f"{seconds:.1f}", flush=True)
    return min(left, 1)


if __name__ == "__main__":
    sys.exit(main())
