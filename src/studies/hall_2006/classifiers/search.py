"""The parameters of classifiers of transitions, chosen on dev by successive halving (Jamieson & Talwalkar 2016).

All points of a grid are trained on a small share of the training set; the best third of them on three times as much,
and so on until the whole is reached. Points run side by side, on all cores, and each is kept as soon as it is done: a
run that was killed goes on with those that are missing. The stage `classifiers` reads what was chosen (`choose`). Run
as a command for one corpus, this module writes the table of all points.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from studies.common import folds, stage
from studies.common.corpus import evenly
from studies.common.params import Params, digest
from studies.hall_2006.classifier_search.settings import ClassifierSearch
from studies.hall_2006.classifiers.settings import Classifiers
from studies.hall_2006.classifiers.training import development, measured, missing, read_kept
from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.support.workers import spread
from treebound.systems.transition.settings import Settings

FACTOR = 3  #: more sentences and fewer points in each round

Point = dict[str, Any]
Chosen = dict[str, Point]  #: learner -> the point that was chosen


def points(params: Params, learner: str) -> list[Point]:
    """All of the grid of a learner."""
    grid = params.section(ClassifierSearch).grids[learner]
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def settings_of(params: Params, learner: str, point: Point) -> Settings:
    """What a point trains. InputError for a learner or a parameter that there is not."""
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
    """(points, share of the training set in %) of every round for so many points; the last has all of the set."""
    found = [(count, first)]
    while found[-1][1] < 100:
        count = max(1, math.ceil(count / FACTOR))
        found.append((count, min(100, FACTOR * found[-1][1])))
    return found


def sample(params: Params, corpus: str) -> tuple[Treebank, Treebank]:
    """(training, development): the sentences of the search."""
    settings = params.section(ClassifierSearch)
    pairs = zip(development(params, corpus), (settings.sentences, settings.dev), strict=True)
    train, dev = (treebank.select(np.array(evenly(treebank, count or len(treebank)))) for treebank, count in pairs)
    return train, dev


def _size(treebank: Treebank) -> list[int]:
    """Sizes that tell samples of a treebank apart."""
    return [len(treebank), treebank.words, int(np.square(treebank.lengths).sum())]


def _score(shared: tuple[Params, str, str, int], point: Point) -> dict[str, Any]:
    """One point: LAS on dev, and seconds."""
    params, corpus, learner, share = shared
    settings = settings_of(params, learner, point)
    train, dev = sample(params, corpus)
    key = digest(settings.as_dict(), share, params.slice, params.tags_of(corpus), *map(_size, (train, dev)))
    kept = stage.CHECKPOINTS / "classifier-search" / f"{corpus}.{key}.json"
    if (found := read_kept(kept)) is None:
        found = measured(settings, folds.first(train, max(1, len(train) * share // 100)), dev)
        del found["marks"]
        stage.write_json(kept, found)
    return found


def search(params: Params, corpus: str, learner: str) -> pd.DataFrame:
    """One row a training: learner, round, share, the point, uas, las, seconds. The best of the last round is chosen."""
    alive, rows = points(params, learner), []
    for number, (count, share) in enumerate(rounds(len(alive), params.section(ClassifierSearch).first), 1):
        alive = alive[:count]
        scored: list[tuple[float, int]] = []
        each = spread(_score, (params, corpus, learner, share), alive, workers=os.cpu_count() or 1)
        for point, found in zip(alive, each, strict=True):
            stage.say(f"{corpus} {learner}, round {number} ({share} %): {point}: LAS {found['las']:.2f}")
            told = {name: found[name] for name in ("uas", "las", "train_cpu_s", "parse_cpu_s")}
            rows.append({"learner": learner, "round": number, "share": share, **point, **told})
            scored.append((-found["las"], len(scored)))
        alive = [alive[i] for _, i in sorted(scored)]
    stage.say(f"{corpus} {learner}: chosen {alive[0]}")
    return pd.DataFrame(rows)


def choose(params: Params, corpus: str) -> tuple[Chosen, dict[str, Any]]:
    """Search the grids of all learners that are compared (`classifiers`) and whose package is installed.

    Returns the best point of each, and a record of the search: features, sentences and words of training and dev, and
    all points with their accuracy.
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
    """Return the row of the last round with the highest LAS, the first of several."""
    last = table[table["round"] == table["round"].max()].astype(object)
    return last.loc[last["las"].astype(float).idxmax()]


def _counts(treebank: Treebank) -> dict[str, int]:
    return {"sentences": len(treebank), "words": treebank.words}


def _tables(params: Params, corpus: str, learners: Iterable[str]) -> dict[str, pd.DataFrame]:
    """Map each of these learners to the table of its points; those whose package is missing are left out."""
    tables = {}
    for learner in learners:
        if package := missing(settings_of(params, learner, points(params, learner)[0])):
            stage.say(f"{corpus} {learner}: {package} is not installed: make classifiers")
            continue
        tables[learner] = search(params, corpus, learner)
    return tables


def run(params: Params, corpus: str) -> None:
    """Write the table of all points of a corpus."""
    tables = list(_tables(params, corpus, params.section(ClassifierSearch).grids).values())
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["learner", "round", "share"])
    where = stage.METRICS / "classifier-search" / f"{corpus}.csv"
    stage.write(where, table.to_csv(index=False, lineterminator="\n"))


if __name__ == "__main__":
    stage.main(run)
