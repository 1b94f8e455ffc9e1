"""Stage: convert a fetched corpus to CoNLL-U and to arrays of columns, and count its sentences, words and labels."""

from __future__ import annotations

from studies.common import stage
from studies.common.params import Params
from treebound.treebanks.catalogue import CORPORA
from treebound.treebanks.convert import convert
from treebound.treebanks.fetch import fetch_corpus


def run(params: Params, corpus: str) -> None:
    """Write data/converted/<corpus> and the counts of its conversion."""
    folder = fetch_corpus(corpus, params.paths.get(corpus))
    report = convert(CORPORA[corpus], folder, stage.CONVERTED)
    stage.write_metrics(stage.METRICS / "convert" / f"{corpus}.json", report)


if __name__ == "__main__":
    stage.main(run)
