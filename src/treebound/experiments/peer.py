"""Stage: train a parser of others on the same splits and tags as ours, and parse the test split with it."""

from __future__ import annotations

from importlib import metadata

import numpy as np
import pandas as pd

from treebound.core.treebank import Treebank
from treebound.evaluation.attachment import evaluate
from treebound.evaluation.timing import Stopwatch
from treebound.experiments import stage
from treebound.experiments.corpus import checksum, load, tags_of
from treebound.experiments.params import Params, PeerName, digest
from treebound.systems.peers.peer import Tree
from treebound.systems.peers.registry import PEERS

SPLIT = "test"


def run(params: Params, corpus: str, peer: PeerName) -> None:
    """Write the model of a peer, its metrics, its predictions and the seconds of its training."""
    parser, settings = PEERS[peer], params.peer_settings.get(peer, {})
    examples, dev, test = (load(corpus, split, params.limit(split)) for split in ("train", "dev", SPLIT))
    path = stage.MODELS / "peers" / corpus / f"{peer}.model"
    path.parent.mkdir(parents=True, exist_ok=True)
    with Stopwatch() as watch:
        parser.train(examples, dev, path, seed=params.seed, **settings)
    trees = named_roots(examples, parser.load(path)(test))
    table = rows(test, trees)
    scored = int(table["scored"].sum())
    metrics = {
        "uas": 100 * int(table["correct"].sum()) / max(scored, 1),
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
    if "correct_labelled" in table:
        metrics["las"] = 100 * int(table["correct_labelled"].sum()) / max(scored, 1)
        metrics["complete_labelled"] = 100 * float((table["correct_labelled"] == table["scored"]).mean())
    stage.write(stage.PREDICTIONS / "peers" / corpus / f"{peer}.csv", table.to_csv(index=False, lineterminator="\n"))
    stage.write_json(stage.METRICS / "peer" / corpus / f"{peer}.json", metrics)
    seconds = {"cpu_s": watch.cpu, "wall_s": watch.wall}
    stage.write_json(stage.METRICS / "timing" / "peer" / corpus / f"{peer}.json", seconds)


def rows(gold: Treebank, trees: list[Tree]) -> pd.DataFrame:
    """One row a sentence, as far as the rows of `decode` go: a peer proves nothing."""
    score = evaluate(gold, [heads for heads, _ in trees], [labels for _, labels in trees]).sentences
    names = ["n", "correct", "scored"] + ["correct_labelled"] * ("correct_labelled" in score)
    return score[names].reset_index()


def named_roots(train: Treebank, trees: list[Tree]) -> list[Tree]:
    """The trees with the label that most roots of training have on their roots, which packages name in their way."""
    counts = np.bincount(train.columns["deprel"][train.head == 0], minlength=1)
    root = train.vocab["deprel"][int(counts.argmax())]
    return [
        (heads, [label if head else root for head, label in zip(heads[1:], labels, strict=True)])
        for heads, labels in trees
    ]


if __name__ == "__main__":
    stage.main(run)
