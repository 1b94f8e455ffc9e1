"""Stage: train a model of a corpus. A run that was killed continues at its last epoch."""

from __future__ import annotations

from studies.common import stage
from studies.common.params import Params
from studies.common.paths import model_file
from studies.pipeline.trainers import trainer
from treebound.core.errors import InputError
from treebound.support.atomic import replacing


def run(params: Params, corpus: str, model: str) -> None:
    """Write a model, its history and the seconds of its training.

    The files are empty if params.yaml excludes the model for this corpus. Raises InputError for an unknown model.
    """
    if model not in params.models:
        hint = f"choose from {', '.join(params.models)}"
        raise InputError(f"models: no model {model!r}", path="params.yaml", hint=hint)
    path = model_file(corpus, model)
    path.parent.mkdir(parents=True, exist_ok=True)
    if params.has(corpus, model):
        metrics, seconds = trainer(params.models[model].system).train(params, corpus, model, path)
    else:
        metrics, seconds = {}, {}
        with replacing(path):
            pass
    stage.write_metrics(stage.METRICS / "train" / corpus / f"{model}.json", metrics)
    stage.write_metrics(stage.METRICS / "timing" / "train" / corpus / f"{model}.json", seconds)


if __name__ == "__main__":
    stage.main(run)
