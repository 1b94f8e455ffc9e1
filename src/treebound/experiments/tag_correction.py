"""What joint correction of predicted tags does to tags and trees, on two CoNLL-U files (Zhang et al. 2014, Table 3).

Coarse tags (UPOS) are predicted, in training by jackknifing; no other annotation of words is read. Three models that
sample, with the same settings: of right tags, of predicted ones, and of both tags and trees, which begins with these.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

from treebound.core.errors import TreeboundError
from treebound.core.treebank import Treebank
from treebound.evaluation.attachment import evaluate
from treebound.learning import loop
from treebound.learning.pruner import train_pruner
from treebound.learning.survey import describe
from treebound.support.progress import say
from treebound.systems.sampling.model import SamplingModel
from treebound.systems.sampling.parser import Parser
from treebound.systems.sampling.settings import Settings
from treebound.systems.sampling.tags.candidates import learn
from treebound.systems.sampling.tags.corrector import correct
from treebound.systems.sampling.tags.learning import JointTraining
from treebound.systems.sampling.training import Training
from treebound.systems.tagging.jackknife import jackknife
from treebound.systems.tagging.learn import train_tagger
from treebound.treebanks.document import read

COLUMN = "upos"
ONLY = {"tag": COLUMN, "coarse": COLUMN, "attributes": []}


def progress(items: Iterable, what: str) -> Iterable:
    """Say what begins."""
    say(what)
    return items


def trained(task: Training, pruner: object, train: Treebank, spec: Settings) -> SamplingModel:
    """The averaged model after all epochs."""
    records, order = [], loop.shuffled(spec.seed, len(train))
    for epoch in range(spec.epochs):
        records.append(task.learn(order(epoch), lambda items: items))
        say(f"epoch {epoch + 1}/{spec.epochs}: {records[-1]}")
    return SamplingModel(spec, *task.result(), pruner, train.meta, records)  # type: ignore[arg-type]


def measured(train: Treebank, dev: Treebank, spec: Settings, folds: int) -> dict:
    """Accuracies in % of dev: of tags, and UAS with right, predicted and corrected ones."""
    predicted = jackknife(train, COLUMN, folds=folds, progress=progress)
    given = train_tagger(train, column=COLUMN).apply(dev)
    candidates = learn(train, predicted, COLUMN)
    found: dict = {"sentences": [len(train), len(dev)], "words": [train.words, dev.words]}
    for name, seen, text in (("right", train, dev), ("predicted", predicted, given)):
        say(f"{name} tags")
        pruner = train_pruner(seen, epochs=spec.pruner_epochs, bits=18, seed=spec.seed)
        model = trained(Training(spec, seen, pruner), pruner, seen, spec)
        found[f"uas_{name}"] = evaluate(dev, [p.heads for p in Parser(model).parse(text)]).summary["uas"]
    say("tags and trees")
    model = trained(JointTraining(spec, predicted, train, candidates, pruner), pruner, predicted, spec)
    say("correct")
    corrected = correct(Parser(model).scoring, pruner, candidates, spec, given)
    found["uas_corrected"] = evaluate(dev, [heads for heads, _ in corrected]).summary["uas"]
    right, before = np.array(dev.strings(COLUMN)), np.array(given.strings(COLUMN))
    after = np.array([tag for _, tags in corrected for tag in tags])
    mended, spoilt = (
        int(((before != right) & (after == right)).sum()),
        int(((before == right) & (after != right)).sum()),
    )
    found |= {"tags_predicted": 100 * float((before == right).mean())}
    found |= {"tags_corrected": 100 * float((after == right).mean()), "mended": mended, "spoilt": spoilt}
    found |= {"tags_oracle": 100 * candidates.oracle(dev, given, COLUMN)}
    return found | {"p_tags": float(binomtest(mended, mended + spoilt).pvalue) if mended + spoilt else 1.0}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("train", type=Path, help="CoNLL-U to learn from")
    parser.add_argument("dev", type=Path, help="CoNLL-U to measure on")
    parser.add_argument("--sentences", type=int, default=0, help="the first so many of either; 0: all")
    parser.add_argument("--epochs", type=int, default=5, help="passes over TRAIN (default 5)")
    parser.add_argument("--folds", type=int, default=10, help="of the jackknife (default 10)")
    parser.add_argument("--bits", type=int, default=20, help="log2 of the number of weights (default 20)")
    parser.add_argument("--families", default="adjacent-sibling,grandchild", help="factors beside arcs, by commas")
    parser.add_argument("--restarts", type=int, default=4, help="runs of a search at most (default 4)")
    arguments = parser.parse_args()
    try:
        train, dev = (read(path).treebank for path in (arguments.train, arguments.dev))
        describe(train, dev)
        train, dev = (replace(t, meta=t.meta | ONLY) for t in (train, dev))
        if arguments.sentences > 0:
            train, dev = (t.select(np.arange(min(len(t), arguments.sentences))) for t in (train, dev))
        families = tuple(filter(None, arguments.families.split(",")))
        settings = {"epochs": arguments.epochs, "bits": arguments.bits, "restarts": arguments.restarts}
        spec = Settings(families=families, labels="none", **settings)
        print(json.dumps(measured(train, dev, spec, arguments.folds), indent=1))
    except TreeboundError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
