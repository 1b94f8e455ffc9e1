"""First-order pruner: a log-linear head classifier that keeps the k best heads of every word (Martins et al. 2009)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass as checked

from treebound.core.treebank import Treebank
from treebound.factors.templates import lines
from treebound.features.scorer import compile_arc
from treebound.features.tokens import TokenTable, attributes_of
from treebound.kernels.arcs.numbering import index_arcs
from treebound.kernels.chart.backbones import eisner_graph
from treebound.kernels.chart.hypergraph import best_arcs, inside
from treebound.kernels.features.scoring import Output, Place, score_arcs
from treebound.kernels.features.updates import AdaGrad, all_arcs, best_heads, pruner_step
from treebound.learning.storage import Attributes, History, Layout, load_arrays, save_arrays, tables

HEAD = lines("h.tag; h.form; h-1.tag h.tag; h.tag h+1.tag; h-1.tag h.tag h+1.tag; h.suffix h.tag")
MODIFIER = lines("m.tag; m.form; m-1.tag m.tag; m.tag m+1.tag; m-1.tag m.tag m+1.tag; m.suffix m.tag")
PAIR = lines("""
    h.tag m.tag; h.form m.form; h.form m.tag; h.tag m.form; h.coarse m.coarse
    h.tag h+1.tag m-1.tag m.tag; h-1.tag h.tag m-1.tag m.tag; h.tag h+1.tag m.tag m+1.tag; h-1.tag h.tag m.tag m+1.tag
    h.tag m-1.tag m.tag m+1.tag; h-1.tag h.tag h+1.tag m.tag; h.suffix m.tag; h.tag m.suffix
""")
VERSION = 1


@checked(config=ConfigDict(extra="forbid"))
class Header:
    """What stands in a pruner's file beside its weights."""

    format: str
    kind: str
    version: int
    attributes: Attributes
    history: History


HEADER = TypeAdapter(Header)


class Pruner:
    """Keeps the k best heads of every word."""

    def __init__(self, weights: np.ndarray, attributes: frozenset[str], history: list[dict] | None = None):
        self.weights = weights
        self.attributes = attributes
        self.history = history or []
        self.mask = len(weights) // 16 - 1
        self.templates = compile_arc(attributes, PAIR, HEAD, MODIFIER, ())

    def scores(self, rows: np.ndarray, tag: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(head, mod, log-linear scores) of all n^2 arcs of a sentence."""
        head, mod = all_arcs(len(tag) - 1)
        return head, mod, score_arcs(self.templates, rows, tag, head, mod, self.weights, self.mask)

    def allowed(self, rows: np.ndarray, tag: np.ndarray, k: int | None) -> np.ndarray:
        """bool[n + 1, n + 1]: the arcs (head first) that survive; all of them for k = None."""
        n = len(tag) - 1
        if k is None or k >= n:
            keep = np.ones((n + 1, n + 1), np.bool_)
            keep[:, 0] = False
            np.fill_diagonal(keep, False)
            return keep
        return best_heads(self.templates, rows, tag, self.weights, self.mask, k)

    def tree(self, rows: np.ndarray, tag: np.ndarray, single_root: bool) -> np.ndarray:
        """int32[n + 1]: heads of the best projective tree under the pruner's own scores. O(n^3)."""
        n = len(tag) - 1
        head, mod, scores = self.scores(rows, tag)
        index = index_arcs(n, self.allowed(rows, tag, None))
        graph = eisner_graph(index, n, single_root, 2**31)
        value = np.empty(len(graph.first) + 1)
        best = np.empty(len(graph.first) + 1, np.int32)
        inside(graph, np.append(scores, 0.0), value, best)
        arcs = np.empty(n, np.int32)
        best_arcs(graph, len(head), best, arcs, np.empty(2 * n + 8, np.int32))
        heads = np.full(n + 1, -1, np.int32)
        heads[mod[arcs]] = head[arcs]
        return heads

    def recall(self, treebank: Treebank, ks: Iterable[int]) -> dict[int, float]:
        """k -> share of words whose gold head is among the k best."""
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

    def arrays(self) -> dict[str, np.ndarray]:
        """What a file holds."""
        return {"weights": self.weights}

    def save(self, path: str | Path) -> None:
        """Write one file, atomically."""
        meta = {"kind": "pruner", "version": VERSION, "attributes": sorted(self.attributes), "history": self.history}
        save_arrays(path, meta, self.arrays())

    @classmethod
    def load(cls, path: str | Path) -> Pruner:
        """Read what `save` wrote. ModelError for anything else."""
        layout = {"weights": Layout(np.float32, tables(8, 28))}
        meta, arrays = load_arrays(path, "pruner", VERSION, HEADER, lambda _: layout)
        return cls(arrays["weights"], frozenset(meta["attributes"]), meta["history"])


def train_pruner(
    train: Treebank,
    *,
    epochs: int = 3,
    bits: int = 20,
    seed: int = 1,
    rate: float = 0.1,
    progress: Callable[[Iterable, str], Iterable] | None = None,
) -> Pruner:
    """Train by AdaGrad on the log-likelihood of the gold heads; O(n^2) features a sentence and epoch."""
    attributes = attributes_of(train)
    pruner = Pruner(np.zeros(1 << bits, np.float32), attributes)
    learner = AdaGrad(pruner.weights, np.zeros(1 << bits, np.float32), rate)
    table = TokenTable(train)
    room = Output(np.empty(1 << 12, np.int64), np.empty(1 << 12, np.float32), 1.0, Place(0, pruner.mask))
    rng = np.random.default_rng(seed)
    for epoch in range(epochs):
        loss = 0.0
        order: Iterable[int] = rng.permutation(len(train))
        for i in progress(order, f"pruner epoch {epoch + 1}/{epochs}") if progress else order:
            rows, tag = table.sentence(i)
            loss += pruner_step(pruner.templates, rows, tag, train.heads(i), learner, room)
        pruner.history.append({"epoch": epoch + 1, "loss": loss / max(1, train.words)})
    return pruner
