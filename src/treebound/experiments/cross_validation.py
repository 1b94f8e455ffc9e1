"""The experiments of Riedel & Clarke (2006, section 5) by nine-fold cross-validation: accuracy, time, approximation.

    python -m treebound.experiments.cross_validation nl_alpino --jobs 2

Of a corpus whose split is every-tenth, sentence i belongs to fold i % 10; fold 1 is the development set and is left
out, the other nine are parsed by a model of the other eight. Every fold writes a model and a table with one row for
each sentence and system; folds that are there with the same settings are not computed again. `summary` makes the
tables of the paper.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from treebound.constraints import TREE, load
from treebound.constraints.no_cycles import NoCycles
from treebound.constraints.one_head import OneHead
from treebound.constraints.rows import Words
from treebound.core.errors import InputError, TreeboundError
from treebound.core.labelled import LabelledProblem, best_variables
from treebound.core.treebank import Treebank
from treebound.decoders.incremental_ilp import IncrementalProgram, chu_liu_edmonds
from treebound.experiments import stage
from treebound.experiments.corpus import gold
from treebound.features.tokens import TokenTable
from treebound.learning.labelled import LabelledSpec, train_labelled, words_of

FOLDS = (0, 2, 3, 4, 5, 6, 7, 8, 9)
LABELS = 5  #: k of bestk(i, j)
QS = (2, 5, 10, 20, 50)
LENGTHS = (10, 20, 30, 40, 50)  #: upper ends of the bins of sentence lengths; the last bin is open
ROW = ("sentence", "length", "heads", "labelled", "seconds", "first", "iterations", "status")


def folder(corpus: str) -> Path:
    """Where the folds' tables lie."""
    return stage.PREDICTIONS / corpus / "cross-validation"


def divide(train: Treebank, test: Treebank, fold: int) -> tuple[Treebank, Treebank]:
    """(what fold `fold` is trained on, the fold) of an every-tenth corpus without its development set.

    Training sentence k is sentence 10 (k // 8) + 2 + k % 8 of the corpus, as none was dropped; fold 0 is the test set.
    """
    of_train = 2 + np.arange(len(train)) % 8
    if fold == 0:
        return train, test
    return joined(train.select(np.flatnonzero(of_train != fold)), test), train.select(np.flatnonzero(of_train == fold))


def joined(a: Treebank, b: Treebank) -> Treebank:
    """The sentences of both, strings renumbered."""
    columns, vocab = {}, {}
    for name in a.columns:
        vocabulary = type(a.vocab[name])(a.vocab[name].strings)
        number = np.array([vocabulary.add(s) for s in b.vocab[name].strings], a.columns[name].dtype)
        columns[name] = np.concatenate([a.columns[name], number[b.columns[name]]])
        vocab[name] = vocabulary
    offsets = np.concatenate([a.offsets, a.offsets[-1] + b.offsets[1:]])
    return Treebank(a.name, offsets, columns, vocab, np.concatenate([a.head, b.head]), a.meta)


#: (problem, words) -> (heads, labels, seconds of the first solve, iterations, status)
System = Callable[[LabelledProblem, Words], tuple]


def systems(corpus: str) -> dict[str, System]:
    """What is compared, by name."""

    def baseline(problem: LabelledProblem, words: Words) -> tuple:
        parse, labels = chu_liu_edmonds(problem)
        return parse.heads, labels, 0.0, 0, parse.status

    def program(**options: Any) -> System:
        decoder = IncrementalProgram(load(corpus, options.pop("tree", TREE)), **options)

        def decode(problem: LabelledProblem, words: Words) -> tuple:
            parse = decoder.decode_labelled(problem, words)
            if parse.labels is None:  # infeasible: counted, and Chu-Liu-Edmonds takes over
                tree, labels = chu_liu_edmonds(problem)
                return tree.heads, labels, parse.record.first, parse.work["iterations"], parse.status
            return parse.heads, parse.labels, parse.record.first, parse.work["iterations"], parse.status

        return decode

    tuned = program()
    found: dict[str, System] = {
        "baseline": baseline,
        "constraints": tuned,
        "constraints, published loop": program(start="none", relaxation="never", tree=(OneHead(), NoCycles("cycle"))),
    }

    def narrowed(q: int) -> System:
        return lambda problem, words: tuned(best_variables(problem, q), words)

    return found | {f"constraints, q = {q}": narrowed(q) for q in QS}


def run_fold(corpus: str, fold: int, spec: LabelledSpec, limit: int | None) -> Path:
    """Train and parse one fold, unless its table is there."""
    settings = {"spec": asdict(spec), "labels": LABELS, "limit": limit, "qs": list(QS)}
    path = folder(corpus) / f"{fold}.json"
    try:
        if json.loads(path.read_text(encoding="utf-8"))["settings"] == settings:
            return path
    except (OSError, ValueError, KeyError):
        pass
    train, held_out = divide(gold(corpus, "train"), gold(corpus, "test"), fold)
    if limit is not None:
        train, held_out = train.select(np.arange(limit)), held_out.select(np.arange(limit // 4))
    started = time.process_time()
    model = train_labelled(spec, train)
    trained = time.process_time() - started
    model.save(stage.MODELS / corpus / f"labelled.fold{fold}.npz")
    stage.say(f"{corpus} fold {fold}: trained in {trained:.0f} s")
    table = TokenTable(held_out)
    single_root = bool(held_out.meta.get("single_root", True))
    rows: dict[str, list[list]] = {}
    decode = systems(corpus)
    for i, sentence in enumerate(held_out):
        problem, words = model.problem(table, i, LABELS, single_root), words_of(sentence)
        heads_of = sentence.heads[1:]
        labels_of = {name: k for k, name in enumerate(model.names)}
        wanted = np.array([labels_of.get(name, -2) for name in sentence.strings("deprel")])
        for name, system in decode.items():
            begun = time.perf_counter()
            heads, labels, first, iterations, status = system(problem, words)
            seconds = time.perf_counter() - begun
            right = heads[1:] == heads_of
            both = right & (labels[1:] == wanted)
            cells = [i, sentence.n, int(right.sum()), int(both.sum()), seconds, first, iterations, status]
            rows.setdefault(name, []).append(cells)
    stage.write_json(path, {"settings": settings, "columns": list(ROW), "rows": rows, "train_seconds": trained})
    stage.say(f"{corpus} fold {fold}: parsed")
    return path


def summary(paths: list[Path]) -> dict[str, Any]:
    """The paper's three tables over the folds that are there, every system beside the baseline.

    UAC, LAC: words with the right head, head and label, over all words, in %; UC, LC: sentences that are all right.
    sign: sentences that have more, fewer words right (head and label) than the baseline's, and the two-sided p.
    """
    from scipy.stats import binomtest

    together: dict[str, list[list]] = {}
    for path in paths:
        for name, rows in json.loads(path.read_text(encoding="utf-8"))["rows"].items():
            together.setdefault(name, []).extend(rows)
    out: dict[str, Any] = {"folds": len(paths), "systems": {}}
    base = _columns(together["baseline"])
    for name, rows in together.items():
        c = _columns(rows)
        words, sentences = int(c["length"].sum()), len(rows)
        better = int((c["labelled"] > base["labelled"]).sum())
        worse = int((c["labelled"] < base["labelled"]).sum())
        by_length = []
        for low, high in zip((0, *LENGTHS), (*LENGTHS, 10**9), strict=True):
            these = (c["length"] > low) & (c["length"] <= high)
            if these.any():
                solved = these & (c["iterations"] > 0)
                by_length.append(
                    {
                        "longer_than": low,
                        "sentences": int(these.sum()),
                        "mean_seconds": float(c["seconds"][these].mean()),
                        "over_120_s": int((c["seconds"][these] > 120).sum()),
                        "mean_iterations": float(c["iterations"][these].mean()),
                        "mean_first_seconds": float(c["first"][solved].mean()) if solved.any() else 0.0,
                    }
                )
        total = float(c["seconds"].sum())
        out["systems"][name] = {
            "sentences": sentences,
            "words": words,
            "UAC": 100 * float(c["heads"].sum()) / words,
            "LAC": 100 * float(c["labelled"].sum()) / words,
            "UC": 100 * float((c["heads"] == c["length"]).mean()),
            "LC": 100 * float((c["labelled"] == c["length"]).mean()),
            "sign": {
                "better": better,
                "worse": worse,
                "p": float(binomtest(better, better + worse).pvalue) if better + worse else 1.0,
            },
            "seconds": total,
            "first_share": float(c["first"].sum()) / total if total else 0.0,
            "under_20_iterations": 100 * float((c["iterations"] < 20).mean()),
            "under_half_a_second": 100 * float((c["seconds"] < 0.5).mean()),
            "status": {status: int((c["status"] == status).sum()) for status in sorted(set(c["status"].tolist()))},
            "by_length": by_length,
        }
    return out


def _columns(rows: list[list]) -> dict[str, np.ndarray]:
    return {name: np.array([row[i] for row in rows]) for i, name in enumerate(ROW)}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpus")
    parser.add_argument("--folds", type=int, nargs="*", default=list(FOLDS), choices=FOLDS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=LabelledSpec.epochs)
    parser.add_argument("--limit", type=int, help="train on the first N sentences and parse N / 4 (a smoke test)")
    arguments = parser.parse_args()
    corpus, spec = arguments.corpus, LabelledSpec(epochs=arguments.epochs)
    try:
        report = json.loads((stage.CONVERTED / corpus / "conversion.json").read_text(encoding="utf-8"))
        if report["meta"]["split"] != "every-tenth" or report["splits"]["train"]["dropped"]:
            raise InputError(f"{corpus}: its split is not every-tenth", hint="folds are told from sentence numbers")
        work = [(corpus, fold, spec, arguments.limit) for fold in arguments.folds]
        with ProcessPoolExecutor(arguments.jobs, get_context("spawn")) as pool:
            paths = list(pool.map(run_fold, *zip(*work, strict=True)))
        stage.write_json(stage.METRICS / "cross-validation" / f"{corpus}.json", summary(paths))
    except OSError as error:
        sys.exit(f"error: {error}; run `treebound convert {corpus}`")
    except TreeboundError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
