"""Stage: a fetched corpus as CCG derivations, and what is in them.

python -m treebound.experiments.derivations CORPUS
"""

from __future__ import annotations

from treebound.experiments import stage
from treebound.experiments.ccg_files import DERIVATIONS
from treebound.experiments.fetch import fetch_corpus
from treebound.experiments.params import Params
from treebound.treebanks.catalogue import CORPORA
from treebound.treebanks.convert_ccg import convert


def run(params: Params, corpus: str) -> None:
    """Write data/ccg/<corpus> and its table of coverage, failures, categories and rules."""
    folder = fetch_corpus(corpus, params.paths.get(corpus))
    report = convert(CORPORA[corpus], folder, DERIVATIONS, stage.say)
    stage.write_json(stage.METRICS / "derivations" / f"{corpus}.json", report)


if __name__ == "__main__":
    stage.main(run)
