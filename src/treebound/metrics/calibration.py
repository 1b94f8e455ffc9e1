"""Does confidence say how often a parser is right?"""

from __future__ import annotations

import numpy as np

NORMAL_95 = 1.959964
COLUMNS = ("words", "confidence", "mean", "accuracy", "low", "high")  #: of a reliability table


def reliability(confidence: np.ndarray, correct: np.ndarray, bins: int = 10) -> dict[str, np.ndarray]:
    """Accuracy of the words of each bin of confidence, bins of equal size from the least confident to the most.

    confidence float[W], correct bool[W]; words with nan are left out. Equal values never fall into different bins, so
    there may be fewer. Columns: words, confidence (median, inf where most are), mean, accuracy and its 95 % interval
    low .. high (Wilson 1927), in 0..1. O(W log W).
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


def wilson(right: int, of: int) -> tuple[float, float]:
    """95 % interval of a share, Wilson (1927)."""
    if of == 0:
        return 0.0, 1.0
    p, z2 = right / of, NORMAL_95**2
    middle, half = p + z2 / (2 * of), NORMAL_95 * np.sqrt(p * (1 - p) / of + z2 / (4 * of * of))
    low, high = (middle - half) / (1 + z2 / of), (middle + half) / (1 + z2 / of)
    return float(min(low, p)), float(max(high, p))  # p = 0 and p = 1 are ends of it but for rounding


def coverage(confidence: np.ndarray, correct: np.ndarray, points: int = 100) -> dict[str, np.ndarray]:
    """Accuracy of the most confident words alone: columns kept (share of words) and accuracy, both in 0..1.

    Words with the same confidence are kept or dropped together; those with nan are the last to be kept. O(W log W).
    """
    ranked = np.where(np.isnan(confidence), -np.inf, confidence)
    order = np.argsort(-ranked, kind="stable")
    ordered = ranked[order]
    ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]) + 1, len(order))
    wanted = np.linspace(0, len(order), points + 1)[1:]
    ends = np.unique(ends[np.searchsorted(ends, wanted)])
    return {"kept": ends / len(order), "accuracy": np.cumsum(correct[order])[ends - 1] / ends}


def calibration_error(probability: np.ndarray, correct: np.ndarray, bins: int = 10) -> float:
    """Expected calibration error: mean distance of a bin's accuracy from its mean probability, weighted by words.

    Guo et al. (2017), section 2, with bins of equal size. nan for no words.
    """
    if np.isnan(probability).all():
        return float("nan")
    table = reliability(probability, correct, bins)
    return float(np.average(abs(table["accuracy"] - table["mean"]), weights=table["words"]))
