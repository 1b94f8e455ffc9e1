"""Stage: translate a downloaded corpus to CCG derivations, and count the derivations.

python -m studies.auli_lopez_2011.derivations.measure CORPUS
"""

from __future__ import annotations

from studies.common import stage
from studies.common.params import Params
from studies.common.paths import DERIVATIONS
from treebound.treebanks.catalogue import CORPORA
from treebound.treebanks.convert_ccg import convert
from treebound.treebanks.fetch import fetch_corpus


def run(params: Params, corpus: str) -> None:
    """Write the derivations to data/ccg/<corpus>, and a table of their coverage, failures, categories and rules."""
    folder = fetch_corpus(corpus, params.paths.get(corpus))
    report = convert(CORPORA[corpus], folder, DERIVATIONS, stage.say)
    stage.write_metrics(stage.METRICS / "derivations" / f"{corpus}.json", report)


if __name__ == "__main__":
    stage.main(run)
