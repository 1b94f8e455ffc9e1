"""Stage: measure how many suspects of `treebound mine` are errors, known from a later release or planted."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from studies.across.mining import rankings, samples, scoring
from studies.across.mining.samples import Sample
from studies.across.mining.settings import Mining, Run
from studies.common import stage
from studies.common.cores import cores
from studies.common.params import Params
from treebound.core.treebank import Treebank
from treebound.mining import parts
from treebound.mining.mine import Mined, mine
from treebound.mining.parts import Job, Part
from treebound.mining.preparation import prepare
from treebound.mining.settings import Settings
from treebound.support.workers import spread

EXAMPLES = 12  #: number of suspects of a run with planted errors that are stored, so that a page can draw their trees


def run(params: Params, name: str) -> None:
    """Mine one treebank, and write the precision and recall of each ranking of its words."""
    settings = params.section(Mining)
    run_settings = settings.runs[name]
    sample = samples.make(run_settings, params.seed, params.slice)
    folder = stage.CHECKPOINTS / f"mining.{name}"
    folder.mkdir(parents=True, exist_ok=True)
    workers = cores()
    start = time.monotonic()
    treebank, models = _trained(sample, run_settings, folder, workers)
    mined = _mined(sample, run_settings, folder, workers)
    seconds = time.monotonic() - start
    stage.say(f"mining {name}: {mined.report}; {seconds:.0f} s with {len(models)} models")
    doubts = rankings.doubts(treebank, models, mined.suspects, settings.trees, workers)
    for _, path in models:
        path.unlink()
    folder.rmdir()
    metrics = measured(sample, mined, doubts, settings, params.seed)
    metrics |= {"seed": params.seed, "models": len(models), "remarks": mined.remarks, "trees": settings.trees}
    stage.write_metrics(stage.METRICS / "mining" / f"{name}.json", metrics)
    times = {"seconds": seconds, "workers": workers, "words": sample.treebank.words}
    stage.write_metrics(stage.METRICS / "timing" / "mining" / f"{name}.json", times)
    shown = examples(sample, mined) if run_settings.planted else []
    lines = [json.dumps(entry, ensure_ascii=False, sort_keys=True) + "\n" for entry in shown]
    stage.write(stage.PREDICTIONS / "mining" / f"{name}.jsonl", "".join(lines))


def _trained(sample: Sample, run: Run, folder: Path, workers: int) -> tuple[Treebank, list[tuple[Part, Path]]]:
    """Train the models of a run in its folder. Return the treebank as the models read it, and the model files.

    Each model file is paired with the part of the treebank that its model judges.

    `mine` takes the model files in the folder for the state of an interrupted run, uses them, and removes them at the
    end. The returned paths are therefore additional hard links, which remain.
    """
    prepared = prepare(sample.treebank, sample.reference, run.training)
    names = [str(i + 1) for i in range(len(sample.treebank))]
    divided = [parts.whole(prepared)] if sample.reference else parts.folds_of(prepared, run.folds)
    paths = spread(parts.train, Job(prepared, names, folder), divided, workers=min(workers, len(divided)))
    models = []
    for part, path in zip(divided, paths, strict=True):
        link = path.with_name(f"kept.{path.name}")
        link.unlink(missing_ok=True)
        os.link(path, link)
        models.append((part, link))
    return prepared.treebank, models


def _mined(sample: Sample, run: Run, folder: Path, workers: int) -> Mined:
    """Mine the treebank of a sample with the models that `_trained` has written to the same folder."""
    return mine(
        sample.treebank,
        Settings(folds=run.folds),
        training=run.training,
        reference=sample.reference,
        folder=folder,
        workers=workers,
    )


def measured(sample: Sample, mined: Mined, doubts: rankings.Doubts, settings: Mining, seed: int) -> dict[str, Any]:
    """Return the metrics of a run: sizes, and the precision and recall of every ranking of heads and of labels."""
    treebank, suspects = sample.treebank, mined.suspects
    wrong, wrong_label = sample.head_changed, sample.label_changed
    names = scoring.change_names(sample)
    changes = scoring.systematic(names)
    sporadic = sample.known & ~np.isin(names.astype(str), list(changes))
    orders = {
        name: scoring.order_of(scores, sample.known, seed)
        for name, scores in rankings.of_heads(treebank, suspects, doubts, seed).items()
    }
    ours = orders[rankings.OURS]
    of_labels = rankings.of_labels(treebank, suspects, seed).items()
    return {
        "sentences": len(treebank),
        "words": treebank.words,
        "sentences_known": sample.sentences_known,
        "words_known": int(sample.known.sum()),
        "heads_changed": int(wrong.sum()),
        "labels_changed": int(wrong_label.sum()),
        "sporadic": int((wrong & sporadic).sum()),
        "disagreements": len(ours),
        "certified": sum(suspect.certified for suspect in suspects),
        "suspects": len(suspects),
        "heads": {name: scoring.judged(order, wrong, sample.known, settings.ks) for name, order in orders.items()},
        "sporadic_heads": {
            name: scoring.judged(order[sporadic[order]], wrong, sporadic, settings.ks) for name, order in orders.items()
        },
        "labels": {
            name: scoring.judged(scoring.order_of(scores, sample.known, seed), wrong_label, sample.known, settings.ks)
            for name, scores in of_labels
        },
        "exact": scoring.proposed_right(sample, suspects, ours),
        "exact_at": {str(k): scoring.proposed_right(sample, suspects, ours[:k]) for k in settings.ks if k <= len(ours)},
        "systematic": scoring.found_in_groups(sample, suspects, changes),
    }


def examples(sample: Sample, mined: Mined, count: int = EXAMPLES) -> list[dict[str, Any]]:
    """Return the first suspects whose kind is `head`, each with sentence, annotated tree, best tree and right head."""
    treebank = sample.treebank
    entries: list[dict[str, Any]] = []
    for suspect in (s for s in mined.suspects if s.kind == "head"):
        if len(entries) == count:
            break
        i, tree = suspect.sentence, mined.trees[suspect.sentence]
        entries.append(
            {
                "words": treebank[i].strings("form"),
                "word": suspect.word,
                "annotated": treebank.heads(i)[1:].tolist(),
                "annotated_labels": treebank[i].strings("deprel"),
                "proposed": tree.heads[1:].tolist(),
                "proposed_labels": tree.labels[1:],
                "margin": suspect.margin,
                "changes": suspect.changes,
                "right": int(sample.head[rankings.place(treebank, suspect)]),
            }
        )
    return entries


if __name__ == "__main__":
    stage.main(run)
