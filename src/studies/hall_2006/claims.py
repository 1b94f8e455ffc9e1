"""Measures of classifiers of transitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from studies.common.params import Params
from studies.hall_2006.classifiers import tables as classifiers_tables
from studies.hall_2006.classifiers.settings import Classifiers
from studies.site.claims.measured import Measure, Measured, Scale, exact
from studies.site.collect import Results
from studies.site.pooled import Z


def classifiers(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """UAS of the first cell of the stage `classifiers` less the second's, with the 95 % interval of paired words."""
    for corpus, tests in classifiers_tables.tests(results).groupby("corpus", sort=False):
        for (a, b), sign in ((rows, 1.0), (tuple(reversed(rows)), -1.0)):
            for test in tests[(tests["a"] == a) & (tests["b"] == b)].itertuples():
                gained, lost, n = float(test.only_a), float(test.only_b), float(test.scored)
                half = Z * np.sqrt(max(gained + lost - (gained - lost) ** 2 / n, 0)) / n
                value = sign * (gained - lost) / n
                yield Measured(str(corpus), 100 * value, 100 * (value - half), 100 * (value + half))


def classifier_training(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """CPU seconds of training of the first cell divided by the second's, of the whole training set."""
    data = classifiers_tables.cells(results)
    data = data[(data["share"] == 100) & (data["missing"] == "")]
    data = data.assign(name=data["learner"] + " " + data["features"])
    for corpus, of in data.groupby("corpus", sort=False):
        seconds = of.groupby("name")["train_cpu_s"].sum()
        if all(row in seconds for row in rows):
            yield exact(str(corpus), float(seconds[rows[0]] / seconds[rows[1]]))


def _cells(params: Params) -> list[str]:
    settings = params.section(Classifiers)
    return [f"{name} {features}" for name in settings.learners for features in settings.features]


MEASURES: dict[str, Measure] = {
    "UAS of classifiers": Measure(classifiers, "{:+.2f} UAS", _cells, margin=0.1),
    "training time of classifiers": Measure(classifier_training, "{:.1f} times", _cells, Scale.LOG, 1.1),
}
