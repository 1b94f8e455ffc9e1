"""treebound: exact decoding for dependency parsing with non-local features."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treebound.systems.graph.parser import Parser

__version__ = "0.1.0"


def load(path: str | Path, **options: Any) -> Parser:
    """A parser from a model file; `options` as for `systems.graph.parser.Parser`. Compiled code is loaded only now."""
    from treebound.systems.graph.parser import load

    return load(path, **options)
