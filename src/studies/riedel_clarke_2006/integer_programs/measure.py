"""Stage: the same scored sentences solved by branch and bound and by integer programs. Runs alone, as it is timed.

Of two solvers that prove different optima one is wrong: the stage then fails and says where. Every program starts from
nothing (the first-order optimum of Chu-Liu-Edmonds would be no contest), and has `seconds` for a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from studies.common import stage
from studies.common.corpus import evenly, load
from studies.common.params import Params
from studies.common.paths import model_file
from studies.common.solvers import LENGTHS, TOLERANCE, disagreement, timed
from studies.riedel_clarke_2006.integer_programs.settings import IntegerPrograms
from treebound.core.errors import TreeboundError
from treebound.core.problem import Problem
from treebound.core.protocols import Decoder
from treebound.decoders import DECODERS
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser

SPACES = ("projective", "non-projective")
BRANCH_AND_BOUND = "branch and bound"


class Solver(NamedTuple):
    """A registered decoder with options; `relaxed`: the linear relaxation alone, rounded to a tree."""

    decoder: str
    options: dict[str, Any]
    relaxed: bool = False


def _program(formulation: str, relaxed: bool = False) -> Solver:
    options = {"formulation": formulation, "start": "none", "relaxation": "only" if relaxed else "first"}
    return Solver("incremental-ilp", options, relaxed)


SOLVERS: dict[str, Solver] = {
    BRANCH_AND_BOUND: Solver("branch-and-bound", {}),
    "incremental": _program("incremental"),
    "single-commodity flow": _program("single-commodity"),
    "multi-commodity flow": _program("multi-commodity"),
    "explicit": Solver("ilp", {}),
    "relaxation, incremental": _program("incremental", True),
    "relaxation, single-commodity": _program("single-commodity", True),
    "relaxation, multi-commodity": _program("multi-commodity", True),
}


def made(solver: Solver, space: str, seconds: float) -> Decoder:
    """The decoder of a solver."""
    limit = {} if solver.decoder == "branch-and-bound" else {"time_limit": seconds}
    return DECODERS[solver.decoder](space=space, **solver.options, **limit)


def problems(model: Model, settings: IntegerPrograms, corpus: str, space: str) -> list[Problem]:
    """The scored sentences: `settings.sentences` of the test split, evenly spaced."""
    parser = Parser(model, k=settings.k, space=space)
    test = load(corpus, "test")
    return [parser.problem(test, i) for i in evenly(test, settings.sentences)]


def measure(scored: Sequence[Problem], space: str, seconds: float) -> pd.DataFrame:
    """One row a solver and sentence. value and bound are in units of the model's score, `tolerance` too."""
    rows = []
    for name, solver in SOLVERS.items():
        decoder = made(solver, space, seconds)
        decoder.decode(scored[0])  # compiles
        for i, problem in enumerate(scored):
            parse, taken = timed(decoder, problem)
            unit = problem.unit or 1.0
            largest = max(float(np.abs(s[np.isfinite(s)]).max(initial=0.0)) for s in _scores(problem))
            rows.append(
                {
                    "solver": name,
                    "sentence": i,
                    "n": problem.n,
                    "value": parse.value / unit,
                    "bound": parse.bound / unit,
                    "tolerance": TOLERANCE * largest / unit,
                    # a tree that was put in place of one that was not found is none
                    "found": bool(np.isfinite(parse.value)) and not parse.work.get("fallback", 0),
                    "proved": parse.certified,
                    "seconds": taken,
                    "solves": parse.work.get("iterations", 0),
                }
            )
    return pd.DataFrame(rows)


def _scores(problem: Problem) -> list[np.ndarray]:
    return [problem.arc, *(table.score for table in problem.parts.values())]


def run(params: Params, corpus: str, model: str) -> None:
    """Write values and seconds of every solver on the scores of a model.

    Raises TreeboundError where two solvers contradict each other.
    """
    settings = params.section(IntegerPrograms)
    tables, wrong = [], ""
    loaded = Model.load(model_file(corpus, model))
    for space in SPACES:
        data = measure(problems(loaded, settings, corpus, space), space, settings.seconds)
        tables.append(data.assign(model=model, space=space))
        stage.say(f"{corpus}: {model}, {space}: {data['seconds'].sum():.1f} s")
        if contradiction := disagreement(data):
            wrong = wrong or f"{corpus}: {model}, {space}: {contradiction}"
    whole = pd.concat(tables, ignore_index=True)
    if wrong:
        raise TreeboundError(wrong)
    stage.write(
        stage.PREDICTIONS / corpus / "integer-programs" / f"{model}.csv", whole.to_csv(index=False, lineterminator="\n")
    )
    stage.write_metrics(stage.METRICS / "integer-programs" / corpus / f"{model}.json", summary(whole))


def summary(data: pd.DataFrame) -> list[dict[str, Any]]:
    """A row a model, space, solver and bin of lengths (those longer than `longer_than`), in sums over sentences.

    best: a tree as good as the best that is known; gap: bound less the best known value, of those with a finite bound;
    loss: that value less the solver's, of those with a tree.
    """
    keys = ["model", "space", "sentence"]
    best = data[data["found"]].groupby(keys)["value"].max().rename("best")
    joined = data.join(best, on=keys)
    low = np.array((0, *LENGTHS))[np.searchsorted(LENGTHS, joined["n"])]
    joined = joined.assign(
        longer_than=low,
        is_best=joined["found"] & (joined["value"] >= joined["best"] - joined["tolerance"]),
        gap=(joined["bound"] - joined["best"]).clip(lower=0.0).replace(np.inf, np.nan),
        loss=(joined["best"] - joined["value"]).clip(lower=0.0).where(joined["found"]),
    )
    rows = []
    for (model, space, solver, longer), some in joined.groupby(["model", "space", "solver", "longer_than"], sort=False):
        rows.append(
            {"model": model, "space": space, "solver": solver, "longer_than": int(longer), "sentences": len(some)}
            | {"words": int(some["n"].sum()), "proved": int(some["proved"].sum()), "best": int(some["is_best"].sum())}
            | {"found": int(some["found"].sum()), "bounded": int(some["gap"].notna().sum())}
            | {name: float(some[name].sum()) for name in ("seconds", "gap", "loss")}
            | {"slowest": float(some["seconds"].max()), "solves": int(some["solves"].sum())}
        )
    return sorted(
        rows, key=lambda row: (row["model"], row["space"], list(SOLVERS).index(row["solver"]), row["longer_than"])
    )


if __name__ == "__main__":
    stage.main(run)
