"""Measures of the claims about classifiers: differences in accuracy and ratios of training times."""

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
    """Yield the UAS of a first cell of the stage `classifiers` minus the UAS of a second cell, for each corpus.

    A cell is a learner with a feature model; `rows` names the two cells. The 95 % interval is the stored interval of
    the paired bootstrap over sentences. Older runs stored no interval; it is then computed from the counts of words,
    which are treated as independent.
    """
    for corpus, tests in classifiers_tables.tests(results).groupby("corpus", sort=False):
        for (a, b), sign in ((rows, 1.0), (tuple(reversed(rows)), -1.0)):
            for test in tests[(tests["a"] == a) & (tests["b"] == b)].itertuples():
                if not np.isnan(test.low):
                    ends = sorted((sign * float(test.low), sign * float(test.high)))
                    yield Measured(str(corpus), sign * float(test.difference), ends[0], ends[1])
                    continue
                gained, lost, n = float(test.only_a), float(test.only_b), float(test.scored)
                half = Z * np.sqrt(max(gained + lost - (gained - lost) ** 2 / n, 0)) / n
                value = sign * (gained - lost) / n
                yield Measured(str(corpus), 100 * value, 100 * (value - half), 100 * (value + half))


def classifier_training(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Yield the training time of a first cell divided by the training time of a second cell, for each corpus.

    A cell is a learner with a feature model; `rows` names the two cells. Times are CPU seconds of training on the whole
    training set. If both cells were trained several times, the value is the ratio of the mean times. Its 95 % interval
    is Welch's interval on the log scale, which covers the noise of the machine. A single training gives no interval.
    """
    data = classifiers_tables.cells(results)
    data = data[(data["share"] == 100) & (data["missing"] == "")]
    data = data.assign(name=data["learner"] + " " + data["features"])
    for corpus, group in data.groupby("corpus", sort=False):
        if all(row in set(group["name"]) for row in rows):
            yield _ratio(str(corpus), *(classifiers_tables.trainings(group[group["name"] == row]) for row in rows))


def _ratio(place: str, a: np.ndarray, b: np.ndarray) -> Measured:
    """Return the mean of `a` divided by the mean of `b`, with its 95 % interval.

    place  name of the corpus in the result
    a, b   float64[n] and float64[m]: seconds of the trainings of the two cells
    """
    from scipy.stats import t

    value = float(a.mean() / b.mean())
    if min(len(a), len(b)) < 2:
        return exact(place, value)
    variances = np.array([np.var(x, ddof=1) / len(x) / x.mean() ** 2 for x in (a, b)])  # variances of the log means
    total = float(variances.sum())
    if not total:
        return Measured(place, value, value, value)
    df = total**2 / float((np.square(variances) / (np.array([len(a), len(b)]) - 1)).sum())
    half = float(t.ppf(0.975, df)) * np.sqrt(total)
    return Measured(place, value, value * float(np.exp(-half)), value * float(np.exp(half)))


def _trained(results: Results) -> set[str]:
    """Return the names of the cells that a run trained on all sentences of any corpus."""
    data = classifiers_tables.cells(results)
    data = data[(data["share"] == 100) & (data["missing"] == "")]
    return set(data["learner"] + " " + data["features"])


def _cells(params: Params) -> list[str]:
    """Return the names of all pairs of a learner and a feature model that claims can compare."""
    settings = params.section(Classifiers)
    return [f"{name} {features}" for name in settings.learners for features in settings.features]


MEASURES: dict[str, Measure] = {
    "UAS of classifiers": Measure(classifiers, "{:+.2f} UAS points", _cells, held=_trained),
    "training time of classifiers": Measure(classifier_training, "{:.1f} times", _cells, Scale.LOG, _trained),
}
