"""Commands that get corpora."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from treebound.cli.common import CorpusPath, DataDir
from treebound.core.errors import InputError
from treebound.support.progress import say

if TYPE_CHECKING:
    from treebound.treebanks.catalogue import Corpus


def fetch(
    corpora: Annotated[list[str], typer.Argument(help="Names from the catalogue, see data/README.md.")],
    data_dir: DataDir = Path("data"),
    path: CorpusPath = None,
) -> None:
    """Fetch corpora and check their checksums."""
    from treebound.treebanks.fetch import fetch_corpus

    for corpus in corpora:
        say(f"{corpus}: in {fetch_corpus(corpus, path, data_dir)}")


def convert(
    corpora: Annotated[list[str], typer.Argument(help="Names from the catalogue; fetched first if need be.")],
    data_dir: DataDir = Path("data"),
    path: CorpusPath = None,
    encoding: Annotated[
        str | None, typer.Option(help="Encoding of a corpus that --path names. [default: that of the catalogue]")
    ] = None,
    to: Annotated[
        Literal["conllu", "ccg"],
        typer.Option(
            help="ccg: derivations (.auto) and dependencies (.parg) of CCG, from Penn trees or Universal "
            "Dependencies; `ccgbank --path FOLDER` reads a CCGbank."
        ),
    ] = "conllu",
) -> None:
    """Convert fetched corpora to CoNLL-U and columns, or to CCG derivations, one file a split."""
    from treebound.treebanks.convert import convert as convert_corpus
    from treebound.treebanks.fetch import fetch_corpus

    if encoding is not None and path is None:
        raise InputError("the encoding of a fetched corpus is known", hint="leave out --encoding, or give --path")
    if to == "ccg":
        _convert_to_ccg(corpora, data_dir, path, encoding)
        return
    for corpus in corpora:
        folder = fetch_corpus(corpus, path, data_dir)
        convert_corpus(_corpus(corpus, encoding), folder, data_dir / "converted")
        say(f"{corpus}: in {data_dir / 'converted' / corpus}")


def _corpus(name: str, encoding: str | None) -> Corpus:
    """Return a corpus of the catalogue, in another encoding where one is given."""
    from treebound.treebanks.catalogue import CORPORA

    return CORPORA[name] if encoding is None else replace(CORPORA[name], encoding=encoding)


def _convert_to_ccg(corpora: list[str], data_dir: Path, path: str | None, encoding: str | None) -> None:
    from treebound.treebanks.convert_ccg import convert as convert_corpus
    from treebound.treebanks.convert_ccg import convert_ccgbank
    from treebound.treebanks.fetch import fetch_corpus

    for corpus in corpora:
        if corpus == "ccgbank":
            if path is None:
                raise InputError("ccgbank is not open (LDC2005T13)", hint="give the folder that holds AUTO with --path")
            convert_ccgbank(path, data_dir / "ccg", say)
        else:
            folder = fetch_corpus(corpus, path, data_dir)
            convert_corpus(_corpus(corpus, encoding), folder, data_dir / "ccg", say)
        say(f"{corpus}: in {data_dir / 'ccg' / corpus}")
