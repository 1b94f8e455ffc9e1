"""Choose the parameters of classifiers on dev by successive halving (Jamieson & Talwalkar 2016).

The first round trains all points of a grid on a small share of the training set. Each later round trains the best third
of the points on three times as many sentences, until a round uses the whole training set. Points run in parallel on all
cores. Each result is stored as soon as it is computed, so that an interrupted run resumes with the missing points. The
stage `classifiers` uses the chosen parameters (`choose`). Run as a command for one corpus, this module writes the table
of all points.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from studies.common import folds, stage
from studies.common.cores import cores
from studies.common.corpus import evenly
from studies.common.params import Params, digest
from studies.hall_2006.classifier_search.settings import ClassifierSearch
from studies.hall_2006.classifiers.settings import Classifiers
from studies.hall_2006.classifiers.training import development, measured, missing, read_kept
from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.support.workers import spread
from treebound.systems.transition.settings import Settings

FACTOR = 3  #: from round to round, sentences are multiplied and points are divided by this number

Point = dict[str, Any]
Chosen = dict[str, Point]  #: learner -> chosen point


def points(params: Params, learner: str) -> list[Point]:
    """Return all points of the grid of a learner. A point has one value of each parameter."""
    grid = params.section(ClassifierSearch).grids[learner]
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def settings_of(params: Params, learner: str, point: Point) -> Settings:
    """Return the settings of a learner at a point of its grid. Raise InputError for an unknown learner or parameter."""
    known = params.section(Classifiers).learners
    if learner not in known:
        raise InputError(f"classifier_search: no learner {learner!r}", path="params.yaml", hint=", ".join(known))
    try:
        return replace(known[learner], features=params.section(ClassifierSearch).features, seed=params.seed, **point)
    except TypeError:
        raise InputError(
            f"classifier_search: {learner} has no such parameter: {', '.join(point)}", path="params.yaml"
        ) from None


def rounds(count: int, first: int) -> list[tuple[int, int]]:
    """Return (number of points, share of the training set in %) of every round.

    The last round uses the whole training set.

    count  number of points in the first round
    first  share of the training set in the first round, in %
    """
    schedule = [(count, first)]
    while schedule[-1][1] < 100:
        count = max(1, math.ceil(count / FACTOR))
        schedule.append((count, min(100, FACTOR * schedule[-1][1])))
    return schedule


def sample(params: Params, corpus: str) -> tuple[Treebank, Treebank]:
    """Return the training sentences and the development sentences of the search."""
    settings = params.section(ClassifierSearch)
    pairs = zip(development(params, corpus), (settings.sentences, settings.dev), strict=True)
    train, dev = (treebank.select(np.array(evenly(treebank, count or len(treebank)))) for treebank, count in pairs)
    return train, dev


def _size(treebank: Treebank) -> list[int]:
    """Return sizes that distinguish samples of a treebank: sentences, words, and the sum of squared lengths."""
    return [len(treebank), treebank.words, int(np.square(treebank.lengths).sum())]


def _score(shared: tuple[Params, str, str, int], point: Point) -> dict[str, Any]:
    """Train and test a parser with the parameters of `point`, or read the stored result.

    Returns the accuracy on dev and the CPU seconds.

    shared  parameters of the run, corpus, learner, and share of the training set in %
    """
    params, corpus, learner, share = shared
    settings = settings_of(params, learner, point)
    train, dev = sample(params, corpus)
    key = digest(settings.as_dict(), share, params.slice, params.tags_of(corpus), *map(_size, (train, dev)))
    path = stage.CHECKPOINTS / "classifier-search" / f"{corpus}.{key}.json"
    if (result := read_kept(path)) is None:
        result = measured(settings, folds.first(train, max(1, len(train) * share // 100)), dev)
        del result["marks"]
        stage.write_json(path, result)
    return result


def search(params: Params, corpus: str, learner: str) -> pd.DataFrame:
    """Search the grid of a learner and report the chosen point, which is the best point of the last round.

    Returns one row per training: learner, round, share, the parameters of the point, UAS, LAS and CPU seconds.
    """
    candidates, rows = points(params, learner), []
    for number, (count, share) in enumerate(rounds(len(candidates), params.section(ClassifierSearch).first), 1):
        candidates = candidates[:count]
        scored: list[tuple[float, int]] = []
        results = spread(_score, (params, corpus, learner, share), candidates, workers=cores())
        for point, result in zip(candidates, results, strict=True):
            stage.say(f"{corpus} {learner}, round {number} ({share} %): {point}: LAS {result['las']:.2f}")
            figures = {name: result[name] for name in ("uas", "las", "train_cpu_s", "parse_cpu_s")}
            rows.append({"learner": learner, "round": number, "share": share, **point, **figures})
            scored.append((-result["las"], len(scored)))
        candidates = [candidates[i] for _, i in sorted(scored)]
    stage.say(f"{corpus} {learner}: chosen {candidates[0]}")
    return pd.DataFrame(rows)


def choose(params: Params, corpus: str) -> tuple[Chosen, dict[str, Any]]:
    """Search the grids of all learners of the stage `classifiers` whose packages are installed.

    Returns the best point of each learner, and a record of the search: features, numbers of sentences and words of the
    training and the development set, and all points with their accuracy.
    """
    compared = params.section(Classifiers).learners
    tables = _tables(params, corpus, [name for name in params.section(ClassifierSearch).grids if name in compared])
    names = {learner: list(params.section(ClassifierSearch).grids[learner]) for learner in tables}
    chosen = {learner: best(table)[names[learner]].to_dict() for learner, table in tables.items()}
    train, dev = sample(params, corpus)
    record: dict[str, Any] = {"features": params.section(ClassifierSearch).features, "points": []}
    record |= {"train": _counts(train), "dev": _counts(dev)}
    for learner, table in tables.items():
        shown = ["learner", "round", "share", *names[learner], "uas", "las"]
        record["points"] += table[shown].to_dict("records")
    return chosen, record


def best(table: pd.DataFrame) -> pd.Series:
    """Return the row of the last round with the highest LAS, or the first of several equal rows."""
    last = table[table["round"] == table["round"].max()].astype(object)
    return last.loc[last["las"].astype(float).idxmax()]


def _counts(treebank: Treebank) -> dict[str, int]:
    """Return the numbers of sentences and words."""
    return {"sentences": len(treebank), "words": treebank.words}


def _tables(params: Params, corpus: str, learners: Iterable[str]) -> dict[str, pd.DataFrame]:
    """Search the grid of each learner, and return learner -> table of its points.

    Learners whose package is not installed are skipped.
    """
    tables = {}
    for learner in learners:
        if package := missing(settings_of(params, learner, points(params, learner)[0])):
            stage.say(f"{corpus} {learner}: {package} is not installed; run make classifiers")
            continue
        tables[learner] = search(params, corpus, learner)
    return tables


def run(params: Params, corpus: str) -> None:
    """Write the table of all points of a corpus."""
    tables = list(_tables(params, corpus, params.section(ClassifierSearch).grids).values())
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["learner", "round", "share"])
    path = stage.METRICS / "classifier-search" / f"{corpus}.csv"
    stage.write(path, table.to_csv(index=False, lineterminator="\n"))


if __name__ == "__main__":
    stage.main(run)
