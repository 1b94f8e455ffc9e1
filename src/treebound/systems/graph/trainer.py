"""Online structured learning: averaged perceptron as published, and margin-based MIRA with Hamming cost.

Per sentence: prune, score, decode (with cost for MIRA), update on the difference of the features of the gold tree and
of the decoded one. The decoder is branch and bound, whatever the model's families; where arcs may cross, a climb from
head to head (`treebound.decoders.approximate.climbing`).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from pydantic import ConfigDict, FiniteFloat, TypeAdapter
from pydantic.dataclasses import dataclass as checked

from treebound.core.errors import InputError, ModelError
from treebound.core.protocols import Decoder
from treebound.core.treebank import Treebank
from treebound.decoders.approximate.climbing import HillClimbing
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound
from treebound.factors.pattern_language import PatternSet, named_patterns
from treebound.features.labels import inventory, numbered
from treebound.features.scorer import Scorer
from treebound.features.tokens import TokenTable
from treebound.kernels.arcs.numbering import arcs_of_tree
from treebound.kernels.features.scoring import only_in
from treebound.kernels.features.updates import margin, merge, step
from treebound.learning.averages import FIXED_UNIT, averaged
from treebound.learning.difference import Difference
from treebound.learning.storage import History, Layout, load_arrays, save_arrays
from treebound.systems.graph.labelling import Labelling
from treebound.systems.graph.model import Model
from treebound.systems.graph.pruner import Pruner
from treebound.systems.graph.spec import ModelSpec
from treebound.treebanks.projectivise import is_projective, projectivise

CHECKPOINT_VERSION = 1

Progress = Callable[[Iterable, str], Iterable]


@checked(config=ConfigDict(extra="forbid"))
class Checkpoint:
    """What stands in a checkpoint beside its weights."""

    format: str
    kind: str
    version: int
    key: str
    examples: int
    unit: FiniteFloat
    history: History


CHECKPOINT = TypeAdapter(Checkpoint)


class Learner:
    """Weights in training, with the sums that give their average.

    weights  float32[size] (integers for the perceptron, exact up to 2 ** 24)
    sums     float64[size] sum over updates of (examples seen before) * update
    examples number of sentences seen
    """

    def __init__(self, size: int):
        self.weights = np.zeros(size, np.float32)
        self.sums = np.zeros(size, np.float64)
        self.scratch = np.zeros(size, np.float32)
        self.examples = 0

    def update(
        self, slots: np.ndarray, signs: np.ndarray, rates: np.ndarray, count: int, cost: float, limit: float
    ) -> None:
        """Step towards the feature difference of the right and the wrong structure, which ought to be `cost` apart.

        rates  how far the weight of each slot goes with a step of 1: as if its feature were sqrt(rate), not 1
        limit  the largest step (MIRA); inf: a step of 1 whatever the cost, and every rate 1 (perceptron)
        """
        if limit == np.inf:
            rates[:count] = 1.0
        count, norm = merge(slots, signs, rates, count, self.scratch)
        if norm == 0.0:
            return
        size = 1.0
        if limit < np.inf:
            size = min(limit, (cost - margin(self.weights, slots, signs, count)) / norm)
        if size > 0.0:
            step(self.weights, self.sums, self.examples - 1, slots, signs, rates, count, size)

    def average(self, perceptron: bool) -> tuple[np.ndarray, float]:
        """(int32 weights, units per 1.0) of the average over all examples.

        Perceptron: the integer accumulators themselves, T w - sum, exact as long as they fit; otherwise fixed point.
        """
        unit = float(max(1, self.examples)) if perceptron else FIXED_UNIT
        return averaged(self.weights, self.sums, self.examples, unit)


def train(
    spec: ModelSpec,
    train: Treebank,
    dev: Treebank,
    pruner: Pruner,
    *,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> Model:
    """The model of the epoch with the best dev UAS - LAS, if it labels -, evaluated with exact decoding.

    checkpoint  a file written after every epoch; training resumes from it and removes it at the end
    Where the model's trees are projective, non-projective gold trees are projectivised for training (Nivre & Nilsson
    2005), and never for evaluation.
    """
    from treebound.evaluation.attachment import evaluate, has_labels
    from treebound.systems.graph.parser import Parser

    if spec.labels != "none" and not has_labels(train):
        raise InputError(f"{train.name}: not every word has a label", hint="train without labels")
    names = inventory(train) if spec.labels != "none" else ()
    labelling = Labelling(spec, names, pruner.attributes)
    gold_labels = np.split(numbered(train, names), train.offsets[1:-1])
    learner = Learner(labelling.weights)
    patterns = named_patterns(spec.families, train.meta)
    scorer = Scorer(spec.families, pruner.attributes, spec.bits, patterns)
    projective = spec.space == "projective"
    gold, lifted = _projective_heads(train) if projective else ([train.heads(i) for i in range(len(train))], 0)
    single_root = bool(train.meta.get("single_root", True))
    history: list[dict] = []
    best: tuple[np.ndarray, float] | None = None
    key = _key(spec, train, pruner, patterns)
    if checkpoint is not None and checkpoint.exists():
        best, history = _resume(checkpoint, key, learner)
    table = TokenTable(train, scorer.matches(train))
    sentences: Iterable[int] = range(len(train))
    allowed = _candidates(
        table, progress(sentences, "candidate heads") if progress else sentences, gold, pruner, spec.k
    )
    perceptron = spec.learner == "perceptron"
    cost = 0.0 if perceptron else spec.cost
    label_cost = 0.0 if perceptron else spec.label_cost
    limit = np.inf if perceptron else spec.C
    scale = 1.0 if perceptron else FIXED_UNIT
    decoder = _decoder(spec)
    difference = Difference()
    for epoch in range(len(history), spec.epochs):
        started, started_wall = time.process_time(), time.perf_counter()
        order: Iterable[int] = np.random.default_rng([spec.seed, epoch]).permutation(len(train))
        wrong = dp_calls = limited = updates = 0
        before = f" (dev UAS so far {max(r['dev_uas'] for r in history):.2f})" if history else ""
        for i in progress(order, f"epoch {epoch + 1}/{spec.epochs}{before}") if progress else order:
            learner.examples += 1
            rows, tag = table.sentence(i)
            labels = gold_labels[i]
            if labelling.stage is not None:
                found = labelling.of_tree(learner.weights, rows, gold[i], labels, label_cost)
                slots, signs, rates = difference.reserve(labelling.room(len(gold[i]) - 1))
                count = labelling.stage_difference(gold[i], labels, found, rows, slots, signs)
                learner.update(slots, signs, rates, count, label_cost * int((found != labels).sum()), limit)
            scored = scorer.score(learner.weights, rows, tag, allowed[i], single_root, projective, table.matches(i))
            scored, folded = labelling.fold(learner.weights, rows, scored, labels, label_cost)
            index = scored.arc_index
            gold_arcs = arcs_of_tree(index, gold[i])
            cost_arc = np.full(len(scored.arc), cost)
            cost_arc[gold_arcs] = 0.0
            arc = np.rint((scored.arc + cost_arc) * scale)
            scores = {f: np.rint(s * scale) for f, s in scored.by_family.items()}
            parse = decoder.decode(scored._replace(arc=arc, by_family=scores).problem(1.0))
            heads = parse.heads
            dp_calls += parse.work["dp_calls"]
            limited += parse.status == "limit"
            if parse.status == "infeasible":
                # a gold tree with several roots in a single-root corpus, and no other tree left
                continue
            errors = int((heads[1:] != gold[i][1:]).sum())
            pred_arcs = arcs_of_tree(index, heads)
            found = labels if folded is None else folded[pred_arcs]
            mislabelled = int((found != labels).sum())
            if errors == 0 and mislabelled == 0:
                continue
            wrong += errors
            updates += 1
            ours, theirs = {}, {}
            for family in ("arc", *spec.families):
                g, p = scored.selected(family, gold_arcs), scored.selected(family, pred_arcs)
                ours[family], theirs[family] = only_in(g, p), only_in(p, g)
            n = len(heads) - 1
            room = scorer.room(ours, n) + scorer.room(theirs, n) + labelling.room(n)
            slots, signs, rates = difference.reserve(room)
            count = scorer.features(ours, 1.0, scored, rows, tag, slots, signs, 0, rates)
            count = scorer.features(theirs, -1.0, scored, rows, tag, slots, signs, count, rates)
            if labelling.joint is not None:
                ways = (gold_arcs, labels), (pred_arcs, found)
                count = labelling.difference(*ways, index, rows, slots, signs, count)
            learner.update(slots, signs, rates, count, cost * errors + label_cost * mislabelled, limit)
        cpu, wall = time.process_time() - started, time.perf_counter() - started_wall
        weights, unit = learner.average(perceptron)
        model = Model(spec, weights, unit, pruner, train.meta, history, names, patterns)
        parser = Parser(model, k=spec.k, max_dp_calls=spec.max_dp_calls or 2000)
        parses = parser.parse(dev, progress=_renamed(progress, f"dev, epoch {epoch + 1}/{spec.epochs}"))
        labelled = [model.label_names(p) for p in parses] if names else None
        summary = evaluate(dev, [p.heads for p in parses], labelled).summary
        record = {
            "epoch": epoch + 1,
            "train_accuracy": 1.0 - wrong / max(1, train.words),
            "updates": updates,
            "dp_calls": dp_calls,
            "capped": limited,
            "projectivised": lifted,
            "dev_uas": summary["uas"],
        }
        if names:
            record["dev_las"] = summary["las"]
        if best is None or accuracy(record) > max(map(accuracy, history)):
            best = weights, unit
        history.append(record | {"cpu_seconds": round(cpu, 2), "wall_seconds": round(wall, 2)})
        if checkpoint is not None:
            _save(checkpoint, key, learner, best, history)
    assert best is not None
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    return Model(spec, best[0], best[1], pruner, train.meta, history, names, patterns)


def _renamed(progress: Progress | None, name: str) -> Progress | None:
    """The same display under another name."""
    return progress and (lambda items, _: progress(items, name))


def accuracy(record: dict) -> float:
    """What the best epoch is chosen by: LAS on dev where the model has labels, else UAS."""
    return record.get("dev_las", record["dev_uas"])


def _projective_heads(treebank: Treebank) -> tuple[list[np.ndarray], int]:
    """Gold heads of every sentence, projectivised where they cross, and how many were."""
    out, lifted = [], 0
    for i in range(len(treebank)):
        heads = treebank.heads(i)
        if not is_projective(heads):
            heads, _ = projectivise(heads)
            lifted += 1
        out.append(heads)
    return out, lifted


def _decoder(spec: ModelSpec) -> Decoder:
    """How training sentences are decoded.

    Where arcs may cross, a good tree has to do: the search for the best one costs many times as much and a model is
    no better for it.
    """
    return HillClimbing() if spec.space == "non-projective" else BranchAndBound(max_dp_calls=spec.max_dp_calls)


def _candidates(
    table: TokenTable, sentences: Iterable[int], gold: list[np.ndarray], pruner: Pruner, k: int | None
) -> list[np.ndarray]:
    """Candidate arcs of every training sentence: the pruner's and the gold ones."""
    out = []
    for i in sentences:
        rows, tag = table.sentence(i)
        allowed = pruner.allowed(rows, tag, k)
        allowed[gold[i][1:], np.arange(1, len(tag))] = True
        out.append(allowed)
    return out


def _key(spec: ModelSpec, train: Treebank, pruner: Pruner, patterns: PatternSet | None) -> str:
    """Identifies the run that a checkpoint belongs to."""
    digest = hashlib.blake2b(repr(sorted(spec.as_dict().items())).encode(), digest_size=16)
    digest.update(patterns.text.encode() if patterns else b"")
    for array in (train.head, train.offsets, *(train.columns[c] for c in sorted(train.columns)), pruner.weights):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _save(path: Path, key: str, learner: Learner, best: tuple[np.ndarray, float], history: list[dict]) -> None:
    meta = {
        "kind": "checkpoint",
        "version": CHECKPOINT_VERSION,
        "key": key,
        "examples": learner.examples,
        "unit": best[1],
    }
    arrays: dict[str, np.ndarray] = {"weights": learner.weights, "sums": learner.sums, "best": best[0]}
    save_arrays(path, meta | {"history": history}, arrays)


def _resume(path: Path, key: str, learner: Learner) -> tuple[tuple[np.ndarray, float] | None, list[dict]]:
    """State of the checkpoint, or a fresh start if it belongs to another run or cannot be read."""
    table = learner.weights.shape
    layouts = {"weights": Layout(np.float32, {table}), "sums": Layout(np.float64, {table})}
    layouts["best"] = Layout(np.int32, {table})
    try:
        meta, arrays = load_arrays(path, "checkpoint", CHECKPOINT_VERSION, CHECKPOINT, lambda _: layouts)
    except ModelError:
        return None, []
    if meta["key"] != key:
        return None, []
    learner.weights[:], learner.sums[:], learner.examples = arrays["weights"], arrays["sums"], meta["examples"]
    return (arrays["best"], meta["unit"]), meta["history"]
