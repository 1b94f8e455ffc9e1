"""Registry of the systems, by name and by the kind of their model files.

To add a system, write a package and add a line to this file. `SYSTEMS[name]()` returns a system and imports its package
at that moment. The registry is a module of its own: the compiled code of every system depends on the package
`treebound.systems`, and would otherwise be recompiled whenever the registry changes.
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
KINDS: dict[str, str] = {}  #: kind of a model file -> name of its system


def register(name: str, kinds: str, make: Callable[[], System]) -> None:
    """Register a system and the kinds of its model files (`treebound.learning.storage`), separated by commas."""
    SYSTEMS.register(name, make)
    KINDS.update(dict.fromkeys(kinds.split(", "), name))


def _system(module: str, attribute: str, *arguments: str) -> Callable[[], System]:
    """Return a function that imports `treebound.systems.<module>` and creates its system when it is called."""
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
    """Return the system of a model file; only the package of this system is imported. Raises ModelError otherwise."""
    kind = kind_of(path)
    if kind not in KINDS:
        raise ModelError(
            f"a {kind!r:.40}, not a model of a system", path=path, hint=f"name a model of {', '.join(SYSTEMS)}"
        )
    return SYSTEMS[KINDS[kind]]()


def load(path: str | Path, **options: Any) -> Parser:
    """Return the parser of a model file of any system; `options` as for the parser of the system."""
    system = system_of(path)
    return system.parser(system.load(Path(path)), **options)
