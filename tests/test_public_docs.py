"""Test that the public functions have docstrings in the form of numpydoc, with all sections that a reader needs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

import treebound
from treebound.constraints.rows import Words
from treebound.metrics.attachment import evaluate
from treebound.systems.graph.parser import Parser
from treebound.treebanks.document import Document, read, stream

PUBLIC: list[Callable[..., Any]] = [
    *(getattr(treebound, name) for name in treebound.__all__ if not isinstance(getattr(treebound, name), type)),
    read,
    stream,
    Document.write,
    Parser.parse,
    Words.of,
    evaluate,
]
WITHOUT_EXAMPLE = {"Parser.parse"}  # shown in the example of treebound.load
RAISES_NOTHING = {"Words.of"}
#: functions with an algorithm of a paper
FROM_PAPERS = {"check", "decode", "evaluate", "mine", "problem", "Parser.parse"}


def sections(function: Callable[..., Any]) -> dict[str, str]:
    """Return the sections of a docstring: heading -> text; the text before the first heading has the key ""."""
    parts = re.split(r"(?m)^([A-Z][a-z]+)\n-+\n", inspect.getdoc(function) or "")
    return {"": parts[0]} | dict(zip(parts[1::2], parts[2::2], strict=True))


def described(text: str) -> set[str]:
    """Return the parameters that a section describes."""
    lines = re.findall(r"(?m)^([*\w][\w*, ]*)(?: : .+)?$", text)
    return {name.strip("* ") for line in lines for name in line.split(",")}


@pytest.mark.parametrize("function", PUBLIC, ids=lambda function: function.__qualname__)
def test_sections(function: Callable[..., Any]) -> None:
    name, text = function.__qualname__, sections(function)
    assert text[""].strip().splitlines()[0].endswith(".")
    parameters = set(inspect.signature(function).parameters) - {"self"}
    assert described(text["Parameters"]) == parameters
    returns = inspect.signature(function, eval_str=False).return_annotation
    assert returns == "None" or text.get("Returns") or text.get("Yields")
    assert name in RAISES_NOTHING or "Error" in text["Raises"]
    assert re.search(r"O\(|time|exponential", text[""] + text.get("Notes", "")), "no complexity"
    assert name in WITHOUT_EXAMPLE or ">>> " in text["Examples"]
    assert name not in FROM_PAPERS or re.search(r"\(\d{4}\)", text["References"])
