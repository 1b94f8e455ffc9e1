"""Measures for the claims of Qian & Liu (2013): accuracy, speed, proofs and dynamic-program calls.

Some claims are about parsers, others about the configurations of the ablation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd

from studies.common.params import SYSTEMS, Params, Row
from studies.qian_liu_2013.ablation.settings import Ablation
from studies.qian_liu_2013.ablation.tables import ablations
from studies.qian_liu_2013.comparison.differences import differences
from studies.qian_liu_2013.confidence import tables as confidence_tables
from studies.qian_liu_2013.speed.remarks import ENOUGH, power
from studies.site import frames
from studies.site.claims.measured import Measure, Measured, Scale, exact, of_pairs, over_seeds, pairs, share
from studies.site.collect import Results
from studies.site.pooled import Z
from studies.site.rows import AT, at, learners_of, metrics_of, named_rows, row_names

#: the claim of smooth growth is about sentences of at most this many words
SMOOTH = 40


def accuracy(results: Results, rows: Sequence[str], compare: str, figure: str) -> Iterator[Measured]:
    """Measure how much more accurate the first row of a pair is than the second, in points, as a mean over seeds.

    The numbers come from `differences`. Several pairs of `rows` and `compare` are measured on the same corpora. Only
    rows of the first learner are compared, so that the two rows of a pair do not differ in the learner as well.

    figure  the kind of accuracy: a key of `comparison.tables.FIGURES`
    """
    wanted = pairs(rows, compare)
    learner = learners_of(results.params)[0]
    by_pair: list[dict[str, Measured]] = []
    for pair in wanted:
        data = differences(results, [(figure, *pair)])
        data = data[data.index.get_level_values("learner") == learner]
        by_place = [
            (str(corpus), group[["difference", "low", "high"]].to_numpy())
            for corpus, group in data.groupby(level="corpus", sort=False)
        ]
        by_pair.append({measure.place: measure for measure in over_seeds(by_place)})
    for place in by_pair[0] if by_pair else ():
        if all(place in by_place for by_place in by_pair):
            measures = [by_place[place] for by_place in by_pair]
            yield from of_pairs(
                place,
                wanted,
                [(measure.value, measure.low, measure.high) for measure in measures],
                min(measure.seeds for measure in measures),
            )


def alone(results: Results, rows: Sequence[str], compare: str, column: str) -> Iterator[Measured]:
    """Measure a value of the row that `rows` names: the value in `column` of its metrics.

    The column `dp_calls` is divided by the number of sentences.
    """
    data = metrics_of(results)
    for place, (run,) in _places(results, rows):
        metrics = data.loc[run]
        yield exact(place, float(metrics[column] / (metrics["sentences"] if column == "dp_calls" else 1)))


def proved(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Measure the share (%) of sentences whose tree is proved optimal by the row that `rows` names.

    The interval is a Wilson interval.
    """
    data = metrics_of(results)
    for place, (run,) in _places(results, rows):
        yield share(place, int(data.loc[run, "certified"]), int(data.loc[run, "sentences"]))


def speed(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Measure the speed of the first row of a pair divided by the speed of the second, in words per CPU second.

    `rows` and `compare` define the pairs. The interval covers the ratios of the slowest and the fastest repeats of both
    rows.
    """
    data = frames.benchmark(results).set_index(AT) if results.has("benchmark") else pd.DataFrame()
    for place, keys in _places(results, rows):
        if all(key in data.index for key in keys):
            timings = {name: data.loc[key] for name, key in zip(rows, keys, strict=True)}
            compared = pairs(rows, compare)
            yield from of_pairs(place, compared, [_ratio(timings[a], timings[b]) for a, b in compared])


def _ratio(a: pd.Series, b: pd.Series) -> list[float]:
    """Return the time per word of row `b` divided by the time per word of row `a`, and the ends of its range.

    Both rows are rows of the benchmark. The smallest and the largest ratio combine the fastest and the slowest repeats
    of both rows.
    """
    times = [[row["cpu_s"] / row["words"], *(s / row["words"] for s in row["cpu_s_range"])] for row in (a, b)]
    return [times[1][0] / times[0][0], times[1][1] / times[0][2], times[1][2] / times[0][1]]


def calls(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Measure the DP calls per sentence of the first row of a pair divided by the DP calls of the second.

    `rows` and `compare` define the pairs.
    """
    data = metrics_of(results)
    for place, keys in _places(results, rows):
        mean = {
            name: data.loc[key, "dp_calls"] / data.loc[key, "sentences"] for name, key in zip(rows, keys, strict=True)
        }
        compared = pairs(rows, compare)
        yield from of_pairs(place, compared, [[mean[a] / mean[b]] * 3 for a, b in compared])


def growth(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Measure the steepest growth of a row's mean time, as the exponent p of `time ~ length ** p`.

    The exponent is estimated between each two neighbouring length bins, and the largest exponent counts. Bins with
    sentences of more than SMOOTH words, or with fewer than ENOUGH sentences, are left out.
    """
    data = frames.by_length(results).set_index(AT) if results.has("benchmark") else pd.DataFrame()
    for place, (key,) in _places(results, rows):
        if key in data.index:
            curve = data.loc[[key]].sort_values("lo")
            curve = curve[(curve["hi"] <= SMOOTH) & (curve["sentences"] >= ENOUGH)]
            if len(curve) > 1:
                yield exact(place, max(power(a, b) for (_, a), (_, b) in pairwise(curve.iterrows())))


def _places(results: Results, rows: Sequence[str]) -> Iterator[tuple[str, list[tuple]]]:
    """Yield each corpus that has all the rows named in `rows`, with the rows' keys in tables of metrics.

    The rows are trained with the first learner.
    """
    learner = learners_of(results.params)[0]
    for corpus in results.corpora:
        named: dict[str, Row] = named_rows(results.params, corpus, learner)
        if all(row in named for row in rows):
            yield corpus, [at(corpus, named[row]) for row in rows]


def search(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Measure the DP calls of the first search configuration of a pair divided by the DP calls of the second.

    `rows` and `compare` define the pairs of configurations in the ablation.
    """
    for place, data in _ablation(results):
        mean = data.set_index("configuration")["dp_calls"]
        if all(row in mean for row in rows):
            compared = pairs(rows, compare)
            yield from of_pairs(place, compared, [[mean[a] / mean[b]] * 3 for a, b in compared])


def calls_and_time(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Measure Spearman's correlation of DP calls and time over the configurations of the ablation.

    The interval comes from Fisher's transformation. A corpus needs at least four configurations.
    """
    for place, data in _ablation(results):
        if len(data) > 3 and data["dp_calls"].nunique() > 1:
            value = float(data["dp_calls"].corr(data["ms"], method="spearman"))
            middle, half = Scale.FISHER.to(value), float(Z / np.sqrt(len(data) - 3))
            yield Measured(place, value, Scale.FISHER.back(middle - half), Scale.FISHER.back(middle + half))


def _ablation(results: Results) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each corpus of the ablation with its rows of the table `ablations`, one per configuration."""
    if results.has("ablation"):
        for place, data in ablations([results]).groupby("corpus", sort=False):
            yield str(place).partition(",")[0], data


def lists(results: Results, rows: Sequence[str], compare: str) -> Iterator[Measured]:
    """Measure the share (%) of sentences whose list of best trees is proved complete, for the model of `confidence`."""
    if results.has("confidence"):
        for row in confidence_tables.measured(results).itertuples():
            yield share(row.corpus, int(row.complete), int(row.sentences))


def _held(results: Results) -> set[str]:
    """Return the names of rows of the first learner, and of parsers of other systems, of which a run has metrics."""
    learner, measured = learners_of(results.params)[0], set(metrics_of(results).index)
    names = {row["row"] for row in frames.of_systems(results, *(set(SYSTEMS) - {"graph"}))}
    for corpus in results.corpora:
        rows: dict[str, Row] = named_rows(results.params, corpus, learner)
        names |= {name for name, row in rows.items() if at(corpus, row) in measured}
    return names


def _searched(results: Results) -> set[str]:
    """Return the configurations of the ablation of a run."""
    return {name for _, data in _ablation(results) for name in data["configuration"]}


def _configurations(params: Params) -> Collection[str]:
    """Return the configurations of the ablation. Claims about the ablation use names of configurations as row names."""
    return params.section(Ablation).configurations


MEASURES: dict[str, Measure] = {
    "UAS": Measure(partial(accuracy, figure="UAS"), "{:+.2f} UAS points", row_names, held=_held),
    "UAS of a row": Measure(partial(alone, column="uas"), "{:.2f} % UAS", row_names, held=_held),
    "proved": Measure(proved, "{:.1f} %", row_names, Scale.ODDS, _held),
    "calls of a row": Measure(
        partial(alone, column="dp_calls"), "{:.1f} calls a sentence", row_names, Scale.LOG, _held
    ),
    "speed": Measure(speed, "{:.2f} times", row_names, Scale.LOG, _held),
    "calls": Measure(calls, "{:.2f} times", row_names, Scale.LOG, _held),
    "growth": Measure(growth, "{:.1f} (power of the length)", row_names, held=_held),
    "search": Measure(search, "{:.2f} times", _configurations, Scale.LOG, _searched),
    "calls and time": Measure(calls_and_time, "{:.2f} (rank correlation)", scale=Scale.FISHER),
    "lists": Measure(lists, "{:.1f} %", scale=Scale.ODDS),
}
