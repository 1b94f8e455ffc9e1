"""Stage: train one model with one learner on one corpus. A run that was killed goes on at its last epoch."""

from __future__ import annotations

from collections.abc import Iterable

from treebound.core.treebank import Treebank
from treebound.evaluation.attachment import has_labels
from treebound.experiments import stage
from treebound.experiments.corpus import load
from treebound.experiments.params import Learner, Params
from treebound.systems.graph.pruner import Pruner
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import accuracy, train

#: fields of an epoch's record that differ from run to run, and their names in the timing file
TIMING = {"cpu_seconds": "cpu_s", "wall_seconds": "wall_s"}


def specification(params: Params, model: str, learner: Learner, examples: Treebank) -> Settings:
    """What the trainer is asked for: without labels where the corpus has none, and without patterns likewise."""
    settings = params.train
    families = params.models[model].families
    return Settings(
        families=tuple(f for f in families if f != "pattern" or examples.meta.get("patterns")),
        space=params.models[model].space,
        learner=learner,
        epochs=settings.epochs,
        k=None if settings.k == "none" else int(settings.k),
        bits=settings.bits,
        C=settings.C,
        cost=settings.cost,
        seed=params.seed,
        max_dp_calls=settings.max_dp_calls,
        labels=settings.labels if has_labels(examples) else "none",
        label_bits=settings.label_bits,
        label_cost=settings.label_cost,
    )


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
    seconds = {short: sum(record[key] for record in trained.history) for key, short in TIMING.items()}
    trained.history = [{key: record[key] for key in record if key not in TIMING} for record in trained.history]
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
