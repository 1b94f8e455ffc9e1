"""Show a table of texts in columns of fixed widths; the last column may hold commands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

import pandas as pd

from studies.site.show import typeset


@dataclass(frozen=True)
class TextTable:
    """A table of texts, as HTML with a caption and as CSV. Narrow screens stack the cells.

    data    texts by row and column; the index has one level
    widths  width of the index column and of each column, in % of the table
    commands  True shows the texts of the last column as code
    links  name of a row -> notebook to which the name leads
    """

    data: pd.DataFrame
    caption: str
    widths: Sequence[int]
    commands: bool = False
    links: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return self.caption

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        csv = self.data.to_csv(lineterminator="\n")
        return {"text/plain": self.caption, "text/html": self._html(), "text/csv": csv}

    def _html(self) -> str:
        """Return the table as HTML."""
        heads = [self.data.index.name, *self.data.columns]
        head = "".join(
            f'<th scope="col" class="text" style="width:{width}%">{escape(str(name))}</th>'
            for name, width in zip(heads, self.widths, strict=True)
        )
        rows = []
        for name, texts in self.data.iterrows():
            last = len(texts) - 1
            shown = [text if self.commands and i == last else typeset(text) for i, text in enumerate(texts)]
            cells = [re.sub(r"(?<=[a-z])\+", "+<wbr>", escape(text)) for text in shown]
            if self.commands:
                cells[-1] = f"<code>{_wrapped(cells[-1])}</code>"
            columns = "".join(
                f'<td class="text" data-label="{escape(str(head))}">{cell}</td>'
                for head, cell in zip(self.data.columns, cells, strict=True)
            )
            title, page = escape(str(name)), self.links.get(str(name))
            linked = f'<a href="{page}.ipynb">{title}</a>' if page else title
            rows.append(f'<tr><th scope="row">{linked}</th>{columns}</tr>')
        opening = f'<table class="figures texts"><caption>{escape(self.caption)}</caption>'
        return "\n".join([opening, f"<thead><tr>{head}</tr></thead>", "<tbody>", *rows, "</tbody>", "</table>"])


def _wrapped(command: str) -> str:
    """Let a command break between its words and after commas, but not inside an option."""
    words = [f'<span class="whole">{word}</span>' if word.startswith("-") else word for word in command.split(" ")]
    return " ".join(words).replace(",", ",<wbr>")
