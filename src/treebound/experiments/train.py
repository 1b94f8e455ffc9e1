"""Stage: train one model with one learner on one corpus. A run that was killed goes on at its last epoch."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from treebound.experiments import stage
from treebound.experiments.params import Params, digest
from treebound.learning.pruner import Pruner
from treebound.learning.spec import ModelSpec
from treebound.learning.trainer import train

#: fields of an epoch's record that differ from run to run
TIMING = ("cpu_s", "wall_s")


def specification(params: Params, model: str, learner: str) -> ModelSpec:
    """What the trainer is asked for."""
    settings = params.train
    return ModelSpec(
        families=params.models[model],
        learner=learner,
        epochs=settings.epochs,
        k=None if settings.k == "none" else int(settings.k),
        bits=settings.bits,
        C=settings.C,
        cost=settings.cost,
        seed=params.seed,
        max_dp_calls=settings.max_dp_calls,
    )


def run(params: Params, corpus: str, model: str, learner: str) -> None:
    """Write a model, its history (the same in every run) and the seconds that it took (which are not)."""
    name = f"{model}.{learner}"
    spec = specification(params, model, learner)
    pruner_path = stage.MODELS / corpus / "pruner.npz"
    # the key says what the checkpoint belongs to: another specification or other data start afresh
    key = digest(asdict(spec), params.slice, stage.checksum(corpus, "train"), stage.sha256(pruner_path))
    checkpoint = stage.CHECKPOINTS / f"{corpus}.{name}.{key}.npz"
    checkpoint.parent.mkdir(parents=True, exist_ok=True)

    def progress(record: dict[str, Any]) -> None:
        stage.say(f"{corpus} {name}: epoch {record['epoch']} of {spec.epochs}, dev UAS {record['dev_uas']:.2f}")

    trained = train(
        spec,
        stage.treebank(corpus, "train", params.limit("train")),
        stage.treebank(corpus, "dev", params.limit("dev")),
        Pruner.load(pruner_path),
        checkpoint=checkpoint,
        progress=progress,
    )
    history = [{key: value for key, value in record.items() if key not in TIMING} for record in trained.history]
    seconds = {key: sum(record[key] for record in trained.history) for key in TIMING}
    best = max(history, key=lambda record: record["dev_uas"])
    trained.save(stage.MODELS / corpus / f"{name}.npz")
    stage.write_json(
        stage.METRICS / "train" / corpus / f"{name}.json",
        {"spec": asdict(spec), "history": history, "best_epoch": best["epoch"]},
    )
    stage.write_json(stage.METRICS / "timing" / "train" / corpus / f"{name}.json", seconds)
    checkpoint.unlink(missing_ok=True)


if __name__ == "__main__":
    stage.main(run)
