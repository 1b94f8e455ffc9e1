"""Is the difference between two parsers more than chance? Both tests are paired: same sentences, same words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from treebound.core.treebank import Treebank
from treebound.metrics.attachment import join_heads, scored_words

#: columns by name; a DataFrame is one, too
Table = Mapping[str, np.ndarray]


def paired_bootstrap(
    a: Table, b: Table, *, samples: int = 10_000, seed: int = 0, level: float = 0.95
) -> dict[str, float]:
    """UAS(a) - UAS(b) in points, with a percentile interval, over resampled sentences.

    a, b  `Evaluation.sentences` over the same sentences (ValueError otherwise); a DataFrame with the columns `scored`
          and `correct` will do

    Returns difference, low, high, p. p is two-sided: twice the share of samples on the other side of zero, with one
    sample added so that it is never 0 (Efron & Tibshirani 1993, chapter 16). O(samples x sentences) time, in blocks.
    """
    if not np.array_equal(a["scored"], b["scored"]):
        raise ValueError("the two tables are not over the same sentences")
    gain = np.asarray(a["correct"], float) - np.asarray(b["correct"], float)
    scored = np.asarray(a["scored"], float)
    rng = np.random.default_rng(seed)
    block = max(1, 2_000_000 // max(1, len(scored)))
    drawn = []
    for start in range(0, samples, block):
        rows = rng.integers(len(scored), size=(min(block, samples - start), len(scored)))
        drawn.append(100.0 * gain[rows].sum(axis=1) / np.maximum(scored[rows].sum(axis=1), 1.0))
    points = np.concatenate(drawn)
    low, high = np.quantile(points, [(1 - level) / 2, (1 + level) / 2])
    other_side = min((points <= 0).sum(), (points >= 0).sum())
    p = min(1.0, 2.0 * (other_side + 1) / (samples + 1))
    difference = 100.0 * gain.sum() / max(scored.sum(), 1.0)
    return {"difference": float(difference), "low": float(low), "high": float(high), "p": float(p)}


def mcnemar(gold: Treebank, a: Sequence[np.ndarray], b: Sequence[np.ndarray]) -> dict[str, float]:
    """McNemar's exact test over scored words: does one parser correct the other more often than the reverse?

    a, b  heads for every sentence, as in `attachment.evaluate`

    Returns only_a and only_b (words that only one of them attaches right), p (two-sided binomial). Words are treated
    as independent, which they are not: the bootstrap over sentences is the more careful test.
    """
    counts = scored_words(gold)
    return mcnemar_words((join_heads(gold, a) == gold.head)[counts], (join_heads(gold, b) == gold.head)[counts])


def mcnemar_words(right_a: np.ndarray, right_b: np.ndarray) -> dict[str, float]:
    """As `mcnemar`, of bool[W]: which of the same words each parser gets right. ValueError where lengths differ.

    Examples
    --------
    Of ten words the first parser alone has five right, the second one alone none.

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
