"""The values that can stand in a cell of a treebank file: one definition for readers, writers and models.

A cell is any text of at least one character without tab, line end and NUL, and without lone surrogates, which no
encoding can write. Everything else is data and comes back unchanged: blanks, no-break spaces and control characters
too, at the ends of a cell as within it. CoNLL-U wants blanks in FORM, LEMMA and MISC only; treebanks have them in tags
and labels as well, and what can be written and read back is accepted.
"""

from __future__ import annotations

import re

#: as a regular expression of Python and of pydantic (Rust): both know the classes alike
PATTERN = r"^[^\t\n\r\x00]+$"
#: advice for a value that is no cell
HINT = "values are not empty and have no tabs, line ends or NUL characters"

_CELL = re.compile("[^\t\n\r\0\ud800-\udfff]+")
_LINE = re.compile("[^\n\r\0\ud800-\udfff]*")


def is_cell(value: str) -> bool:
    """Return whether a text can stand in a column."""
    return _CELL.fullmatch(value) is not None


def is_line(value: str) -> bool:
    """Return whether a text can stand in one line, as comments do."""
    return _LINE.fullmatch(value) is not None
