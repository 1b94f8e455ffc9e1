"""Output of the ranked list: a table in which annotators tick rows, and marks in the column MISC of CoNLL-U."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, get_args

from treebound.core.cells import is_cell
from treebound.core.errors import InputError
from treebound.mining.suspects import Kind, Suspect
from treebound.treebanks.claims import MISC, number, without_items
from treebound.treebanks.document import Document

COLUMNS = (
    *("accept", "rank", "sent_id", "sentence", "word", "form", "kind", "head", "label", "tag"),
    *("proposed_head", "proposed_label", "proposed_tag", "margin", "changes", "certified", "marginal"),
    *("variation", "group", "group_size"),
)
TICKS = ("x", "X", "yes", "1")  #: values of the column `accept` that tick a row
KEYS = tuple(f"{MISC}{name}" for name in ("Suspect", "Proposed", "Margin"))

_COUNT = re.compile("0|[1-9][0-9]{0,8}")
_REAL = re.compile(r"-?[0-9]{1,300}(\.[0-9]{1,330})?(e[+-][0-9]{1,3})?|inf", re.IGNORECASE)
_VARIATION = re.compile("([0-9]{1,9})/([0-9]{1,9})")
_AS_TEXT = "restore the value; if a spreadsheet changed it, import all columns as text"


@dataclass(frozen=True)
class Row:
    """A row of the table of suspects.

    path     path of the table, for messages
    line     number of the line in the file; the header is line 1
    ticked   whether an annotator accepts the proposal
    rank     place in the ranked list, from 1
    suspect  the suspect of the row
    """

    path: str
    line: int
    ticked: bool
    rank: int
    suspect: Suspect


# --- the table ---


def write_tsv(file: BinaryIO, suspects: Sequence[Suspect]) -> None:
    """Write the ranked list as a tab-separated table in UTF-8 with a header.

    Parameters
    ----------
    file : binary file
        The output.
    suspects : sequence of Suspect
        The ranked list: the first suspect gets rank 1. Margins are written with all digits, marginals with six.

    Raises
    ------
    InputError
        If a value does not fit into a cell of the table.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> write_tsv(file, [Suspect(0, "1", 1, "Trees", "label", 2, "obj", "NOUN", 2, "nsubj", "NOUN", 1.5, True, 0.25)])
    >>> file.getvalue().decode().splitlines()[1].replace(chr(9), " ")
    ' 1 1 1 1 Trees label 2 obj NOUN 2 nsubj NOUN 1.5 1 yes 0.25 0/0 obj -> nsubj, same head 1'
    """
    sizes = Counter(suspect.group for suspect in suspects)
    file.write(("\t".join(COLUMNS) + "\n").encode())
    for rank, suspect in enumerate(suspects, 1):
        cells = _cells(rank, suspect, sizes[suspect.group])
        if misfit := next((cell for cell in cells if cell and not is_cell(cell)), None):
            raise InputError(
                f"{misfit!r} does not fit into a table", hint="values have no tabs, line ends or NUL characters"
            )
        file.write(("\t" + "\t".join(cells) + "\n").encode())


def _cells(rank: int, s: Suspect, size: int) -> list[str]:
    """Return the cells of a suspect's row, without the column `accept`; `size` counts the suspects of its group."""
    return [
        *(str(rank), s.sent_id, str(s.sentence + 1), str(s.word), s.form, s.kind),
        *(str(s.head), s.label, s.tag, str(s.proposed_head), s.proposed_label, s.proposed_tag),
        *(
            number(s.margin),
            str(s.changes),
            "yes" if s.certified else "no",
            "" if math.isnan(s.marginal) else f"{s.marginal:.6g}",
        ),
        *(f"{s.variation[0]}/{s.variation[1]}", s.group, str(size)),
    ]


def read_tsv(path: str | Path) -> list[Row]:
    """Read a table that `write_tsv` has written and an annotator has ticked.

    Parameters
    ----------
    path : str or Path
        The table. Line ends of Windows and a byte order mark are accepted.

    Returns
    -------
    rows : list of Row
        All rows, ticked or not, in the order of the file.

    Raises
    ------
    InputError
        If the file cannot be read, is not UTF-8, lacks a column, or contains a value that is not valid in its column.
        The message names the file and the line.
    """
    rows = []
    for line, cells in _lines(str(path)):
        values = dict(zip(COLUMNS, cells, strict=True))
        try:
            rows.append(_row(str(path), line, values))
        except _Fault as fault:
            raise InputError(
                f"{fault.column} is {fault.value!r}, {fault.complaint}", path=path, line=line, hint=fault.hint
            ) from None
    return rows


class _Fault(Exception):
    """Raised for a value of the table of suspects that is not valid in its column."""

    def __init__(self, column: str, value: str, complaint: str, hint: str = _AS_TEXT):
        super().__init__(column)
        self.column, self.value, self.complaint, self.hint = column, value, complaint, hint


def _lines(path: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of every line after the header. Raises InputError."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(
            error.strerror or "cannot be read", path=path, hint="name a table of `treebound mine`"
        ) from None
    header = "\t".join(COLUMNS)
    for line, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").removesuffix(b"\n").split(b"\n"), 1):
        try:
            text = raw.decode().removesuffix("\r")
        except UnicodeDecodeError:
            raise InputError("is not UTF-8", path=path, line=line, hint="save the table in UTF-8") from None
        if line == 1 and text != header:
            hint = "give a table of `treebound mine` with all its columns, separated by tabs"
            raise InputError("the header does not belong to a table of suspects", path=path, line=1, hint=hint)
        cells = text.split("\t")
        if len(cells) != len(COLUMNS):
            hint = "restore the tabs, or remove the line"
            raise InputError(f"{len(cells)} columns instead of {len(COLUMNS)}", path=path, line=line, hint=hint)
        if line > 1:
            yield line, cells


def _row(path: str, line: int, values: dict[str, str]) -> Row:
    """Convert the values of all columns to a row. Raises _Fault."""

    def value(column: str, complaint: str, accepts: Callable[[str], Any]) -> str:
        if not accepts(values[column]):
            raise _Fault(column, values[column], complaint)
        return values[column]

    def count(column: str, least: int = 1) -> int:
        complaint = f"not a whole number from {least}"
        return int(value(column, complaint, lambda text: _COUNT.fullmatch(text) and int(text) >= least))

    def real(column: str) -> float:
        return float(value(column, "not a number", _REAL.fullmatch))

    accept = values["accept"].strip(" ")
    if accept and accept not in TICKS:
        raise _Fault(
            "accept", accept, f"not {', '.join(TICKS[:-1])} or {TICKS[-1]}", "tick with x, or leave the cell empty"
        )
    empty = [column for column in COLUMNS[1:] if not values[column] and column != "marginal"]
    if empty:
        raise _Fault(empty[0], "", "which must not be empty")
    value("kind", f"not {', '.join(get_args(Kind))}", get_args(Kind).__contains__)
    value("certified", "not yes or no", ("yes", "no").__contains__)
    value("variation", "not two whole numbers with / between", _VARIATION.fullmatch)
    otherwise, elsewhere = map(int, values["variation"].split("/"))
    count("group_size")
    suspect = Suspect(
        sentence=count("sentence") - 1,
        sent_id=values["sent_id"],
        word=count("word"),
        form=values["form"],
        kind=values["kind"],  # type: ignore[arg-type]
        head=count("head", 0),
        label=values["label"],
        tag=values["tag"],
        proposed_head=count("proposed_head", 0),
        proposed_label=values["proposed_label"],
        proposed_tag=values["proposed_tag"],
        margin=real("margin"),
        changes=count("changes"),
        certified=values["certified"] == "yes",
        marginal=real("marginal") if values["marginal"] else math.nan,
        variation=(otherwise, elsewhere),
    )
    if values["group"] != suspect.group:
        raise _Fault("group", values["group"], f"but the other columns say {suspect.group!r}")
    return Row(path, line, bool(accept), count("rank"), suspect)


# --- CoNLL-U ---


def write_conllu(file: BinaryIO, document: Document, suspects: Sequence[Suspect]) -> None:
    r"""Write a treebank with its suspects marked in MISC. Nothing else changes.

    A suspect word gets `TreeboundSuspect=head`, `TreeboundProposed=5:nsubj` (head and label, or the tag) and
    `TreeboundMargin=1.25`. The values of a word with several suspects are separated by commas, in the order of the
    list. Marks of an earlier run are removed. As usual in MISC, a space in a label is written as `\s`, and | as `\p`.

    Parameters
    ----------
    file : binary file
        The output.
    document : Document
        The treebank that the suspects are from. A format without MISC is written as CoNLL-U.
    suspects : sequence of Suspect
        The suspects to mark.

    Raises
    ------
    InputError
        If the document is CoNLL-U Plus without a column MISC.
    """
    if document.layout.misc is None and not document.layout.comments:
        document = document.to_conllu()
    marks: dict[tuple[int, int], list[Suspect]] = {}
    for suspect in suspects:
        marks.setdefault((suspect.sentence, suspect.word), []).append(suspect)
    misc = [
        [_mark(marks.get((i, word), [])) for word in range(1, len(rows) + 1)] for i, rows in enumerate(document.rows)
    ]
    _without_marks(document).write(file, misc=misc)


def _mark(suspects: Sequence[Suspect]) -> dict[str, str]:
    """Return the items of MISC that mark one word, from its suspects."""
    if not suspects:
        return {}
    values = zip(*((s.kind, _escaped(proposal(s)), number(s.margin)) for s in suspects), strict=True)
    return dict(zip(KEYS, map(",".join, values), strict=True))


def proposal(suspect: Suspect) -> str:
    """Return the model's proposal as text: `5:nsubj` for a head or a label, or the tag."""
    if suspect.kind == "tag":
        return suspect.proposed_tag
    return f"{suspect.proposed_head}:{suspect.proposed_label}"


def _escaped(text: str) -> str:
    """Return a text with the characters escaped that MISC reserves."""
    return text.replace("\\", "\\\\").replace(" ", "\\s").replace("|", "\\p")


def _without_marks(document: Document) -> Document:
    """Return the document without the marks of an earlier run."""
    blocks = []
    for block, rows in zip(document.blocks, document.rows, strict=True):
        marked = [row for row in rows if MISC in block[row]]
        if marked:
            block = list(block)
            for row in marked:
                block[row] = without_items(block[row], document.layout.misc, KEYS)
        blocks.append(block)
    return replace(document, blocks=blocks)
