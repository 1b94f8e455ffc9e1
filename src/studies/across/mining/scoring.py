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

DECIMALS = 9  #: number of decimals to which scores are rounded before they are compared


def order_of(scores: np.ndarray, counted: np.ndarray, seed: int) -> np.ndarray:
    """Return the indices of the words that a ranking lists, most suspicious first. W words are scored.

    scores   float64[W]: higher for more suspicious words
    counted  bool[W]: words that can be listed; all other words count neither as hits nor as misses
    seed     random seed for the order of words with equal scores. Treebank order could favour or harm a ranking in
             which many words have equal scores
    """
    listed = np.flatnonzero(counted & (scores > UNLISTED))
    shuffled = np.random.default_rng(seed).permutation(listed)
    rounded = np.round(scores[shuffled], DECIMALS)  # the last digits of sums depend on the processor
    return shuffled[np.argsort(-rounded, kind="stable")]


def judged(order: np.ndarray, wrong: np.ndarray, counted: np.ndarray, ks: Sequence[int]) -> dict[str, Any]:
    """Return the average precision of a ranked list, and the hits and the recall among its first k words for each k.

    order    indices of the listed words, most suspicious first
    wrong    bool[W]: words whose annotation is an error
    counted  bool[W]: words that are evaluated

    `low` and `high` are the ends of the 95 % Wilson interval of the precision. A k larger than the length of the list
    is left out. The average precision is the mean of the precision at the rank of each error; an error that is not
    listed counts 0.
    """
    is_error = wrong[order]
    errors = int(np.count_nonzero(wrong & counted))
    errors_so_far = np.cumsum(is_error)
    by_length = {}
    for k in (k for k in ks if k <= len(order)):
        low, high = wilson(int(errors_so_far[k - 1]), k)
        by_length[str(k)] = {
            "hits": int(errors_so_far[k - 1]),
            "low": low,
            "high": high,
            "recall": _share(int(errors_so_far[k - 1]), errors),
        }
    ranks = 1 + np.flatnonzero(is_error)
    average = float((errors_so_far[is_error] / ranks).sum() / errors) if errors else 0.0
    return {"at": by_length, "average_precision": average, "listed": len(order), "hits": int(is_error.sum())}


def change_names(sample: Sample) -> np.ndarray:
    """Return object[W]: the name of the change of each wrong head, or "" for a word whose head is no error.

    The group view of `treebound mine` uses the same names.
    """
    old, new = labels_of(sample.treebank), sample.label
    out = np.full(sample.treebank.words, "", object)
    for w in np.flatnonzero(sample.head_changed).tolist():
        out[w] = _change(int(sample.treebank.head[w]), old[w], int(sample.head[w]), new[w])
    return out


def _change(head: int, label: str, new_head: int, new_label: str) -> str:
    """Return the name of a change of a head, in the same form as `Suspect.group`."""
    return Suspect(0, "", 1, "", "head", head, label, "", new_head, new_label, "", 0.0, True, 0.0).group


def systematic(names: np.ndarray) -> dict[str, int]:
    """Return change -> count of the changes that occur more than `SYSTEMATIC` times, most frequent first."""
    counts = Counter(name for name in names.tolist() if name)
    frequent = [(name, count) for name, count in counts.items() if count > SYSTEMATIC]
    return dict(sorted(frequent, key=lambda entry: (-entry[1], entry[0])))


def found_in_groups(sample: Sample, suspects: Sequence[Suspect], changes: dict[str, int]) -> list[dict[str, Any]]:
    """Find the row of the group view of `treebound mine` for every systematic change. Return one result per change.

    Keys: change, count (number of words with this change in the release), row (rank among the groups of heads, from 1;
    0 if no group has this name), suspects (size of the group), hits (suspects of the group whose head was changed).
    """
    heads = [suspect for suspect in suspects if suspect.kind == "head"]
    rows = {group.key: (rank, group.count) for rank, group in enumerate(groups(heads), 1)}
    wrong = sample.head_changed
    hits = Counter(suspect.group for suspect in heads if wrong[place(sample.treebank, suspect)])
    return [
        {"change": name, "count": count, "row": rows.get(name, (0, 0))[0]}
        | {"suspects": rows.get(name, (0, 0))[1], "hits": hits[name]}
        for name, count in changes.items()
    ]


def proposed_right(sample: Sample, suspects: Sequence[Suspect], order: np.ndarray) -> dict[str, int]:
    """Count the errors in a ranked list of heads, and the errors that were corrected to exactly the proposed head.

    order  indices of the words of the list

    Keys: errors, exact.
    """
    proposed = {place(sample.treebank, s): s.proposed_head for s in suspects if s.kind == "head"}
    errors = [w for w in order.tolist() if sample.head_changed[w]]
    return {"errors": len(errors), "exact": sum(int(sample.head[w]) == proposed.get(w) for w in errors)}


def _share(part: int, whole: int) -> float:
    """Return part / whole, or 0 if whole is 0."""
    return part / whole if whole else 0.0
