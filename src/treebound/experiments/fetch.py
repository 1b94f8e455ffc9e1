"""Stage: fetch a corpus. TREEBANK_MIRROR may name a folder that is looked up before the network."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from treebound.experiments import stage
from treebound.experiments.params import Params
from treebound.treebanks.catalogue import CORPORA, UserPath
from treebound.treebanks.fetch import fetch


def fetch_corpus(name: str, path: str | None = None, data_dir: Path = stage.DATA) -> Path:
    """The folder with the files of a corpus, fetched if need be; `path` is that of a corpus one has a licence for."""
    mirror = os.environ.get("TREEBANK_MIRROR") or None
    return fetch(CORPORA[name], data_dir, mirror, path, progress=sys.stderr.isatty())


def run(params: Params, corpus: str) -> None:
    """Fetch a corpus to data/raw; of a corpus at a path of one's own only the path is written down there."""
    folder = fetch_corpus(corpus, params.paths.get(corpus))
    if isinstance(CORPORA[corpus].source, UserPath):
        stage.write_json(stage.DATA / "raw" / corpus / "path.json", {"path": str(folder)})


if __name__ == "__main__":
    stage.main(run)
