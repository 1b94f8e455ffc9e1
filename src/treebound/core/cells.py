"""The values that a cell of a treebank file may have: one definition for readers, writers and models.

A cell is any text of at least one character without tab, line end and NUL, and without lone surrogates, which no
encoding can write. All other characters are data and are preserved. This includes blanks, no-break spaces and control
characters, also at the ends of a cell. CoNLL-U permits blanks in FORM, LEMMA and MISC only. Treebanks also have blanks
in tags and labels, so every value that can be written and read back is accepted.
"""

from __future__ import annotations

import re

#: regular expression of a cell, with the same meaning in Python and in pydantic (Rust)
PATTERN = r"^[^\t\n\r\x00]+$"
#: hint in the error message about an invalid cell
HINT = "values are not empty and have no tabs, line ends or NUL characters"

_CELL = re.compile("[^\t\n\r\0\ud800-\udfff]+")
_LINE = re.compile("[^\n\r\0\ud800-\udfff]*")


def is_cell(value: str) -> bool:
    """Return whether a text is a valid value of a column."""
    return _CELL.fullmatch(value) is not None


def is_line(value: str) -> bool:
    """Return whether a text is valid as a single line, for instance as a comment."""
    return _LINE.fullmatch(value) is not None
