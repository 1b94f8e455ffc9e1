"""Stage: measure how often and how fast sampling finds proved optima (Zhang et al. 2014, Figure 9).

The stage runs alone, because it is timed. Branch and bound solves scored sentences of the test split. Every sampling
decoder solves the same sentences with several budgets and seeds, and does not know the optimum. The first model is
measured over projective and non-projective trees, the others over projective trees.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.common import stage
from studies.common.corpus import evenly, load
from studies.common.params import Params
from studies.common.paths import model_file
from studies.zhang_2014.score_time.settings import ScoreTime
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.protocols import Decoder
from treebound.decoders import DECODERS
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser

SPACES = ("projective", "non-projective")
EXACT = "branch-and-bound"
#: sampling methods by space
METHODS = {"projective": ("greedy", "gibbs"), "non-projective": ("greedy", "gibbs", "random-walk")}
LONG = 30  #: a sentence of more words is long; short sentences hide failures
MOST_CALLS = 2000  #: limit on dynamic-program calls of branch and bound; sentences without a proof are left out


def sampler(method: str, space: str, patience: int, seed: int) -> Decoder:
    """Return the decoder of a sampling method. It stops after `patience` runs in a row without a better tree."""
    options = {} if method == "random-walk" else {"space": space}
    return DECODERS[method](seed=seed, patience=patience, **options)


def measure(problems: Sequence[Problem], space: str, budgets: Sequence[int], seeds: int) -> list[dict[str, Any]]:
    """Return one row per method, budget and seed, over the sentences with a proof. The first row is the exact search.

    optima, long_optima  number of proved optima found, in all sentences and in sentences of more than LONG words
    score                sum of the scores of the trees divided by the sum of the optima, which is positive
    cpu_s                CPU seconds of decoding alone
    """
    exact = DECODERS[EXACT](space=space, max_dp_calls=MOST_CALLS)
    exact.decode(problems[0])  # compiles the kernels before anything is timed
    parses, seconds = _timed(exact, problems)
    proved = [i for i, parse in enumerate(parses) if parse.certified]
    solved, optimal = [problems[i] for i in proved], [parses[i] for i in proved]
    shape = {
        "space": space,
        "sentences": len(problems),
        "proved": len(solved),
        "long": sum(problem.n > LONG for problem in solved),
        "words": sum(problem.n for problem in solved),
    }
    rows = [shape | {"method": EXACT, "patience": 0, "seed": 0} | _compared(solved, optimal, optimal)]
    rows[0]["cpu_s"] = float(sum(seconds[i] for i in proved))
    for method, patience, seed in itertools.product(METHODS[space], budgets, range(1, seeds + 1)):
        decoder = sampler(method, space, patience, seed)
        decoder.decode(solved[0])
        sampled, times = _timed(decoder, solved)
        key = {"method": method, "patience": patience, "seed": seed, "cpu_s": float(sum(times))}
        rows.append(shape | key | _compared(solved, sampled, optimal))
    return rows


def _timed(decoder: Decoder, problems: Sequence[Problem]) -> tuple[list[Parse], list[float]]:
    """Decode the problems. Return the parses, and the CPU seconds of each."""
    parses, seconds = [], []
    for problem in problems:
        started = time.process_time()
        parses.append(decoder.decode(problem))
        seconds.append(time.process_time() - started)
    return parses, seconds


def _compared(problems: Sequence[Problem], parses: Sequence[Parse], optimal: Sequence[Parse]) -> dict[str, Any]:
    """Compare sampled parses with the proved optima.

    Return four numbers: the optima found in all sentences, the optima found in long sentences, the mean number of runs,
    and the total score divided by the total score of the optima.
    """
    is_optimal = np.array([parse.value >= optimum.value for parse, optimum in zip(parses, optimal, strict=True)], bool)
    is_long = np.array([problem.n > LONG for problem in problems], bool)
    share = sum(p.value for p in parses) / sum(p.value for p in optimal)
    runs = float(np.mean([p.work.get("restarts", 1) for p in parses]))
    return {
        "optima": int(is_optimal.sum()),
        "long_optima": int(is_optimal[is_long].sum()),
        "score": float(share),
        "runs": runs,
    }


def run(params: Params, corpus: str, model: str) -> None:
    """Decode sentences that a model scores by every sampling method; write optima found, scores and seconds."""
    settings = params.section(ScoreTime)
    test, rows = load(corpus, "test", params.limit("test")), []
    loaded = Model.load(model_file(corpus, model))
    for space in SPACES if model == settings.model else SPACES[:1]:
        parser = Parser(loaded, k=settings.k, space=space)
        problems = [parser.problem(test, i) for i in evenly(test, settings.sentences)]
        measured = measure(problems, space, settings.patience, settings.seeds)
        rows += [{"model": model, **row} for row in measured]
        stage.say(f"{corpus}: {model}, {space}: {sum(row['cpu_s'] for row in measured):.1f} s")
    stage.write_metrics(stage.METRICS / "score-time" / corpus / f"{model}.json", rows)


if __name__ == "__main__":
    stage.main(run)
