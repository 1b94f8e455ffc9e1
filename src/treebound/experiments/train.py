"""Stage: train one model with one learner on one corpus. A run that was killed goes on at its last epoch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from treebound.core.treebank import Treebank
from treebound.evaluation.attachment import has_labels
from treebound.experiments import stage
from treebound.experiments.corpus import load
from treebound.experiments.params import Learner, Params
from treebound.systems.graph.pruner import Pruner
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import accuracy, train


def specification(params: Params, model: str, learner: Learner, examples: Treebank) -> Settings:
    """What the trainer is asked for: without labels where the corpus has none, and without patterns likewise."""
    own = params.models[model]
    settings = replace(
        params.train,
        families=own.families,
        space=own.space,
        learner=learner,
        seed=params.seed,
        labels=params.train.labels if has_labels(examples) else "none",
        pruner_epochs=params.pruner.epochs,
        pruner_bits=params.pruner.bits,
    )
    return settings.fitted(examples)


def run(params: Params, corpus: str, model: str, learner: Learner) -> None:
    """Write a model, its history (the same in every run) and the seconds that it took (which are not)."""
    name = f"{model}.{learner}"
    examples = load(corpus, "train", params.limit("train"))
    spec = specification(params, model, learner, examples)
    checkpoint = (
        stage.CHECKPOINTS / f"{corpus}.{name}.npz"
    )  # the trainer knows whether it belongs to this very training
    checkpoint.parent.mkdir(parents=True, exist_ok=True)

    def progress(sentences: Iterable, what: str) -> Iterable:
        stage.say(f"{corpus} {name}: {what}")
        return sentences

    trained = train(
        spec,
        examples,
        load(corpus, "dev", params.limit("dev")),
        Pruner.load(stage.MODELS / corpus / "pruner.npz"),
        checkpoint=checkpoint,
        progress=progress,
    )
    seconds = dict(zip(("cpu_s", "wall_s"), trained.seconds, strict=True))
    best = max(trained.history, key=accuracy)
    las = f", LAS {best['dev_las']:.2f}" if "dev_las" in best else ""
    stage.say(f"{corpus} {name}: dev UAS {best['dev_uas']:.2f}{las} after {best['epoch']} epochs")
    trained.save(stage.MODELS / corpus / f"{name}.npz")
    stage.write_json(
        stage.METRICS / "train" / corpus / f"{name}.json",
        {"spec": spec.as_dict(), "history": trained.history, "best_epoch": best["epoch"]},
    )
    stage.write_json(stage.METRICS / "timing" / "train" / corpus / f"{name}.json", seconds)


if __name__ == "__main__":
    stage.main(run)
