"""Run the examples in docstrings of the library's public functions and compare their output."""

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
    result = doctest.testmod(import_module(name))
    assert result.attempted
    assert not result.failed


def test_every_public_function_has_an_example() -> None:
    for name in treebound.__all__:
        member = getattr(treebound, name)
        if not isinstance(member, type) and name != "load":  # needs a trained model: docs/guide/treebanks.md
            assert ">>> " in (member.__doc__ or ""), name
