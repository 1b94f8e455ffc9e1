"""Stage: the joint model of a CCG supertagger and parser, decoded in every way (Auli & Lopez 2011, tables 4 to 6).

    python -m studies.auli_lopez_2011.integration.measure NAME

`columns`: of dev and test, adaptive supertagging and its reverse: the parser alone, belief propagation and dual
decomposition after some iterations, the proved optimum; scores, and how many derivations score less than the optimum.
`curves`: of dev, accuracy and how many sentences have settled by iteration. `lengths`: what proofs took. `beams`: of
dev, each beam alone; joint scores and accuracy of what the decoders find, over the sentences that have a derivation
under every beam. `differences`: labelled F-scores compared, with intervals. Seconds are kept apart.

Sentences are studied on all cores, some at a time, and kept: a run that was killed goes on with those that are missing.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
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
from treebound.systems.ccg.model import CCGModel
from treebound.systems.ccg.settings import levels
from treebound.systems.ccg.study import Course, Outcome, Studied, Study, difference, scores
from treebound.systems.ccg.system import Parser
from treebound.systems.ccg.training import read_derivations
from treebound.systems.ccg.words import words_of
from treebound.treebanks.ccg.derivation import Derivation

SPLITS = ("dev", "test")
PART = 10  #: sentences that are studied and kept together
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
    """What was written as JSON."""
    sentence, words, edges, parser, bp, dd, exact, *rest = data
    courses = [Course([(k, _outcome(one)) for k, one in outcomes], settled) for outcomes, settled in (bp, dd)]
    return Studied(sentence, words, edges, _outcome(parser), courses[0], courses[1], _outcome(exact), *rest)


def _outcome(data: Any) -> Outcome:
    value, counts = data
    return Outcome(value, tuple(counts))


def columns_of(found: Sequence[Studied], iterations: Sequence[int]) -> dict[tuple[str, int], list[Outcome]]:
    """(decoder, iterations or 0) -> what it finds in every sentence."""
    named = {("parser", 0): [one.parser for one in found]}
    named |= {("bp", k): [one.bp.at(k) for one in found] for k in iterations}
    named |= {("dd", k): [one.dd.at(k) for one in found] for k in iterations}
    return named | {("exact", 0): [one.exact for one in found]}


def column_rows(found: Sequence[Studied], sentences: int, iterations: Sequence[int]) -> list[dict[str, Any]]:
    """A row for each decoder.

    settled sentences whose beliefs moved no more, or whose two models agreed
    less    derivations that score less than the proved optimum, of `proved`; lost: how much less they score, on average
    """
    rows = []
    for (name, k), outcomes in columns_of(found, iterations).items():
        lost = [one.exact.value - outcome.value for one, outcome in zip(found, outcomes, strict=True) if one.proved]
        less = [x for x in lost if x > 0]
        row: dict[str, Any] = {"decoder": name, "iterations": k, "parsed": len(found), "proved": len(lost)}
        if k:
            row["settled"] = sum(0 < getattr(one, name).settled <= k for one in found)
        row |= {"less": len(less), "lost": sum(less) / max(1, len(less))}
        rows.append(row | scores(outcomes, sentences).summary())
    return rows


def difference_rows(orders: dict[str, list[Studied]], iterations: Sequence[int]) -> Iterator[dict[str, Any]]:
    """LF of a column less that of another (`reverse bp 1`, `AST exact`), over the sentences that both orders parse."""
    common = set.intersection(*({one.sentence for one in found} for found in orders.values()))
    columns = {
        (order, *column): outcomes
        for order, found in orders.items()
        for column, outcomes in columns_of([one for one in found if one.sentence in common], iterations).items()
    }
    for a, b in combinations(columns, 2):
        if a[0] == b[0] or a[1:] == b[1:]:
            yield {"a": column_name(*b), "b": column_name(*a)} | difference(columns[b], columns[a])._asdict()


def column_name(order: str, decoder: str, iterations: int) -> str:
    """What a column is called in comparisons."""
    return f"{order} {decoder} {iterations}" if iterations else f"{order} {decoder}"


def curve_rows(found: Sequence[Studied], sentences: int, most: int) -> Iterator[dict[str, Any]]:
    """A row for each decoder and iteration, geometrically thinned out behind SHOWN: LF (until then), settled in %."""
    for name in ("bp", "dd"):
        courses: list[Course] = [getattr(one, name) for one in found]
        later = np.unique(np.geomspace(SHOWN, most, 40).astype(int)).tolist() if most > SHOWN else []
        for k in [*range(1, min(most, SHOWN) + 1), *later[1:]]:
            settled = sum(0 < course.settled <= k for course in courses)
            row = {"decoder": name, "iterations": k, "settled": 100.0 * settled / max(1, len(found))}
            shown = scores([course.at(k) for course in courses], sentences).labelled.f if k <= SHOWN else None
            yield row | {"LF": shown}


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
        last = {"bp": [one.bp.outcomes[-1][1] for one in some], "dd": [one.dd.outcomes[-1][1] for one in some]}
        for name, outcomes in (last | {"exact": [one.exact for one in some]}).items():
            score = sum(outcome.value for outcome in outcomes)
            row = {"beam": beam, "decoder": name, "common": len(some), "score": score}
            rows.append(row | {"LF": scores(outcomes, sentences).labelled.f})
    return rows


def tables(
    every: dict[str, dict[str, list[Studied]]],
    single: dict[str, list[Studied]],
    sentences: dict[str, int],
    settings: CCGIntegration,
) -> tuple[dict[str, list[dict[str, Any]]], list[dict[str, Any]]]:
    """(all tables, the seconds of `lengths`). every: of splits and orders; single: of dev and beams."""
    columns, proofs = [], []
    for split, orders in every.items():
        for order, found in orders.items():
            key = {"split": split, "order": order}
            columns += [key | row for row in column_rows(found, sentences[split], settings.iterations)]
            proofs += [key | row for row in length_rows(found)]
    curves = [
        {"order": order} | row
        for order, found in every["dev"].items()
        for row in curve_rows(found, sentences["dev"], settings.most)
    ]
    gains = [{"split": split} | row for split in every for row in difference_rows(every[split], settings.iterations)]
    seconds = [{k: row.pop(k) for k in ("cpu_s", "cpu_s_max")} for row in proofs]
    out = {"columns": columns, "curves": curves, "lengths": proofs, "differences": gains}
    return out | {"beams": beam_rows(single, sentences["dev"])}, seconds


def speeds(model: CCGModel, dev: Treebank, iterations: Iterable[int]) -> list[dict[str, Any]]:
    """Sentences per CPU second of each decoder, charts and all, in one process."""
    rows = []
    columns = [("none", 0), *((name, k) for name in ("bp", "dd") for k in iterations), ("exact", 0)]
    for order, beams in ORDERS.items():
        for name, k in columns:
            parser = Parser(model, beams=beams, integrate=name, iterations=k)
            parser.parse(dev.select(np.arange(min(5, len(dev)))))  # compiled code is loaded
            with Stopwatch() as watch:
                parser.parse(dev)
            decoder = "parser" if name == "none" else name
            rows.append({"order": order, "decoder": decoder, "iterations": k, "per_second": len(dev) / watch.cpu})
    return rows


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
