"""Stage: the joint model of a CCG supertagger and parser, decoded in every way (Auli & Lopez 2011, tables 4 to 6).

    python -m studies.auli_lopez_2011.ccg_integration.measure NAME

`columns`: of dev and test, adaptive supertagging and its reverse: the parser alone, belief propagation and dual
decomposition after some iterations, the proved optimum, each under both output rules (`systems.ccg.output`); scores,
and how many derivations score less than the optimum. Dual decomposition is measured with our steps (`dd`) and with
those of the paper (`dd-published`). `curves`: of dev, accuracy and how many sentences have settled by iteration.
`settled`: of dev, the iteration that settled each sentence. `lengths`: what proofs took. `beams`: of dev, each beam
alone; joint scores and accuracy of what the decoders find, over the sentences that have a derivation under every beam.
`differences`: labelled F-scores compared, with intervals. `counts`: labelled dependencies of each sentence under belief
propagation, so that two parsers can be compared sentence by sentence. Seconds are kept apart.

Timing is interleaved: every decoder parses PART sentences before any decoder parses the next ones, so that what slows
the machine down slows all decoders down. The CPU seconds of each part are stored, and a ratio of speeds has its
interval from them. That costs one pass over dev, where repeats would cost several and would not tell what other
sentences change.

Sentences are studied on all cores, some at a time, and kept: a run that was killed goes on with those that are missing.
"""

from __future__ import annotations

import json
import os
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
PART = 10  #: sentences that are studied and kept together, and that are timed together
ITERATED = ("bp", "dd", "dd-published")  #: decoders that have iterations
SHOWN = 50  #: iterations of the curves of accuracy, at most
LENGTHS = (10, 20, 30, 40, 1_000_000)  #: words, at most


class Task(NamedTuple):
    """Sentences that are studied with some attempts.

    most  iterations; kept: where parts are; key: identifies the model and the sentences
    """

    model: CCGModel
    treebank: Treebank
    gold: list[Derivation]
    beams: tuple[str, ...]
    most: int
    kept: Path
    key: str


def studied(task: Task, workers: int) -> list[Studied]:
    """All sentences that have a derivation, in order."""
    parts = range(0, len(task.treebank), PART)
    return [one for some in spread(_part, task, parts, workers=workers) for one in some]


def _part(task: Task, begin: int) -> list[Studied]:
    """PART sentences from one on; as they were kept, if they were."""
    end = min(begin + PART, len(task.treebank))
    kept = task.kept / f"{digest(task.key, task.beams, task.most, begin, end)}.json"
    try:
        return [_read(one) for one in json.loads(kept.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError, IndexError):
        pass
    model, tag = task.model, task.model.meta["tag"]
    how = model.tagger, model.made_grammar(), model.weights.astype(np.float64), levels(task.beams), model.spec.limit
    study = Study(*how, gold=task.gold[begin:end], most=task.most, shown=SHOWN)
    study.parse(words_of(task.treebank.select(np.arange(begin, end)), tag))
    found = [one._replace(sentence=one.sentence + begin) for one in study.studied]
    stage.write_json(kept, found)
    return found


def _read(data: Any) -> Studied:
    """Read a sentence that was written as JSON."""
    sentence, words, edges, decoders, *rest = data
    outputs = {name: Outputs(*(_course(course) for course in courses)) for name, courses in decoders.items()}
    return Studied(sentence, words, edges, {name: outputs[name] for name in DECODERS}, *rest)


def _course(data: Any) -> Course:
    outcomes, settled = data
    return Course([(k, Outcome(value, tuple(counts))) for k, (value, counts) in outcomes], settled)


class Column(NamedTuple):
    """A decoder, its iterations (0: it has none), and the rule by which its derivation is read off."""

    decoder: str
    iterations: int
    output: Output

    def name(self, order: str) -> str:
        """Return the column's name in comparisons: `reverse bp 1`, `AST parser least-risk`.

        A column whose output rule is the one that the paper uses with its decoder does not name the rule.
        """
        parts = [order, self.decoder, str(self.iterations) if self.iterations else ""]
        return " ".join(part for part in (*parts, "" if self.usual else self.output) if part)

    @property
    def usual(self) -> bool:
        """Whether the output rule is the one that the paper uses with this decoder."""
        return self.output == published(self.decoder)


def column_of(row: Mapping[str, Any]) -> Column:
    """Return the column of a row of `columns`. Rows of older runs have the paper's output rules alone."""
    return Column(row["decoder"], row["iterations"], row.get("output") or published(row["decoder"]))


def column_named(name: str) -> tuple[str, Column]:
    """Return the order and the column of a name that `Column.name` made."""
    order, decoder, *rest = name.split()
    rule = next((rule for rule in OUTPUTS if rule in rest), published(decoder))
    return order, Column(decoder, next((int(part) for part in rest if part.isdigit()), 0), rule)


def columns(iterations: Sequence[int]) -> list[Column]:
    """List all columns: decoder by decoder, the paper's output rule before the other one."""
    counted = [(name, k) for name in ITERATED for k in iterations]
    decoders = [("parser", 0), *counted, ("exact", 0)]
    return [Column(name, k, rule) for name, k in decoders for rule in _rules(name)]


def _rules(decoder: str) -> list[Output]:
    first = published(decoder)
    return [first, *(rule for rule in OUTPUTS if rule != first)]


def columns_of(found: Sequence[Studied], iterations: Sequence[int]) -> dict[Column, list[Outcome]]:
    """Collect the outcomes of every column, a sentence at a time."""
    return {
        column: [one.decoders[column.decoder].by(column.output).at(column.iterations) for one in found]
        for column in columns(iterations)
    }


def column_rows(found: Sequence[Studied], sentences: int, iterations: Sequence[int]) -> list[dict[str, Any]]:
    """A row for each column.

    settled sentences whose beliefs moved no more, or whose two models agreed
    less    derivations that score less than the proved optimum, of `proved`; lost: how much less they score, on average
    """
    rows = []
    for column, outcomes in columns_of(found, iterations).items():
        lost = [one.optimum.value - outcome.value for one, outcome in zip(found, outcomes, strict=True) if one.proved]
        less = [x for x in lost if x > 0]
        row: dict[str, Any] = column._asdict() | {"parsed": len(found), "proved": len(lost)}
        if k := column.iterations:
            row["settled"] = sum(0 < one.decoders[column.decoder].viterbi.settled <= k for one in found)
        row |= {"less": len(less), "lost": sum(less) / max(1, len(less))}
        rows.append(row | scores(outcomes, sentences).summary())
    return rows


def compared(a: Column, b: Column) -> bool:
    """Whether two columns of one order are compared: by the same output rule, by the paper's, or rule against rule."""
    return a.output == b.output or (a.usual and b.usual) or a[:2] == b[:2]


def difference_rows(orders: dict[str, list[Studied]], iterations: Sequence[int]) -> Iterator[dict[str, Any]]:
    """LF of a column less that of another (`reverse bp 1`, `AST exact`), over the sentences that both orders parse."""
    common = set.intersection(*({one.sentence for one in found} for found in orders.values()))
    outcomes = {
        (order, column): of_column
        for order, found in orders.items()
        for column, of_column in columns_of([one for one in found if one.sentence in common], iterations).items()
    }
    for (first, a), (second, b) in combinations(outcomes, 2):
        if compared(a, b) if first == second else a == b:
            gain = difference(outcomes[second, b], outcomes[first, a])
            yield {"a": b.name(second), "b": a.name(first)} | gain._asdict()


def curve_rows(found: Sequence[Studied], sentences: int, most: int) -> Iterator[dict[str, Any]]:
    """A row for each decoder and iteration, geometrically thinned out behind SHOWN: LF (until then), settled in %."""
    for name in ITERATED:
        courses = [one.decoders[name].by(published(name)) for one in found]
        later = np.unique(np.geomspace(SHOWN, most, 40).astype(int)).tolist() if most > SHOWN else []
        for k in [*range(1, min(most, SHOWN) + 1), *later[1:]]:
            settled = sum(0 < course.settled <= k for course in courses)
            row = {"decoder": name, "iterations": k, "settled": 100.0 * settled / max(1, len(found))}
            shown = scores([course.at(k) for course in courses], sentences).labelled.f if k <= SHOWN else None
            yield row | {"LF": shown}


def settled_at(found: Sequence[Studied]) -> dict[str, list[int]]:
    """Return, for each decoder that has iterations, the one that settled each sentence; 0: none did."""
    return {name: [one.decoders[name].viterbi.settled for one in found] for name in ITERATED}


def counts_of(found: Sequence[Studied], iterations: Sequence[int]) -> dict[str, Any]:
    """Return the numbers of the sentences, and their (right, found, gold) labelled dependencies under BP, k -> rows."""
    some = {k: [list(one.decoders["bp"].by(published("bp")).at(k).counts[:3]) for one in found] for k in iterations}
    return {"sentences": [one.sentence for one in found]} | {f"bp {k}": rows for k, rows in some.items()}


def length_rows(found: Sequence[Studied]) -> Iterator[dict[str, Any]]:
    """A row for each range of lengths: sentences, proved ones, nodes and CPU seconds of the search."""
    least = 1
    row: dict[str, Any]
    for most in LENGTHS:
        some = [one for one in found if least <= one.words <= most]
        if some:
            seconds, nodes = [one.cpu_s for one in some], [one.nodes for one in some]
            row = {"from": least, "to": max(one.words for one in some), "sentences": len(some)}
            row |= {"proved": sum(one.proved for one in some), "root": sum(n == 1 for n in nodes), "nodes": max(nodes)}
            row |= {"edges": float(np.mean([one.edges for one in some]))}
            yield row | {"cpu_s": float(np.mean(seconds)), "cpu_s_max": max(seconds)}
        least = most + 1


def beam_rows(found: dict[str, list[Studied]], sentences: int) -> list[dict[str, Any]]:
    """A row for each beam and decoder (its last iteration), over the sentences that every beam has a derivation for."""
    common = set.intersection(*({one.sentence for one in some} for some in found.values()))
    rows = []
    for beam, every in found.items():
        some = [one for one in every if one.sentence in common]
        for name in ("bp", "dd", "exact"):
            outcomes = [one.decoders[name].by(published(name)).outcomes[-1][1] for one in some]
            score = sum(outcome.value for outcome in outcomes)
            row = {"beam": beam, "decoder": name, "common": len(some), "score": score}
            rows.append(row | {"LF": scores(outcomes, sentences).labelled.f})
    return rows


def tables(
    every: dict[str, dict[str, list[Studied]]],
    single: dict[str, list[Studied]],
    sentences: dict[str, int],
    settings: CCGIntegration,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """(all tables, the seconds of `lengths`). every: of splits and orders; single: of dev and beams."""
    rows, proofs = [], []
    for split, orders in every.items():
        for order, found in orders.items():
            key = {"split": split, "order": order}
            rows += [key | row for row in column_rows(found, sentences[split], settings.iterations)]
            proofs += [key | row for row in length_rows(found)]
    curves = [
        {"order": order} | row
        for order, found in every["dev"].items()
        for row in curve_rows(found, sentences["dev"], settings.most)
    ]
    gains = [{"split": split} | row for split in every for row in difference_rows(every[split], settings.iterations)]
    seconds = [{k: row.pop(k) for k in ("cpu_s", "cpu_s_max")} for row in proofs]
    out: dict[str, Any] = {"columns": rows, "curves": curves, "lengths": proofs, "differences": gains}
    out["settled"] = {order: settled_at(found) for order, found in every["dev"].items()}
    out["counts"] = {
        split: {order: counts_of(found, settings.iterations) for order, found in orders.items()}
        for split, orders in every.items()
    }
    return out | {"beams": beam_rows(single, sentences["dev"])}, seconds


def speeds(model: CCGModel, dev: Treebank, iterations: Iterable[int]) -> list[dict[str, Any]]:
    """Time each decoder, charts and all, in one process: sentences per CPU second, and the CPU seconds of each part.

    Parts are PART sentences. Every decoder of both orders parses a part before the next part begins. Decoders read off
    their derivations by the paper's output rules.
    """
    timed = [("parser", 0), *((name, k) for name in ITERATED for k in iterations), ("exact", 0)]
    keys = [(order, *column) for order in ORDERS for column in timed]
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
            if i:  # compiled code is loaded before
                seconds[order, decoder, k].append(watch.cpu)
    return [
        {"order": order, "decoder": decoder, "iterations": k, "per_second": len(dev) / sum(some), "seconds": some}
        for (order, decoder, k), some in seconds.items()
    ]


def _integration(decoder: str, iterations: int) -> Integration:
    """Return the options that decode as a column does."""
    if decoder == "dd-published":
        return Integration(integrate="dd", iterations=iterations, step="published")
    return Integration(integrate="none" if decoder == "parser" else decoder, iterations=iterations)  # type: ignore[arg-type]


def run(params: Params, name: str) -> None:
    """Write what the decoders of a parser's joint model find, and how fast."""
    about, settings, path = ccg_parser(params, name), params.section(CCGIntegration), ccg_file(name)
    model, workers = CCGModel.load(path), os.cpu_count() or 1
    treebanks, kept = {split: load(name, split) for split in SPLITS}, stage.CHECKPOINTS / f"ccg-integration.{name}"

    def study(split: str, beams: tuple[str, ...]) -> list[Studied]:
        treebank = treebanks[split]
        key = digest(stage.sha256(path), stage.sha256(file_of(name, split)))
        task = Task(model, treebank, read_derivations(treebank, model.meta["tag"]), beams, settings.most, kept, key)
        found = studied(task, workers)
        stage.say(f"{name} {split} {' '.join(beams)}: {sum(one.proved for one in found)} of {len(found)} proved")
        return found

    every = {split: {order: study(split, beams) for order, beams in ORDERS.items()} for split in SPLITS}
    single = {beam: study("dev", (beam,)) for beam in params.section(CCG).beams}
    found, seconds = tables(every, single, {split: len(of) for split, of in treebanks.items()}, settings)
    data = {"corpus": about.corpus, "more": about.more, "tags": about.tags} | found
    stage.write_metrics(stage.METRICS / "ccg-integration" / f"{name}.json", data)
    timed = {"columns": speeds(model, treebanks["dev"], settings.iterations), "lengths": seconds}
    stage.write_metrics(stage.METRICS / "timing" / "ccg-integration" / f"{name}.json", timed)
    shutil.rmtree(kept)


if __name__ == "__main__":
    stage.main(run)
