"""Treebanks to mine whose errors are known, from a later release of the same sentences or because they were planted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from studies.across.mining.settings import Run
from studies.common.corpus import gold
from treebound.core.treebank import Treebank
from treebound.mining.preparation import joined
from treebound.treebanks.projectivise import crossing


@dataclass(frozen=True)
class Sample:
    """A treebank to mine, of W words, and the annotation that counts as right.

    treebank   the treebank to mine
    known      bool[W]: True for words of sentences whose right annotation is known
    head       int32[W]: right heads; -1 if unknown
    label      object[W]: right labels; "" if unknown
    reference  treebanks on which one model is trained; empty if models are trained on folds instead
    """

    treebank: Treebank
    known: np.ndarray
    head: np.ndarray
    label: np.ndarray
    reference: tuple[Treebank, ...] = ()

    @property
    def head_changed(self) -> np.ndarray:
        """Return bool[W]: True for words whose head is an error."""
        return self.known & (self.head != self.treebank.head)

    @property
    def label_changed(self) -> np.ndarray:
        """Return bool[W]: True for words whose label is an error."""
        return self.known & (self.label != labels_of(self.treebank))

    @property
    def sentences_known(self) -> int:
        """Return the number of sentences whose right annotation is known."""
        return int(self.known[self.treebank.offsets[:-1]].sum())


def labels_of(treebank: Treebank) -> np.ndarray:
    """Return object[W]: the label of every word."""
    return np.array(treebank.vocab["deprel"].strings, object)[treebank.columns["deprel"]]


def make(run: Run, seed: int, limit: int | None = None) -> Sample:
    """Read the treebanks of a run and return its sample.

    limit: largest number of sentences; the run may have a lower limit.
    """
    treebank = joined([gold(run.treebank, split) for split in run.splits])
    sentences = min(len(treebank), *(count for count in (run.sentences, limit) if count is not None), 1_000_000_000)
    treebank = treebank.select(np.arange(sentences)) if sentences < len(treebank) else treebank
    if not run.later:
        wrong = with_planted_errors(treebank, run.planted, seed)
        return Sample(wrong, np.ones(wrong.words, bool), treebank.head, labels_of(treebank))
    later = joined([gold(run.later, split) for split in run.splits])
    reference = (gold(run.later, "train", limit and 4 * limit),) if run.reference else ()
    return replace(compared(treebank, later), reference=reference)


def compared(treebank: Treebank, later: Treebank) -> Sample:
    """Return a sample whose right annotation comes from a later release, for the sentences that both releases have."""
    head, label = np.full(treebank.words, -1, np.int32), np.full(treebank.words, "", object)
    known, labels = np.zeros(treebank.words, bool), labels_of(later)
    for i, j in enumerate(aligned(treebank, later).tolist()):
        if j < 0:
            continue
        ours, theirs = slice(*treebank.offsets[i : i + 2]), slice(*later.offsets[j : j + 2])
        head[ours], label[ours], known[ours] = later.head[theirs], labels[theirs], True
    return Sample(treebank, known, head, label)


def aligned(treebank: Treebank, later: Treebank) -> np.ndarray:
    """Return int64[sentences]: the index of the sentence of `later` with the same forms, or -1 without such a sentence.

    Several sentences with the same forms are aligned in the order in which they occur. O(words).
    """
    waiting: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for j in reversed(range(len(later))):
        waiting[tuple(later[j].strings("form"))].append(j)
    out = np.full(len(treebank), -1, np.int64)
    for i in range(len(treebank)):
        candidates = waiting.get(tuple(treebank[i].strings("form")))
        if candidates:
            out[i] = candidates.pop()
    return out


def with_planted_errors(treebank: Treebank, share: float, seed: int) -> Treebank:
    """Return the treebank with a share of its heads replaced by other words, drawn at random.

    Every sentence remains a tree with the same roots and at most as many crossing arcs. The shape of the tree therefore
    does not reveal an error. A word is skipped if it has no other head that meets these conditions.
    """
    rng = np.random.default_rng(seed)
    head = treebank.head.copy()
    owner = np.repeat(np.arange(len(treebank)), treebank.lengths)
    planted, target = 0, round(share * treebank.words)
    for w in rng.permutation(treebank.words).tolist():
        if planted == target:
            break
        first = int(treebank.offsets[owner[w]])
        heads = np.concatenate([[-1], head[first : treebank.offsets[owner[w] + 1]]]).astype(np.int32)
        candidates = _other_heads(heads, w - first + 1)
        if candidates:
            head[w] = candidates[int(rng.integers(len(candidates)))]
            planted += 1
    return replace(treebank, head=head)


def _other_heads(heads: np.ndarray, word: int) -> list[int]:
    """Return the other heads of a word with which the arcs still form a tree and no more arcs cross."""
    if heads[word] <= 0:
        return []
    limit = np.count_nonzero(crossing(heads))
    candidates = []
    for head in range(1, len(heads)):
        if head == heads[word] or word in _path_to_the_root(heads, head):
            continue
        changed = heads.copy()
        changed[word] = head
        if np.count_nonzero(crossing(changed)) <= limit:
            candidates.append(head)
    return candidates


def _path_to_the_root(heads: np.ndarray, word: int) -> Sequence[int]:
    """Return a word and its ancestors."""
    path = [word]
    while heads[path[-1]] > 0:
        path.append(int(heads[path[-1]]))
    return path
