"""Significance tests of the difference between two parsers, paired over the same sentences or words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from treebound.core.treebank import Treebank
from treebound.metrics.attachment import join_heads, scored_words

#: columns by name; a DataFrame is accepted, too
Table = Mapping[str, np.ndarray]


def paired_bootstrap(
    a: Table, b: Table, *, samples: int = 10_000, seed: int = 0, level: float = 0.95
) -> dict[str, float]:
    """Return UAS(a) - UAS(b) in percentage points, with a percentile interval over resampled sentences.

    a, b     `Evaluation.sentences` of the two parsers over the same sentences; any table with the columns `scored` and
             `correct` is accepted
    samples  number of bootstrap samples
    seed     seed of the random resampling
    level    probability that the interval covers

    Returns difference, low, high and p. The two-sided p is twice the share of samples on the other side of zero, with
    one sample added so that p is never 0 (Efron & Tibshirani 1993, chapter 16). Raises ValueError if the tables are not
    over the same sentences. Takes O(samples x sentences) time, in blocks.
    """
    if not np.array_equal(a["scored"], b["scored"]):
        raise ValueError("the two tables are not over the same sentences; evaluate both parsers on one treebank")
    gain = np.asarray(a["correct"], float) - np.asarray(b["correct"], float)
    scored = np.asarray(a["scored"], float)
    rng = np.random.default_rng(seed)
    block = max(1, 2_000_000 // max(1, len(scored)))
    differences = []
    for start in range(0, samples, block):
        rows = rng.integers(len(scored), size=(min(block, samples - start), len(scored)))
        differences.append(100.0 * gain[rows].sum(axis=1) / np.maximum(scored[rows].sum(axis=1), 1.0))
    points = np.concatenate(differences)
    low, high = np.quantile(points, [(1 - level) / 2, (1 + level) / 2])
    other_side = min((points <= 0).sum(), (points >= 0).sum())
    p = min(1.0, 2.0 * (other_side + 1) / (samples + 1))
    difference = 100.0 * gain.sum() / max(scored.sum(), 1.0)
    return {"difference": float(difference), "low": float(low), "high": float(high), "p": float(p)}


def jackknife_half_width(without: np.ndarray, level: float = 0.95) -> float:
    """Return half the width of the jackknife's interval for a statistic of n parts, by Student's distribution.

    without  float64[n]: the statistic without each part in turn
    level    probability that the interval covers

    See Efron & Tibshirani (1993), chapter 11. Raises ValueError if there are fewer than two parts.

    Examples
    --------
    For a mean, this is the usual interval: Student's quantile times the standard error.

    >>> x = np.array([1.0, 2.0, 4.0, 5.0])
    >>> round(jackknife_half_width((x.sum() - x) / 3), 3)  # 3.182 * 1.826 / 2
    2.905
    """
    from scipy.stats import t

    n = len(without)
    if n < 2:
        raise ValueError("the jackknife needs at least two parts")
    return float(t.ppf((1 + level) / 2, n - 1) * np.sqrt((n - 1) * np.var(without)))


def mcnemar(gold: Treebank, a: Sequence[np.ndarray], b: Sequence[np.ndarray]) -> dict[str, float]:
    """Test by McNemar's exact test over scored words whether one parser is right more often than the other.

    a, b  heads for every sentence, as in `attachment.evaluate`

    Returns only_a, the number of words that `a` alone attaches right; only_b, the same number for `b`; and p, the
    two-sided binomial probability. The test treats words as independent, which they are not: the bootstrap over
    sentences is more careful.
    """
    counts = scored_words(gold)
    return mcnemar_words((join_heads(gold, a) == gold.head)[counts], (join_heads(gold, b) == gold.head)[counts])


def mcnemar_words(right_a: np.ndarray, right_b: np.ndarray) -> dict[str, float]:
    """Run McNemar's exact test on two boolean arrays over the same words; see `mcnemar`.

    right_a, right_b  bool[W]: the words that each parser gets right

    Raises ValueError if the lengths differ.

    Examples
    --------
    Five of ten words are right for the first parser alone, and none for the second parser alone.

    >>> test = mcnemar_words(np.array([True] * 8 + [False] * 2), np.array([True] * 3 + [False] * 7))
    >>> test["only_a"], test["only_b"], test["p"]
    (5, 0, 0.0625)
    """
    from scipy.stats import binomtest

    if right_a.shape != right_b.shape:
        raise ValueError("the two parsers were not scored on the same words")
    only_a, only_b = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
    p = float(binomtest(only_a, only_a + only_b).pvalue) if only_a + only_b else 1.0
    return {"only_a": only_a, "only_b": only_b, "p": p}
