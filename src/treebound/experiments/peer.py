"""Stage: train a parser of others on the same splits and tags as ours, and parse the test split with it."""

from __future__ import annotations

from importlib import metadata

import numpy as np
import pandas as pd

from treebound.core.treebank import Treebank
from treebound.evaluation.attachment import evaluate, scored_words
from treebound.evaluation.timing import Stopwatch
from treebound.experiments import stage
from treebound.experiments.corpus import checksum, load, tags_of
from treebound.experiments.params import Params, PeerName, digest
from treebound.peers import PEERS
from treebound.peers.peer import Tree

SPLIT = "test"


def run(params: Params, corpus: str, peer: PeerName) -> None:
    """Write the model of a peer, its metrics, its predictions and the seconds of its training."""
    parser, settings = PEERS[peer], params.peer_settings.get(peer, {})
    examples, dev, test = (load(corpus, split, params.limit(split)) for split in ("train", "dev", SPLIT))
    path = stage.MODELS / "peers" / corpus / f"{peer}.model"
    path.parent.mkdir(parents=True, exist_ok=True)
    with Stopwatch() as watch:
        parser.train(examples, dev, path, seed=params.seed, **settings)
    trees = parser.load(path)(test)
    table = rows(test, trees)
    scored = int(table["scored"].sum())
    metrics = {
        "uas": 100 * int(table["correct"].sum()) / max(scored, 1),
        "las": 100 * labelled(examples, test, trees),
        "complete": 100 * float((table["correct"] == table["scored"]).mean()),
        "words": test.words,
        "scored_words": scored,
        "sentences": len(test),
        "package": parser.package,
        "version": metadata.version(parser.package),
        "notes": parser.notes,
        "tags": tags_of(corpus),
        "corpus_checksum": checksum(corpus, SPLIT),
        "params_hash": digest(peer, settings),
        "seed": params.seed,
    }
    stage.write(stage.PREDICTIONS / "peers" / corpus / f"{peer}.csv", table.to_csv(index=False, lineterminator="\n"))
    stage.write_json(stage.METRICS / "peer" / corpus / f"{peer}.json", metrics)
    seconds = {"cpu_s": watch.cpu, "wall_s": watch.wall}
    stage.write_json(stage.METRICS / "timing" / "peer" / corpus / f"{peer}.json", seconds)


def rows(gold: Treebank, trees: list[Tree]) -> pd.DataFrame:
    """One row a sentence, as far as the rows of `decode` go: a peer proves nothing."""
    score = evaluate(gold, [heads for heads, _ in trees]).sentences
    return pd.DataFrame(
        {
            "sentence": range(len(gold)),
            "n": gold.lengths,
            "correct": score["correct"].to_numpy(),
            "scored": score["scored"].to_numpy(),
        }
    )


def labelled(train: Treebank, gold: Treebank, trees: list[Tree]) -> float:
    """Share of scored words with the right head and label.

    The label of a root, which the packages name each in their way, is the one that most roots of training have.
    """
    roots = np.bincount(train.columns["deprel"][train.head == 0], minlength=1)
    root = train.vocab["deprel"][int(roots.argmax())]
    heads = np.concatenate([heads[1:] for heads, _ in trees])
    labels = np.array([label for _, found in trees for label in found], object)
    labels[heads == 0] = root
    right = (heads == gold.head) & (labels == np.array(gold.strings("deprel"), object))
    return float(right[scored_words(gold)].mean())


if __name__ == "__main__":
    stage.main(run)
