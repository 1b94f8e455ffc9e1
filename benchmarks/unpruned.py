"""Check that every sentence of moderate length is proved optimal without pruning.

    cd build/multilingual && python ../../benchmarks/unpruned.py combined non-projective

Run it in the workspace of a run of the pipeline. It decodes the test sentences of up to 40 words of all corpora of the
run with all n^2 arcs, and prints the number of proved sentences. The exit status is 1 if a sentence is not proved.
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
    """Print a table of corpora and models, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="Names of models, for instance combined.")
    parser.add_argument("--corpora", nargs="*", help="Corpora of the run. Default: all.")
    parser.add_argument("--longest", type=int, default=40, help="Largest number of words of a sentence. Default: 40.")
    parser.add_argument("--calls", type=int, default=10_000, help="Limit of DP calls per sentence. Default: 10000.")
    arguments = parser.parse_args()
    unproved = 0
    print("corpus model sentences proved dp_calls most_dp_calls cpu_s")
    for corpus in arguments.corpora or load_params().corpora:
        test = load(corpus, "test")
        test = test.select(np.flatnonzero(test.lengths <= arguments.longest))
        for name in arguments.models:
            model = Model.load(stage.MODELS / corpus / f"{name}.npz")
            started = time.process_time()
            parses = Parser(model, k=None, max_dp_calls=arguments.calls).parse(test)
            proved = sum(p.status == "optimal" for p in parses)
            calls = [p.work["dp_calls"] for p in parses]
            unproved += len(test) - proved
            seconds = time.process_time() - started
            print(corpus, name, len(test), proved, sum(calls), max(calls), f"{seconds:.1f}", flush=True)
    return min(unproved, 1)


if __name__ == "__main__":
    sys.exit(main())
