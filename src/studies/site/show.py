"""Show tables with captions and remarks in notebooks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from itertools import groupby
from math import isfinite
from typing import Any, ClassVar

import pandas as pd

from studies.site import sources

#: text of a table cell that has no value
NOTHING = "–"
MANY = 10  #: a table with this many columns, row names included, has narrower columns
SHORT = 13  #: if no row name is longer, in letters, the column of row names is as narrow as the names
MOST = 120  #: largest number of rows of an ordinary table in HTML; the CSV has all rows
NOTE = "note"  #: name of a column whose texts are listed below the table
#: largest number of table rows that are stored with a sentence about the table; MIME type of sentences with their cells
CELLS, STATEMENTS = 40, "application/vnd.treebound.statements+json"
#: MIME type that marks an output that only says that there are no results
ABSENT = "application/vnd.treebound.absent+json"
#: MIME type that marks an absent output whose section the report leaves out without a note
NOT_LISTED = "application/vnd.treebound.not-listed+json"


def typeset(text: str) -> str:
    """Replace the hyphen before a negative number by a minus sign, in text that people read.

    A hyphen between two numbers or words, as in 31-40, is not changed.
    """
    return re.sub(r"(?<![\w.)\]-])-(?=\.?\d)", "\N{MINUS SIGN}", text)


def as_csv(data: pd.DataFrame) -> str:
    """Return a table as CSV. Numbers have five significant digits, or all digits before the decimal point."""
    return str(data.map(_shortened).to_csv(lineterminator="\n"))


def _shortened(value: Any) -> Any:
    """Return a number as `as_csv` writes it; other values stay as they are."""
    if not isinstance(value, float) or not isfinite(value):
        return value
    return f"{value:.0f}" if abs(value) >= 10_000 else f"{value:.5g}"


@dataclass(frozen=True)
class Table:
    """A DataFrame as an HTML table with a caption, and as CSV for programs.

    The index and the columns may have any number of levels. If the notebook shows a single run, the HTML leaves out
    columns and index levels that repeat its name. A cell with an address links to its site. Floats are shown with
    `digits` decimals, or without decimals from 10,000. `by_column` maps names of columns (of the innermost level) to
    other numbers of decimals. The texts of a column called NOTE are listed below the table, with the names of their
    rows. If a table has more than `most` rows, the HTML has the first rows only, and says so.
    """

    most: ClassVar[int] = MOST
    data: pd.DataFrame
    caption: str
    digits: int = 2
    by_column: Mapping[str, int] | None = None

    def __repr__(self) -> str:
        return self.caption

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        data: dict[str, Any] = {"text/plain": self.caption, "text/html": self._repr_html_()}
        if not len(self.data):
            return data | {ABSENT: True}
        return data | {"text/csv": as_csv(_without_run(self.data))} | sources.bundle()

    def _repr_html_(self) -> str:
        if not len(self.data):
            return f"<p>{escape(self.caption)}: no run has results for this table.</p>"
        data = _without_run(self.data)
        is_note = [str(_levels(column)[-1]) == NOTE for column in data.columns]
        if all(is_note):
            return replace(self, data=data)._markup()
        shown = replace(self, data=data.loc[:, [not note for note in is_note]])
        left_out = [f"<li>The first {self.most} of {len(data):,} rows; the CSV has all.</li>"] * (len(data) > self.most)
        notes = [*left_out, *_notes(data.loc[:, is_note])]
        below = ['<ul class="notes">', *notes, "</ul>"] * bool(notes)
        return "\n".join([shown._markup(), *below])

    def _markup(self) -> str:
        """Return a table that has rows as HTML."""
        shown = replace(self, data=self.data.iloc[: self.most])
        head, body = self._head(), [shown._row(i) for i in range(len(shown.data))]
        count = f' data-rows="{len(self.data)}"' * (len(self.data) > self.most)
        width = self.data.index.nlevels + self.data.shape[1]
        names = [str(_levels(name)[-1]) for name in self.data.index]
        kinds = {"facts": not head, "many": width >= MANY, "short": max(map(len, names)) <= SHORT}
        classes = " ".join(["figures", *(kind for kind, holds in kinds.items() if holds)])
        return "\n".join(
            [
                f'<table class="{classes}"{count}>',
                f"<caption>{escape(self.caption)}</caption>",
                "<thead>",
                *head,
                "</thead>",
                "<tbody>",
                *body,
                "</tbody>",
                "</table>",
            ]
        )

    def _head(self) -> list[str]:
        """Return the heading as HTML rows, one per column level. The last row also names the index levels."""
        columns, names = self.data.columns, self.data.index.names
        rows = []
        for level in range(columns.nlevels):
            inner = "text" if self._named_by_first else "index"
            kinds = ["index", *[inner] * (len(names) - 1)]
            cells = [
                f'<th scope="col" class="{kind}">{escape(str(name or ""))}</th>'
                for kind, name in zip(kinds, names, strict=True)
            ]
            if level + 1 < columns.nlevels:
                cells = [f'<td colspan="{len(names)}"></td>']
            start = 0
            for _, run in groupby(_levels(column)[: level + 1] for column in columns):
                width = len(list(run))
                label = escape(typeset(str(_levels(columns[start])[level]))).replace(" = ", "\u00a0=\u00a0")
                label = _breakable(label)
                scope = "colgroup" if level + 1 < columns.nlevels else "col"
                kind = f' class="{self._kind(start)}"' if self._kind(start) != "number" else ""
                span = f' colspan="{width}"' if width > 1 else ""
                cells.append(f'<th scope="{scope}"{kind}{span}>{label}</th>' if label else f"<td{span}></td>")
                start += width
            rows.append("<tr>" + "".join(cells) + "</tr>")
        if not any(names) and columns.nlevels == 1 and not any(columns):
            return []  # a table with one column without a name, such as a list of facts, needs no heading
        return rows

    def _row(self, i: int) -> str:
        """Return row i as HTML.

        The label of an outer index level is written once, where it changes, and spans all its rows.
        """
        index = self.data.index
        cells = []
        for level in range(index.nlevels):
            prefix = _levels(index[i])[: level + 1]
            last = level + 1 == index.nlevels
            if i and not last and _levels(index[i - 1])[: level + 1] == prefix:
                continue
            span = 1
            while not last and i + span < len(index) and _levels(index[i + span])[: level + 1] == prefix:
                span += 1
            label = _breakable(escape(str(prefix[-1])))
            if level and self._named_by_first:
                cells.append(f'<td class="text">{label}</td>')
                continue
            scope = "row" if last or self._named_by_first else "rowgroup"
            rows = f' rowspan="{span}"' if span > 1 else ""
            cells.append(f'<th scope="{scope}"{rows}>{label}</th>')
        for j in range(self.data.shape[1]):
            kind = self._kind(j)
            classes = "" if kind == "number" else f' class="{kind}"'
            text = self._cell(self.data.iat[i, j], j)
            site = re.fullmatch(r"https?://(?:www\.)?([\w.-]+)\S*", text)
            content = f'<a href="{escape(text)}">{escape(site[1])}</a>' if site else _breakable(escape(text))
            cells.append(f"<td{classes}>{content}</td>")
        return "<tr>" + "".join(cells) + "</tr>"

    @cached_property
    def _named_by_first(self) -> bool:
        """Return True if the outermost index level alone names every row; narrow screens then keep it in sight."""
        index = self.data.index
        return index.nlevels > 1 and bool(index.get_level_values(0).is_unique)

    def _kind(self, column: int) -> str:
        """Return the kind of a column: number or text."""
        values = self.data.iloc[:, column]
        return "text" if len(values) and values.map(lambda v: isinstance(v, str)).all() else "number"

    def _name(self, column: int) -> str:
        """Return the innermost name of a column."""
        return str(_levels(self.data.columns[column])[-1])

    def _cell(self, value: Any, column: int) -> str:
        """Format a value; `column` is the number of its column."""
        if isinstance(value, str):
            return typeset(value) if re.fullmatch(r"-[\d.]+( \*)?", value) else value
        if pd.isna(value):
            return NOTHING
        if isinstance(value, float):
            digits = (self.by_column or {}).get(self._name(column), self.digits if abs(value) < 10_000 else 0)
            return p_value(value, digits) if is_p(self._name(column)) else typeset(f"{value:,.{digits}f}")
        return typeset(f"{value:,d}")


def _breakable(markup: str) -> str:
    """Allow line breaks inside the long names of models, such as `carreras+grandchild+sibling`.

    The number at the end of a name, such as `beam, 64`, stays beside the name.
    """
    return re.sub(r"(?<=\w)\+(?=\w)", "+<wbr>", re.sub(r"(?<=[a-z],) (?=\d+$)", "\u00a0", markup))


def _notes(notes: pd.DataFrame) -> list[str]:
    """Return the notes on rows as items of an HTML list. Rows with the same note share an item.

    notes  columns called NOTE, whose cells are texts; an empty text is no note
    """
    rows: dict[str, list[str]] = {}
    inner = notes.index.get_level_values(-1)
    labels = inner if inner.is_unique else notes.index
    for label, (_, *texts) in zip(labels, notes.itertuples(name=None), strict=True):
        for text in filter(None, texts):
            rows.setdefault(str(text), []).append(", ".join(str(level) for level in _levels(label) if str(level)))
    return [f"<li>{escape('; '.join(names))}: {escape(typeset(text))}</li>" for text, names in rows.items()]


def _without_run(data: pd.DataFrame) -> pd.DataFrame:
    """Return a table without the columns and index levels that have the name of the only run in every row.

    At least one index level remains.
    """
    run = sources.only_run()
    if run is None:
        return data
    levels = [i for i in range(data.index.nlevels) if (data.index.get_level_values(i) == run).all()]
    if levels and len(levels) < data.index.nlevels:
        data = data.droplevel(levels)
    return data.loc[:, [not data.iloc[:, i].map(lambda v: v == run).all() for i in range(data.shape[1])]]


def is_p(name: str) -> bool:
    """Return True if a column of this name holds p-values: `p`, `p, sign`, `p (words)`."""
    return name == "p" or name.startswith(("p,", "p ("))


def p_value(p: float, digits: int = 3) -> str:
    """Format a p-value.

    A value that would be rounded to 0 is shown as less than the smallest number with `digits` decimals, since no
    p-value is 0.
    """
    least = 10.0**-digits
    return f"< {least:.{digits}f}" if p < least else f"{p:.{digits}f}"


def p_in_words(p: float) -> str:
    """Format a p-value for a sentence, for instance `p = 0.250`."""
    text = p_value(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def _levels(label: Any) -> Sequence[Any]:
    """Return the label of a row or column as a sequence of levels."""
    return label if isinstance(label, tuple) else (label,)


class Sentence(str):
    """A sentence together with the cells that it was computed from, as text."""

    cells: str

    @classmethod
    def on(cls, text: str, data: Any) -> Sentence:
        """Make a sentence about a DataFrame or a Series."""
        sentence = cls(text)
        if isinstance(data, pd.DataFrame):  # columns of lists or dictionaries would make the text unreadable
            kinds = (data.iloc[:, i].map(type) for i in range(data.shape[1]))
            data = data.loc[:, [not kind.isin([list, dict]).any() for kind in kinds]]
        sentence.cells = (
            data.to_string(max_rows=CELLS, float_format=lambda x: f"{x:.6g}") if hasattr(data, "to_string") else ""
        )
        return sentence


@dataclass(frozen=True)
class Remarks:
    """Sentences that were computed from the data beside them, shown as one paragraph of Markdown.

    The output of type STATEMENTS holds each sentence with its cells.

    absent  True if the sentences only say that there are no data
    listed  False if a report leaves out a section without these data and does not say so, for instance because the
            section needs a trained model, and a reference run stores no model
    """

    sentences: tuple[str, ...]
    absent: bool = False
    listed: bool = True

    @property
    def short(self) -> Remarks:
        """Return a remark of the first sentence alone, which is shown at the top of a page."""
        return Remarks(self.sentences[:1])

    @property
    def rest(self) -> Remarks:
        """Return a remark of all sentences except the first."""
        return Remarks(self.sentences[1:])

    def __add__(self, other: Remarks) -> Remarks:
        return Remarks(self.sentences + other.sentences)

    def __repr__(self) -> str:
        return " ".join(self.sentences)

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        stated = [{"says": typeset(text), "cells": getattr(text, "cells", "")} for text in self.sentences]
        data = {"text/plain": repr(self), "text/markdown": self._repr_markdown_(), STATEMENTS: stated}
        return data | ({ABSENT: True} if self.absent else {}) | ({} if self.listed else {NOT_LISTED: True})

    def _repr_markdown_(self) -> str:
        return typeset(" ".join(self.sentences))
