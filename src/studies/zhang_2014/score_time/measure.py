"""Stage: how close sampling comes to proved optima, and how fast (Zhang et al. 2014, Figure 9). It runs alone.

The same scored sentences of the test split are solved by branch and bound, and by every sampling decoder under several
budgets and seeds; none of them looks at the optimum to stop. So are, over projective trees, those of other models.
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
#: budgets: runs in a row that find nothing better, after which a search ends
METHODS = {"projective": ("greedy", "gibbs"), "non-projective": ("greedy", "gibbs", "random-walk")}
LONG = 30  #: words; shorter sentences hide failures
MOST_CALLS = 2000  #: dynamic programs of branch and bound; what is not proved by then is left out


def made(method: str, space: str, patience: int, seed: int) -> Decoder:
    """A sampling decoder."""
    where = {} if method == "random-walk" else {"space": space}
    return DECODERS[method](seed=seed, patience=patience, **where)


def measure(problems: Sequence[Problem], space: str, budgets: Sequence[int], seeds: int) -> list[dict[str, Any]]:
    """A row a method, budget and seed, over the sentences with a proof; the first row is that of the exact search.

    optima, long_optima  proved optima that were found, of all sentences and of those of more than LONG words
    score                share of the sum of optima, which are positive together; cpu_s: of decoding alone
    """
    exact = DECODERS[EXACT](space=space, max_dp_calls=MOST_CALLS)
    exact.decode(problems[0])  # compiles
    parses, seconds = _timed(exact, problems)
    proved = [i for i, parse in enumerate(parses) if parse.certified]
    some, best = [problems[i] for i in proved], [parses[i] for i in proved]
    shape = {
        "space": space,
        "sentences": len(problems),
        "proved": len(some),
        "long": sum(problem.n > LONG for problem in some),
        "words": sum(problem.n for problem in some),
    }
    rows = [shape | {"method": EXACT, "patience": 0, "seed": 0} | _found(some, best, best)]
    rows[0]["cpu_s"] = float(sum(seconds[i] for i in proved))
    for method, patience, seed in itertools.product(METHODS[space], budgets, range(1, seeds + 1)):
        decoder = made(method, space, patience, seed)
        decoder.decode(some[0])
        found, taken = _timed(decoder, some)
        key = {"method": method, "patience": patience, "seed": seed, "cpu_s": float(sum(taken))}
        rows.append(shape | key | _found(some, found, best))
    return rows


def _timed(decoder: Decoder, problems: Sequence[Problem]) -> tuple[list[Parse], list[float]]:
    parses, seconds = [], []
    for problem in problems:
        started = time.process_time()
        parses.append(decoder.decode(problem))
        seconds.append(time.process_time() - started)
    return parses, seconds


def _found(problems: Sequence[Problem], found: Sequence[Parse], best: Sequence[Parse]) -> dict[str, Any]:
    hit = np.array([one.value >= two.value for one, two in zip(found, best, strict=True)], bool)
    long = np.array([problem.n > LONG for problem in problems], bool)
    share = sum(p.value for p in found) / sum(p.value for p in best)
    runs = float(np.mean([p.work.get("restarts", 1) for p in found]))
    return {"optima": int(hit.sum()), "long_optima": int(hit[long].sum()), "score": float(share), "runs": runs}


def run(params: Params, corpus: str, model: str) -> None:
    """Write scores and seconds of every method on the scores of a model."""
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
