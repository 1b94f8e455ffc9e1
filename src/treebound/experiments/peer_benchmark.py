"""Stage: time a peer on one core, as the rows of `benchmark` are. Runs alone, never beside another stage.

Measured from treebank columns to heads, which includes filling the package's own data structures; loading the model is
left out.
"""

from __future__ import annotations

import os

import numpy as np

from treebound.evaluation import timing
from treebound.experiments import stage
from treebound.experiments.corpus import load
from treebound.experiments.params import Params
from treebound.systems.peers.registry import PEERS

SPLIT = "test"
WARM_UP = 5


def run(params: Params, corpus: str, peer: str) -> None:
    """Write the median seconds of a peer over the test split."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS"):
        os.environ[variable] = "1"  # before the package is imported
    test = load(corpus, SPLIT, params.limit(SPLIT))
    parse = PEERS[peer].load(stage.MODELS / "peers" / corpus / f"{peer}.model")
    parse(test.select(np.arange(min(WARM_UP, len(test)))))
    runs = timing.measure(lambda: parse(test), repeats=params.benchmark.repeats, seconds=params.benchmark.seconds)
    row = {
        "peer": peer,
        "words": test.words,
        "sentences": len(test),
        **timing.speed(runs, test.words),
    }
    stage.write_json(stage.METRICS / "peer-benchmark" / corpus / f"{peer}.json", row)


if __name__ == "__main__":
    stage.main(run)
