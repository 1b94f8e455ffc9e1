"""Stage: run one fold of the experiments of Riedel & Clarke (2006, section 5): accuracy, time, approximation.

A labelled model is trained on the other folds. The fold is parsed by Chu-Liu-Edmonds and under the hard constraints of
the corpus. Every number is a sum over sentences, so that the folds add up to the tables of the paper. Seconds are CPU
seconds, because folds run side by side. On the folds that the setting `looped` lists, a second model is trained with
the integer program in the loop, an experiment that the paper leaves open (section 3.2).
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from studies.common import folds, stage
from studies.common.params import Params
from studies.riedel_clarke_2006.constraints.settings import Constraints
from treebound.constraints import load
from treebound.constraints.no_cycles import NoCycles
from treebound.constraints.one_head import OneHead
from treebound.constraints.rows import Constraint, Words
from treebound.core.labelled import LabelledProblem, best_variables
from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.decoders.exact.programs.incremental import IncrementalProgram, chu_liu_edmonds
from treebound.features.tokens import TokenTable
from treebound.systems.constrained.model import LabelledDecoder, LabelledModel, train_labelled, words_of
from treebound.systems.constrained.settings import Settings
from treebound.treebanks import document

BASELINE = "baseline"
CONSTRAINTS = "constraints"
PUBLISHED = "constraints, published loop"
#: upper ends of the bins of sentence lengths; the last bin is open
LENGTHS = (10, 20, 30, 40, 50)
#: limits per sentence that the claims of the paper name: iterations, and a short and a long time in seconds
FEW, SHORT, LONG = 20, 0.5, 120.0
#: variables per word and largest number of seconds per sentence for the integer program in the loop of training. The
#: weights of early training are poor, so trees break many constraints, and the full program would take too long.
LOOP_Q, LOOP_SECONDS = 20, 5.0


class Solved(NamedTuple):
    """The parse of a sentence by one system.

    heads, labels  int32[n + 1]
    first          CPU seconds of the first solve
    iterations     number of solves
    rows           number of inequalities that were added to the program after the first solve
    """

    heads: np.ndarray
    labels: np.ndarray
    first: float = 0.0
    iterations: int = 0
    rows: int = 0
    status: str = "optimal"


System = Callable[[LabelledProblem, Words], Solved]


def baseline(problem: LabelledProblem, words: Words) -> Solved:
    """Parse with Chu-Liu-Edmonds on the best label of every arc."""
    parse, labels = chu_liu_edmonds(problem)
    return Solved(parse.heads, labels, status=parse.status)


def program(constraints: list[Constraint], q: int | None = None, **options: Any) -> System:
    """Return the system that solves the integer program over the q best variables of every word (None: all).

    If no tree satisfies the constraints, Chu-Liu-Edmonds parses the sentence over all arcs. The status of the
    program, for instance `infeasible`, shows this.
    """
    decoder = IncrementalProgram(constraints, **options)

    def decode(problem: LabelledProblem, words: Words) -> Solved:
        parse = decoder.decode_labelled(best_variables(problem, q) if q else problem, words)
        work = parse.record.first, parse.work["iterations"], sum(parse.record.added.values()), parse.status
        if parse.labels is None:
            tree, labels = chu_liu_edmonds(problem)
            return Solved(tree.heads, labels, *work)
        return Solved(parse.heads, parse.labels, *work)

    return decode


def systems(corpus: str, qs: tuple[int, ...]) -> dict[str, System]:
    """Map names to the systems to compare. The first system is the one with which the others are compared.

    qs  numbers of best variables per word; each number adds an approximate integer program
    """
    compared: dict[str, System] = {BASELINE: baseline, CONSTRAINTS: program(load(corpus))}
    published = load(corpus, (OneHead(), NoCycles("cycle")))
    compared[PUBLISHED] = program(published, start="none", relaxation="never")
    return compared | {f"{CONSTRAINTS}, q = {q}": program(load(corpus), q) for q in qs}


def compare(model: LabelledModel, held_out: Treebank, k: int, compared: Mapping[str, System]) -> pd.DataFrame:
    """Parse the sentences of a fold with every system. Return one row per system and sentence: counts and work.

    k  number of best labels that are kept for each arc

    The columns with counts and times are:

    heads                     words with the right head
    labelled                  words with the right head and label
    gained, lost              words that only this system, or only the first system, gives the right head and label
    gained_heads, lost_heads  the same counts for heads alone
    changed                   words to which this system and the first system give different heads or labels
    features                  CPU seconds for the features and scores of a sentence, equal for all systems
    """
    start = time.process_time()
    table = TokenTable(held_out)
    tokens = (time.process_time() - start) / max(1, len(held_out))
    single_root = bool(held_out.meta.get("single_root", True))
    number = {name: i for i, name in enumerate(model.names)}
    rows: list[dict[str, Any]] = []
    for i, sentence in enumerate(held_out):
        if i == 0:
            model.problem(table, i, k, single_root)  # compiles the kernels before anything is timed
        start = time.process_time()
        problem, words = model.problem(table, i, k, single_root), words_of(sentence)
        features = tokens + time.process_time() - start
        gold_labels = np.array([number.get(name, -2) for name in sentence.strings("deprel")])
        first: tuple[np.ndarray, np.ndarray, Solved] | None = None
        for name, system in compared.items():
            if i == 0:
                system(problem, words)  # compiles the kernels before anything is timed
            start = time.process_time()
            solved = system(problem, words)
            seconds = time.process_time() - start
            heads = solved.heads[1:] == sentence.heads[1:]
            labelled = heads & (solved.labels[1:] == gold_labels)
            first = first or (heads, labelled, solved)
            equal_to_first = (solved.heads[1:] == first[2].heads[1:]) & (solved.labels[1:] == first[2].labels[1:])
            rows.append(
                {
                    "system": name,
                    "sentence": i,
                    "n": sentence.n,
                    "heads": int(heads.sum()),
                    "labelled": int(labelled.sum()),
                    "gained": int((labelled & ~first[1]).sum()),
                    "lost": int((first[1] & ~labelled).sum()),
                    "gained_heads": int((heads & ~first[0]).sum()),
                    "lost_heads": int((first[0] & ~heads).sum()),
                    "changed": int((~equal_to_first).sum()),
                    "seconds": seconds,
                    "first": solved.first,
                    "features": features,
                    "iterations": solved.iterations,
                    "rows": solved.rows,
                    "status": solved.status,
                }
            )
    return pd.DataFrame(rows)


COUNTS = ("n", "heads", "labelled", "gained", "lost", "gained_heads", "lost_heads", "changed", "iterations", "rows")
SUMS = (*COUNTS, "seconds", "first", "features")


def summary(data: pd.DataFrame) -> dict[str, Any]:
    """Return sums over the rows of one system in a table that `compare` returned.

    Tables later add these sums over folds.

    better, worse  sentences with more, or fewer, right words (head and label) than the first system
    by_length      sums by length bin; a bin holds the sentences longer than `longer_than`, up to the start of the next
                   bin
    """
    change = data["gained"] - data["lost"]
    bins = np.searchsorted(LENGTHS, data["n"])
    sums: dict[str, Any] = {"sentences": len(data)} | {name: data[name].sum().item() for name in SUMS}
    sums |= {
        "complete": int((data["heads"] == data["n"]).sum()),
        "complete_labelled": int((data["labelled"] == data["n"]).sum()),
        "better": int((change > 0).sum()),
        "worse": int((change < 0).sum()),
        "few_iterations": int((data["iterations"] < FEW).sum()),
        "short": int((data["seconds"] < SHORT).sum()),
        "long": int((data["seconds"] > LONG).sum()),
        "slowest": float(data["seconds"].max()),
        "status": {str(status): int(count) for status, count in data["status"].value_counts().items()},
        "by_length": [
            {"longer_than": low, "sentences": len(selected), "long": int((selected["seconds"] > LONG).sum())}
            | {name: selected[name].sum().item() for name in ("n", "seconds", "first", "iterations")}
            for low, selected in ((low, data[bins == i]) for i, low in enumerate((0, *LENGTHS)))
            if len(selected)
        ],
    }
    return sums


def summaries(data: pd.DataFrame) -> dict[str, Any]:
    """Map each system in a table that `compare` returned to its `summary`."""
    return {str(name): summary(rows) for name, rows in data.groupby("system", sort=False)}


def model_file(corpus: str, fold: int | str) -> Path:
    """Return the path of the model of a fold."""
    return stage.MODELS / "constraints" / corpus / f"{fold}.npz"


def specification(settings: Constraints, seed: int) -> Settings:
    """Return the training settings of the models of all folds."""
    return Settings(epochs=settings.epochs, k=settings.k, seed=seed)


def reading(corpus: str, fold: int, count: int) -> float:
    """Measure the CPU seconds of reading the first `count` sentences of a fold from CoNLL-U text in memory."""
    whole = document.read(stage.CONVERTED / corpus / f"{'train' if fold else 'test'}.conllu")
    text = io.BytesIO()
    whole.select(np.flatnonzero(folds.of_split(len(whole), fold))[:count]).write(text)
    start = time.process_time()
    document.read(text.getvalue())
    return time.process_time() - start


def in_the_loop(corpus: str) -> LabelledDecoder:
    """Return the decoder that training with constraints uses.

    The decoder solves the integer program over the `LOOP_Q` best variables of every word, within `LOOP_SECONDS`. If it
    finds no tree, it solves the program over all variables, with the same limit.
    """
    decoder = IncrementalProgram(load(corpus), time_limit=LOOP_SECONDS)

    def decode(problem: LabelledProblem, words: Words) -> Parse:
        parse = decoder.decode_labelled(best_variables(problem, LOOP_Q), words)
        return parse if parse.labels is not None else decoder.decode_labelled(problem, words)

    return decode


def trained_in_the_loop(params: Params, corpus: str, train: Treebank, held_out: Treebank) -> tuple[dict, pd.DataFrame]:
    """Train with the integer program in the loop and parse the fold `held_out` with and without constraints.

    Return two values: the sums of each system together with the CPU seconds of training, and the table of `compare`.
    """
    settings = params.section(Constraints)
    start = time.process_time()
    model = train_labelled(specification(settings, params.seed), train, decoder=in_the_loop(corpus))
    seconds = time.process_time() - start
    data = compare(model, held_out, settings.k, {BASELINE: baseline, CONSTRAINTS: program(load(corpus))})
    return {"in the loop": summaries(data), "loop_train_cpu_s": seconds}, data


def run(params: Params, corpus: str, fold: str) -> None:
    """Train on the other folds and parse one fold; write the model, the table of `compare` and its sums."""
    settings = params.section(Constraints)
    train, held_out = folds.load(corpus, int(fold), params.slice)
    start = time.process_time()
    model = train_labelled(specification(settings, params.seed), train)
    train_seconds = time.process_time() - start
    model.save(model_file(corpus, fold))
    stage.say(f"{corpus} fold {fold}: trained in {train_seconds:.0f} s")
    data = compare(model, held_out, settings.k, systems(corpus, settings.q))
    stage.say(f"{corpus} fold {fold}: parsed")
    metrics = {"train_sentences": len(train), "train_cpu_s": train_seconds, "systems": summaries(data)}
    metrics["reading_cpu_s"] = reading(corpus, int(fold), len(held_out))
    data = data.assign(training=BASELINE)
    if int(fold) in settings.looped:
        sums, rows = trained_in_the_loop(params, corpus, train, held_out)
        stage.say(f"{corpus} fold {fold}: trained with the program in the loop in {sums['loop_train_cpu_s']:.0f} s")
        metrics |= sums
        data = pd.concat([data, rows.assign(training=CONSTRAINTS)], ignore_index=True)
    path = stage.PREDICTIONS / corpus / f"constraints.{fold}.csv"
    stage.write(path, data.to_csv(index=False, lineterminator="\n"))
    stage.write_metrics(stage.METRICS / "constraints" / corpus / f"{fold}.json", metrics)


if __name__ == "__main__":
    stage.main(run)
