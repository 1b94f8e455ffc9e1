"""Write the training and test derivations of a CCG parser, with the tags that the parser sees.

The files data/ccg-parsers/NAME/{train,dev,test}.auto are also valid inputs of `treebound train` and `treebound parse`.
Predicted tags of the training split come from jackknifing. Predicted tags of dev and test come from a tagger that is
trained on the whole training split.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any

from studies.auli_lopez_2011.ccg.files import ccg_parser, file_of, load
from studies.auli_lopez_2011.ccg.settings import CCGParser
from studies.common import stage
from studies.common.cores import cores
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
    """Return the derivations of a split with gold tags, up to the limit of the parser.

    The training split also has the derivations of the corpus `more`.
    """
    limit = params.limit(split)
    if parser.sentences is not None:
        own = parser.sentences if split == "train" else max(1, parser.sentences // 4)
        limit = own if limit is None else min(limit, own)
    files = [parser.corpus, *([parser.more] if parser.more and split == "train" else [])]
    return [entry for corpus in files for entry in islice(_read(corpus, split), limit)]


def _read(corpus: str, split: str) -> Iterator[Entry]:
    """Read the derivations of a split of a corpus, one by one."""
    return derivation.read(DERIVATIONS / corpus / f"{split}.auto")


def predict(params: Params, name: str, gold: dict[str, Treebank]) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """Return the predicted tags of all words of every split, in order, and the share (%) of correct tags."""
    settings = asdict(params.tagger) | {"seed": params.seed}
    folds = settings.pop("folds")
    tagger = train_tagger(gold["train"], gold["dev"], column=TAG, **settings)
    tags_of_split = {split: tagger.apply(gold[split]).strings(TAG) for split in ("dev", "test")}
    workers, checkpoints = cores(), stage.CHECKPOINTS / f"ccg.{name}.tagger"
    settings |= {"folds": folds, "workers": workers, "checkpoints": checkpoints}
    tags_of_split["train"] = jackknife(gold["train"], TAG, **settings).strings(TAG)
    correct = {
        split: sum(a == b for a, b in zip(tags, gold[split].strings(TAG), strict=True))
        for split, tags in tags_of_split.items()
    }
    return tags_of_split, {split: 100.0 * correct[split] / max(1, gold[split].words) for split in SPLITS}


def write(params: Params, name: str) -> None:
    """Write the derivations data/ccg-parsers/NAME, and metrics of their sizes and the tagging accuracy."""
    parser = ccg_parser(params, name)
    splits = {split: entries(params, parser, split) for split in SPLITS}
    description: dict[str, Any] = {"corpus": parser.corpus, "more": parser.more, "tags": parser.tags}
    for split, derivations in splits.items():
        leaves = [leaf for entry in derivations for leaf in entry.derivation.leaves()]
        categories = len({leaf.category for leaf in leaves})
        description[split] = {"sentences": len(derivations), "words": len(leaves), "categories": categories}
        derivation.write(file_of(name, split), derivations, heads.text)
    if parser.tags == "predicted":
        tags, description["accuracy"] = predict(params, name, {split: load(name, split) for split in SPLITS})
        for split, derivations in splits.items():
            leaves = [leaf for entry in derivations for leaf in entry.derivation.leaves()]
            for leaf, tag in zip(leaves, tags[split], strict=True):
                leaf.tag = tag
            derivation.write(file_of(name, split), derivations, heads.text)
    sizes = ", ".join(f"{description[split]['sentences']} {split}" for split in SPLITS)
    stage.say(f"{name}: {sizes} sentences, {description['train']['categories']} lexical categories to learn")
    stage.write_metrics(stage.METRICS / "ccg-treebank" / f"{name}.json", description)
