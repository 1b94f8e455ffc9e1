"""The systems, by name and by the kind of a model file. A new one is a room and a line here.

`SYSTEMS[name]()` gives a system; its room is imported only then. This is no part of the package's `__init__`, on which
the compiled code of every room depends.
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


def _register(name: str, module: str, attribute: str, *arguments: str) -> None:
    """Register `treebound.systems.<module>.<attribute>(*arguments)`, to be imported when it is first called."""
    SYSTEMS.register(name, lambda: getattr(import_module(f"treebound.systems.{module}"), attribute)(*arguments))


_register("graph", "graph.system", "Graph")
_register("constrained", "constrained.system", "Constrained")
_register("transition", "transition.system", "Transition")
_register("ccg", "ccg.system", "CCG")
_register("sampling", "sampling.system", "SamplingSystem")
_register("tagging", "tagging.system", "Tagging")
_register("udpipe", "peers.system", "Peers", "udpipe")
_register("spacy", "peers.system", "Peers", "spacy")


def system_of(path: str | Path) -> System:
    """The system whose model a file holds. ModelError for any other file."""
    kind = kind_of(path)
    for name in SYSTEMS:
        system = SYSTEMS[name]()
        if kind in system.kinds:
            return system
    raise ModelError(f"a {kind!r:.40}, no model of a system", path=path, hint=f"name a model of {', '.join(SYSTEMS)}")


def load(path: str | Path, **options: Any) -> Parser:
    """A parser from a model file of any system."""
    system = system_of(path)
    return system.parser(system.load(Path(path)), **options)
