"""Measure the effect of joint tag correction on tags and trees, on CoNLL-U files (Zhang et al. 2014, Table 3).

Tags are predicted; the tags of the training set come from jackknifing. No other annotation of words is used. The UAS
with gold tags belongs to a separate parser. The pipeline and the correction use the same tagger and, by default, the
same parser, so that only the correction differs.

`--published` uses the method of the paper. The candidate tags of a word come from confusions of the tagger. The
features of tag sequences are the same as in the paper. SampleRank learns heads and tags together, as in Figure 4. Gibbs
sampling draws a word's head and tag. The correction then has a parser of its own, and the parser of the pipeline learns
from trees alone. Four differences from the paper remain. Three more features see the original tag. A form that occurs
once in training does not determine its possible tags. Epochs and samples are fewer. Words have no morphology.
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
from treebound.systems.correcting.jackknifed import with_first
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

#: output of a pipeline or correction: tags of all words, trees of all sentences
Predicted = tuple[Sequence[str], Sequence[np.ndarray]]


def corrected(spec: Settings, train: Treebank, dev: Treebank, test: Treebank) -> tuple[Predicted, Predicted]:
    """Return tags and trees of the pipeline, and of the correction by the system `correcting`."""
    model = Correcting().train(spec, train, dev, progress=over)
    outputs = []
    for taggings in (1, None):
        parser = Parser(model, taggings=taggings)
        parses = parser.parse(test)
        outputs.append(([tag for p in parses for tag in parser.tags_of(p)], [p.heads for p in parses]))
    return outputs[0], outputs[1]


def published(spec: Settings, train: Treebank, dev: Treebank, test: Treebank) -> tuple[Predicted, Predicted]:
    """Return tags and trees of the pipeline, and of the correction by the paper's method; neither learns labels."""
    options: dict[str, Any] = {"labels": "none", "violator": "sample", "schedule": "sample"}
    spec, plain, column = replace(spec, **options), replace(spec, labels="none"), train.meta["tag"]
    tagged = jackknife(train, column, folds=spec.tagger_folds, progress=over, **spec.of_tagger)
    predicted = train_tagger(train, dev, column=column, **spec.of_tagger).apply(test)
    candidates, right = learn(train, tagged, column), train.strings(column)
    # the right coarse tags would tell more than the tagger knows, so they are replaced as well
    tagged, predicted = (
        with_first(treebank, train.meta, [(tag,) for tag in treebank.strings(column)], candidates.coarse)
        for treebank in (tagged, predicted)
    )
    parses = Sampler(held_out(plain, tagged)).parse(predicted)
    pruner = train_pruner(tagged, epochs=spec.pruner_epochs, bits=min(20, spec.bits), seed=spec.seed)
    words = zip(train.strings("form"), tagged.strings(column), right, strict=True)
    tags = [candidates.of(*word) for word in words]
    task = JointTraining(spec, tagged, right, tags, candidates.coarse, pruner)
    loop.train(task, spec.epochs, loop.shuffled(spec.seed, len(train)), progress=over)
    weights, unit = task.result()
    scoring = task.scoring._replace(weights=weights, reals=weights.astype(np.float32), unit=unit)
    corrections = correct(scoring, pruner, candidates, spec, predicted)
    trees = [heads for heads, _ in corrections]
    return (predicted.strings(column), [p.heads for p in parses]), (
        [tag for _, tags_of_sentence in corrections for tag in tags_of_sentence],
        trees,
    )


def compared(test: Treebank, column: str, pipeline: Predicted, correction: Predicted) -> dict[str, Any]:
    """Return accuracies in %, and the gains of the correction with tests.

    The gain in tags has p of McNemar's exact test. The gain in UAS has a paired bootstrap.
    """
    right, predicted, corrected = (np.array(tags) for tags in (test.strings(column), pipeline[0], correction[0]))
    mended = int(((predicted != right) & (corrected == right)).sum())
    spoilt = int(((predicted == right) & (corrected != right)).sum())
    trees: list[Evaluation] = [evaluate(test, list(output[1])) for output in (pipeline, correction)]
    gain = paired_bootstrap(trees[1].sentences, trees[0].sentences)
    return {
        "words": test.words,
        "tags_predicted": 100 * float((predicted == right).mean()),
        "tags_corrected": 100 * float((corrected == right).mean()),
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
    """Return the result of `compared` on a test treebank.

    dev           development set, on which the epoch is chosen
    gold          whether to add the UAS of a parser with gold tags
    as_published  whether to use the method of the paper, as `--published` does
    """
    spec, train, dev, test = Correcting().adapted_settings(spec, train), bare(train), bare(dev), bare(test)
    metrics = compared(
        test, str(train.meta["tag"]), *(published if as_published else corrected)(spec, train, dev, test)
    )
    if gold:
        say("training a parser with gold tags")
        trees = [p.heads for p in Sampler(held_out(spec, train)).parse(test)]
        metrics["uas_right"] = evaluate(test, trees).summary["uas"]
    return {"sentences": len(test), **metrics}


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("train", type=Path, help="CoNLL-U file to train on")
    parser.add_argument("dev", type=Path, help="CoNLL-U file of the development set, on which the epoch is chosen")
    parser.add_argument("test", type=Path, nargs="?", help="CoNLL-U file to measure on (default: the development set)")
    parser.add_argument(
        "--column", choices=("upos", "xpos"), default="upos", help="column of the tags: upos or xpos (default upos)"
    )
    parser.add_argument(
        "--sentences",
        type=int,
        default=0,
        help="number of sentences to read from each file, from the start; 0 reads all (default 0)",
    )
    parser.add_argument(
        "--published",
        action="store_true",
        help="use the candidates, features and learning of the paper (default: the system `correcting`)",
    )
    parser.add_argument(
        "--without-gold", action="store_true", help="skip the parser with gold tags (default: train it as well)"
    )
    for name, default in (("epochs", 3), ("folds", 4), ("tagger_folds", 10), ("bits", 21), ("restarts", 8)):
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=default, help=f"(default {default})")
    parser.add_argument(
        "--families",
        default="adjacent-sibling,grandchild",
        help="factor families besides arcs, separated by commas (default adjacent-sibling,grandchild)",
    )
    parser.add_argument(
        "--global-features", default="", help="features of whole trees, separated by commas (default: none)"
    )
    arguments = parser.parse_args()
    try:
        treebanks = [read(path).treebank for path in (arguments.train, arguments.dev, arguments.test or arguments.dev)]
        describe(treebanks[0], treebanks[1])
        meta = treebanks[0].meta | {"tag": arguments.column, "coarse": arguments.column, "attributes": ["suffix"]}
        limit = arguments.sentences or max(map(len, treebanks))
        train, dev, test = (
            replace(treebank, meta=meta).select(np.arange(min(len(treebank), limit))) for treebank in treebanks
        )
        lists = ("families", "global_features")
        settings: dict[str, Any] = {name: tuple(filter(None, getattr(arguments, name).split(","))) for name in lists}
        numbers: dict[str, Any] = {
            name: getattr(arguments, name) for name in ("epochs", "folds", "tagger_folds", "bits", "restarts")
        }
        options: dict[str, Any] = {"gold": not arguments.without_gold, "as_published": arguments.published}
        print(json.dumps(measured(Settings(**settings, **numbers), train, dev, test, **options), indent=1))
    except TreeboundError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
