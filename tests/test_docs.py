"""The README and the pages in docs/ keep to what there is."""

from __future__ import annotations

import re
from pathlib import Path

import made_up_results
import pytest

from treebound.core.errors import InputError
from treebound.experiments import params as parameters
from treebound.report import readme

REPOSITORY = Path(__file__).parents[1]
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md")), REPOSITORY / "results" / "README.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_readme_lists_every_folder_and_notebook() -> None:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    package = REPOSITORY / "src" / "treebound"
    for folder in package.iterdir():
        if (folder / "__init__.py").is_file():
            assert f"`src/treebound/{folder.name}/`" in text
    for name in parameters.load(REPOSITORY / "params.yaml").notebooks:
        assert f"notebooks/{name}.ipynb" in text


def test_decisions_are_numbered_without_gaps() -> None:
    names = sorted(path.name for path in (REPOSITORY / "docs" / "decisions").glob("*.md"))
    assert [int(name[:3]) for name in names] == list(range(len(names)))
    for name in names[1:]:
        first = (REPOSITORY / "docs" / "decisions" / name).read_text(encoding="utf-8").splitlines()[0]
        assert first.startswith(f"# {name[:3]}: ")


def test_references_are_unique() -> None:
    keys = re.findall(r"^@\w+\{([^,]+),", (REPOSITORY / "docs" / "references.bib").read_text(encoding="utf-8"), re.M)
    assert len(keys) == len(set(keys)) > 10


def test_the_headline_is_that_of_the_reference() -> None:
    """`python -m treebound.report.readme` after `make reference`."""
    text, figures = readme.headline(REPOSITORY)
    kept = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert readme.updated(kept, text) == kept
    assert all((REPOSITORY / path).exists() == (path in figures) for path in (readme.FIGURE, readme.NARROW))


def test_the_headline_is_replaced_between_its_marks(tmp_path: Path) -> None:
    made_up_results.project(tmp_path, REPOSITORY)
    text, figures = readme.headline(tmp_path)
    assert figures.keys() == {readme.FIGURE, readme.NARROW}
    assert "An invented treebank" in text
    before = f"a\n{readme.BEGIN}\nold\n{readme.END}\nb"
    assert readme.updated(before, text) == f"a\n{readme.BEGIN}\n{text}\n{readme.END}\nb"
    with pytest.raises(InputError, match="marks of the headline are gone"):
        readme.updated("no marks", text)
