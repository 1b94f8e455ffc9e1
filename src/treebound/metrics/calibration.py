"""Calibration: compare the confidence of a parser with its accuracy."""

from __future__ import annotations

import numpy as np

NORMAL_95 = 1.959964
COLUMNS = ("words", "confidence", "mean", "accuracy", "low", "high")  #: columns of a reliability table


def reliability(confidence: np.ndarray, correct: np.ndarray, bins: int = 10) -> dict[str, np.ndarray]:
    """Return the accuracy in each bin of confidence, from the least to the most confident words.

    confidence  float[W]; words with NaN are left out
    correct     bool[W]
    bins        number of bins with equal numbers of words. Equal confidences share a bin, so there may be fewer bins

    Columns: words, confidence (the median; inf if most values are inf), mean (of the confidence), accuracy, and low and
    high, the ends of the 95 % interval of the accuracy (Wilson 1927). Accuracies are in 0..1. O(W log W).
    """
    known = ~np.isnan(confidence)
    confidence, correct = confidence[known], correct[known]
    order = np.argsort(confidence, kind="stable")
    ordered = confidence[order]
    edges = np.searchsorted(ordered, ordered[np.linspace(0, len(ordered), bins + 1)[:-1].astype(int)])
    rows = []
    for part in np.split(order, np.unique(edges)[1:]):
        words, right = len(part), int(correct[part].sum())
        low, high = wilson(right, words)
        rows.append((words, np.median(confidence[part]), confidence[part].mean(), right / words, low, high))
    table = dict(zip(COLUMNS, np.array(rows, float).reshape(-1, len(COLUMNS)).T, strict=True))
    return table | {"words": table["words"].astype(np.int64)}


def wilson(right: int, total: int) -> tuple[float, float]:
    """Return the ends of the 95 % interval (Wilson 1927) of `right` / `total`, or (0, 1) if `total` is 0."""
    if total == 0:
        return 0.0, 1.0
    p, z2 = right / total, NORMAL_95**2
    middle, half = p + z2 / (2 * total), NORMAL_95 * np.sqrt(p * (1 - p) / total + z2 / (4 * total * total))
    low, high = (middle - half) / (1 + z2 / total), (middle + half) / (1 + z2 / total)
    return float(min(low, p)), float(max(high, p))  # rounding must not move the ends past p = 0 or p = 1


def coverage(confidence: np.ndarray, correct: np.ndarray, points: int = 100) -> dict[str, np.ndarray]:
    """Return the accuracy of the most confident words alone, for `points` increasing shares of words.

    correct  bool[W]

    Columns: kept (share of words) and accuracy, both in 0..1. Words with the same confidence are kept or dropped
    together. Words with NaN are kept last. O(W log W).
    """
    ranked = np.where(np.isnan(confidence), -np.inf, confidence)
    order = np.argsort(-ranked, kind="stable")
    ordered = ranked[order]
    ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]) + 1, len(order))
    targets = np.linspace(0, len(order), points + 1)[1:]
    ends = np.unique(ends[np.searchsorted(ends, targets)])
    return {"kept": ends / len(order), "accuracy": np.cumsum(correct[order])[ends - 1] / ends}


def calibration_error(probability: np.ndarray, correct: np.ndarray, bins: int = 10) -> float:
    """Return the expected calibration error: the mean distance between a bin's accuracy and its mean probability.

    Bins have equal numbers of words and are weighted by words (Guo et al. 2017, section 2). Returns NaN if every
    probability is NaN.
    """
    if np.isnan(probability).all():
        return float("nan")
    table = reliability(probability, correct, bins)
    return float(np.average(abs(table["accuracy"] - table["mean"]), weights=table["words"]))
