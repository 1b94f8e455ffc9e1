"""Stage: classifiers for the same transitions and features on one corpus, as Hall, Nivre & Nilsson (2006) compare them.

Every learner is trained with every feature model and parses what it has not seen; the last feature model also with
shares of the training set. Cells of this table run side by side, on all cores, and each is kept as soon as it is done:
a run that was killed goes on with those that are missing. Seconds are those of the CPU.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, replace
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from studies.common import folds, stage
from studies.common.corpus import SPLITS, load
from studies.common.params import Params, digest
from studies.hall_2006.classifiers.settings import Classifiers
from treebound.core.treebank import Treebank
from treebound.metrics.attachment import WRONG, evaluate, marks
from treebound.metrics.significance import mcnemar_words
from treebound.metrics.timing import Stopwatch
from treebound.support.workers import spread
from treebound.systems.transition.feature_models import chosen_model
from treebound.systems.transition.settings import Settings
from treebound.systems.transition.system import Parser
from treebound.systems.transition.training import PACKAGES, train_model

SECTIONS = 10
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


def divided(params: Params, corpus: str, section: int) -> tuple[Treebank, Treebank]:
    """(training sentences, those that are parsed), with the tags that parsers of the corpus see."""
    tags = params.tags_of(corpus)
    if section < 0:
        train, test = (load(corpus, split, params.limit(split), tags) for split in ("train", "test"))
        return train, test
    a, b, c = (load(corpus, split, params.limit(split), tags) for split in SPLITS)
    whole = folds.joined(folds.joined(a, b), c)
    here = np.arange(len(whole)) % SECTIONS == section
    return whole.select(np.flatnonzero(~here)), whole.select(np.flatnonzero(here))


def missing(settings: Settings) -> str:
    """The package that a learner lacks; empty: none."""
    module, package = PACKAGES.get(settings.learning, ("", ""))
    return package if module and find_spec(module) is None else ""


def measured(settings: Settings, train: Treebank, test: Treebank) -> dict[str, Any]:
    """Accuracy, seconds, and `marks` (`attachment.marks`) of a parser that is trained on one and parses the other."""
    with Stopwatch() as training:
        model = train_model(settings, chosen_model(settings.features), train)
    parser = Parser(model)
    parser.parse(test.select(np.arange(min(2, len(test)))))  # compiles
    with Stopwatch() as parsing:
        parses = parser.parse(test)
    heads, labels = [parse.heads for parse in parses], [parser.label_names(parse) for parse in parses]
    found = evaluate(test, heads, labels).summary
    names = ("uas", "las", "complete", "complete_labelled", "words", "sentences")
    about = {"trained_words": train.words, "train_cpu_s": training.cpu, "parse_cpu_s": parsing.cpu}
    return {**{name: found[name] for name in names}, **about, "marks": marks(test, heads, labels)}


def _cell(shared: tuple[Params, str], cell: Cell) -> dict[str, Any]:
    params, corpus = shared
    settings = replace(params.section(Classifiers).learners[cell.learner], features=cell.features, seed=params.seed)
    train, test = divided(params, corpus, cell.section)
    if cell.share < WHOLE:
        train = folds.first(train, max(1, len(train) * cell.share // WHOLE))
    about = {"settings": asdict(settings), "train": _numbers(train), "test": _numbers(test)}
    kept = stage.CHECKPOINTS / "classifiers" / f"{corpus}.{digest(cell._asdict(), about)}.json"
    if (found := read_kept(kept)) is None:
        if package := missing(settings):
            return {**cell._asdict(), "missing": package}
        found = measured(settings, train, test)
        stage.write_json(kept, found)
    return {**cell._asdict(), **found}


def read_kept(path: Path) -> dict[str, Any] | None:
    """What was measured before; None where it was not, or is damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _numbers(treebank: Treebank) -> str:
    """Identifies its words, tags and trees."""
    text = [treebank.strings(name) for name in ("form", "xpos", "upos", "deprel")]
    return digest(treebank.head.tolist(), text)


def name_of(row: dict[str, Any]) -> str:
    """What a cell is called in comparisons."""
    return f"{row['learner']} {row['features']}"


def compared(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """McNemar's test of every two cells that share a learner or a feature model, over the words of all sections.

    a, b: their names; only_a, only_b: words that one of them alone attaches rightly; scored: of so many.
    """
    whole = [row for row in rows if row["share"] == WHOLE and "marks" in row]
    right: dict[str, np.ndarray] = {}
    for name in dict.fromkeys(map(name_of, whole)):
        marked = "".join("".join(row["marks"]) for row in whole if name_of(row) == name)
        right[name] = np.array(list(marked)) != WRONG
    pairs = [pair for pair in combinations(right, 2) if set(pair[0].split()) & set(pair[1].split())]
    return [{"a": a, "b": b, "scored": len(right[a]), **mcnemar_words(right[a], right[b])} for a, b in pairs]


def run(params: Params, corpus: str) -> None:
    """Write the table of a corpus, the tests, the learning curve, and the seconds of all."""
    todo = cells(params, corpus)
    rows: list[dict[str, Any]] = []
    for row in spread(_cell, (params, corpus), todo, workers=os.cpu_count() or 1):
        name = f"{row['features']} {row['learner']} {row['share']} %"
        said = f"LAS {row['las']:.2f}" if "las" in row else f"{row['missing']} is not installed"
        stage.say(f"{corpus} section {row['section']}, {name}: {said} ({len(rows) + 1} of {len(todo)})")
        rows.append(row)
    timed = ("train_cpu_s", "parse_cpu_s")
    kept = [{k: v for k, v in row.items() if k not in (*timed, "marks")} for row in rows]
    seconds = [{k: row.get(k) for k in (*Cell._fields, *timed)} for row in rows]
    stage.write_metrics(stage.METRICS / "classifiers" / f"{corpus}.json", {"rows": kept, "tests": compared(rows)})
    stage.write_metrics(stage.METRICS / "timing" / "classifiers" / f"{corpus}.json", seconds)


if __name__ == "__main__":
    stage.main(run)
