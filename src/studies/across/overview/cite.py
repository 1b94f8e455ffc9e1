"""Say how to cite the project, from its file CITATION.cff."""

from __future__ import annotations

from pathlib import Path

from studies.common.paths import STUDIES
from studies.site.show import Remarks
from treebound.support import yamlfile

FILE = STUDIES.parents[1] / "CITATION.cff"


def citation(path: Path = FILE) -> Remarks:
    """Return the reference to the project and its licence, or a hint if the file is not in the checkout."""
    if not path.is_file():
        return Remarks(("The file CITATION.cff of the repository says how to cite the project.",))
    data = yamlfile.read(path)[1]
    year = str(data["date-released"])[:4]
    authors = ", ".join(author.get("name") or _person(author) for author in data["authors"])
    return Remarks(
        (
            f"{authors} ({year}): *{data['title']}*, version {data['version']}. The licence of "
            f"the code is {data['license']}; each treebank has a licence of its own.",
            f"In BibTeX: `@software{{treebound, author = {{{{{authors}}}}}, title = {{{data['title']}}}, "
            f"version = {{{data['version']}}}, year = {{{year}}}}}`.",
            "Please cite the paper whose method you use as well: `docs/references.bib` has the entries.",
        )
    )


def _person(author: dict[str, str]) -> str:
    """Return the name of a person, given names first."""
    return f"{author['given-names']} {author['family-names']}"
