"""Stage: compare classifiers of transitions on one corpus, as Hall, Nivre & Nilsson (2006) do.

If `classifier_search` lists the corpus, the parameters of the learners are first chosen on development sentences.

Every learner is trained with every feature model and parses sentences that it has not seen. With the last feature
model, it is also trained on shares of the training set. A training with its test is a cell of the table of results.
Cells run in parallel on all cores. Each result is stored as soon as it is computed, so that an interrupted run resumes
with the missing cells. All seconds are CPU seconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from studies.common import folds, stage
from studies.common.cores import cores
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
    """A cell of the table of results: one training, and the test section that the trained model parses.

    section   the section that is parsed; -1 means the test split
    features  name of the feature model
    learner   name of the learner
    share     share of the training set, in %
    """

    section: int
    features: str
    learner: str
    share: int = WHOLE


def cells(params: Params, corpus: str) -> list[Cell]:
    """Return all cells of a corpus. The cells of the learning curve come last."""
    settings = params.section(Classifiers)
    sections = settings.sections.get(corpus, (-1,))
    section_cells = [Cell(s, f, learner) for s in sections for f in settings.features for learner in settings.learners]
    last = settings.features[-1]
    first = sections[0]
    return section_cells + [Cell(first, last, name, share) for name in settings.learners for share in settings.shares]


def _cell(shared: tuple[Params, str, Chosen], cell: Cell) -> dict[str, Any]:
    """Compute one cell in a worker process, or read its stored result.

    shared  parameters, corpus, and the chosen parameters of each learner

    The result has the key `missing` if the package of the learner is not installed.
    """
    params, corpus, chosen = shared
    compared = params.section(Classifiers)
    own = {"features": cell.features, "seed": params.seed, **chosen.get(cell.learner, {})}
    settings = replace(compared.learners[cell.learner], **own)
    train, test = divided(params, corpus, cell.section)
    if cell.share < WHOLE:
        train = folds.first(train, max(1, len(train) * cell.share // WHOLE))
    repeats = compared.repeats if (cell.features, cell.share) == (compared.features[-1], WHOLE) else 1
    facts = {"settings": asdict(settings), "train": _numbers(train), "test": _numbers(test), "repeats": repeats}
    path = stage.CHECKPOINTS / "classifiers" / f"{corpus}.{digest(cell._asdict(), facts)}.json"
    if (result := read_kept(path)) is None:
        if package := missing(settings):
            return {**cell._asdict(), "missing": package}
        result = measured(settings, train, test, repeats)
        stage.write_json(path, result)
    return {**cell._asdict(), **result}


def _numbers(treebank: Treebank) -> str:
    """Return a digest of the words, tags and trees of a treebank."""
    text = [treebank.strings(name) for name in ("form", "xpos", "upos", "deprel")]
    return digest(treebank.head.tolist(), text)


def name_of(row: dict[str, Any]) -> str:
    """Return the name of a cell in comparisons: learner and feature model."""
    return f"{row['learner']} {row['features']}"


def compared(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Compare every two cells that share a learner or a feature model, over all sections.

    Only cells with the whole training set are compared. A comparison has the names `a` and `b` of the cells and the
    number of scored words. The counts `only_a` and `only_b` are the words that only cell `a`, or only cell `b`,
    attaches correctly; `p` comes from McNemar's test. `difference` is the UAS of a minus the UAS of b. `low` and `high`
    are the ends of its 95 % interval by the paired bootstrap over sentences.
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
            bootstrap = paired_bootstrap(tables[a], tables[b])
            interval = {name: bootstrap[name] for name in ("difference", "low", "high")}
            out.append({"a": a, "b": b, "scored": len(right[a]), **mcnemar_words(right[a], right[b]), **interval})
    return out


def _by_sentence(marks: list[str]) -> dict[str, np.ndarray]:
    """Count the scored and the correct words of each sentence, in the columns that `paired_bootstrap` expects.

    marks  result of `attachment.marks` for each sentence
    """
    scored = np.array([len(mark) for mark in marks])
    return {"scored": scored, "correct": scored - np.array([mark.count(WRONG) for mark in marks])}


def run(params: Params, corpus: str) -> None:
    """Compute all cells of a corpus. Write their table, significance tests, chosen parameters, and CPU seconds."""
    all_cells = cells(params, corpus)
    searched = corpus in params.section(ClassifierSearch).corpora
    chosen, search = choose(params, corpus) if searched else ({}, None)
    rows: list[dict[str, Any]] = []
    for row in spread(_cell, (params, corpus, chosen), all_cells, workers=cores()):
        name = f"{row['features']} {row['learner']} {row['share']} %"
        outcome = f"LAS {row['las']:.2f}" if "las" in row else f"{row['missing']} is not installed"
        stage.say(f"{corpus} section {row['section']}, {name}: {outcome} ({len(rows) + 1} of {len(all_cells)})")
        rows.append(row)
    timed = ("train_cpu_s", "trainings", "parse_cpu_s")
    figures = [{k: v for k, v in row.items() if k not in (*timed, "marks")} for row in rows]
    seconds = [{k: row.get(k) for k in (*Cell._fields, *timed)} for row in rows]
    metrics = {"rows": figures, "tests": compared(rows), "chosen": chosen, "search": search}
    stage.write_metrics(stage.METRICS / "classifiers" / f"{corpus}.json", metrics)
    stage.write_metrics(stage.METRICS / "timing" / "classifiers" / f"{corpus}.json", seconds)


if __name__ == "__main__":
    stage.main(run)
