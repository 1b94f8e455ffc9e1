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

from treebound.core.errors import ModelError, UnsupportedError
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
    """Return the system of a model file; only its package is imported. Raises ModelError for a file of no system."""
    kind = kind_of(path)
    if kind not in KINDS:
        raise ModelError(
            f"the file holds a {kind!r:.40}, which is not the model of a system",
            path=path,
            hint=f"name a model of {', '.join(SYSTEMS)}",
        )
    return SYSTEMS[KINDS[kind]]()


def load(path: str | Path, **options: Any) -> Parser:
    r"""Load a model file of any system as a parser.

    Parameters
    ----------
    path : str or Path
        Model file that `treebound train` wrote, or `save` of a model.
    **options
        Options of the parser of the model's system. For graph-based models, see
        `treebound.systems.graph.parser.Parser`: `decoder`, `k`, `threshold`, `valid` and the options of the decoder.

    Returns
    -------
    Parser
        Object with `parse(treebank)`, which returns one `treebound.core.parse.Parse` for each sentence, with the model
        as `model`.

    Raises
    ------
    ModelError
        If the file is not a model, is damaged, or was written by another version.
    UnsupportedError
        If the model predicts no trees (taggers), or if the decoder does not support the model.
    InputError
        For an unknown option.

    Notes
    -----
    Reading takes O(size of the file) time and memory. Only the package of the model's system is imported.

    Examples
    --------
    Train a small model, store it, and load it.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import treebound
    >>> from treebound.systems.graph.settings import Settings
    >>> from treebound.treebanks import document
    >>> word = "{}\t{}\t_\t{}\t_\t_\t{}\t{}\t_\t_\n".format
    >>> rows = [word(1, "Cats", "NOUN", 2, "nsubj"), word(2, "see", "VERB", 0, "root"), word(3, "us", "PRON", 2, "obj")]
    >>> treebank = document.read((("".join(rows) + "\n") * 20).encode()).treebank
    >>> model = SYSTEMS["graph"]().train(Settings(families=(), epochs=1, bits=12), treebank, treebank)
    >>> with TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "model.npz")
    ...     parser = treebound.load(Path(folder) / "model.npz", k=None)
    >>> parser.parse(treebank)[0].heads.tolist()
    [-1, 2, 0, 2]
    """
    system = system_of(path)
    model = system.load(Path(path))
    try:
        return system.parser(model, **options)
    except UnsupportedError as error:  # the message names the model file
        raise UnsupportedError(error.reason, path=error.path or path, hint=error.hint) from None
