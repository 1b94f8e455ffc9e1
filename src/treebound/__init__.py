"""treebound: exact decoding for dependency parsing with non-local features.

    parser = treebound.load("model.npz")                  # load a trained model as a parser
    parse = treebound.decode(arc, labels=labels)          # find the best tree for the scores of another parser
    parses = treebound.decode_all(arcs, workers=2)        # the same for many sentences
    faults = treebound.check(treebound.problem(arc), parse)
    mined = treebound.mine(document)                      # rank the doubtful annotations of a treebank

`treebound.InputError` is raised for data and settings that cannot be used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from treebound.core.errors import InputError

if TYPE_CHECKING:
    from treebound.mining.mine import mine
    from treebound.scores.decoding import decode, decode_all
    from treebound.scores.statement import problem
    from treebound.scores.verifying import check
    from treebound.systems.registry import load

__version__ = "0.1.0"
__all__ = ["InputError", "check", "decode", "decode_all", "load", "mine", "problem"]

#: modules of the public functions; each is imported, with its compiled code, when the function is first used
_HOME = {
    "load": "treebound.systems.registry",
    "decode": "treebound.scores.decoding",
    "decode_all": "treebound.scores.decoding",
    "problem": "treebound.scores.statement",
    "mine": "treebound.mining.mine",
    "check": "treebound.scores.verifying",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    function = globals()[name] = getattr(import_module(_HOME[name]), name)  # later look-ups find it in the module
    return function


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
