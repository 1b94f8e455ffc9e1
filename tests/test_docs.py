"""Test the README and the pages in docs/: links, lists and numbers agree with the repository."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
import synthetic_results

from studies.across.overview import page as readme
from studies.common import params as parameters
from treebound.core.errors import InputError

REPOSITORY = Path(__file__).parents[1]
PAGES = [
    REPOSITORY / "README.md",
    REPOSITORY / "CONTRIBUTING.md",
    *sorted((REPOSITORY / "docs").rglob("*.md")),
    REPOSITORY / "results" / "README.md",
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_readme_is_short() -> None:
    assert len((REPOSITORY / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_every_folder_and_notebook_is_listed() -> None:
    architecture = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
    for package in ("treebound", "studies"):
        for folder in (REPOSITORY / "src" / package).iterdir():
            if (folder / "__init__.py").is_file():
                assert f"| `{folder.name}/` |" in architecture, folder
    pages = (REPOSITORY / "docs" / "guide" / "reproduce.md").read_text(encoding="utf-8")
    for name in parameters.load(REPOSITORY / "params.yaml").notebooks:
        assert f"notebooks/{name}.ipynb" in pages, f"docs/guide/reproduce.md has no line about the page {name}"


def test_decisions_are_numbered_without_gaps() -> None:
    names = sorted(path.name for path in (REPOSITORY / "docs" / "decisions").glob("*.md"))
    assert [int(name[:3]) for name in names] == list(range(len(names)))
    for name in names[1:]:
        first = (REPOSITORY / "docs" / "decisions" / name).read_text(encoding="utf-8").splitlines()[0]
        assert first.startswith(f"# {name[:3]}: ")


def test_references_are_unique() -> None:
    keys = re.findall(r"^@\w+\{([^,]+),", (REPOSITORY / "docs" / "references.bib").read_text(encoding="utf-8"), re.M)
    assert len(keys) == len(set(keys)) > 10


def test_the_headline_agrees_with_the_reference_run() -> None:
    """Compare the headline of the README with the reference run.

    `python -m studies.across.overview.page` updates the headline after `make reference`.
    """
    text, figures = readme.headline(REPOSITORY)
    stored = (REPOSITORY / readme.PAGE).read_text(encoding="utf-8")
    assert readme.updated(stored, text) == stored
    assert all((REPOSITORY / path).exists() == (path in figures) for path in (readme.FIGURE, readme.NARROW))


def test_the_headline_is_replaced_between_its_marks(tmp_path: Path) -> None:
    synthetic_results.project(tmp_path, REPOSITORY)
    text, figures = readme.headline(tmp_path)
    assert figures.keys() == {readme.FIGURE, readme.NARROW}
    assert "An invented treebank" in text
    before = f"a\n{readme.BEGIN}\nold\n{readme.END}\nb"
    assert readme.updated(before, text) == f"a\n{readme.BEGIN}\n{text}\n{readme.END}\nb"
    with pytest.raises(InputError, match="marks of the headline are missing"):
        readme.updated("no marks", text)


def test_the_rendered_documentation_has_no_broken_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check all pages of `make docs` but the Python interface, which needs pdoc."""
    specification = importlib.util.spec_from_file_location("make_docs", REPOSITORY / "docs" / "make.py")
    assert specification is not None
    assert specification.loader is not None
    make = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(make)
    monkeypatch.setattr(make, "OUTPUT", tmp_path)
    monkeypatch.setattr("sys.argv", ["make.py", "--no-api"])
    make.main()
    pages = sorted(tmp_path.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<(script|link|img)[^>]*(src|href)=\"https?:", text), f"{page}: needs the network"
        for link in re.findall(r'(?:href|src|srcset)="([^"]+)"', text):
            path, _, anchor = link.partition("#")
            if "://" in link or "api/" in link:
                continue
            target = (page.parent / path).resolve() if path else page
            assert target.is_file(), f"{page}: {link}"
            if anchor and target.suffix == ".html":
                assert f'id="{anchor}"' in target.read_text(encoding="utf-8"), f"{page}: {link}"
    assert "treebound parse" in (tmp_path / "commands.html").read_text(encoding="utf-8")
