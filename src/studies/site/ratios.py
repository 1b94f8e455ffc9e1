"""Ratios of the work of two searches, with intervals from a bootstrap over sentences, and geometric means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

SAMPLES = 2000  #: number of bootstrap samples


class Ratio(NamedTuple):
    """A ratio with the ends of its 95 % interval."""

    value: float
    low: float
    high: float


def of_means(corpora: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]]) -> Ratio:
    """Divide the mean work of a first search by the mean work of a second, as a geometric mean over corpora.

    corpora  for each corpus, the positive work (for instance, calls) of both searches on the same sentences: two [n]

    The interval comes from a paired bootstrap over the sentences of each corpus. It does not cover other corpora.
    """
    generator = np.random.default_rng(0)
    value, drawn = 0.0, np.zeros(SAMPLES)
    for first, second in corpora:
        work = np.asarray([first, second], float)
        sample = generator.integers(0, work.shape[1], (SAMPLES, work.shape[1]))
        value += np.log(work[0].sum() / work[1].sum())
        drawn += np.log(work[0][sample].sum(axis=1) / work[1][sample].sum(axis=1))
    low, high = np.exp(np.percentile(drawn / len(corpora), (2.5, 97.5)))
    return Ratio(float(np.exp(value / len(corpora))), float(low), float(high))


def span(data: pd.DataFrame, column: str, text: str) -> str:
    """Describe the smallest and the largest ratio of a table (or a single one), with intervals and row labels.

    data  columns: `column`, low and high (the ends of the interval)
    text  format of a number, for instance "{:.2f}"
    """
    ends = data.loc[list(dict.fromkeys((data[column].idxmin(), data[column].idxmax())))]
    numbers = ends[[column, "low", "high"]].map(text.format)
    return " to ".join(f"{ratio} [{low}, {high}] ({row})" for row, ratio, low, high in numbers.itertuples(name=None))


def geometric(values: pd.Series) -> float:
    """Return the geometric mean of the values that are known, for instance speeds; NaN if none is known."""
    known = values.dropna().astype(float)
    return float(np.exp(np.log(known).mean())) if len(known) else float("nan")
