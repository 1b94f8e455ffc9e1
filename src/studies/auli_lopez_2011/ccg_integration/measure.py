"""Stage: compare all decoders of the joint CCG supertagger and parser (Auli & Lopez 2011, tables 4 to 6).

    python -m studies.auli_lopez_2011.ccg_integration.measure NAME

The metrics have these parts:

- `columns`: accuracy of each decoder and output rule (`systems.ccg.output`) on dev and test, under adaptive
  supertagging and its reverse, and the number of derivations that score less than the optimum. The decoders are the
  parser alone, belief propagation and dual decomposition after some iterations, and exact search. Dual decomposition
  runs with the step sizes of this project (`dd`) and of the paper (`dd-published`).
- `curves`: accuracy and share of settled sentences on dev, by iteration.
- `settled`: the iteration in which each dev sentence settled: its beliefs converged (belief propagation), or its
  derivation was proved (dual decomposition).
- `lengths`: cost of the proofs by sentence length.
- `beams`: joint score and accuracy of the decoders for each single beam on dev, over the sentences that have a
  derivation under every beam.
- `differences`: differences in labelled F-score, with intervals.
- `counts`: numbers of labelled dependencies of each sentence under belief propagation, so that two parsers can be
  compared sentence by sentence.

Seconds are stored in a separate file. Timing is interleaved: every decoder parses PART sentences before any decoder
parses the next PART sentences, so that a slowdown of the machine affects all decoders. The CPU seconds of each part are
stored and give the interval of a ratio of speeds. This needs one pass over dev. Repeated runs would need several
passes, and would not show how the ratio varies with the sentences.

Parts of PART sentences run in parallel on all cores. Each result is stored as soon as it is computed, so that an
interrupted run resumes with the missing parts.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from studies.auli_lopez_2011.ccg.files import ccg_parser, file_of, load
from studies.auli_lopez_2011.ccg.measure import ORDERS
from studies.auli_lopez_2011.ccg.settings import CCG
from studies.auli_lopez_2011.ccg_integration.settings import CCGIntegration
from studies.common import stage
from studies.common.cores import cores
from studies.common.params import Params, digest
from studies.common.paths import ccg_file
from treebound.core.treebank import Treebank
from treebound.metrics.timing import Stopwatch
from treebound.support.workers import spread
from treebound.systems.ccg.integration import Integration
from treebound.systems.ccg.model import CCGModel
from treebound.systems.ccg.output import Output, published
from treebound.systems.ccg.settings import levels
from treebound.systems.ccg.study import (
    DECODERS,
    OUTPUTS,
    Course,
    Outcome,
    Outputs,
    Studied,
    Study,
    difference,
    scores,
)
from treebound.systems.ccg.system import Parser
from treebound.systems.ccg.training import read_derivations
from treebound.systems.ccg.words import words_of
from treebound.treebanks.ccg.derivation import Derivation

SPLITS = ("dev", "test")
PART = 10  #: number of sentences that are studied, stored and timed together
ITERATED = ("bp", "dd", "dd-published")  #: iterative decoders
SHOWN = 50  #: last iteration that the curves of accuracy show
LENGTHS = (10, 20, 30, 40, 1_000_000)  #: largest sentence length of each bin, in words


class Task(NamedTuple):
    """Sentences that all decoders parse, with the beams of one order or with a single beam.

    beams  beams that are tried in turn, until a sentence has a derivation
    most   largest number of iterations of a decoder
    kept   folder with the stored results; each file holds the results of PART sentences
    key    digest of the model and the sentences
    """

    model: CCGModel
    treebank: Treebank
    gold: list[Derivation]
    beams: tuple[str, ...]
    most: int
    kept: Path
    key: str


def studied(task: Task, workers: int) -> list[Studied]:
    """Parse all sentences with every decoder, in parallel. Return results for the sentences with a derivation."""
    parts = range(0, len(task.treebank), PART)
    return [sentence for part in spread(_part, task, parts, workers=workers) for sentence in part]


def _part(task: Task, begin: int) -> list[Studied]:
    """Parse the PART sentences from `begin` on with every decoder, or read their stored results."""
    end = min(begin + PART, len(task.treebank))
    path = task.kept / f"{digest(task.key, task.beams, task.most, begin, end)}.json"
    try:
        return [_read(sentence) for sentence in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError, IndexError):
        pass
    model, tag = task.model, task.model.meta["tag"]
    arguments = (
        model.tagger,
        model.made_grammar(),
        model.weights.astype(np.float64),
        levels(task.beams),
        model.spec.limit,
    )
    study = Study(*arguments, gold=task.gold[begin:end], most=task.most, shown=SHOWN)
    study.parse(words_of(task.treebank.select(np.arange(begin, end)), tag))
    sentences = [sentence._replace(sentence=sentence.sentence + begin) for sentence in study.studied]
    stage.write_json(path, sentences)
    return sentences


def _read(data: Any) -> Studied:
    """Read the results of all decoders for one sentence, which were written as JSON."""
    sentence, words, edges, decoders, *remaining = data
    outputs = {name: Outputs(*(_course(course) for course in courses)) for name, courses in decoders.items()}
    return Studied(sentence, words, edges, {name: outputs[name] for name in DECODERS}, *remaining)


def _course(data: Any) -> Course:
    """Read a decoder's outcome for one sentence after each iteration, which was written as JSON."""
    outcomes, settled = data
    return Course([(k, Outcome(value, tuple(counts))) for k, (value, counts) in outcomes], settled)


class Column(NamedTuple):
    """A column of the tables: a decoder with its number of iterations (0 if it has none) and its output rule."""

    decoder: str
    iterations: int
    output: Output

    def name(self, order: str) -> str:
        """Return the column's name in comparisons, for example `reverse bp 1` or `AST parser least-risk`.

        The name omits the output rule if the paper uses this rule with the decoder.
        """
        parts = [order, self.decoder, str(self.iterations) if self.iterations else ""]
        return " ".join(part for part in (*parts, "" if self.usual else self.output) if part)

    @property
    def usual(self) -> bool:
        """Return whether the paper uses this output rule with this decoder."""
        return self.output == published(self.decoder)


def column_of(row: Mapping[str, Any]) -> Column:
    """Return the column to which a row of the stored metrics `columns` belongs.

    Rows of older runs name no output rule; their decoders used the rule of the paper.
    """
    return Column(row["decoder"], row["iterations"], row.get("output") or published(row["decoder"]))


def column_named(name: str) -> tuple[str, Column]:
    """Parse a name that `Column.name` returned. Return the order and the column."""
    order, decoder, *rest = name.split()
    rule = next((rule for rule in OUTPUTS if rule in rest), published(decoder))
    return order, Column(decoder, next((int(part) for part in rest if part.isdigit()), 0), rule)


def columns(iterations: Sequence[int]) -> list[Column]:
    """List all columns, decoder by decoder. For each decoder, the output rule of the paper comes first.

    iterations  numbers of iterations for which an iterative decoder has columns
    """
    iterated = [(name, k) for name in ITERATED for k in iterations]
    decoders = [("parser", 0), *iterated, ("exact", 0)]
    return [Column(name, k, rule) for name, k in decoders for rule in _rules(name)]


def _rules(decoder: str) -> list[Output]:
    """Return both output rules, beginning with the rule that the paper uses with a decoder."""
    published_rule = published(decoder)
    return [published_rule, *(rule for rule in OUTPUTS if rule != published_rule)]


def columns_of(sentences: Sequence[Studied], iterations: Sequence[int]) -> dict[Column, list[Outcome]]:
    """Map every column to the outcomes of its decoder and output rule, one outcome per sentence."""
    return {
        column: [sentence.decoders[column.decoder].by(column.output).at(column.iterations) for sentence in sentences]
        for column in columns(iterations)
    }


def column_rows(parsed: Sequence[Studied], sentences: int, iterations: Sequence[int]) -> list[dict[str, Any]]:
    """Return the scores of every column, one row per column. A row also has these keys:

    parsed   number of sentences with a derivation
    settled  number of sentences whose beliefs converged, or whose derivation dual decomposition proved
    proved   number of sentences whose optimum is proved
    less     number of derivations that score less than the proved optimum
    lost     mean loss in score of the derivations counted by `less`
    """
    rows = []
    for column, outcomes in columns_of(parsed, iterations).items():
        losses = [
            sentence.optimum.value - outcome.value
            for sentence, outcome in zip(parsed, outcomes, strict=True)
            if sentence.proved
        ]
        below = [loss for loss in losses if loss > 0]
        row: dict[str, Any] = column._asdict() | {"parsed": len(parsed), "proved": len(losses)}
        if k := column.iterations:
            row["settled"] = sum(0 < sentence.decoders[column.decoder].viterbi.settled <= k for sentence in parsed)
        row |= {"less": len(below), "lost": sum(below) / max(1, len(below))}
        rows.append(row | scores(outcomes, sentences).summary())
    return rows


def compared(a: Column, b: Column) -> bool:
    """Return whether the metrics compare two columns of one order of beams.

    They are compared if they have the same output rule, if both have the output rule of the paper, or if they differ
    only in the output rule.
    """
    return a.output == b.output or (a.usual and b.usual) or a[:2] == b[:2]


def difference_rows(orders: dict[str, list[Studied]], iterations: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield the differences in LF between two columns (`reverse bp 1`, `AST exact`), with intervals.

    Two columns of one order are paired if `compared` returns True for them. Every column is also compared between the
    two orders. The differences cover the sentences that both orders parse.
    """
    common = set.intersection(*({sentence.sentence for sentence in parsed} for parsed in orders.values()))
    outcomes = {
        (order, column): of_column
        for order, parsed in orders.items()
        for column, of_column in columns_of(
            [sentence for sentence in parsed if sentence.sentence in common], iterations
        ).items()
    }
    for (first, a), (second, b) in combinations(outcomes, 2):
        if compared(a, b) if first == second else a == b:
            gain = difference(outcomes[second, b], outcomes[first, a])
            yield {"a": b.name(second), "b": a.name(first)} | gain._asdict()


def curve_rows(parsed: Sequence[Studied], sentences: int, most: int) -> Iterator[dict[str, Any]]:
    """Yield LF and the share of settled sentences (%), one row per decoder and iteration.

    A sentence has settled if its beliefs have converged, or if dual decomposition has proved its derivation.
    LF is computed up to iteration SHOWN. Later iterations, up to `most`, are sampled geometrically.

    parsed     results for the sentences with a derivation
    sentences  number of all sentences
    """
    for name in ITERATED:
        courses = [sentence.decoders[name].by(published(name)) for sentence in parsed]
        later = np.unique(np.geomspace(SHOWN, most, 40).astype(int)).tolist() if most > SHOWN else []
        for k in [*range(1, min(most, SHOWN) + 1), *later[1:]]:
            settled = sum(0 < course.settled <= k for course in courses)
            row = {"decoder": name, "iterations": k, "settled": 100.0 * settled / max(1, len(parsed))}
            labelled_f = scores([course.at(k) for course in courses], sentences).labelled.f if k <= SHOWN else None
            yield row | {"LF": labelled_f}


def settled_at(parsed: Sequence[Studied]) -> dict[str, list[int]]:
    """Return for each iterative decoder the iteration in which each sentence settled; 0 if it did not settle.

    A sentence settles when its beliefs converge, or when dual decomposition proves its derivation.
    """
    return {name: [sentence.decoders[name].viterbi.settled for sentence in parsed] for name in ITERATED}


def counts_of(parsed: Sequence[Studied], iterations: Sequence[int]) -> dict[str, Any]:
    """Return the indices of the sentences, and counts of their labelled dependencies under belief propagation.

    The key `bp k` holds the counts after k iterations, as (correct, predicted, gold) for each sentence.
    """
    by_iteration = {
        k: [list(sentence.decoders["bp"].by(published("bp")).at(k).counts[:3]) for sentence in parsed]
        for k in iterations
    }
    return {"sentences": [sentence.sentence for sentence in parsed]} | {
        f"bp {k}": rows for k, rows in by_iteration.items()
    }


def length_rows(parsed: Sequence[Studied]) -> Iterator[dict[str, Any]]:
    """Yield the numbers of sentences and proofs, the nodes and the CPU seconds of the search, by sentence length."""
    shortest = 1
    row: dict[str, Any]
    for longest in LENGTHS:
        group = [sentence for sentence in parsed if shortest <= sentence.words <= longest]
        if group:
            seconds, nodes = [sentence.cpu_s for sentence in group], [sentence.nodes for sentence in group]
            row = {"from": shortest, "to": max(sentence.words for sentence in group), "sentences": len(group)}
            row |= {
                "proved": sum(sentence.proved for sentence in group),
                "root": sum(n == 1 for n in nodes),
                "nodes": max(nodes),
            }
            row |= {"edges": float(np.mean([sentence.edges for sentence in group]))}
            yield row | {"cpu_s": float(np.mean(seconds)), "cpu_s_max": max(seconds)}
        shortest = longest + 1


def beam_rows(by_beam: dict[str, list[Studied]], sentences: int) -> list[dict[str, Any]]:
    """Return joint score and LF after the last iteration, one row per beam and decoder.

    The figures cover the sentences that have a derivation under every beam.
    """
    common = set.intersection(*({sentence.sentence for sentence in subset} for subset in by_beam.values()))
    rows = []
    for beam, parsed in by_beam.items():
        subset = [sentence for sentence in parsed if sentence.sentence in common]
        for name in ("bp", "dd", "exact"):
            outcomes = [sentence.decoders[name].by(published(name)).outcomes[-1][1] for sentence in subset]
            score = sum(outcome.value for outcome in outcomes)
            row = {"beam": beam, "decoder": name, "common": len(subset), "score": score}
            rows.append(row | {"LF": scores(outcomes, sentences).labelled.f})
    return rows


def tables(
    by_split: dict[str, dict[str, list[Studied]]],
    by_beam: dict[str, list[Studied]],
    sentences: dict[str, int],
    settings: CCGIntegration,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return all tables of the stage, and separately the CPU seconds that belong to the rows of `lengths`.

    by_split   split -> order -> results for the sentences with a derivation
    by_beam    beam -> results for the dev sentences with a derivation
    sentences  number of sentences of each split
    """
    rows, proofs = [], []
    for split, orders in by_split.items():
        for order, parsed in orders.items():
            key = {"split": split, "order": order}
            rows += [key | row for row in column_rows(parsed, sentences[split], settings.iterations)]
            proofs += [key | row for row in length_rows(parsed)]
    curves = [
        {"order": order} | row
        for order, parsed in by_split["dev"].items()
        for row in curve_rows(parsed, sentences["dev"], settings.most)
    ]
    gains = [
        {"split": split} | row for split in by_split for row in difference_rows(by_split[split], settings.iterations)
    ]
    seconds = [{k: row.pop(k) for k in ("cpu_s", "cpu_s_max")} for row in proofs]
    out: dict[str, Any] = {"columns": rows, "curves": curves, "lengths": proofs, "differences": gains}
    out["settled"] = {order: settled_at(parsed) for order, parsed in by_split["dev"].items()}
    out["counts"] = {
        split: {order: counts_of(parsed, settings.iterations) for order, parsed in orders.items()}
        for split, orders in by_split.items()
    }
    return out | {"beams": beam_rows(by_beam, sentences["dev"])}, seconds


def speeds(model: CCGModel, dev: Treebank, iterations: Iterable[int]) -> list[dict[str, Any]]:
    """Measure sentences per CPU second of each decoder, and the CPU seconds of each part, in one process.

    The time includes the charts. A part has PART sentences. Every decoder of both orders parses a part before the next
    part begins. Decoders use the output rules of the paper.
    """
    decoders = [("parser", 0), *((name, k) for name in ITERATED for k in iterations), ("exact", 0)]
    keys = [(order, *column) for order in ORDERS for column in decoders]
    parsers = {order: Parser(model, beams=beams) for order, beams in ORDERS.items()}
    parts = [dev.select(np.arange(i, min(i + PART, len(dev)))) for i in range(0, len(dev), PART)]
    machines = {order: parser.adaptive() for order, parser in parsers.items()}
    seconds: dict[tuple[str, str, int], list[float]] = {key: [] for key in keys}
    for i, part in enumerate([dev.select(np.arange(min(5, len(dev)))), *parts]):
        for order, decoder, k in keys:
            machine = machines[order]
            machine.integrate = _integration(decoder, k).decoder
            with Stopwatch() as watch:
                machine.parse(parsers[order].words(part))
            if i:  # part 0 only loads the compiled code
                seconds[order, decoder, k].append(watch.cpu)
    return [
        {"order": order, "decoder": decoder, "iterations": k, "per_second": len(dev) / sum(cpu_s), "seconds": cpu_s}
        for (order, decoder, k), cpu_s in seconds.items()
    ]


def _integration(decoder: str, iterations: int) -> Integration:
    """Return the options of a decoder with a number of iterations."""
    if decoder == "dd-published":
        return Integration(integrate="dd", iterations=iterations, step="published")
    return Integration(integrate="none" if decoder == "parser" else decoder, iterations=iterations)  # type: ignore[arg-type]


def run(params: Params, name: str) -> None:
    """Write the accuracy, the proofs and the speed of all decoders of a parser's joint model."""
    parser, settings, path = ccg_parser(params, name), params.section(CCGIntegration), ccg_file(name)
    model, workers = CCGModel.load(path), cores()
    treebanks, folder = {split: load(name, split) for split in SPLITS}, stage.CHECKPOINTS / f"ccg-integration.{name}"

    def study(split: str, beams: tuple[str, ...]) -> list[Studied]:
        """Parse a split with every decoder and the given beams, and report the number of proofs."""
        treebank = treebanks[split]
        key = digest(stage.sha256(path), stage.sha256(file_of(name, split)))
        task = Task(model, treebank, read_derivations(treebank, model.meta["tag"]), beams, settings.most, folder, key)
        results = studied(task, workers)
        stage.say(
            f"{name} {split} {' '.join(beams)}: {sum(sentence.proved for sentence in results)} of {len(results)} proved"
        )
        return results

    by_split = {split: {order: study(split, beams) for order, beams in ORDERS.items()} for split in SPLITS}
    by_beam = {beam: study("dev", (beam,)) for beam in params.section(CCG).beams}
    results, seconds = tables(
        by_split, by_beam, {split: len(sentences) for split, sentences in treebanks.items()}, settings
    )
    data = {"corpus": parser.corpus, "more": parser.more, "tags": parser.tags} | results
    stage.write_metrics(stage.METRICS / "ccg-integration" / f"{name}.json", data)
    timed = {"columns": speeds(model, treebanks["dev"], settings.iterations), "lengths": seconds}
    stage.write_metrics(stage.METRICS / "timing" / "ccg-integration" / f"{name}.json", timed)
    shutil.rmtree(folder)


if __name__ == "__main__":
    stage.main(run)
