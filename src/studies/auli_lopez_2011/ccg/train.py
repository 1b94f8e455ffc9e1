"""Stage: write the treebank of a CCG parser, and train its supertagger and its log-linear model.

An interrupted training resumes at its checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterable

from studies.auli_lopez_2011.ccg import treebank
from studies.auli_lopez_2011.ccg.files import ccg_parser, load
from studies.common import stage
from studies.common.params import Params
from studies.common.paths import ccg_file
from treebound.metrics.timing import Stopwatch
from treebound.systems.ccg.training import train_model


def run(params: Params, name: str) -> None:
    """Write the model results/models/ccg/NAME.npz, a report of its training, and the seconds of the training."""
    treebank.write(params, name)
    settings, train = ccg_parser(params, name).settings, load(name, "train")
    checkpoint, path = stage.CHECKPOINTS / f"ccg.{name}.npz", ccg_file(name)
    for folder in (checkpoint.parent, path.parent):
        folder.mkdir(parents=True, exist_ok=True)

    def progress(items: Iterable, step: str) -> Iterable:
        stage.say(f"{name}: {step}")
        return items

    with Stopwatch() as watch:
        model = train_model(settings, train, checkpoint=checkpoint, progress=progress)
    model.save(path)
    metrics = {"spec": settings.as_dict(), "history": model.history, "left_out": model.left_out}
    stage.write_metrics(stage.METRICS / "ccg-train" / f"{name}.json", metrics)
    seconds = {"cpu_s": watch.cpu, "wall_s": watch.wall}
    stage.write_metrics(stage.METRICS / "timing" / "ccg-train" / f"{name}.json", seconds)


if __name__ == "__main__":
    stage.main(run)
