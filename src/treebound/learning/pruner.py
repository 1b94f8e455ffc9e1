"""The first-order pruner, a log-linear classifier that keeps the k best heads of every word (Martins et al. 2009).

With a threshold, a candidate head is also dropped if its probability is below the threshold times the best head's
probability. Fewer heads remain where the classifier is sure (as in TurboParser: Martins, Almeida & Smith 2013).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as checked

from treebound.core.errors import ModelError
from treebound.core.treebank import Treebank
from treebound.factors.templates import Lines, lines
from treebound.features.lazy_tokens import LazyTokenTable
from treebound.features.scorer import compile_arc
from treebound.features.tokens import TokenTable, attributes_of
from treebound.kernels.arcs.numbering import heads_of, index_arcs
from treebound.kernels.chart.first_order import best_candidates
from treebound.kernels.features.scoring import Output, Place, score_arcs
from treebound.kernels.features.templates import packed
from treebound.kernels.features.updates import AdaGrad, all_arcs, best_heads, pruner_step
from treebound.learning import loop
from treebound.learning.loop import Progress, Show
from treebound.learning.storage import Attributes, Format, Header, History, Layout, tables

HEAD = lines("h.tag; h.form; h-1.tag h.tag; h.tag h+1.tag; h-1.tag h.tag h+1.tag; h.suffix h.tag")
MODIFIER = lines("m.tag; m.form; m-1.tag m.tag; m.tag m+1.tag; m-1.tag m.tag m+1.tag; m.suffix m.tag")
PAIR = lines("""
    h.tag m.tag; h.form m.form; h.form m.tag; h.tag m.form; h.coarse m.coarse
    h.tag h+1.tag m-1.tag m.tag; h-1.tag h.tag m-1.tag m.tag; h.tag h+1.tag m.tag m+1.tag; h-1.tag h.tag m.tag m+1.tag
    h.tag m-1.tag m.tag m+1.tag; h-1.tag h.tag h+1.tag m.tag; h.suffix m.tag; h.tag m.suffix
""")
TEMPLATES: Lines = {"pruner": PAIR, "pruner-head": HEAD, "pruner-mod": MODIFIER}
DENSE = 1000  #: length in words up to which `Pruner.tree` considers all arcs
WIDE = 20  #: candidate heads per word in longer sentences


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class PrunerHeader(Header):
    """The header of a pruner file."""

    attributes: Attributes
    history: History
    templates: Lines


FORMAT = Format(
    "pruner", 2, PrunerHeader, lambda _: {"weights": Layout(np.float32, tables(8, 28))}, sparse=("weights",)
)


class Pruner:
    """A trained pruner, which keeps the k best heads of every word.

    weights     float32[2**bits]
    attributes  attributes of words that features may use
    history     one dict of values per epoch of training
    templates   feature templates, under the names of TEMPLATES; the attribute `lines` holds those in use
    """

    def __init__(
        self,
        weights: np.ndarray,
        attributes: frozenset[str],
        history: list[dict] | None = None,
        templates: Lines = TEMPLATES,
    ):
        self.weights = weights
        self.attributes = attributes
        self.history = history or []
        self.mask = len(weights) // 16 - 1
        self.lines = {name: templates[name] for name in TEMPLATES}
        pair, head, mod = self.lines.values()
        self.templates = compile_arc(attributes, pair, head, mod, ())
        self.packed = packed(self.templates)

    def scores(self, rows: np.ndarray, tag: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (head, modifier, log-linear score) of all n^2 arcs of a sentence, as three arrays.

        rows, tag  the sentence, as `TokenTable.sentence` returns it
        """
        head, mod = all_arcs(len(tag) - 1)
        return head, mod, score_arcs(self.templates, rows, tag, head, mod, self.weights, self.mask)

    def allowed(self, rows: np.ndarray, tag: np.ndarray, k: int | None, threshold: float = 0.0) -> np.ndarray:
        """Return bool[n + 1, n + 1], indexed by head and modifier: the candidate arcs.

        rows, tag  the sentence, as `TokenTable.sentence` returns it
        k          number of candidate heads per word; None keeps all
        threshold  smallest probability of a candidate head, as a fraction of the best head's probability; 0 keeps all
        """
        n = len(tag) - 1
        k = n if k is None else min(k, n)
        if k == n and not threshold:
            keep = np.ones((n + 1, n + 1), np.bool_)
            keep[:, 0] = False
            np.fill_diagonal(keep, False)
            return keep
        within = -np.log(threshold) if threshold else np.inf
        return best_heads(self.packed, rows, tag, self.weights, self.mask, k, within)

    def tree(self, rows: np.ndarray, tag: np.ndarray, single_root: bool) -> np.ndarray:
        """Return int32[n + 1]: the heads of the best projective tree under the pruner's own scores. O(n^3).

        In a sentence of more than DENSE words, the candidate heads of a word are its WIDE best heads and its two
        neighbours. This takes O(n^2) time, and the tree is then an approximation. `rows` and `tag` are the sentence, as
        `TokenTable.sentence` returns it.
        """
        n = len(tag) - 1
        if n <= DENSE:
            allowed = self.allowed(rows, tag, None)
        else:
            allowed = self.allowed(rows, tag, WIDE)
            words = np.arange(1, n + 1)
            allowed[words - 1, words] = True
            allowed[words[1:], words[:-1]] = True
        index = index_arcs(n, allowed)
        scores = score_arcs(self.templates, rows, tag, index.head, index.mod, self.weights, self.mask)
        into = np.empty(n, np.int32)
        best_candidates(index, scores, single_root, into)
        return heads_of(index, into)

    def recall(self, treebank: Treebank, ks: Iterable[int]) -> dict[int, float]:
        """Return a dict k -> share of words whose gold head is among the k best heads."""
        table = TokenTable(treebank)
        ks = list(ks)
        hits = dict.fromkeys(ks, 0)
        for i in range(len(treebank)):
            rows, tag = table.sentence(i)
            n = len(tag) - 1
            gold = treebank.heads(i)[1:]
            head, mod, scores = self.scores(rows, tag)
            by_word = np.full((n + 1, n + 1), -np.inf)
            by_word[mod, head] = scores
            rank = (by_word[1:] > by_word[np.arange(1, n + 1), gold][:, None]).sum(axis=1)
            for k in ks:
                hits[k] += int((rank < k).sum())
        return {k: hits[k] / max(1, treebank.words) for k in ks}

    def kept(self, treebank: Treebank, k: int | None, threshold: float) -> tuple[float, float]:
        """Return (share of words whose gold head is a candidate, mean number of candidate heads per word).

        k, threshold  the limits on candidate heads, as for `allowed`
        """
        table, hits, arcs = TokenTable(treebank), 0, 0
        for i in range(len(treebank)):
            allowed, gold = self.allowed(*table.sentence(i), k, threshold), treebank.heads(i)[1:]
            hits += int(allowed[gold, np.arange(1, len(gold) + 1)].sum())
            arcs += int(allowed.sum())
        return hits / max(1, treebank.words), arcs / max(1, treebank.words)

    def save(self, path: str | Path) -> None:
        """Write the pruner to one file, atomically."""
        fields = {"attributes": sorted(self.attributes), "history": self.history, "templates": self.lines}
        FORMAT.save(path, fields, {"weights": self.weights})

    @classmethod
    def load(cls, path: str | Path) -> Pruner:
        """Read a file that `save` wrote. Raises ModelError for any other file."""
        header, arrays = FORMAT.load(path)
        try:
            return cls(arrays["weights"], frozenset(header.attributes), header.history, header.templates)
        except (ValueError, KeyError) as error:
            raise ModelError(f"damaged pruner file ({error})", path=path, hint="train it again") from None


class _Training:
    """A training task of `treebound.learning.loop` that trains a pruner by AdaGrad."""

    def __init__(self, pruner: Pruner, train: Treebank, rate: float, sentences: np.ndarray):
        self.pruner, self.train, self.table = pruner, train, LazyTokenTable(train)
        self.sentences, self.words = sentences, int(train.lengths[sentences].sum())
        self.learner = AdaGrad(pruner.weights, np.zeros_like(pruner.weights), rate)
        self.buffer = Output(np.empty(1 << 12, np.int64), np.empty(1 << 12, np.float32), 1.0, Place(0, pruner.mask))

    def learn(self, order: np.ndarray, show: Show) -> dict:
        """Learn from all sentences once and return the mean loss per word."""
        pruner, loss = self.pruner, 0.0
        for i in show(self.sentences[order]):
            rows, tag = self.table.sentence(i)
            loss += pruner_step(pruner.templates, rows, tag, self.train.heads(i), self.learner, self.buffer)
        return {"loss": loss / max(1, self.words)}

    def result(self) -> Pruner:
        """Return the pruner itself, whose weights are updated in place."""
        return self.pruner


def train_pruner(
    train: Treebank,
    *,
    epochs: int = 3,
    bits: int = 20,
    seed: int = 1,
    rate: float = 0.1,
    progress: Progress | None = None,
    sentences: np.ndarray | None = None,
) -> Pruner:
    """Train a pruner by AdaGrad on the log-likelihood of the gold heads.

    Computes O(n^2) features per sentence and epoch.

    Parameters
    ----------
    train
        Training treebank.
    epochs
        Number of epochs.
    bits
        Binary logarithm of the size of the weight table.
    seed
        Seed of the random order of sentences.
    rate
        Learning rate.
    progress
        Shows the progress of a loop.
    sentences
        int64[*]: numbers of the training sentences to learn from; None for all.
    """
    chosen = np.arange(len(train)) if sentences is None else sentences
    task = _Training(Pruner(np.zeros(1 << bits, np.float32), attributes_of(train)), train, rate, chosen)
    rng = np.random.default_rng(seed)  # one generator for all epochs, so that each epoch has another order
    outcome = loop.train(task, epochs, lambda _: rng.permutation(len(chosen)), title="pruner ", progress=progress)
    outcome.best.history = outcome.history
    return outcome.best
