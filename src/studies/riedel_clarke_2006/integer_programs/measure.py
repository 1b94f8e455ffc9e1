"""Stage: solve the same scored sentences by branch and bound and by integer programs.

The stage runs alone, because it is timed. If two solvers prove different optima, one of the solvers is wrong; the stage
then fails and names the sentence. No program starts from a known tree, since the first-order optimum of Chu-Liu-Edmonds
would decide the comparison. Each program has a time limit of `seconds` for each sentence.
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
    """A registered decoder with its options.

    relaxed  whether only the linear relaxation is solved and rounded to a tree
    """

    decoder: str
    options: dict[str, Any]
    relaxed: bool = False


def _program(formulation: str, relaxed: bool = False) -> Solver:
    """Return the solver of one formulation of the integer program, or of its linear relaxation if `relaxed` is True."""
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


def _decoder_of(solver: Solver, space: str, seconds: float) -> Decoder:
    """Return the decoder of a solver, with its options. Integer programs also get the time limit `seconds`."""
    limit = {} if solver.decoder == "branch-and-bound" else {"time_limit": seconds}
    return DECODERS[solver.decoder](space=space, **solver.options, **limit)


def problems(model: Model, settings: IntegerPrograms, corpus: str, space: str) -> list[Problem]:
    """Select `settings.sentences` evenly spaced sentences of the test split, and return them with their scores."""
    parser = Parser(model, k=settings.k, space=space)
    test = load(corpus, "test")
    return [parser.problem(test, i) for i in evenly(test, settings.sentences)]


def measure(scored: Sequence[Problem], space: str, seconds: float) -> pd.DataFrame:
    """Decode the sentences with every solver, and return one row per solver and sentence.

    The columns value, bound and tolerance are scores of the model, not integer steps.
    """
    rows = []
    for name, solver in SOLVERS.items():
        decoder = _decoder_of(solver, space, seconds)
        decoder.decode(scored[0])  # compiles the kernels before anything is timed
        for i, problem in enumerate(scored):
            parse, seconds_used = timed(decoder, problem)
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
                    # a fallback tree does not count as a result of the solver
                    "found": bool(np.isfinite(parse.value)) and not parse.work.get("fallback", 0),
                    "proved": parse.certified,
                    "seconds": seconds_used,
                    "solves": parse.work.get("iterations", 0),
                }
            )
    return pd.DataFrame(rows)


def _scores(problem: Problem) -> list[np.ndarray]:
    """Return the scores of all arcs and parts of a problem."""
    return [problem.arc, *(table.score for table in problem.parts.values())]


def run(params: Params, corpus: str, model: str) -> None:
    """Solve sentences that a model scores, and write the score, the bound and the seconds of each sentence and solver.

    Raises TreeboundError if two solvers contradict each other.
    """
    settings = params.section(IntegerPrograms)
    tables, message = [], ""
    loaded = Model.load(model_file(corpus, model))
    for space in SPACES:
        data = measure(problems(loaded, settings, corpus, space), space, settings.seconds)
        tables.append(data.assign(model=model, space=space))
        stage.say(f"{corpus}: {model}, {space}: {data['seconds'].sum():.1f} s")
        if contradiction := disagreement(data):
            message = message or f"{corpus}: {model}, {space}: {contradiction}"
    results = pd.concat(tables, ignore_index=True)
    if message:
        raise TreeboundError(message)
    stage.write(
        stage.PREDICTIONS / corpus / "integer-programs" / f"{model}.csv",
        results.to_csv(index=False, lineterminator="\n"),
    )
    stage.write_metrics(stage.METRICS / "integer-programs" / corpus / f"{model}.json", summary(results))


def summary(data: pd.DataFrame) -> list[dict[str, Any]]:
    """Return one row of sums over sentences per model, space, solver and length bin.

    A bin holds the sentences longer than `longer_than` words, up to the start of the next bin.

    best  number of sentences whose tree is as good as the best known tree
    gap   bound minus the best known value, over sentences with a finite bound
    loss  the best known value minus the solver's value, over sentences with a tree
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
    for (model, space, solver, longer), selected in joined.groupby(
        ["model", "space", "solver", "longer_than"], sort=False
    ):
        rows.append(
            {"model": model, "space": space, "solver": solver, "longer_than": int(longer), "sentences": len(selected)}
            | {
                "words": int(selected["n"].sum()),
                "proved": int(selected["proved"].sum()),
                "best": int(selected["is_best"].sum()),
            }
            | {"found": int(selected["found"].sum()), "bounded": int(selected["gap"].notna().sum())}
            | {name: float(selected[name].sum()) for name in ("seconds", "gap", "loss")}
            | {"slowest": float(selected["seconds"].max()), "solves": int(selected["solves"].sum())}
        )
    return sorted(
        rows, key=lambda row: (row["model"], row["space"], list(SOLVERS).index(row["solver"]), row["longer_than"])
    )


if __name__ == "__main__":
    stage.main(run)
