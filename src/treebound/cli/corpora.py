"""Commands that download and convert corpora: `fetch` and `convert`."""

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
    corpora: Annotated[list[str], typer.Argument(help="Names of corpora in the catalogue, see data/README.md.")],
    data_dir: DataDir = Path("data"),
    path: CorpusPath = None,
) -> None:
    """Download corpora and verify their checksums.

    \b
    Example:
    treebound fetch en_ewt pt_petrogold
    """
    from treebound.treebanks.fetch import fetch_corpus

    for corpus in corpora:
        say(f"{corpus}: in {fetch_corpus(corpus, path, data_dir)}")


def convert(
    corpora: Annotated[
        list[str], typer.Argument(help="Names of corpora in the catalogue, which are downloaded if necessary.")
    ],
    data_dir: DataDir = Path("data"),
    path: CorpusPath = None,
    encoding: Annotated[
        str | None,
        typer.Option(help="Encoding of the corpus in the folder --path. [default: the encoding in the catalogue]"),
    ] = None,
    to: Annotated[
        Literal["conllu", "ccg"],
        typer.Option(
            help="Format to write: conllu, or ccg for CCG derivations (.auto) and dependencies (.parg), which are "
            "derived from Penn trees or Universal Dependencies. To read a CCGbank, name the corpus ccgbank and its "
            "folder with --path."
        ),
    ] = "conllu",
) -> None:
    """Convert corpora to CoNLL-U or to CCG derivations.

    The result is one file per split.

    \b
    Examples:
    treebound convert en_ewt
    treebound convert en_ewt --to ccg
    """
    from treebound.treebanks.convert import convert as convert_corpus
    from treebound.treebanks.fetch import fetch_corpus

    if encoding is not None and path is None:
        raise InputError(
            "--encoding needs --path: the catalogue knows the encoding", hint="leave out --encoding, or give --path"
        )
    if to == "ccg":
        _convert_to_ccg(corpora, data_dir, path, encoding)
        return
    for corpus in corpora:
        folder = fetch_corpus(corpus, path, data_dir)
        convert_corpus(_corpus(corpus, encoding), folder, data_dir / "converted")
        say(f"{corpus}: in {data_dir / 'converted' / corpus}")


def _corpus(name: str, encoding: str | None) -> Corpus:
    """Return a corpus of the catalogue, with another encoding unless it is None."""
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
