"""Labelled first-order model: s(i, j, l) for every arc and label, trained by single-best MIRA (McDonald et al. 2005).

The decoder in the loop is Chu-Liu-Edmonds on the best label of every arc, as published by Riedel & Clarke (2006,
section 3.2), or any decoder of labelled problems: the integer program with its constraints is the case that they leave
open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass as checked

from treebound.constraints.rows import Words
from treebound.core.errors import ModelError
from treebound.core.labelled import LabelledProblem, best_labels
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.treebank import Sentence, Treebank
from treebound.decoders.exact.programs.incremental import chu_liu_edmonds
from treebound.factors.templates import lines
from treebound.features.scorer import compile_arc
from treebound.features.tokens import TokenTable, attributes_of
from treebound.kernels.chart.arborescence import maximum_arborescence
from treebound.kernels.features.scoring import Output, Place
from treebound.kernels.features.updates import all_arcs, margin, merge, step
from treebound.learning.averages import averaged
from treebound.learning.difference import Difference
from treebound.learning.storage import Attributes, History, Names, Unit, load_arrays, save_arrays
from treebound.systems.constrained.features import labelled_features, score_labelled_arcs

VERSION = 1

#: McDonald et al. (2005), table 1, and conjunctions of the attributes of both words (Riedel & Clarke 2006, section 4.3)
HEAD = lines("h.form; h.tag; h.form h.tag; h.suffix h.tag; h.lemma; h-1.tag h.tag; h.tag h+1.tag; h.feats")
MODIFIER = tuple(t.replace("h.", "m.").replace("h-", "m-").replace("h+", "m+") for t in HEAD)
PAIR = lines("""
    h.form h.tag m.form m.tag; h.tag m.form m.tag; h.form m.form m.tag; h.form h.tag m.tag; h.form h.tag m.form
    h.form m.form; h.tag m.tag
    h.tag h+1.tag m-1.tag m.tag; h-1.tag h.tag m-1.tag m.tag; h.tag h+1.tag m.tag m+1.tag; h-1.tag h.tag m.tag m+1.tag
    h.tag m-1.tag m.tag; h.tag m.tag m+1.tag; h.tag h+1.tag m.tag; h-1.tag h.tag m.tag
    h.lemma m.lemma; h.lemma m.tag; h.tag m.lemma; h.lemma m.suffix; h.suffix m.lemma
    h.suffix m.suffix; h.suffix h.tag m.tag; h.tag m.suffix m.tag
    h.feats m.feats; h.tag h.feats m.tag; h.tag m.tag m.feats
    h.form m-1.tag m.tag; h.tag m.form m+1.tag; h.lemma m-1.tag m.tag
""")
BETWEEN = lines("h.tag b.tag m.tag")

LabelledDecoder = Callable[[LabelledProblem, Words], Parse]


@dataclass(frozen=True)
class LabelledSpec:
    """Hyperparameters.

    epochs  passes over the training set
    bits    log2 of the number of feature rows; a row has one weight a label and one for all
    C       largest step of an update
    k       labels of an arc that a decoder in the loop sees
    seed    order of the sentences
    """

    epochs: int = 5
    bits: Annotated[int, Field(ge=4, le=28)] = 18
    C: float = 0.01
    k: int = 5
    seed: int = 1


@checked(config=ConfigDict(extra="forbid"))
class Header:
    """What stands in the file of a labelled model beside its weights."""

    format: str
    kind: str
    version: int
    spec: LabelledSpec
    unit: Unit
    names: Names
    attributes: Attributes
    history: History


HEADER = TypeAdapter(Header)


class LabelledModel:
    """Weights int32[2 ** bits, 1 + labels], `unit` of them to 1.0; scores are exact integers."""

    def __init__(
        self,
        spec: LabelledSpec,
        weights: np.ndarray,
        unit: float,
        names: tuple[str, ...],
        attributes: frozenset[str],
        history: list[dict] | None = None,
    ):
        self.spec, self.weights, self.unit, self.names = spec, weights, unit, names
        self.attributes, self.history = attributes, history or []
        self.mask = len(weights) - 1
        self.templates = compile_arc(attributes, PAIR, HEAD, MODIFIER, BETWEEN)

    def scores(self, rows: np.ndarray, tag: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(head, mod, float64[A, labels]) of all n^2 arcs of a sentence."""
        head, mod = all_arcs(len(tag) - 1)
        return head, mod, score_labelled_arcs(self.templates, rows, tag, head, mod, self.weights, self.mask)

    def problem(self, table: TokenTable, i: int, k: int, single_root: bool = True) -> LabelledProblem:
        """All arcs of sentence i with their k best labels."""
        rows, tag = table.sentence(i)
        head, mod, scores = self.scores(rows, tag)
        inner = Problem(len(tag) - 1, head, mod, scores.max(axis=1), single_root=single_root, unit=self.unit)
        return best_labels(inner, scores, k, self.names)

    def save(self, path: str | Path) -> None:
        """Write one file, atomically."""
        meta = {"kind": "labelled model", "version": VERSION, "unit": self.unit, "names": list(self.names)}
        meta |= {"spec": asdict(self.spec), "attributes": sorted(self.attributes), "history": self.history}
        used = np.flatnonzero(self.weights.any(axis=1)).astype(np.int64)
        save_arrays(path, meta, {"rows": used, "weights": self.weights[used]})

    @classmethod
    def load(cls, path: str | Path) -> LabelledModel:
        """Read what `save` wrote. ModelError for anything else."""
        meta, arrays = load_arrays(path, "labelled model", VERSION, HEADER)
        spec, names = LabelledSpec(**meta["spec"]), tuple(meta["names"])
        weights = np.zeros((1 << spec.bits, 1 + len(names)), np.int32)
        used, given = arrays.get("rows"), arrays.get("weights")
        if used is None or given is None or used.dtype != np.int64 or given.dtype != np.int32:
            raise ModelError("damaged labelled model file (other arrays than it has)", path=path, hint="train it again")
        rows = used.shape[0] if used.ndim == 1 else -1
        if given.shape != (rows, weights.shape[1]) or (rows and not 0 <= used.min() <= used.max() < len(weights)):
            raise ModelError("damaged labelled model file (rows out of range)", path=path, hint="train it again")
        weights[used] = given
        return cls(spec, weights, meta["unit"], names, frozenset(meta["attributes"]), meta["history"])


def words_of(sentence: Sentence) -> Words:
    """What constraints see: forms, and the coarse tags as word classes."""
    return Words.of(sentence.strings("form"), sentence.strings("upos"))


def train_labelled(
    spec: LabelledSpec,
    train: Treebank,
    *,
    decoder: LabelledDecoder | None = None,
    progress: Callable[[Iterable, str], Iterable] | None = None,
) -> LabelledModel:
    """The averaged model after the last epoch. O(epochs words n labels T).

    decoder  best tree of a labelled problem under the weights so far; None: Chu-Liu-Edmonds over all labels

    Loss: words with a wrong head or label. Step: min(C, (loss - margin) / squared norm of the difference).
    """
    names = tuple(sorted(train.vocab["deprel"].strings))
    label_of = {name: i for i, name in enumerate(names)}
    ids = np.array([label_of[name] for name in train.vocab["deprel"].strings], np.int32)
    columns = 1 + len(names)
    single_root = bool(train.meta.get("single_root", True))
    model = LabelledModel(spec, np.zeros((1 << spec.bits, columns), np.float32), 0.0, names, attributes_of(train))
    flat = model.weights.reshape(-1)
    sums, scratch = np.zeros(len(flat)), np.zeros(len(flat), np.float32)
    table = TokenTable(train)
    difference = Difference()
    *of_an_arc, between = (len(templates.seed) for templates in model.templates)
    seen = 0
    for epoch in range(spec.epochs):
        wrong = 0
        order: Iterable[int] = np.random.default_rng([spec.seed, epoch]).permutation(len(train))
        for i in progress(order, f"epoch {epoch + 1}/{spec.epochs}") if progress else order:
            rows, tag = table.sentence(i)
            n = len(tag) - 1
            gold = train.heads(i)
            gold_labels = ids[train.columns["deprel"][train.offsets[i] : train.offsets[i + 1]]]
            head, mod, scores = model.scores(rows, tag)
            if decoder is None:
                heads, labels = _best(head, mod, scores, n, single_root)
            else:
                inner = Problem(n, head, mod, scores.max(axis=1), single_root=single_root)
                problem = best_labels(inner, scores, spec.k, names)
                parse = decoder(problem, words_of(train[i]))
                if parse.labels is None:  # no tree keeps the constraints
                    parse, found = chu_liu_edmonds(problem)
                    heads, labels = parse.heads, found
                else:
                    heads, labels = parse.heads, parse.labels
            seen += 1
            errors = np.flatnonzero((heads[1:] != gold[1:]) | (labels[1:] != gold_labels)) + 1
            if not len(errors):
                continue
            wrong += len(errors)
            count = 0
            slots, signs, rates = difference.reserve(2 * len(errors) * (4 * sum(of_an_arc) + 2 * n * between))
            for m in errors.tolist():
                right, other = (int(gold[m]), m, int(gold_labels[m - 1])), (int(heads[m]), m, int(labels[m]))
                for arc, sign in ((right, 1.0), (other, -1.0)):
                    out = Output(slots, signs, sign, Place(0, model.mask))
                    count = labelled_features(model.templates, rows, tag, arc, columns, out, count)
            count, norm = merge(slots, signs, rates, count, scratch)
            if norm == 0.0:
                continue
            size = min(spec.C, (len(errors) - margin(flat, slots, signs, count)) / norm)
            if size > 0.0:
                step(flat, sums, seen - 1, slots, signs, rates, count, size)
        model.history.append({"epoch": epoch + 1, "train_errors": wrong / max(1, train.words)})
    means, unit = averaged(flat, sums, seen)
    weights = means.reshape(model.weights.shape)
    return LabelledModel(spec, weights, unit, names, model.attributes, model.history)


def _best(
    head: np.ndarray, mod: np.ndarray, scores: np.ndarray, n: int, single_root: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Heads and labels int32[n + 1] of the best tree of all arcs. O(n^3)."""
    label = scores.argmax(axis=1)
    best = scores[np.arange(len(head)), label]
    table, labels = np.full((n + 1, n + 1), -np.inf), np.full((n + 1, n + 1), -1, np.int32)
    table[head, mod], labels[head, mod] = best, label
    if single_root:
        table[0] -= 1.0 + 2.0 * np.ceil(np.abs(best).sum())
    heads = maximum_arborescence(table)
    out = np.full(n + 1, -1, np.int32)
    out[1:] = labels[heads[1:], np.arange(1, n + 1)]
    return heads, out
