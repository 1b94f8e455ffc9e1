"""Stage: collect accuracies, learning curves and pruner recall for `dvc metrics` and `dvc plots`."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from studies.common import metrics, stage
from studies.common.params import Params

RESULTS = Path("results")
PLOTS = RESULTS / "plots"
DIGITS = 2  #: decimals of percentages


def accuracy(params: Params, corpus: str) -> dict[str, dict[str, float]]:
    """Return UAS and LAS (%) of every row of a corpus on test, and the share of proved sentences (%) if known."""
    rows: dict[str, dict[str, float]] = {}
    for row in params.rows_of(corpus):
        measured = metrics.read(RESULTS, "decode", corpus, f"{row.trained}.json")[row.name]
        if "missing" in measured:
            continue  # skip the row: the package of its learner is not installed
        rows[row.name] = {name: round(measured[name], DIGITS) for name in ("uas", "las") if name in measured}
        if "certified" in measured:
            rows[row.name]["proved"] = round(100 * measured["certified"] / max(measured["sentences"], 1), DIGITS)
    return rows


def learning(params: Params, corpus: str) -> Iterable[dict[str, Any]]:
    """Yield the UAS on dev after every epoch, for every model of a corpus that is trained in epochs."""
    for model in params.decode:
        for epoch in metrics.read(RESULTS, "train", corpus, f"{model}.json").get("history", ()):
            if "dev_uas" in epoch:
                uas = round(epoch["dev_uas"], DIGITS)
                yield {"corpus": corpus, "model": model, "epoch": epoch["epoch"], "dev_uas": uas}


def pruning(corpus: str) -> Iterable[dict[str, Any]]:
    """Yield the oracle recall of the pruner on dev and test for each number k of best heads."""
    for split, by_k in metrics.read(RESULTS, "pruner", f"{corpus}.json")["recall"].items():
        for k, recall in by_k.items():
            yield {"corpus": corpus, "split": split, "k": int(k), "recall": round(recall, 2 + DIGITS)}


def run(params: Params) -> None:
    """Write results/metrics/summary, with a file for each row of a corpus, and the tables of results/plots."""
    import pandas as pd

    corpora, folder = params.corpora, stage.METRICS / "summary"
    shutil.rmtree(folder, ignore_errors=True)
    for corpus in corpora:
        for row, figures in accuracy(params, corpus).items():
            stage.write_metrics(folder / corpus / f"{row}.json", figures)
    curves = pd.DataFrame([row for corpus in corpora for row in learning(params, corpus)])
    recalls = pd.DataFrame([row for corpus in corpora for row in pruning(corpus)])
    for name, table in (("learning", curves), ("pruning", recalls)):
        stage.write(PLOTS / f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))


if __name__ == "__main__":
    stage.main(run)
