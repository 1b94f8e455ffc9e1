"""Stage: time a peer on one core, as the rows of `benchmark` are. Runs alone, never beside another stage.

Measured from treebank columns to heads, which includes filling the package's own data structures; loading the model is
left out.
"""

from __future__ import annotations

import os

import numpy as np

from treebound.evaluation.timing import Stopwatch
from treebound.experiments import stage
from treebound.experiments.corpus import load
from treebound.experiments.params import Params
from treebound.peers import PEERS

SPLIT = "test"
WARM_UP = 5


def run(params: Params, corpus: str, peer: str) -> None:
    """Write the median seconds of a peer over the test split."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS"):
        os.environ[variable] = "1"  # before the package is imported
    test = load(corpus, SPLIT, params.limit(SPLIT))
    parse = PEERS[peer].load(stage.MODELS / "peers" / corpus / f"{peer}.model")
    parse(test.select(np.arange(min(WARM_UP, len(test)))))
    cpu, wall = [], []
    for _ in range(params.benchmark.repeats):
        with Stopwatch() as watch:
            parse(test)
        cpu.append(watch.cpu)
        wall.append(watch.wall)
        if sum(cpu) > params.benchmark.seconds:
            break
    row = {
        "peer": peer,
        "words": test.words,
        "sentences": len(test),
        "repeats": len(cpu),
        "cpu_s": float(np.median(cpu)),
        "cpu_s_range": [min(cpu), max(cpu)],
        "wall_s": float(np.median(wall)),
        "words_per_cpu_s": test.words / float(np.median(cpu)),
    }
    stage.write_json(stage.METRICS / "peer-benchmark" / corpus / f"{peer}.json", row)


if __name__ == "__main__":
    stage.main(run)
