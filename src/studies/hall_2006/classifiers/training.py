"""Training and testing one classifier of transitions, and the sentences on which that is done."""

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
    """(training sentences, those that are parsed), with the tags that parsers of the corpus see."""
    tags = params.tags_of(corpus)
    if section < 0:
        train, test = (load(corpus, split, params.limit(split), tags) for split in ("train", "test"))
        return train, test
    a, b, c = (load(corpus, split, params.limit(split), tags) for split in SPLITS)
    whole = folds.joined(folds.joined(a, b), c)
    here = np.arange(len(whole)) % SECTIONS == section
    return whole.select(np.flatnonzero(~here)), whole.select(np.flatnonzero(here))


def development(params: Params, corpus: str) -> tuple[Treebank, Treebank]:
    """(training sentences, those on which parameters are chosen); no sentence of either is parsed by any cell.

    These are the splits train and dev. Of a corpus that is divided into sections it is the first section that no cell
    parses, and the training sentences are those of all later ones.
    """
    sections = params.section(Classifiers).sections.get(corpus)
    tags = params.tags_of(corpus)
    if sections is None:
        train, dev = (load(corpus, split, params.limit(split), tags) for split in ("train", "dev"))
        return train, dev
    first, *later = [section for section in range(SECTIONS) if section not in sections]
    rest, dev = divided(params, corpus, first)
    numbers = np.arange(len(rest) + len(dev))
    numbers = numbers[numbers % SECTIONS != first] % SECTIONS
    return rest.select(np.flatnonzero(np.isin(numbers, later))), dev


def missing(settings: Settings) -> str:
    """The package that a learner lacks; empty: none."""
    module, package = PACKAGES.get(settings.learning, ("", ""))
    return package if module and find_spec(module) is None else ""


def measured(settings: Settings, train: Treebank, test: Treebank, repeats: int = 1) -> dict[str, Any]:
    """Train a parser on one treebank and parse another: accuracy, seconds, and `marks` (`attachment.marks`).

    repeats  trainings, which give equal models; `train_cpu_s` is their mean, `trainings` has the CPU seconds of each
    """
    trainings = []
    for _ in range(repeats):
        with Stopwatch() as training:
            model = train_model(settings, chosen_model(settings.features), train)
        trainings.append(training.cpu)
    parser = Parser(model)
    parser.parse(test.select(np.arange(min(2, len(test)))))  # compiles
    with Stopwatch() as parsing:
        parses = parser.parse(test)
    heads, labels = [parse.heads for parse in parses], [parser.label_names(parse) for parse in parses]
    found = evaluate(test, heads, labels).summary
    names = ("uas", "las", "complete", "complete_labelled", "words", "sentences")
    seconds = {"train_cpu_s": fmean(trainings), "trainings": trainings, "parse_cpu_s": parsing.cpu}
    about = {"trained_words": train.words, **seconds}
    return {**{name: found[name] for name in names}, **about, "marks": marks(test, heads, labels)}


def read_kept(path: Path) -> dict[str, Any] | None:
    """What was measured before; None where it was not, or is damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
