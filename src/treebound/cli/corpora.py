"""Commands that get corpora."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treebound.cli.common import CorpusPath, DataDir
from treebound.support.progress import say


def fetch(
    corpora: Annotated[list[str], typer.Argument(help="Names from the catalogue, see data/README.md.")],
    data_dir: DataDir = Path("data"),
    path: CorpusPath = None,
) -> None:
    """Fetch corpora and check their checksums."""
    from treebound.experiments.fetch import fetch_corpus

    for corpus in corpora:
        say(f"{corpus}: in {fetch_corpus(corpus, path, data_dir)}")


def convert(
    corpora: Annotated[list[str], typer.Argument(help="Names from the catalogue; fetched first if need be.")],
    data_dir: DataDir = Path("data"),
    path: CorpusPath = None,
) -> None:
    """Convert fetched corpora to CoNLL-U and columns, one file a split."""
    from treebound.experiments.fetch import fetch_corpus
    from treebound.treebanks.catalogue import CORPORA
    from treebound.treebanks.convert import convert as convert_corpus

    for corpus in corpora:
        convert_corpus(CORPORA[corpus], fetch_corpus(corpus, path, data_dir), data_dir / "converted")
        say(f"{corpus}: in {data_dir / 'converted' / corpus}")
