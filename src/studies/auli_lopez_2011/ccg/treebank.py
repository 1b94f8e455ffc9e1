"""The derivations that a CCG parser is trained and tested on, with the tags that it is to see.

data/ccg-parsers/NAME/{train,dev,test}.auto can be given to `treebound train` and `parse` as well. Predicted tags of the
training part come by jackknifing, those of dev and test from a tagger that was trained on all of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any

from studies.auli_lopez_2011.ccg.files import ccg_parser, file_of, load
from studies.auli_lopez_2011.ccg.settings import CCGParser
from studies.common import stage
from studies.common.params import Params
from studies.common.paths import DERIVATIONS
from treebound.core.treebank import Treebank
from treebound.systems.tagging.jackknife import jackknife
from treebound.systems.tagging.learn import train_tagger
from treebound.treebanks.ccg import derivation, heads
from treebound.treebanks.ccg.derivation import Entry

SPLITS = ("train", "dev", "test")
TAG = "xpos"  #: the column that holds the tags of an .auto file


def entries(params: Params, parser: CCGParser, split: str) -> list[Entry]:
    """The derivations of a split with gold tags: so many of the corpus, and to train all of `more`."""
    limit = params.limit(split)
    if parser.sentences is not None:
        own = parser.sentences if split == "train" else max(1, parser.sentences // 4)
        limit = own if limit is None else min(limit, own)
    files = [parser.corpus, *([parser.more] if parser.more and split == "train" else [])]
    return [entry for corpus in files for entry in islice(_read(corpus, split), limit)]


def _read(corpus: str, split: str) -> Iterator[Entry]:
    return derivation.read(DERIVATIONS / corpus / f"{split}.auto")


def predict(params: Params, name: str, truth: dict[str, Treebank]) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """The tags of all words of every split, in order, and the share (%) of them that is right."""
    settings = asdict(params.tagger) | {"seed": params.seed}
    folds = settings.pop("folds")
    tagger = train_tagger(truth["train"], truth["dev"], column=TAG, **settings)
    found = {split: tagger.apply(truth[split]).strings(TAG) for split in ("dev", "test")}
    workers, checkpoints = os.cpu_count() or 1, stage.CHECKPOINTS / f"ccg.{name}.tagger"
    settings |= {"folds": folds, "workers": workers, "checkpoints": checkpoints}
    found["train"] = jackknife(truth["train"], TAG, **settings).strings(TAG)
    right = {
        split: sum(a == b for a, b in zip(tags, truth[split].strings(TAG), strict=True))
        for split, tags in found.items()
    }
    return found, {split: 100.0 * right[split] / max(1, truth[split].words) for split in SPLITS}


def write(params: Params, name: str) -> None:
    """Write data/ccg-parsers/NAME and what is in it."""
    parser = ccg_parser(params, name)
    splits = {split: entries(params, parser, split) for split in SPLITS}
    about: dict[str, Any] = {"corpus": parser.corpus, "more": parser.more, "tags": parser.tags}
    for split, found in splits.items():
        leaves = [leaf for entry in found for leaf in entry.derivation.leaves()]
        categories = len({leaf.category for leaf in leaves})
        about[split] = {"sentences": len(found), "words": len(leaves), "categories": categories}
        derivation.write(file_of(name, split), found, heads.text)
    if parser.tags == "predicted":
        tags, about["accuracy"] = predict(params, name, {split: load(name, split) for split in SPLITS})
        for split, found in splits.items():
            leaves = [leaf for entry in found for leaf in entry.derivation.leaves()]
            for leaf, tag in zip(leaves, tags[split], strict=True):
                leaf.tag = tag
            derivation.write(file_of(name, split), found, heads.text)
    sizes = ", ".join(f"{about[split]['sentences']} {split}" for split in SPLITS)
    stage.say(f"{name}: {sizes} sentences, {about['train']['categories']} lexical categories to learn")
    stage.write_metrics(stage.METRICS / "ccg-treebank" / f"{name}.json", about)
