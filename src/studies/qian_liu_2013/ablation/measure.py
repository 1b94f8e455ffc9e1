"""Stage: decode the same scores with every configuration of the search. The stage runs alone because it is timed.

A configuration is a set of keyword arguments of branch and bound (`ablation.configurations` in params.yaml). Sentences
are spaced evenly over the test split. Each sentence is scored once, and scoring is not timed.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd

from studies.common import stage
from studies.common.corpus import evenly, load
from studies.common.params import Params
from studies.common.paths import model_file
from studies.qian_liu_2013.ablation.settings import Ablation
from treebound.core.errors import InputError, TreeboundError
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.treebank import Treebank
from treebound.decoders import options_of
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser

#: largest number of passes over the sentences per configuration, and CPU seconds after which no new pass begins
PASSES, ENOUGH = 3, 5.0
#: numbers of DP calls for which the share of proved sentences is reported: two steps for every doubling
WITHIN = (1, *(round(2 ** (i / 2)) for i in range(2, 31)))


def decoder(name: str, options: dict[str, Any], families: frozenset[str]) -> BranchAndBound:
    """Return the search with the configuration `name`, for a model with the factor families `families`.

    Raises InputError if the options are not valid, or if the search does not score all families.
    """
    known = options_of(BranchAndBound)
    unknown = [key for key in options if key not in known]
    if unknown:
        hint = "valid keys are " + ", ".join(known)
        raise InputError(f"ablation.configurations.{name}.{unknown[0]}: unknown key", path="params.yaml", hint=hint)
    try:
        search = BranchAndBound(**options)
    except TreeboundError as error:
        raise InputError(f"ablation.configurations.{name}: {error}", path="params.yaml") from None
    if families - search.supports:
        missing = ", ".join(sorted(families - search.supports))
        raise InputError(f"ablation.configurations.{name}: does not score {missing}", path="params.yaml")
    return search


def problems(model: Model, settings: Ablation, test: Treebank) -> list[Problem]:
    """Select `settings.sentences` evenly spaced sentences of the test split, and return them with their scores."""
    parser = Parser(model, k=settings.k)
    return [parser.problem(test, i) for i in evenly(test, settings.sentences)]


def measure(name: str, search: BranchAndBound, scored: list[Problem]) -> pd.DataFrame:
    """Decode the sentences with one configuration, several times if they are quick.

    Return one row per sentence: the result, whether it is proved, the work, and CPU seconds (median of the passes).
    """
    search.decode(scored[0])  # compiles the kernels before anything is timed
    passes: list[list[float]] = []
    while len(passes) < PASSES and sum(map(sum, passes)) < ENOUGH:
        rows: list[dict[str, Any]] = []
        passes.append([])
        for i, problem in enumerate(scored):
            started = time.process_time()
            parse = search.decode(problem)
            passes[-1].append(time.process_time() - started)
            rows.append(_row(name, i, problem, parse))
    return pd.DataFrame(rows).assign(seconds=np.median(passes, axis=0))


def _row(name: str, i: int, problem: Problem, parse: Parse) -> dict[str, Any]:
    """Return the row of one sentence: the score of its tree, whether the tree is proved optimal, and the work."""
    return {
        "configuration": name,
        "sentence": i,
        "n": problem.n,
        "value": parse.value,
        "proved": parse.certified,
        "at_root": bool(parse.work["root_solved"]),
        "dp_calls": parse.work["dp_calls"],
        "nodes": parse.work["nodes"],
    }


def summary(table: pd.DataFrame, best: pd.Series) -> dict[str, Any]:
    """Sum the counts and seconds of one configuration over all sentences.

    table  result of `measure`
    best   for each sentence, the highest score that any configuration reached
    """
    proved = table[table["proved"]]
    return {
        "sentences": len(table),
        "words": int(table["n"].sum()),
        "certified": len(proved),
        "root_solved": int((table["at_root"] & table["proved"]).sum()),
        "different": int((proved["value"] != best[proved["sentence"]].to_numpy()).sum()),
        "best_found": int((table["value"] == best[table["sentence"]].to_numpy()).sum()),
        "dp_calls": int(table["dp_calls"].sum()),
        "max_dp_calls": int(table["dp_calls"].max()),
        "nodes": int(table["nodes"].sum()),
        "cpu_s": float(table["seconds"].sum()),
        "proved_within": {str(calls): int((proved["dp_calls"] <= calls).sum()) for calls in WITHIN},
    }


def run(params: Params, corpus: str) -> None:
    """Write the work of every configuration on a corpus: its sums over sentences, and one row per sentence.

    Raises TreeboundError if a configuration claims a proof for a tree, but another configuration found a better tree.
    """
    settings = params.section(Ablation)
    model = Model.load(model_file(corpus, settings.model))
    families = frozenset(model.spec.families) | {"arc"}
    limit = {"max_dp_calls": settings.max_dp_calls}
    searches = {name: decoder(name, limit | options, families) for name, options in settings.configurations.items()}
    scored = problems(model, settings, load(corpus, "test", params.limit("test")))
    tables = {}
    for name, search in searches.items():
        tables[name] = measure(name, search, scored)
        stage.say(f"{corpus}: {name}: {tables[name]['seconds'].sum():.1f} s")
    whole = pd.concat(tables.values(), ignore_index=True)
    best = whole.groupby("sentence")["value"].max()
    rows = [{"configuration": name, **summary(table, best)} for name, table in tables.items()]
    if any(row["different"] for row in rows):
        names = ", ".join(row["configuration"] for row in rows if row["different"])
        raise TreeboundError(
            f"{corpus}: a tree that was proved optimal is not optimal; its configuration has a bug: {names}"
        )
    stage.write(stage.PREDICTIONS / corpus / "ablation.csv", whole.to_csv(index=False, lineterminator="\n"))
    stage.write_metrics(stage.METRICS / "ablation" / f"{corpus}.json", rows)


if __name__ == "__main__":
    stage.main(run)
