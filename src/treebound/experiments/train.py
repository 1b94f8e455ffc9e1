"""Stage: train what one or more rows of a corpus parse with. A run that was killed goes on at its last epoch."""

from __future__ import annotations

from treebound.core.errors import InputError
from treebound.experiments import stage
from treebound.experiments.params import Params
from treebound.experiments.plan import model_file, model_name
from treebound.experiments.rooms import training


def run(params: Params, corpus: str, model: str) -> None:
    """Write a model, what is to be told of its training and the seconds that it took."""
    rows = [row for row in params.rows_of(corpus) if model_name(params, corpus, row) == model]
    if not rows:
        raise InputError(f"no row of {corpus} parses with {model}", path="params.yaml", hint="see its decode:")
    path = model_file(params, corpus, rows[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    metrics, seconds = training(rows[0].system).train(params, corpus, rows[0], path)
    stage.write_json(stage.METRICS / "train" / corpus / f"{model}.json", metrics)
    stage.write_json(stage.METRICS / "timing" / "train" / corpus / f"{model}.json", seconds)


if __name__ == "__main__":
    stage.main(run)
