"""Tests that the repository is written in plain English and that the checker finds violations."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path

import language
import nbformat
import pytest
import typer

from treebound.cli import application

REPOSITORY = Path(__file__).parents[1]
PAGES = ["README.md", "CONTRIBUTING.md", "docs"]


@pytest.mark.parametrize("folder", ["src/treebound", "src/studies", "tests", "benchmarks", *PAGES])
def test_text_is_plain(folder: str) -> None:
    findings = language.check([REPOSITORY / folder])
    assert not findings, "\n".join(map(str, findings))


@pytest.mark.parametrize("path", sorted((REPOSITORY / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_are_plain(path: Path, tmp_path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    page = tmp_path / f"{path.stem}.md"
    page.write_text("\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown"), encoding="utf-8")
    findings = language.check([page])
    assert not findings, "\n".join(map(str, findings))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("What is trained with a model.", "first word"),
        ("Of the settings and treebanks.", "first word"),
        ("The same heads with their labels.", "first word"),
        ("Sentence i.", "too short"),
        ("Return the scores of trees, where those of arcs are -inf.", "phrase"),
        ("Return so many trees as there are arcs.", "phrase"),
        ("Return the labeled tree of a sentence.", "spelling"),
        ("Return " + "a tree or " * 20 + "an arc.", "long sentence"),
    ],
)
def test_a_bad_docstring_is_found(text: str, rule: str) -> None:
    assert [broken for broken, _ in language.check_docstring(text)] == [rule]


def test_a_good_docstring_passes() -> None:
    text = """Return the best tree of a sentence, e.g. for a matrix of scores.

    scores   float64[n + 1, n + 1], scores of arcs
    returns  int32[n + 1], the head of each word

    Raises InputError for scores that are not finite.
    """
    assert list(language.check_docstring(text)) == []


def test_bad_names_and_comments_are_found(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        '"""Hold an example of bad names."""\n\n# what stands here\nfound = 1\n\n\ndef f(given):\n    left = 2\n'
    )
    assert [(finding.line, finding.text) for finding in language.check([path]) if finding.rule == "name"] == [
        (8, "left"),
        (4, "found"),
        (7, "given"),
    ]
    assert any(finding.rule == "comment, phrase" for finding in language.check([path]))


def test_every_error_says_what_to_do() -> None:
    """Every error has a hint, or passes on another error, which has a hint."""
    without = []
    for path in sorted((REPOSITORY / "src" / "treebound").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            named = {keyword.arg for keyword in node.keywords}
            if node.func.id in ("InputError", "ModelError", "UnsupportedError") and not named & {"hint", None}:
                without.append(f"{path.name}: {ast.unparse(node)}")
    assert [text for text in without if "error" not in text.partition("(")[2]] == []


def glossary() -> tuple[set[str], set[str]]:
    """Return the terms of the glossary in docs/notation.md, and the words that are not used for them."""
    section = (REPOSITORY / "docs" / "notation.md").read_text(encoding="utf-8").partition("## Glossary")[2]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    terms = {term for row in rows[2:] for term in row[0].split(", ")}
    return terms, {word for row in rows[2:] for word in row[2].split(", ") if word}


def test_the_glossary_defines_each_term_once() -> None:
    terms, avoided = glossary()
    assert len(terms) > 40
    assert not terms & avoided


def test_options_use_the_terms_of_the_glossary() -> None:
    _, avoided = glossary()
    commands = typer.main.get_command(application()).commands  # type: ignore[attr-defined]
    names = {option for command in commands.values() for p in command.params for option in p.opts if option[:2] == "--"}
    assert len(names) > 60
    words = " ".join(name.strip("-").replace("-", " ") for name in names)
    assert [word for word in avoided if re.search(rf"\b{word}\b", words)] == []


def test_table_headings_use_the_terms_of_the_glossary() -> None:
    """Check the tables of the reference run: their titles and the headings of their columns."""
    _, avoided = glossary()
    tables = sorted((REPOSITORY / "results" / "reference" / "tables").glob("*.md"))
    assert len(tables) > 20
    for path in tables:
        lines = path.read_text(encoding="utf-8").splitlines()
        headings = [lines[0], *(line for line, rule in pairwise(lines) if rule.startswith("| ---"))]
        words = re.findall(r"[a-z][a-z -]*", " ".join(headings).lower())
        assert [word for word in avoided if any(re.search(rf"\b{word}\b", text) for text in words)] == [], path.name
