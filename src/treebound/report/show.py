"""How notebooks show what they have: tables with a caption, figures with an alternative text, remarks."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import pandas as pd

#: what stands in a cell without a figure
NOTHING = "–"


@dataclass(frozen=True)
class Table:
    """A DataFrame as a captioned HTML table; floats have `digits` decimals, or those that `by_column` names.

    A key of `by_column` is a column, or the innermost name of a column that has several levels.
    """

    data: pd.DataFrame
    caption: str
    digits: int = 2
    by_column: Mapping[str, int] | None = None

    def __repr__(self) -> str:
        return f"{self.caption}\n{self._strings().to_string()}"

    def _repr_html_(self) -> str:
        strings = self._strings()
        classes = self.data.map(lambda value: "text" if isinstance(value, str) else "number").set_axis(
            strings.columns, axis=1
        )
        identity = hashlib.sha256((self.caption + strings.to_csv()).encode()).hexdigest()[:8]
        styler = strings.style.set_td_classes(classes).set_caption(escape(self.caption)).format(escape="html")
        styler = styler.format_index(escape="html", axis=0).format_index(escape="html", axis=1)
        styler.set_uuid(identity)  # pandas draws one at random
        styler.cell_ids = False
        return styler.set_table_attributes('class="figures"').to_html()

    def _strings(self) -> pd.DataFrame:
        columns = [
            self.data.iloc[:, i].map(lambda value, c=column: self._cell(value, c)).astype(object)
            for i, column in enumerate(self.data.columns)
        ]
        strings = pd.concat(columns, axis=1) if columns else self.data
        strings.columns = self.data.columns
        return strings

    def _cell(self, value: Any, column: Any) -> str:
        if isinstance(value, str):
            return value
        if value is None or pd.isna(value):
            return NOTHING
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, int) or (hasattr(value, "dtype") and value.dtype.kind in "iu"):
            return f"{value:,d}"
        name = column[-1] if isinstance(column, tuple) else column
        return f"{value:,.{(self.by_column or {}).get(name, self.digits)}f}"


@dataclass(frozen=True)
class Remarks:
    """Sentences that were computed from the data beside them, as one paragraph of Markdown."""

    sentences: tuple[str, ...]

    def __repr__(self) -> str:
        return " ".join(self.sentences)

    def _repr_markdown_(self) -> str:
        return " ".join(self.sentences)
