"""Labelled first-order model: scores s(i, j, l) of all arcs and labels, trained by single-best MIRA.

MIRA follows McDonald et al. (2005). The decoder in training is Chu-Liu-Edmonds on the best label of every arc, as in
Riedel & Clarke (2006, section 3.2), or any decoder of labelled problems. One such decoder is the integer program with
its constraints, a case that the paper leaves open.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as checked

from treebound import constraints as hard
from treebound.constraints.rows import Words
from treebound.core.errors import InputError, ModelError
from treebound.core.labelled import LabelledProblem, best_labels
from treebound.core.limits import longest
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.treebank import Sentence, Treebank
from treebound.decoders.exact.programs.incremental import chu_liu_edmonds
from treebound.factors.templates import Lines, digest, lines
from treebound.features.scorer import compile_arc
from treebound.features.tokens import TokenTable, attributes_of
from treebound.kernels.chart.arborescence import maximum_arborescence
from treebound.kernels.features.scoring import Output, Place
from treebound.kernels.features.updates import all_arcs
from treebound.learning import loop
from treebound.learning.checkpoint import Averages, Checkpoint, key_of
from treebound.learning.conventions import Conventions, conventions, training_meta
from treebound.learning.difference import Difference
from treebound.learning.loop import Progress, Show
from treebound.learning.storage import Attributes, Format, Header, History, Layout, Names, Unit
from treebound.learning.updates import UPDATES, Learner
from treebound.systems.constrained.features import labelled_features, score_labelled_arcs
from treebound.systems.constrained.settings import Settings

#: templates of McDonald et al. (2005), table 1, with conjunctions of both words' attributes (Riedel & Clarke 2006, 4.3)
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

TEMPLATES: Lines = {"arc": PAIR, "arc-head": HEAD, "arc-mod": MODIFIER, "between": BETWEEN}

LabelledDecoder = Callable[[LabelledProblem, Words], Parse]


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class LabelledHeader(Header):
    """Header of the file of a labelled model; the file also holds the weights."""

    key: str
    spec: Settings
    unit: Unit
    meta: Conventions
    names: Names
    attributes: Attributes
    templates: Lines
    constraints: str
    history: History


#: bytes per arc, per arc and label of the model, and per arc and label that the integer program considers
ARC, LABEL, CANDIDATE = 60, 16, 40
FORMAT = Format("labelled model", 2, LabelledHeader, lambda _: {"rows": Layout(np.int64), "weights": Layout(np.int32)})


class LabelledModel:
    """A labelled model: weights int32[2 ** bits, 1 + labels], `unit` integer steps per 1.0, so that scores are exact.

    meta         conventions of the training treebank;
    constraints  constraints for parsing in addition to those that make a tree, as a TOML text
                 (`treebound.constraints.parse`);
    lines        feature templates under the names of TEMPLATES;
    key          digest of settings, templates, constraints and training treebank
    """

    def __init__(
        self,
        spec: Settings,
        weights: np.ndarray,
        unit: float,
        names: tuple[str, ...],
        attributes: frozenset[str],
        history: list[dict] | None = None,
        meta: dict | None = None,
        *,
        constraints: str = "",
        templates: Lines = TEMPLATES,
        key: str = "",
    ):
        self.spec, self.weights, self.unit, self.names, self.key = spec, weights, unit, names, key
        self.attributes, self.history = attributes, history or []
        self.meta, self.constraints = conventions(meta or {}), constraints
        self.mask = len(weights) - 1
        self.lines = {name: templates[name] for name in TEMPLATES}
        pair, head, mod, between = self.lines.values()
        self.templates = compile_arc(attributes, pair, head, mod, between)

    def scores(self, rows: np.ndarray, tag: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (head, mod, scores) of all A = n^2 arcs of a sentence.

        Heads and modifiers are int32[A], scores are float64[A, labels]. `rows` and `tag` are the sentence, as
        `TokenTable.sentence` returns it.
        """
        head, mod = all_arcs(len(tag) - 1)
        return head, mod, score_labelled_arcs(self.templates, rows, tag, head, mod, self.weights, self.mask)

    @property
    def longest(self) -> int:
        """Return the length in words of the longest sentence whose labelled arcs fit the memory limit."""
        return longest(ARC + LABEL * len(self.names) + CANDIDATE * min(self.spec.k, len(self.names)))

    def problem(self, table: TokenTable, i: int, k: int, single_root: bool = True) -> LabelledProblem:
        """Return the problem of sentence i: all arcs with their k best labels."""
        rows, tag = table.sentence(i)
        head, mod, scores = self.scores(rows, tag)
        inner = Problem(len(tag) - 1, head, mod, scores.max(axis=1), single_root=single_root, unit=self.unit)
        return best_labels(inner, scores, k, self.names)

    def save(self, path: str | Path) -> None:
        """Write the model to one file, atomically."""
        fields = {"key": self.key, "spec": self.spec.as_dict(), "unit": self.unit, "names": list(self.names)}
        fields |= {"meta": self.meta, "attributes": sorted(self.attributes), "history": self.history}
        fields |= {"templates": self.lines, "constraints": self.constraints}
        used = np.flatnonzero(self.weights.any(axis=1)).astype(np.int64)
        FORMAT.save(path, fields, {"rows": used, "weights": self.weights[used]})

    @classmethod
    def load(cls, path: str | Path) -> LabelledModel:
        """Read a model file that `save` wrote. ModelError for any other file."""
        header, arrays = FORMAT.load(path)
        spec, used, stored = header.spec, arrays["rows"], arrays["weights"]
        weights = np.zeros((1 << spec.bits, 1 + len(header.names)), np.int32)
        rows = used.shape[0] if used.ndim == 1 else -1
        if stored.shape != (rows, weights.shape[1]) or (rows and not 0 <= used.min() <= used.max() < len(weights)):
            raise ModelError("damaged labelled model file (rows out of range)", path=path, hint="train it again")
        weights[used] = stored
        trained_on = frozenset(header.attributes), header.history, header.meta.as_meta()
        try:
            hard.parse(header.constraints, path)
            return cls(
                *(spec, weights, header.unit, header.names, *trained_on),
                constraints=header.constraints,
                templates=header.templates,
                key=header.key,
            )
        except (ValueError, KeyError, InputError) as error:
            raise ModelError(f"damaged labelled model file ({error})", path=path, hint="train it again") from None


def words_of(sentence: Sentence) -> Words:
    """Return the words as constraints see them: forms, coarse tags as word classes, and the columns FEATS and LEMMA."""
    form, upos, feats, lemma = (sentence.strings(name) for name in ("form", "upos", "feats", "lemma"))
    return Words.of(form, upos, feats=feats, lemma=lemma)


def train_labelled(
    spec: Settings,
    train: Treebank,
    *,
    decoder: LabelledDecoder | None = None,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> LabelledModel:
    """Train with MIRA and return the averaged model after the last epoch.

    decoder     finds the best tree of a labelled problem under the current weights; None uses Chu-Liu-Edmonds over all
                labels
    checkpoint  file written after every epoch; training resumes from it and removes it at the end

    The loss is the number of words with a wrong head or label. The step is min(C, (loss - margin) / squared norm of the
    difference). O(epochs words n labels T) for sentences of n words and T templates.
    """
    key = key_for(spec, train)
    rules = hard.text(spec.constraints) if spec.constraints else ""
    task = _Training(spec, train, decoder)
    saved = Checkpoint(checkpoint, key, task.learner) if checkpoint else None
    order = loop.shuffled(spec.seed, len(train))
    outcome = loop.train(task, spec.epochs, order, checkpoint=saved, progress=progress)
    weights, unit = outcome.best
    table = weights.reshape(task.model.weights.shape)
    known = task.model.names, task.model.attributes
    return LabelledModel(spec, table, unit, *known, outcome.history, training_meta(train), constraints=rules, key=key)


def key_for(spec: Settings, train: Treebank) -> str:
    """Return the key that identifies a model: a digest of settings, templates, constraints and treebank."""
    rules = hard.text(spec.constraints) if spec.constraints else ""
    return key_of(spec.as_dict(), [train], digest(TEMPLATES).encode(), rules.encode())


class _Training:
    """A labelled model in training, in the form that `treebound.learning.loop` expects."""

    def __init__(self, spec: Settings, train: Treebank, decoder: LabelledDecoder | None):
        self.train, self.decoder, self.difference = train, decoder, Difference()
        names = tuple(sorted(train.vocab["deprel"].strings))
        label_of = {name: i for i, name in enumerate(names)}
        ids = np.array([label_of[name] for name in train.vocab["deprel"].strings], np.int32)
        self.gold_labels = np.split(ids[train.columns["deprel"]], train.offsets[1:-1])
        self.single_root = bool(train.meta.get("single_root", True))
        self.learner = Learner((1 << spec.bits) * (1 + len(names)), UPDATES["mira"](spec.C))
        weights = self.learner.weights.reshape(-1, 1 + len(names))
        self.model = LabelledModel(spec, weights, 0.0, names, attributes_of(train))
        self.table = TokenTable(train)

    def learn(self, order: np.ndarray, show: Show) -> dict:
        """Train for one epoch and return its record."""
        wrong = sum(self._learn(i) for i in show(order))
        return {"train_errors": wrong / max(1, self.train.words)}

    def result(self) -> Averages:
        """Return the averaged weights."""
        return self.learner.average()

    def _learn(self, i: int) -> int:
        """Learn from sentence i and return the number of words with a wrong head or label."""
        rows, tag = self.table.sentence(i)
        gold, gold_labels = self.train.heads(i), self.gold_labels[i]
        heads, labels = self._decoded(i, rows, tag)
        self.learner.examples += 1
        errors = np.flatnonzero((heads[1:] != gold[1:]) | (labels[1:] != gold_labels)) + 1
        if not len(errors):
            return 0
        model, count, n = self.model, 0, len(gold_labels)
        *of_an_arc, between = (len(templates.seed) for templates in model.templates)
        slots, signs, rates = self.difference.reserve(2 * len(errors) * (4 * sum(of_an_arc) + 2 * n * between))
        for m in errors.tolist():
            right, wrong = (int(gold[m]), m, int(gold_labels[m - 1])), (int(heads[m]), m, int(labels[m]))
            for arc, sign in ((right, 1.0), (wrong, -1.0)):
                out = Output(slots, signs, sign, Place(0, model.mask))
                count = labelled_features(model.templates, rows, tag, arc, model.weights.shape[1], out, count)
        self.learner.update(slots, signs, rates, count, len(errors))
        return len(errors)

    def _decoded(self, i: int, rows: np.ndarray, tag: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return int32[n + 1] heads and labels of the best tree under the current weights."""
        model, n = self.model, len(tag) - 1
        head, mod, scores = model.scores(rows, tag)
        if self.decoder is None:
            return _best(head, mod, scores, n, self.single_root)
        inner = Problem(n, head, mod, scores.max(axis=1), single_root=self.single_root)
        problem = best_labels(inner, scores, model.spec.k, model.names)
        parse = self.decoder(problem, words_of(self.train[i]))
        if parse.labels is None:  # no tree satisfies the constraints
            parse, labels = chu_liu_edmonds(problem)
            return parse.heads, labels
        return parse.heads, parse.labels


def _best(
    head: np.ndarray, mod: np.ndarray, scores: np.ndarray, n: int, single_root: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return int32[n + 1] heads and labels of the best tree over all arcs. O(n^3)."""
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
