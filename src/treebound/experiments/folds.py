"""Stage: fetch and convert a corpus for cross-validation, apart from the corpora whose models the pipeline trains."""

from __future__ import annotations

from treebound.core.errors import InputError
from treebound.experiments import stage
from treebound.experiments.fetch import fetch_corpus
from treebound.experiments.folded import FOLDED
from treebound.experiments.params import Params
from treebound.treebanks.catalogue import CORPORA
from treebound.treebanks.convert import convert


def run(params: Params, corpus: str) -> None:
    """Write data/folded/<corpus> and its conversion table. InputError where folds cannot be told."""
    folder = fetch_corpus(corpus, params.paths.get(corpus))
    report = convert(CORPORA[corpus], folder, FOLDED)
    if report["meta"]["split"] != "every-tenth" or report["splits"]["train"]["dropped"]:
        raise InputError(f"{corpus}: its split is not every-tenth", hint="folds are told from sentence numbers")
    stage.write_json(stage.METRICS / "folds" / f"{corpus}.json", report)


if __name__ == "__main__":
    stage.main(run)
