"""Precision and recall of ranked lists, and the separation of systematic changes from single corrections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.across.mining.rankings import UNLISTED, place
from studies.across.mining.samples import Sample, labels_of
from treebound.metrics.calibration import wilson
from treebound.mining.groups import SYSTEMATIC, groups
from treebound.mining.suspects import Suspect

DECIMALS = 9  #: scores that agree in so many decimals are equal


def order_of(scores: np.ndarray, counted: np.ndarray, seed: int) -> np.ndarray:
    """Return the words that a ranking lists, best first.

    scores   float64[W]: higher for more suspicious words
    counted  bool[W]: words that are listed at all; the others count neither as hits nor as misses
    seed     of the order of words with equal scores, which is random: no ranking gains by the order of the treebank
    """
    listed = np.flatnonzero(counted & (scores > UNLISTED))
    shuffled = np.random.default_rng(seed).permutation(listed)
    rounded = np.round(scores[shuffled], DECIMALS)  # sums differ in their last digits on other processors
    return shuffled[np.argsort(-rounded, kind="stable")]


def judged(order: np.ndarray, wrong: np.ndarray, counted: np.ndarray, ks: Sequence[int]) -> dict[str, Any]:
    """Return what a ranked list is worth: precision and recall at each k, and average precision.

    order    words, best first
    wrong    bool[W]: words whose annotation is an error
    counted  bool[W]: words that count

    Intervals are Wilson's, of 95 %. A list that is shorter than k has no entry at k. Average precision is the mean of
    the precision at the rank of each error; an error that is not listed counts 0.
    """
    hits = wrong[order]
    errors = int(np.count_nonzero(wrong & counted))
    caught = np.cumsum(hits)
    at = {}
    for k in (k for k in ks if k <= len(order)):
        low, high = wilson(int(caught[k - 1]), k)
        at[str(k)] = {
            "hits": int(caught[k - 1]),
            "low": low,
            "high": high,
            "recall": _share(int(caught[k - 1]), errors),
        }
    ranks = 1 + np.flatnonzero(hits)
    average = float((caught[hits] / ranks).sum() / errors) if errors else 0.0
    return {"at": at, "average_precision": average, "listed": len(order), "hits": int(hits.sum())}


def change_names(sample: Sample) -> np.ndarray:
    """Return object[W]: the name of each change of a head, in the words of the group view; "" for words without one."""
    old, new = labels_of(sample.treebank), sample.label
    out = np.full(sample.treebank.words, "", object)
    for w in np.flatnonzero(sample.head_changed).tolist():
        out[w] = _change(int(sample.treebank.head[w]), old[w], int(sample.head[w]), new[w])
    return out


def _change(head: int, label: str, new_head: int, new_label: str) -> str:
    """Return `Suspect.group` of a change."""
    return Suspect(0, "", 1, "", "head", head, label, "", new_head, new_label, "", 0.0, True, 0.0).group


def systematic(names: np.ndarray) -> dict[str, int]:
    """Return the changes that a release made more than `SYSTEMATIC` times, with their numbers, most frequent first."""
    counts = Counter(name for name in names.tolist() if name)
    kept = [(name, count) for name, count in counts.items() if count > SYSTEMATIC]
    return dict(sorted(kept, key=lambda entry: (-entry[1], entry[0])))


def found_in_groups(sample: Sample, suspects: Sequence[Suspect], changes: dict[str, int]) -> list[dict[str, Any]]:
    """Return, for every systematic change, the row of the group view that names it.

    Keys: change, count (words that the release changed so), row (its rank among groups of heads, from 1; 0 where none
    has the name), suspects (size of the group), hits (suspects of the group whose head was changed).
    """
    some = [suspect for suspect in suspects if suspect.kind == "head"]
    rows = {group.key: (rank, group.count) for rank, group in enumerate(groups(some), 1)}
    wrong = sample.head_changed
    hits = Counter(suspect.group for suspect in some if wrong[place(sample.treebank, suspect)])
    return [
        {"change": name, "count": count, "row": rows.get(name, (0, 0))[0]}
        | {"suspects": rows.get(name, (0, 0))[1], "hits": hits[name]}
        for name, count in changes.items()
    ]


def proposed_right(sample: Sample, suspects: Sequence[Suspect], order: np.ndarray) -> dict[str, int]:
    """Return how many errors of a ranked list of heads were corrected to exactly the proposed head.

    order  words of the list. Keys: errors, exact.
    """
    proposed = {place(sample.treebank, s): s.proposed_head for s in suspects if s.kind == "head"}
    errors = [w for w in order.tolist() if sample.head_changed[w]]
    return {"errors": len(errors), "exact": sum(int(sample.head[w]) == proposed.get(w) for w in errors)}


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
