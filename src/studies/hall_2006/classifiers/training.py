"""Train and test one classifier of transitions, and select its training and test sentences."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from studies.common import folds
from studies.common.corpus import SPLITS, load
from studies.common.params import Params
from studies.hall_2006.classifiers.settings import Classifiers
from treebound.core.treebank import Treebank
from treebound.metrics.attachment import evaluate, marks
from treebound.metrics.timing import Stopwatch
from treebound.systems.transition.feature_models import chosen_model
from treebound.systems.transition.settings import Settings
from treebound.systems.transition.system import Parser
from treebound.systems.transition.training import PACKAGES, train_model

SECTIONS = 10


def divided(params: Params, corpus: str, section: int) -> tuple[Treebank, Treebank]:
    """Return the training sentences and the test sentences, with the tags that parsers of the corpus see.

    section  section that becomes the test set; the other sections become the training set. A negative number selects
             the splits train and test
    """
    tags = params.tags_of(corpus)
    if section < 0:
        train, test = (load(corpus, split, params.limit(split), tags) for split in ("train", "test"))
        return train, test
    a, b, c = (load(corpus, split, params.limit(split), tags) for split in SPLITS)
    whole = folds.joined(folds.joined(a, b), c)
    in_section = np.arange(len(whole)) % SECTIONS == section
    return whole.select(np.flatnonzero(~in_section)), whole.select(np.flatnonzero(in_section))


def development(params: Params, corpus: str) -> tuple[Treebank, Treebank]:
    """Return the training sentences and the development sentences of the search for parameters.

    If the corpus is not divided into sections, these are the splits train and dev. Otherwise, sections that the
    experiments use as test sets are left out. The first remaining section is the development set, and the later
    sections are the training set.
    """
    sections = params.section(Classifiers).sections.get(corpus)
    tags = params.tags_of(corpus)
    if sections is None:
        train, dev = (load(corpus, split, params.limit(split), tags) for split in ("train", "dev"))
        return train, dev
    first, *later = [section for section in range(SECTIONS) if section not in sections]
    remaining, dev = divided(params, corpus, first)
    numbers = np.arange(len(remaining) + len(dev))
    numbers = numbers[numbers % SECTIONS != first] % SECTIONS
    return remaining.select(np.flatnonzero(np.isin(numbers, later))), dev


def missing(settings: Settings) -> str:
    """Return the name of the package that a learner needs and that is not installed, or an empty text."""
    module, package = PACKAGES.get(settings.learning, ("", ""))
    return package if module and find_spec(module) is None else ""


def measured(settings: Settings, train: Treebank, test: Treebank, repeats: int = 1) -> dict[str, Any]:
    """Train a parser on one treebank and parse another. Return accuracy, CPU seconds, and marks of correct words.

    `attachment.marks` defines the marks.

    repeats  number of trainings, which give equal models. `train_cpu_s` is the mean of their CPU seconds, and
             `trainings` lists the CPU seconds of each training.
    """
    trainings = []
    for _ in range(repeats):
        with Stopwatch() as training:
            model = train_model(settings, chosen_model(settings.features), train)
        trainings.append(training.cpu)
    parser = Parser(model)
    parser.parse(test.select(np.arange(min(2, len(test)))))  # compile before the timed run
    with Stopwatch() as parsing:
        parses = parser.parse(test)
    heads, labels = [parse.heads for parse in parses], [parser.label_names(parse) for parse in parses]
    scores = evaluate(test, heads, labels).summary
    names = ("uas", "las", "complete", "complete_labelled", "words", "sentences")
    seconds = {"train_cpu_s": fmean(trainings), "trainings": trainings, "parse_cpu_s": parsing.cpu}
    costs = {"trained_words": train.words, **seconds}
    return {**{name: scores[name] for name in names}, **costs, "marks": marks(test, heads, labels)}


def read_kept(path: Path) -> dict[str, Any] | None:
    """Read the stored result of an earlier run. Return None if the file is missing or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
