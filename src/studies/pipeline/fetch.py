"""Stage: fetch a corpus. TREEBANK_MIRROR may name a folder to search before the network."""

from __future__ import annotations

from studies.common import stage
from studies.common.params import Params
from treebound.treebanks.catalogue import CORPORA, UserPath
from treebound.treebanks.fetch import fetch_corpus


def run(params: Params, corpus: str) -> None:
    """Fetch a corpus to data/raw. If the user gives a path to the corpus, only this path is recorded there."""
    folder = fetch_corpus(corpus, params.paths.get(corpus))
    if isinstance(CORPORA[corpus].source, UserPath):
        stage.write_json(stage.DATA / "raw" / corpus / "path.json", {"path": str(folder)})


if __name__ == "__main__":
    stage.main(run)
