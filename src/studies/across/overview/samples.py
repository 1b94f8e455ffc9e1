"""State the sample of each stage that uses only a part of the sentences, folds or epochs, so that a run stays short."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from studies.across.approximations.settings import Approximations
from studies.across.in_the_loop.settings import InTheLoop
from studies.across.mining.settings import Mining
from studies.across.validity.settings import ValidTrees
from studies.auli_lopez_2011.ccg.settings import CCG
from studies.common.params import Params
from studies.hall_2006.classifier_search.settings import ClassifierSearch
from studies.hall_2006.classifiers.settings import Classifiers
from studies.qian_liu_2013.ablation.settings import Ablation
from studies.qian_liu_2013.confidence.settings import Confidence
from studies.qian_liu_2013.steps.settings import Steps
from studies.riedel_clarke_2006.constraints.settings import Constraints
from studies.riedel_clarke_2006.integer_programs.settings import IntegerPrograms
from studies.site.collect import Results
from studies.site.sentences import listing
from studies.zhang_2014.score_time.settings import ScoreTime

Line = tuple[str, Sequence[str], str]  #: kind of stage, treebanks, description of the sample


def samples(results: Sequence[Results]) -> pd.DataFrame:
    """Return one row per run and stage that uses a sample. Columns: treebanks, sample.

    The sample is what the parameters of the run ask for. A treebank with fewer sentences is used whole.
    """
    lines = [(r.name, *line) for r in results for line in _lines(r.params)]
    data = pd.DataFrame(lines, columns=["", "kind of stage", "treebanks", "sample"])
    data["treebanks"] = [listing(names) for names in data["treebanks"]]
    return data.set_index(["", "kind of stage"])


def _lines(params: Params) -> Iterator[Line]:
    """Yield the samples of a run. A question without corpora of its own has the corpora of the run."""
    for name, decoder in params.decoders.items():
        corpora = [c for c in params.corpora if any(row.decoder == name for row in params.rows_of(c))]
        if decoder.sentences and corpora:
            yield f"decode, search {name}", corpora, f"the first {decoder.sentences:,} test sentences of each treebank"
    ablation, score_time = params.section(Ablation), params.section(ScoreTime)
    approximations, programs = params.section(Approximations), params.section(IntegerPrograms)
    for stage, models, sentences in (
        ("ablation", ablation.model, ablation.sentences),
        ("score-time", score_time.models, score_time.sentences),
        ("approximations", approximations.models, approximations.sentences),
        ("integer-programs", programs.models, programs.sentences),
    ):
        if models:
            yield stage, params.corpora, f"{sentences:,} evenly spaced test sentences of each treebank"
    if (confidence := params.section(Confidence)).model:
        yield "confidence", params.corpora, f"the first {confidence.sentences:,} sentences of dev and of test"
    yield from _of_trainings(params)


def _of_trainings(params: Params) -> Iterator[Line]:
    """Yield the samples of the stages that train parsers of their own."""
    if (loop := params.section(InTheLoop)).train:
        corpora = params.section(Steps).corpora
        yield "in-the-loop", corpora, f"the first {loop.train:,} training sentences of each treebank"
    validity = params.section(ValidTrees)
    if validity.corpora and (limits := _limits(training=validity.train, test=validity.test)):
        yield "validity", validity.corpora, limits
    for name, run in params.section(Mining).runs.items():
        if run.sentences:
            yield f"mining, {name}", [run.treebank], f"the first {run.sentences:,} sentences"
    if (constraints := params.section(Constraints)).corpora:
        folds = f"{len(constraints.looped)} of {len(constraints.folds)} folds with training in the loop"
        yield "constraints", constraints.corpora, f"{constraints.epochs} epochs; {folds}"
    for corpus, sections in params.section(Classifiers).sections.items():
        yield "classifiers", [corpus], f"{len(sections)} of 10 sections, each parsed by a model of the other nine"
    search = params.section(ClassifierSearch)
    if search.corpora and (limits := _limits(training=search.sentences, dev=search.dev)):
        yield "classifiers, search for parameters", search.corpora, limits
    for name, parser in params.section(CCG).parsers.items():
        sentences = f"{parser.sentences:,} training sentences; " if parser.sentences else ""
        passes = f"{parser.settings.iterations} iterations of training"
        yield f"ccg-train, {name}", list(filter(None, (parser.corpus, parser.more))), sentences + passes


def _limits(**limits: int | None) -> str:
    """Describe limits on the sentences of splits: `at most 2,000 training sentences`."""
    limited = [f"{limit:,} {split}" for split, limit in limits.items() if limit]
    return f"at most {listing(limited)} sentences" if limited else ""
