"""Settings and treebank files of a CCG parser, as the stages of CCG parsers read them.

The files are data/ccg-parsers/NAME/{train,dev,test}.auto.
"""

from __future__ import annotations

from pathlib import Path

from studies.auli_lopez_2011.ccg.settings import CCG, CCGParser
from studies.common import stage
from studies.common.params import Params
from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.treebanks.document import read

TREEBANKS = stage.DATA / "ccg-parsers"


def ccg_parser(params: Params, name: str) -> CCGParser:
    """Return the settings of a parser. Raise InputError if params.yaml has no parser of this name."""
    parsers = params.section(CCG).parsers
    if name not in parsers:
        raise InputError(
            f"ccg: no parser {name!r}",
            path="params.yaml",
            hint=f"parsers in params.yaml: {', '.join(parsers) or 'none'}",
        )
    return parsers[name]


def file_of(name: str, split: str) -> Path:
    """Return the path of the derivations of a split, with the tags that the parser sees."""
    return TREEBANKS / name / f"{split}.auto"


def load(name: str, split: str) -> Treebank:
    """Read the derivations of a split as a treebank. Raise InputError if the file is missing, damaged or empty."""
    path = file_of(name, split)
    treebank = read(path).treebank
    if not len(treebank):
        raise InputError("the file has no derivations", path=path, hint="use a larger slice of the corpus")
    return treebank
