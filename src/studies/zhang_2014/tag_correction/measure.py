"""What joint correction of predicted tags does to tags and trees, on CoNLL-U files (Zhang et al. 2014, Table 3).

Tags are predicted, in training by jackknifing; no other annotation of words is read. UAS with right tags is that of a
parser of its own. The pipeline and the correction have the same tagger and, by default, the same parser: what differs
is what the correction does. `--published` is the method of the paper: candidates from confusions, its features of tag
sequences, heads and tags learnt together by SampleRank as in its Figure 4, Gibbs samples of a word's head and tag. The
parser of the correction is another one then, and the pipeline's learns from trees alone. Four things still differ from
the paper: the tag that came in is seen by three more features, the only occurrence of a form in training does not tell
which tags the form may have, epochs and samples are fewer, and words have no morphology.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest

from treebound.core.errors import TreeboundError
from treebound.core.treebank import Treebank
from treebound.learning import loop
from treebound.learning.pruner import train_pruner
from treebound.learning.survey import describe
from treebound.metrics.attachment import Evaluation, evaluate
from treebound.metrics.significance import paired_bootstrap
from treebound.support.progress import over, say
from treebound.systems.correcting.parser import Parser
from treebound.systems.correcting.settings import Settings
from treebound.systems.correcting.system import Correcting, bare
from treebound.systems.correcting.training import held_out
from treebound.systems.sampling.parser import Parser as Sampler
from treebound.systems.sampling.tags.candidates import learn
from treebound.systems.sampling.tags.corrector import correct
from treebound.systems.sampling.tags.learning import JointTraining
from treebound.systems.tagging.jackknife import jackknife
from treebound.systems.tagging.learn import train_tagger
from treebound.treebanks.document import read

#: what one way of finding tags and trees finds: tags of all words, trees of all sentences
Found = tuple[Sequence[str], Sequence[np.ndarray]]


def corrected(spec: Settings, train: Treebank, dev: Treebank, test: Treebank) -> tuple[Found, Found]:
    """Pipeline and correction by the system `correcting`."""
    model = Correcting().train(spec, train, dev, progress=over)
    out = []
    for taggings in (1, None):
        parser = Parser(model, taggings=taggings)
        parses = parser.parse(test)
        out.append(([tag for p in parses for tag in parser.tags_of(p)], [p.heads for p in parses]))
    return out[0], out[1]


def published(spec: Settings, train: Treebank, dev: Treebank, test: Treebank) -> tuple[Found, Found]:
    """Pipeline and correction as in the paper; labels are not learnt."""
    how: dict[str, Any] = {"labels": "none", "violator": "sample", "schedule": "sample"}
    spec, plain, column = replace(spec, **how), replace(spec, labels="none"), train.meta["tag"]
    seen = jackknife(train, column, folds=spec.tagger_folds, progress=over, **spec.of_tagger)
    given = train_tagger(train, dev, column=column, **spec.of_tagger).apply(test)
    candidates, right = learn(train, seen, column), train.strings(column)
    parses = Sampler(held_out(plain, seen)).parse(given)
    pruner = train_pruner(seen, epochs=spec.pruner_epochs, bits=min(20, spec.bits), seed=spec.seed)
    words = zip(train.strings("form"), seen.strings(column), right, strict=True)
    tags = [candidates.of(*word) for word in words]
    task = JointTraining(spec, seen, right, tags, candidates.coarse, pruner)
    loop.train(task, spec.epochs, loop.shuffled(spec.seed, len(train)), progress=over)
    weights, unit = task.result()
    by = task.scoring._replace(weights=weights, reals=weights.astype(np.float32), unit=unit)
    found = correct(by, pruner, candidates, spec, given)
    trees = [heads for heads, _ in found]
    return (given.strings(column), [p.heads for p in parses]), ([tag for _, own in found for tag in own], trees)


def compared(test: Treebank, column: str, pipeline: Found, correction: Found) -> dict[str, Any]:
    """Accuracies in %; what the correction gains, with p of McNemar's exact test over tags and a bootstrap of UAS."""
    right, before, after = (np.array(tags) for tags in (test.strings(column), pipeline[0], correction[0]))
    mended = int(((before != right) & (after == right)).sum())
    spoilt = int(((before == right) & (after != right)).sum())
    trees: list[Evaluation] = [evaluate(test, list(found[1])) for found in (pipeline, correction)]
    gain = paired_bootstrap(trees[1].sentences, trees[0].sentences)
    return {
        "words": test.words,
        "tags_predicted": 100 * float((before == right).mean()),
        "tags_corrected": 100 * float((after == right).mean()),
        "mended": mended,
        "spoilt": spoilt,
        "p_tags": float(binomtest(mended, mended + spoilt).pvalue) if mended + spoilt else 1.0,
        "uas_predicted": trees[0].summary["uas"],
        "uas_corrected": trees[1].summary["uas"],
        "uas_gain": [gain[name] for name in ("difference", "low", "high", "p")],
    }


def measured(
    spec: Settings, train: Treebank, dev: Treebank, test: Treebank, *, gold: bool = True, as_published: bool = False
) -> dict[str, Any]:
    """Of a test treebank what `compared` tells, with the UAS of a parser of right tags where that is wanted.

    dev  on which epochs are chosen; as_published: the paper's way, see above
    """
    spec, train, dev, test = Correcting().fitted(spec, train), bare(train), bare(dev), bare(test)
    found = compared(test, str(train.meta["tag"]), *(published if as_published else corrected)(spec, train, dev, test))
    if gold:
        say("a parser of right tags")
        trees = [p.heads for p in Sampler(held_out(spec, train)).parse(test)]
        found["uas_right"] = evaluate(test, trees).summary["uas"]
    return {"sentences": len(test), **found}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("train", type=Path, help="CoNLL-U to learn from")
    parser.add_argument("dev", type=Path, help="CoNLL-U on which epochs are chosen")
    parser.add_argument("test", type=Path, nargs="?", help="CoNLL-U to measure on (default DEV)")
    parser.add_argument("--column", choices=("upos", "xpos"), default="upos", help="the tags (default upos)")
    parser.add_argument("--sentences", type=int, default=0, help="the first so many of each; 0: all")
    parser.add_argument("--published", action="store_true", help="the paper's candidates, features and learning")
    parser.add_argument("--without-gold", action="store_true", help="no parser of right tags")
    for name, default in (("epochs", 3), ("folds", 4), ("tagger_folds", 10), ("bits", 21), ("restarts", 8)):
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=default, help=f"(default {default})")
    parser.add_argument("--families", default="adjacent-sibling,grandchild", help="factors beside arcs, by commas")
    parser.add_argument("--global-features", default="", help="features of whole trees, by commas")
    own = parser.parse_args()
    try:
        treebanks = [read(path).treebank for path in (own.train, own.dev, own.test or own.dev)]
        describe(treebanks[0], treebanks[1])
        meta = treebanks[0].meta | {"tag": own.column, "coarse": own.column, "attributes": ["suffix"]}
        most = own.sentences or max(map(len, treebanks))
        train, dev, test = (replace(t, meta=meta).select(np.arange(min(len(t), most))) for t in treebanks)
        some = ("families", "global_features")
        settings: dict[str, Any] = {name: tuple(filter(None, getattr(own, name).split(","))) for name in some}
        numbers: dict[str, Any] = {
            name: getattr(own, name) for name in ("epochs", "folds", "tagger_folds", "bits", "restarts")
        }
        how: dict[str, Any] = {"gold": not own.without_gold, "as_published": own.published}
        print(json.dumps(measured(Settings(**settings, **numbers), train, dev, test, **how), indent=1))
    except TreeboundError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
