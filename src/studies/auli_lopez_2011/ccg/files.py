"""What the stages of CCG parsers read: data/ccg-parsers/NAME/{train,dev,test}.auto, results/models/ccg/NAME.npz."""

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
    """A parser by its name. Raises InputError where there is none."""
    found = params.section(CCG).parsers
    if name not in found:
        raise InputError(f"ccg: no parser {name!r}", path="params.yaml", hint=f"it has {', '.join(found) or 'none'}")
    return found[name]


def file_of(name: str, split: str) -> Path:
    """The derivations of a split of a parser's treebank, with the tags that it is to see."""
    return TREEBANKS / name / f"{split}.auto"


def load(name: str, split: str) -> Treebank:
    """The same as a treebank. Raises InputError if the file is missing, damaged or empty."""
    path = file_of(name, split)
    found = read(path).treebank
    if not len(found):
        raise InputError("has no derivations", path=path, hint="take a larger slice of the corpus")
    return found
