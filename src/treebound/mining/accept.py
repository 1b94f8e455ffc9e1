"""Apply accepted proposals to a treebank: check them against the annotation, then write the treebank losslessly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import BinaryIO

from treebound.core.cells import HINT, is_cell
from treebound.core.errors import InputError
from treebound.mining.output import Row
from treebound.mining.sentence_ids import sentence_ids
from treebound.mining.suspects import Suspect
from treebound.treebanks.document import Document

_STALE = "mine the treebank in its present state, or give the treebank that was mined"


def accept(document: Document, rows: Sequence[Row], file: BinaryIO, *, tag_column: str = "upos") -> list[str]:
    """Write a treebank in which the ticked proposals replace the annotation. All other bytes stay as they are.

    Parameters
    ----------
    document : Document
        The treebank that was mined.
    rows : sequence of Row
        Rows of the table of suspects. Rows that are not ticked are ignored.
    file : binary file
        The output. Nothing is written if a row is refused.
    tag_column : str
        Column that proposed tags are written to: `upos` or `xpos`.

    Returns
    -------
    changes : list of str
        A line per ticked row. It mentions the word's enhanced dependencies (DEPS), if any, which are not changed.

    Raises
    ------
    InputError
        If a ticked row does not fit the document, if two rows change the same annotation, or if the accepted heads of
        a sentence are not a tree. Several roots are accepted only if the document has sentences with several roots.

    Examples
    --------
    >>> import io
    >>> from treebound.treebanks.document import read
    >>> word = "{}\\t{}\\t_\\t{}\\t_\\t_\\t{}\\t{}\\t_\\t_\\n".format
    >>> text = word(1, "Trees", "NOUN", 2, "obj") + word(2, "grow", "VERB", 0, "root") + "\\n"
    >>> suspect = Suspect(0, "1", 1, "Trees", "label", 2, "obj", "NOUN", 2, "nsubj", "NOUN", 1.5, True, 0.1)
    >>> accept(read(text.encode()), [Row("suspects.tsv", 2, True, 1, suspect)], io.BytesIO())
    ['sentence 1, word 1 (Trees): obj of 2 (grow) becomes nsubj of 2 (grow)']
    """
    ticked = [row for row in rows if row.ticked]
    if tag_column not in document.layout.columns:
        raise InputError(f"the treebank has no column {tag_column.upper()}", hint="choose upos or xpos")
    _check_rows(document, ticked, tag_column)
    _check_trees(document, ticked)
    blocks = list(document.blocks)
    changes = []
    for row in ticked:
        suspect = row.suspect
        block, offset = list(blocks[suspect.sentence]), document.rows[suspect.sentence][suspect.word - 1]
        for column, value in _values(suspect, tag_column):
            block[offset] = _with_cell(block[offset], document.layout.columns[column], value)
        blocks[suspect.sentence] = block
        changes.append(_change(document, suspect))
    replace(document, blocks=blocks).write(file)
    return changes


# --- checks ---


def _check_rows(document: Document, rows: Sequence[Row], tag_column: str) -> None:
    """Raise InputError for the first row that does not fit the document or changes the same annotation as another."""
    ids = sentence_ids(document)
    changed: dict[tuple[int, int, bool], Row] = {}
    for row in rows:
        suspect = row.suspect
        reason = _misfit(document, ids, suspect, tag_column)
        if reason:
            raise _refusal(row, reason, _STALE)
        key = (suspect.sentence, suspect.word, suspect.kind == "tag")
        if key in changed:
            raise _refusal(row, f"changes the same annotation as line {changed[key].line}", "tick one of the two rows")
        changed[key] = row
        for _, value in _values(suspect, tag_column):
            if not is_cell(value):
                raise _refusal(row, f"{value!r} does not fit into a column", HINT)


def _misfit(document: Document, ids: Sequence[str], suspect: Suspect, tag_column: str) -> str:
    """Return the reason why a suspect does not fit the document, or "" if the suspect fits.

    ids  the id of each sentence of the document
    """
    i, treebank = suspect.sentence, document.treebank
    if not 0 <= i < len(document):
        return f"there is no sentence {i + 1}: the treebank has {len(document)} sentences"
    if ids[i] != suspect.sent_id:
        return f"sentence {i + 1} of the treebank is {ids[i]!r}, not {suspect.sent_id!r}"
    n = len(document.rows[i])
    if not 1 <= suspect.word <= n or not 0 <= suspect.proposed_head <= n:
        return f"the sentence has {n} words"
    w = int(treebank.offsets[i]) + suspect.word - 1

    def cell(column: str) -> str:
        return treebank.vocab[column][int(treebank.columns[column][w])]

    if cell("form") != suspect.form:
        return f"the word is {cell('form')!r} in the treebank, not {suspect.form!r}"
    if suspect.kind == "tag":
        return "" if cell(tag_column) == suspect.tag else f"the tag is {cell(tag_column)!r}, not {suspect.tag!r}"
    annotated, recorded = (int(treebank.head[w]), cell("deprel")), (suspect.head, suspect.label)
    return (
        ""
        if annotated == recorded
        else f"head and label are {annotated[0]}:{annotated[1]} in the treebank, not {recorded[0]}:{recorded[1]}"
    )


def _check_trees(document: Document, rows: Sequence[Row]) -> None:
    """Raise InputError if accepted rows would turn a tree into a graph that is no tree; the message names the rows."""
    moves: dict[int, list[Row]] = {}
    for row in rows:
        if row.suspect.kind != "tag":
            moves.setdefault(row.suspect.sentence, []).append(row)
    several = bool(document.several_roots())
    refused = [(row, reason) for i in sorted(moves) for row, reason in _refused(_heads(document, i), moves[i], several)]
    if refused:
        named = "; ".join(f"line {row.line} ({_place(row.suspect)}): {reason}" for row, reason in refused)
        hint = "remove the ticks from these rows, or also tick the rows that restore the tree"
        raise InputError(f"the accepted rows would break a tree: {named}", path=refused[0][0].path, hint=hint)


def _refused(heads: list[int], rows: Sequence[Row], several: bool) -> Iterator[tuple[Row, str]]:
    """Yield the rows of one sentence whose proposed heads would make it no tree, each with the reason.

    The reasons are a cycle, no root, and several roots unless `several` allows them. `heads` receives the proposed
    heads.
    """
    for row in rows:
        heads[row.suspect.word] = row.suspect.proposed_head
    for row in rows:
        if cycle := _cycle(heads, row.suspect.word):
            yield row, "cycle " + " -> ".join(map(str, [*cycle, cycle[0]]))
    roots = [word for word in range(1, len(heads)) if heads[word] == 0]
    if not roots or (len(roots) > 1 and not several):
        for row in rows:
            if (row.suspect.head == 0) != (row.suspect.proposed_head == 0):
                yield row, "the sentence has no root" if not roots else f"the sentence has {len(roots)} roots"


def _cycle(heads: Sequence[int], word: int) -> list[int]:
    """Return the words of the cycle through a word, from this word up, or [] if there is no cycle. Time O(n)."""
    path = [word]
    while (above := heads[path[-1]]) > 0 and len(path) <= len(heads):
        if above == word:
            return path
        path.append(above)
    return []


# --- changes ---


def _values(suspect: Suspect, tag_column: str) -> list[tuple[str, str]]:
    """Return the columns that a proposal changes, and their new values."""
    if suspect.kind == "tag":
        return [(tag_column, suspect.proposed_tag)]
    return [("head", str(suspect.proposed_head)), ("deprel", suspect.proposed_label)]


def _with_cell(line: str, position: int, value: str) -> str:
    """Return a word's line with another value in one column."""
    cells = line.split("\t")
    end = cells[position][len(cells[position].rstrip("\r\n")) :]
    cells[position] = value + end
    return "\t".join(cells)


def _change(document: Document, suspect: Suspect) -> str:
    """Return the line that tells the user which annotation of a word was replaced."""
    if suspect.kind == "tag":
        return f"{_place(suspect)}: {suspect.tag} becomes {suspect.proposed_tag}"
    a, b = document.treebank.offsets[suspect.sentence], document.treebank.offsets[suspect.sentence + 1]
    vocabulary, ids = document.treebank.vocab["form"], document.treebank.columns["form"][a:b]

    def arc(head: int, label: str) -> str:
        return f"{label} of " + (f"{head} ({vocabulary[int(ids[head - 1])]})" if head else "the root")

    annotated, proposed = arc(suspect.head, suspect.label), arc(suspect.proposed_head, suspect.proposed_label)
    return f"{_place(suspect)}: {annotated} becomes {proposed}" + _enhanced(document, suspect)


def _enhanced(document: Document, suspect: Suspect) -> str:
    """Return the remark that a word's enhanced dependencies were not changed, or "" if the word has none."""
    names = document.layout.names
    if "DEPS" not in names:
        return ""
    line = document.blocks[suspect.sentence][document.rows[suspect.sentence][suspect.word - 1]]
    deps = line.split("\t")[names.index("DEPS")].rstrip("\r\n")
    return "" if deps == "_" else f"; DEPS was not changed ({deps})"


def _heads(document: Document, i: int) -> list[int]:
    """Return n + 1 heads of a sentence; entry 0 is unused."""
    return document.treebank.heads(i).tolist()


def _place(suspect: Suspect) -> str:
    """Return the location of a suspect for messages, for instance `sentence 1, word 2 (grow)`."""
    return f"sentence {suspect.sent_id}, word {suspect.word} ({suspect.form})"


def _refusal(row: Row, reason: str, hint: str) -> InputError:
    """Return the error that refuses a row for a reason."""
    return InputError(f"{_place(row.suspect)}: {reason}", path=row.path, line=row.line, hint=hint)
