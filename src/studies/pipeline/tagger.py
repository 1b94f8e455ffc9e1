"""Stage: record which tags the parsers of a corpus see, and predict the tags unless they are gold tags.

The tags of the training set come from jackknifing. The tags of dev and test come from a tagger that was trained on the
complete training set. One tagger predicts the fine tags and another one the coarse tags, unless the fine tag determines
the coarse tag. Features and lemmas are removed, because no tagger predicts them. A run that was killed continues at its
last fold.
"""

from __future__ import annotations

import shutil
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from studies.common import stage
from studies.common.cores import cores
from studies.common.corpus import SPLITS, TAGGED, gold
from studies.common.params import Params
from treebound.core.treebank import Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.metrics.timing import Stopwatch
from treebound.systems.tagging.jackknife import jackknife
from treebound.systems.tagging.learn import train_tagger
from treebound.systems.tagging.tagger import with_tags
from treebound.treebanks import storage

UNPREDICTED = ("lemma", "feats")
REPEATS = 3  #: timed runs of the tagger over dev and test

Splits = dict[str, Treebank]


def run(params: Params, corpus: str) -> None:
    """Write data/tagged/<corpus>, the accuracy of its tags, and the seconds of the tagger."""
    folder, tags = TAGGED / corpus, params.tags_of(corpus)
    shutil.rmtree(folder, ignore_errors=True)  # remove predictions of an earlier run
    accuracy: dict[str, Any] = {}
    seconds: dict[str, Any] = {}
    if tags == "predicted":
        splits = {split: gold(corpus, split, params.limit(split)) for split in SPLITS}
        tagged = {split: without(treebank) for split, treebank in splits.items()}
        fine, coarse = splits["train"].meta["tag"], splits["train"].meta["coarse"]
        for column in (fine, coarse) if coarse in splits["train"].columns and coarse != fine else (fine,):
            mapping = function(splits["train"], fine, coarse) if column == coarse else None
            if mapping is None:
                tagged, seconds[column] = predict(params, corpus, column, splits, tagged)
            else:
                tagged = {split: mapped(treebank, fine, coarse, mapping) for split, treebank in tagged.items()}
            accuracy[column] = {s: accuracies(splits["train"], splits[s], tagged[s], column) for s in SPLITS}
        for split, treebank in tagged.items():
            storage.save(treebank, folder / f"{split}.npz")
    stage.write_json(folder / "tags.json", {"tags": tags})
    stage.write_metrics(stage.METRICS / "tagger" / f"{corpus}.json", {"tags": tags, "accuracy": accuracy})
    stage.write_metrics(stage.METRICS / "timing" / "tagger" / f"{corpus}.json", seconds)


def predict(params: Params, corpus: str, column: str, splits: Splits, tagged: Splits) -> tuple[Splits, dict]:
    """Predict a column of tags in all splits. Return the splits `tagged` with the predicted column, and the times.

    column  name of the column
    splits  splits with gold tags, on which the tagger is trained
    tagged  splits in which the column is replaced

    The times are CPU seconds of training, wall seconds of jackknifing with its number of workers, and words tagged per
    CPU second.
    """
    train, dev = splits["train"], splits["dev"]
    settings = asdict(params.tagger) | {"seed": params.seed}
    folds = settings.pop("folds")
    with Stopwatch() as training:
        tagger = train_tagger(train, dev, column=column, **settings)
    stage.say(f"{corpus} {column}: dev accuracy {max(r['dev_accuracy'] for r in tagger.history):.2f}")
    checkpoints = stage.CHECKPOINTS / f"{corpus}.tagger.{column}"
    workers = cores()
    with Stopwatch() as folding:
        jackknifed = jackknife(train, column, folds=folds, workers=workers, checkpoints=checkpoints, **settings)
    shutil.rmtree(checkpoints)
    stage.say(f"{corpus} {column}: {folds} folds in {folding.wall:.0f} s")
    predicted = {"train": jackknifed}
    speeds = []
    for split in ("dev", "test"):
        predicted[split] = tagger.apply(splits[split])
        for _ in range(REPEATS):
            with Stopwatch() as watch:
                tagger.tag(splits[split])
            speeds.append(splits[split].words / watch.cpu)
    splits_with_tags = {
        s: with_tags(tagged[s], column, predicted[s].vocab[column].strings, predicted[s].columns[column])
        for s in SPLITS
    }
    tagger.save(TAGGED / corpus / f"{column}.npz")
    seconds = {"train_cpu_s": training.cpu, "jackknife_wall_s": folding.wall, "workers": workers}
    return splits_with_tags, seconds | {"words_per_cpu_s": float(np.median(speeds))}


def without(treebank: Treebank) -> Treebank:
    """Return the treebank with empty lemmas and features, since no tagger predicts them."""
    empty = np.zeros(treebank.words, np.int32)
    return replace(
        treebank,
        columns=treebank.columns | dict.fromkeys(UNPREDICTED, empty),
        vocab=treebank.vocab | {name: Vocabulary(["_"]) for name in UNPREDICTED},
    )


def function(treebank: Treebank, fine: str, coarse: str) -> dict[str, str] | None:
    """Map each fine tag to its coarse tag, or return None if a fine tag has several coarse tags."""
    pairs = set(zip(treebank.strings(fine), treebank.strings(coarse), strict=True))
    mapping = dict(pairs)
    return mapping if len(mapping) == len(pairs) else None


def mapped(treebank: Treebank, fine: str, coarse: str, mapping: dict[str, str]) -> Treebank:
    """Return the treebank with coarse tags: `mapping` maps the fine tag of each word to its coarse tag."""
    vocabulary = Vocabulary(sorted(set(mapping.values())))
    table = np.array([vocabulary.get(mapping.get(tag, ""), 0) for tag in treebank.vocab[fine].strings], np.int32)
    return with_tags(treebank, coarse, vocabulary.strings, table[treebank.columns[fine]])


def accuracies(train: Treebank, truth: Treebank, predicted: Treebank, column: str) -> dict[str, float]:
    """Return the accuracy (%) of predicted tags on all words and on words whose form is not in the training set.

    truth, predicted  a split with gold tags, and the same split with predicted tags
    column            name of the column of the tags

    For the training set itself, and if the split has no unknown words, their accuracy is left out.
    """
    correct = np.array([a == b for a, b in zip(truth.strings(column), predicted.strings(column), strict=True)], bool)
    counts = {"words": truth.words, "accuracy": 100.0 * float(correct.mean())}
    if truth is train:
        return counts
    known = set(train.strings("form"))
    unknown = np.array([form not in known for form in truth.strings("form")], bool)
    counts["unknown_words"] = int(unknown.sum())
    return counts | ({"unknown_accuracy": 100.0 * float(correct[unknown].mean())} if unknown.any() else {})


if __name__ == "__main__":
    stage.main(run)
