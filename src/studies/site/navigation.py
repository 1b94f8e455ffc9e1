"""Group the pages of the site by paper and by question.

A notebook states its place in its metadata:

    "treebound": {"group": "zhang-2014", "question": "accuracy", "short": "Global features"}

A page that states no group is listed under "More", and a page that states no question under "Other questions".

Every page of the site has links to the pages before and after it. A notebook in JupyterLab has the same link to the
page after it in its last cell (`ending`), which the site leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, TypeVar

from nbformat import NotebookNode

from treebound.core.errors import InputError

INDEX = "index"  #: name of the notebook that becomes the entry page
WIDE = "(min-width: 56.01rem)"  #: media query of screens on which the navigation is a column, as in style.css
#: key and title of each group of pages, in the order of the navigation
GROUPS = {
    "start": "Start",
    "qian-liu-2013": "Exact search (Qian & Liu 2013)",
    "riedel-clarke-2006": "Integer programs (Riedel & Clarke 2006)",
    "zhang-2014": "Sampling (Zhang et al. 2014)",
    "hall-2006": "Transitions (Hall et al. 2006)",
    "auli-lopez-2011": "Categorial grammar (Auli & Lopez 2011)",
    "across": "Across papers",
    "report": "About this report",
    "more": "More",
}
#: key and text of each question that pages answer, in the order of the list on the first page
QUESTIONS = {
    "use": "How do I use a parser?",
    "accuracy": "What makes a parser more accurate?",
    "speed": "How fast is a parser, and why?",
    "search": "How far is the result from the best tree?",
    "languages": "Do the results hold in other languages?",
    "trust": "When can I trust a tree?",
    "data": "Which data and which factors are used?",
    "report": "How is this report made?",
    "other": "Other questions",
}


@dataclass(frozen=True)
class Place:
    """The place of a page in the site.

    group     key of GROUPS
    question  key of QUESTIONS
    short     short title for the navigation; empty if the notebook states none
    """

    group: str = "more"
    question: str = "other"
    short: str = ""


@dataclass
class Placed:
    """A page that has a place in the site.

    name   file name without its ending
    title  title as HTML
    """

    name: str
    title: str = ""
    place: Place = Place()

    @property
    def short(self) -> str:
        """Return the title for the navigation as HTML."""
        return escape(self.place.short) or self.title

    @property
    def group(self) -> str:
        """Return the title of the group of the page."""
        return GROUPS[self.place.group]


P = TypeVar("P", bound=Placed)


def place(notebook: NotebookNode, path: Path) -> Place:
    """Return the place that the metadata of the notebook in `path` states.

    Raises InputError for a group or a question that is not among the keys of GROUPS and QUESTIONS.
    """
    stated: Mapping[str, Any] = notebook.metadata.get("treebound", {})
    for name, known in (("group", GROUPS), ("question", QUESTIONS)):
        if (key := stated.get(name)) is not None and key not in known:
            hint = f"choose from {', '.join(known)}"
            raise InputError(f"unknown {name} {key!r} in the notebook's metadata", path=path, hint=hint)
    return Place(stated.get("group", "more"), stated.get("question", "other"), str(stated.get("short", "")))


def in_order(pages: Iterable[P]) -> list[P]:
    """Return the pages in the order of the site: the entry page, then the groups. Pages of a group keep their order."""
    return sorted(pages, key=lambda page: (page.name != INDEX, list(GROUPS).index(page.place.group)))


def ending(following: Placed) -> str:
    """Return the last cell of a notebook as Markdown: links to the page that follows it and to the entry page."""
    return f"Continue with [{following.place.short}]({following.name}.ipynb). Back to [the first page]({INDEX}.ipynb)."


def by_group(pages: Iterable[P]) -> dict[str, list[P]]:
    """Return the pages of each group that has pages, by the title of the group; pages keep their order."""
    pages = list(pages)
    groups = {title: [page for page in pages if page.place.group == key] for key, title in GROUPS.items()}
    return {title: members for title, members in groups.items() if members}


def by_question(pages: Iterable[P]) -> dict[str, list[P]]:
    """Return the pages of each question that has pages, by the text of the question; pages keep their order."""
    pages = list(pages)
    groups = {text: [page for page in pages if page.place.question == key] for key, text in QUESTIONS.items()}
    return {text: members for text, members in groups.items() if members}
