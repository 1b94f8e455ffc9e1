"""The systems, by name and by the kind of a model file. A new system is a package and a line here.

`SYSTEMS[name]()` gives a system; its package is imported only then. The registry is no part of `treebound.systems`
itself, on which the compiled code of every system depends.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from treebound.core.errors import ModelError
from treebound.core.registry import Registry
from treebound.core.system import Parser, System
from treebound.learning.storage import kind_of

SYSTEMS: Registry[Callable[[], System]] = Registry("system")
KINDS: dict[str, str] = {}  #: kind of a model file -> the name of its system


def register(name: str, kinds: str, make: Callable[[], System]) -> None:
    """Add a system, and the kinds of its model files (`treebound.learning.storage`), separated by commas."""
    SYSTEMS.register(name, make)
    KINDS.update(dict.fromkeys(kinds.split(", "), name))


def _system(module: str, attribute: str, *arguments: str) -> Callable[[], System]:
    """Return a function that imports `treebound.systems.<module>` when it is called, and makes its system."""
    return lambda: getattr(import_module(f"treebound.systems.{module}"), attribute)(*arguments)


register("graph", "model", _system("graph.system", "Graph"))
register("constrained", "labelled model", _system("constrained.system", "Constrained"))
register("transition", "transition model", _system("transition.system", "Transition"))
register("ccg", "CCG model", _system("ccg.system", "CCG"))
register("sampling", "sampling model", _system("sampling.system", "SamplingSystem"))
register("correcting", "correcting model", _system("correcting.system", "Correcting"))
register("tagging", "tagger, taggers", _system("tagging.system", "Tagging"))
register("udpipe", "udpipe", _system("peers.system", "Peers", "udpipe"))
register("spacy", "spacy", _system("peers.system", "Peers", "spacy"))


def system_of(path: str | Path) -> System:
    """The system whose model a file holds; no package but its own is imported. ModelError for any other file."""
    kind = kind_of(path)
    if kind not in KINDS:
        raise ModelError(
            f"a {kind!r:.40}, no model of a system", path=path, hint=f"name a model of {', '.join(SYSTEMS)}"
        )
    return SYSTEMS[KINDS[kind]]()


def load(path: str | Path, **options: Any) -> Parser:
    """A parser from a model file of any system."""
    system = system_of(path)
    return system.parser(system.load(Path(path)), **options)
