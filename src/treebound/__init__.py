"""treebound: exact decoding for dependency parsing with non-local features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__version__ = "0.1.0"


def load(path: str | Path, **options: Any) -> Any:
    """A parser from a model file of any system; `options` as for its parser, `systems.graph.parser.Parser` for one.

    Compiled code is loaded only now.
    """
    from treebound.systems.registry import load

    return load(path, **options)
