"""Stage: classifiers for the same transitions and features on one corpus, as Hall, Nivre & Nilsson (2006) compare them.

Where `classifier_search` lists the corpus, the parameters of the learners are first chosen on development sentences.

Every learner is trained with every feature model and parses what it has not seen; the last feature model also with
shares of the training set. Cells of this table run side by side, on all cores, and each is kept as soon as it is done:
a run that was killed goes on with those that are missing. Seconds are those of the CPU.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from studies.common import folds, stage
from studies.common.params import Params, digest
from studies.hall_2006.classifier_search.settings import ClassifierSearch
from studies.hall_2006.classifiers.search import Chosen, choose
from studies.hall_2006.classifiers.settings import Classifiers
from studies.hall_2006.classifiers.training import divided, measured, missing, read_kept
from treebound.core.treebank import Treebank
from treebound.metrics.attachment import WRONG
from treebound.metrics.significance import mcnemar_words, paired_bootstrap
from treebound.support.workers import spread

WHOLE = 100


class Cell(NamedTuple):
    """One training and what is parsed with it.

    section  that is parsed, -1: the test split; share: of the training set, in %
    """

    section: int
    features: str
    learner: str
    share: int = WHOLE


def cells(params: Params, corpus: str) -> list[Cell]:
    """All of a corpus, those of the learning curve last."""
    settings = params.section(Classifiers)
    sections = settings.sections.get(corpus, (-1,))
    of = [Cell(s, f, learner) for s in sections for f in settings.features for learner in settings.learners]
    last = settings.features[-1]
    first = sections[0]
    return of + [Cell(first, last, name, share) for name in settings.learners for share in settings.shares]


def _cell(shared: tuple[Params, str, Chosen], cell: Cell) -> dict[str, Any]:
    params, corpus, chosen = shared
    compared = params.section(Classifiers)
    own = {"features": cell.features, "seed": params.seed, **chosen.get(cell.learner, {})}
    settings = replace(compared.learners[cell.learner], **own)
    train, test = divided(params, corpus, cell.section)
    if cell.share < WHOLE:
        train = folds.first(train, max(1, len(train) * cell.share // WHOLE))
    repeats = compared.repeats if (cell.features, cell.share) == (compared.features[-1], WHOLE) else 1
    about = {"settings": asdict(settings), "train": _numbers(train), "test": _numbers(test), "repeats": repeats}
    kept = stage.CHECKPOINTS / "classifiers" / f"{corpus}.{digest(cell._asdict(), about)}.json"
    if (found := read_kept(kept)) is None:
        if package := missing(settings):
            return {**cell._asdict(), "missing": package}
        found = measured(settings, train, test, repeats)
        stage.write_json(kept, found)
    return {**cell._asdict(), **found}


def _numbers(treebank: Treebank) -> str:
    """Identifies its words, tags and trees."""
    text = [treebank.strings(name) for name in ("form", "xpos", "upos", "deprel")]
    return digest(treebank.head.tolist(), text)


def name_of(row: dict[str, Any]) -> str:
    """What a cell is called in comparisons."""
    return f"{row['learner']} {row['features']}"


def compared(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Compare every two cells that share a learner or a feature model, over all sections.

    a, b: their names; only_a, only_b: words that one of them alone attaches rightly, p: McNemar's test; scored: number
    of words; difference, low, high: UAS of the first less that of the second, and the 95 % interval of the paired
    bootstrap over sentences.
    """
    whole = [row for row in rows if row["share"] == WHOLE and "marks" in row]
    marked: dict[str, list[str]] = {}
    for row in whole:
        marked.setdefault(name_of(row), []).extend(row["marks"])
    right = {name: np.array(list("".join(marks))) != WRONG for name, marks in marked.items()}
    tables = {name: _by_sentence(marks) for name, marks in marked.items()}
    out = []
    for a, b in combinations(right, 2):
        if set(a.split()) & set(b.split()):
            found = paired_bootstrap(tables[a], tables[b])
            interval = {name: found[name] for name in ("difference", "low", "high")}
            out.append({"a": a, "b": b, "scored": len(right[a]), **mcnemar_words(right[a], right[b]), **interval})
    return out


def _by_sentence(marks: list[str]) -> dict[str, np.ndarray]:
    """Columns scored and correct, as `paired_bootstrap` takes them."""
    scored = np.array([len(one) for one in marks])
    return {"scored": scored, "correct": scored - np.array([one.count(WRONG) for one in marks])}


def run(params: Params, corpus: str) -> None:
    """Write the table of a corpus, the tests, the learning curve, the parameters that were chosen, and the seconds."""
    todo = cells(params, corpus)
    searched = corpus in params.section(ClassifierSearch).corpora
    chosen, search = choose(params, corpus) if searched else ({}, None)
    rows: list[dict[str, Any]] = []
    for row in spread(_cell, (params, corpus, chosen), todo, workers=os.cpu_count() or 1):
        name = f"{row['features']} {row['learner']} {row['share']} %"
        said = f"LAS {row['las']:.2f}" if "las" in row else f"{row['missing']} is not installed"
        stage.say(f"{corpus} section {row['section']}, {name}: {said} ({len(rows) + 1} of {len(todo)})")
        rows.append(row)
    timed = ("train_cpu_s", "trainings", "parse_cpu_s")
    kept = [{k: v for k, v in row.items() if k not in (*timed, "marks")} for row in rows]
    seconds = [{k: row.get(k) for k in (*Cell._fields, *timed)} for row in rows]
    metrics = {"rows": kept, "tests": compared(rows), "chosen": chosen, "search": search}
    stage.write_metrics(stage.METRICS / "classifiers" / f"{corpus}.json", metrics)
    stage.write_metrics(stage.METRICS / "timing" / "classifiers" / f"{corpus}.json", seconds)


if __name__ == "__main__":
    stage.main(run)
