"""Stage: count the errors that the official validator finds in parses of the test split, with and without its rules.

A parser and taggers are trained on the first sentences of a treebank. The parser parses the test split without and with
rules, both under the tags of the treebank and under the tags of the taggers. The installed parsers of other projects
parse the test split, too. The official validator checks all parses.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from studies.across.validity.settings import ValidTrees
from studies.across.validity.validator import Trees, errors
from studies.common import stage
from studies.common.corpus import SPLITS, checksum, gold
from studies.common.params import Params
from studies.common.paths import model_file
from treebound.constraints.ud import Coverage, covered, load
from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.metrics.attachment import Evaluation, evaluate
from treebound.metrics.significance import paired_bootstrap
from treebound.metrics.timing import Stopwatch
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.system import Graph
from treebound.systems.peers.peer import Peer
from treebound.systems.peers.registry import PEERS
from treebound.systems.tagging.system import Tagging
from treebound.treebanks.document import Document, read

RULES = "ud"
TAGS = ("gold", "predicted")
COLUMNS = ("upos", "xpos", "feats", "lemma")
#: up to this share of training words, labels that are not universal are taken for typing errors; if the share is
#: larger, the treebank is taken to have its own label set
MISTYPED = 0.01


@dataclass(frozen=True)
class Data:
    """The sentences of a treebank that the stage reads.

    document  the CoNLL-U lines of the sentences of `test`, with comments
    """

    train: Treebank
    dev: Treebank
    test: Treebank
    document: Document

    @classmethod
    def of(cls, settings: ValidTrees, params: Params, corpus: str) -> Data:
        """Read the converted treebank, up to the sentence limits of the settings."""
        train, dev, test = (gold(corpus, split, settings.limit(params, split)) for split in SPLITS)
        document = read(stage.CONVERTED / corpus / "test.conllu")
        return cls(train, dev, test, document.select(range(len(test))))

    @property
    def coverage(self) -> Coverage:
        """Return an object that states which rules can be applied to the tags and labels of the treebank."""
        tags, labels = ({s for t in (self.train, self.test) for s in t.values(c)} for c in ("upos", "deprel"))
        return covered(load(RULES), tags, labels, ("feats", "misc", "lemma"))

    @property
    def foreign(self) -> bool:
        """Return True if the treebank has its own label set, to which the rules do not apply."""
        unknown = set(self.coverage.labels)
        return sum(label in unknown for label in self.train.strings("deprel")) > MISTYPED * self.train.words


@dataclass(frozen=True)
class Parses:
    """Parses of the test split under one kind of tags.

    seen           the test split with these tags
    plain, valid   parses without rules and with rules
    seconds        name of the parser -> CPU seconds of each timed run, after a run that is not timed
    """

    seen: Treebank
    plain: list[Parse]
    valid: list[Parse]
    seconds: dict[str, list[float]]


def parsed(model: Model, seen: Treebank, misc: Sequence[Sequence[str]], repeats: int) -> Parses:
    """Parse a treebank without and with rules, and time both.

    seen     the treebank with the tags that the parser sees
    misc     values of the column MISC for each sentence
    repeats  number of timed runs

    The timed runs of the two parsers alternate, so that other load on the machine affects both alike.
    """
    plain, valid = Parser(model), Parser(model, valid=RULES)
    first, second = plain.parse(seen), valid.parse(seen, misc=misc)
    seconds: dict[str, list[float]] = {"plain": [], "valid": []}
    for _ in range(repeats):
        with Stopwatch() as watch:
            plain.parse(seen)
        seconds["plain"].append(watch.cpu)
        with Stopwatch() as watch:
            valid.parse(seen, misc=misc)
        seconds["valid"].append(watch.cpu)
    return Parses(seen, first, second, seconds)


def trees(model: Model, seen: Treebank, parses: Sequence[Parse]) -> Trees:
    """Return parses in the form that the validator reads, with the tags that the parser saw."""
    columns = {name: [sentence.strings(name) for sentence in seen] for name in COLUMNS}
    return Trees([parse.heads for parse in parses], [model.label_names(parse) for parse in parses], columns)


def gains(test: Treebank, before: Trees, after: Trees) -> dict[str, Any]:
    """Return UAS and LAS of the trees `before` and `after`, and the gains of `after` over `before`.

    A gain is a list: the difference, the low and the high end of its 95 % interval, and the p-value.
    """
    scores = [evaluate(test, side.heads or [], side.labels) for side in (before, after)]
    out: dict[str, Any] = {}
    for name, column in (("uas", "correct"), ("las", "correct_labelled")):
        out[name] = [side.summary[name] for side in scores]
        gain = paired_bootstrap(_counts(scores[1], column), _counts(scores[0], column))
        out[f"{name}_gain"] = [gain[key] for key in ("difference", "low", "high", "p")]
    return out


def _counts(scores: Evaluation, column: str) -> dict[str, np.ndarray]:
    """Return the numbers of scored and correct words of each sentence, for `paired_bootstrap`.

    column  `correct` counts right heads; `correct_labelled` counts right heads with right labels
    """
    return {"scored": scores.sentences["scored"], "correct": scores.sentences[column]}


def proofs(parses: Parses) -> dict[str, Any]:
    """Count proved sentences, sentences that needed a second search, and sentences whose tree the rules change.

    Also list the sentences for which no valid tree was found, numbered from 1.
    """
    pairs = zip(parses.plain, parses.valid, strict=True)
    return {
        "proved": sum(parse.certified for parse in parses.valid),
        "proved_plain": sum(parse.certified for parse in parses.plain),
        "searched": sum(parse.work.get("regions", 0) > 1 for parse in parses.valid),
        "regions": sum(parse.work.get("regions", 0) for parse in parses.valid),
        "every": sum(parse.work.get("every", 0) for parse in parses.valid),
        "changed": sum(not _same(*pair) for pair in pairs),
        "named": [i for i, parse in enumerate(parses.valid, 1) if not parse.work.get("valid")],
    }


def _same(a: Parse, b: Parse) -> bool:
    """Return True if two parses have the same heads and labels."""
    return np.array_equal(a.heads, b.heads) and np.array_equal(a.labels, b.labels)  # type: ignore[arg-type]


def by_peer(peer: Peer, data: Data, seed: int, options: dict[str, Any]) -> Trees | None:
    """Train a parser of another project and parse the test split. Return None if its package is not installed.

    options  settings of the training
    """
    if find_spec(peer.module.partition(".")[0]) is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        peer.train(data.train, data.dev, path, seed=seed, **options)
        parses = peer.load(path)(data.test)
    return Trees([heads for heads, _ in parses], [labels for _, labels in parses])


def measured(settings: ValidTrees, data: Data, seed: int, path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Train the parser and taggers, parse a treebank with universal labels, and return (metrics, CPU seconds).

    The model is written to `path`.
    """
    say = stage.say
    model = Graph().train(Graph().adapted_settings(settings.model, data.train), data.train, data.dev)
    model.save(path)
    say(f"parser: {Graph().report(model, data.dev)}")
    taggers = Tagging().train(settings.tagger, data.train, data.dev)
    say(f"taggers: {Tagging().report(taggers, data.dev)}")
    misc = data.document.misc() or []
    treebanks = {"gold": data.test, "predicted": taggers.apply(data.test)}
    parses = {tags: parsed(model, seen, misc, settings.repeats) for tags, seen in treebanks.items()}
    written = {"treebank": Trees()}
    for tags, entry in parses.items():
        written |= {f"{tags} {name}": trees(model, entry.seen, getattr(entry, name)) for name in ("plain", "valid")}
    peers = {name: by_peer(PEERS[name], data, seed, options) for name, options in settings.peers.items()}
    written |= {name: entry for name, entry in peers.items() if entry is not None}
    counts = {name: entry.as_json for name, entry in errors(data.document, written).items()}
    out: dict[str, Any] = {"treebank": counts["treebank"]}
    for tags, entry in parses.items():
        before, after = (counts[f"{tags} {name}"] for name in ("plain", "valid"))
        scores = gains(data.test, written[f"{tags} plain"], written[f"{tags} valid"])
        out[tags] = {"before": before, "after": after, **scores, **proofs(entry)}
    out["peers"] = {name: _of_peer(data.test, entry, counts.get(name)) for name, entry in peers.items()}
    return out, {tags: entry.seconds for tags, entry in parses.items()}


def _of_peer(test: Treebank, parses: Trees | None, counts: dict[str, Any] | None) -> dict[str, Any]:
    """Return errors and accuracy of a parser of another project, with the key `missing` if it is not installed.

    parses  trees of the parser, or None if it is not installed
    counts  errors that the validator found in the trees
    """
    if parses is None or counts is None:
        return {"missing": True}
    scores = evaluate(test, parses.heads or [], parses.labels).summary
    return {**counts, "uas": scores["uas"], "las": scores["las"]}


def run(params: Params, corpus: str) -> None:
    """Write errors, accuracy and proofs of a treebank, the CPU seconds of both parsers, and the model."""
    settings = params.section(ValidTrees)
    data = Data.of(settings, params, corpus)
    coverage, path = data.coverage, model_file("validity", corpus)
    metrics: dict[str, Any] = {
        "sentences": len(data.test),
        "words": data.test.words,
        "training_sentences": len(data.train),
        "model": asdict(Graph().adapted_settings(settings.model, data.train)),
        "coverage": {name: list(getattr(coverage, name)) for name in ("tags", "labels", "rules")},
        "corpus_checksum": checksum(corpus, "test"),
        "seed": params.seed,
    }
    seconds: dict[str, Any] = {}
    if data.foreign:
        stage.say(f"{corpus}: {coverage}")
        stage.write(path, "")
    else:
        measurements, seconds = measured(settings, data, params.seed, path)
        metrics |= measurements
        for tags in TAGS:
            counts = [measurements[tags][stage_name]["errors"] for stage_name in ("before", "after")]
            stage.say(f"{corpus}, {tags} tags: {counts[0]} errors without rules, {counts[1]} with rules")
    stage.write_metrics(stage.METRICS / "validity" / f"{corpus}.json", metrics)
    stage.write_metrics(stage.METRICS / "timing" / "validity" / f"{corpus}.json", seconds)


if __name__ == "__main__":
    stage.main(run)
