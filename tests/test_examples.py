"""The examples in docstrings of the library's public functions run, and say what they print."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import treebound

SOURCES = Path(treebound.__file__).parent
MODULES = [path for path in sorted(SOURCES.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCES)))
def test_examples(path: Path) -> None:
    name = ".".join(path.relative_to(SOURCES.parent).with_suffix("").parts).removesuffix(".__init__")
    found = doctest.testmod(import_module(name))
    assert found.attempted
    assert not found.failed


def test_every_public_function_has_an_example() -> None:
    for name in treebound.__all__:
        made = getattr(treebound, name)
        if not isinstance(made, type) and name != "load":  # needs a trained model: docs/guide/treebanks.md
            assert ">>> " in (made.__doc__ or ""), name
