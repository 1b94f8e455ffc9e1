"""The claims of a parse in CoNLL-U: comments for score, bound and status, MISC for the confidence of each arc.

Every name begins with `treebound_` or `Treebound`, so that comments and MISC of the user's own are never touched.
Versions of before this rule wrote bare names: `# status = optimal`, `Margin=7`. These are read where a sentence has no
new names and all of its claims have exactly the form that those versions wrote. They are never deleted, as they may
just as well be the user's own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from treebound.core.parse import Parse, Status
from treebound.treebanks.document import Document, comment_key, item_key

CLAIMS = ("score", "bound", "status")
KBEST = ("kbest", "kbest_complete")
CONFIDENCE = ("Margin", "Marginal")
COMMENT, MISC = "treebound_", "Treebound"  #: prefixes of our keys
#: the rules that the tree keeps, among whose trees it is the best (ALL_ARCS: no tree of the candidate arcs keeps them);
#: NONE if no tree keeps them: nothing is claimed about other trees then
VALID, ALL_ARCS, NONE = "valid", ", all arcs", "none"
_COMMENTS = {f"{COMMENT}{name}" for name in (*CLAIMS, *KBEST, VALID)}
_ITEMS = {f"{MISC}{name}" for name in CONFIDENCE}

_NUMBER = re.compile(r"-?(\d{1,300}|\d{1,20}\.\d{1,330}(e[+-]\d{1,3})?|\d(\.\d{1,20})?e[+-]\d{1,3}|inf)", re.ASCII)
_TREE = rf"{_NUMBER.pattern}:( \d{{1,9}})+"
#: the exact forms that older versions wrote
_OLDER = {
    "score": _NUMBER,
    "bound": _NUMBER,
    "status": re.compile("|".join(get_args(Status))),
    "kbest": re.compile(rf"{_TREE}( \| {_TREE})*", re.ASCII),
    "kbest_complete": re.compile("yes|no"),
}


@dataclass(frozen=True)
class Claims:
    """The claims of one sentence as they are written.

    comments  the values of each of CLAIMS, KBEST and VALID that is there, in the order of the file
    misc      those of CONFIDENCE that some word has
    older     under the bare names of older versions
    """

    comments: dict[str, list[str]]
    misc: frozenset[str]
    older: bool = False


# --- writing ---


def comments_of(parse: Parse, rules: str = "") -> list[str]:
    """Return the comments of a sentence. Integer scores are written as integers, real ones with all their digits.

    rules  name of the rules that trees have to keep; "" for all trees
    """
    values = {"score": number(parse.value), "bound": number(parse.bound), "status": str(parse.status)}
    if math.isnan(parse.value):  # of a parser that gives none
        values = {"status": values["status"]}
    elif parse.confidence is not None and parse.confidence.trees:
        trees = (f"{number(t.value)}: {' '.join(map(str, t.heads[1:].tolist()))}" for t in parse.confidence.trees)
        values["kbest"] = " | ".join(trees)
        values["kbest_complete"] = "yes" if parse.confidence.complete else "no"
    if rules:
        name = rules + (ALL_ARCS if parse.work.get("every") else "")
        values[VALID] = name if parse.work.get("valid") else NONE
    return [f"{COMMENT}{name} = {value}" for name, value in values.items()]


def number(x: float) -> str:
    """Return a score as text."""
    return str(int(x)) if float(x).is_integer() else repr(float(x))


def misc_of(parse: Parse) -> list[dict[str, str]]:
    """Return the known margin, in the unit of the scores in comments, and marginal of every word."""
    confidence, out = parse.confidence, []
    for m in range(1, len(parse.heads)):
        known = {}
        if confidence is not None and confidence.margins is not None and not np.isnan(confidence.margins[m]):
            known[f"{MISC}Margin"] = number(confidence.margins[m])
        if confidence is not None and confidence.marginals is not None and not np.isnan(confidence.marginals[m]):
            known[f"{MISC}Marginal"] = f"{confidence.marginals[m]:.6g}"
        out.append(known)
    return out


# --- taking away ---


def without_claims(document: Document) -> Document:
    """Return a document of CoNLL-U without the claims of an earlier parse, under our names alone.

    Most documents have none, and cost a look.
    """
    blocks: list[list[str]] = []
    all_rows: list[Sequence[int]] = []
    for block, rows in zip(document.blocks, document.rows, strict=True):
        kept = [line for line in block if not (line.startswith("#") and comment_key(line) in _COMMENTS)]
        gone = len(block) - len(kept)  # comments stand before words
        moved = [row - gone for row in rows]
        for row in moved:
            if MISC in kept[row]:
                kept[row] = without_items(kept[row], document.layout.misc, _ITEMS)
        blocks.append(kept)
        all_rows.append(moved)
    return replace(document, blocks=blocks, rows=all_rows)


def without_items(line: str, position: int | None, keys: Collection[str]) -> str:
    """Return a word's line without the items of MISC that have one of these keys."""
    if position is None:
        return line
    fields = line.split("\t")
    text = fields[position].rstrip("\r\n")
    end = fields[position][len(text) :]
    fields[position] = ("|".join(item for item in text.split("|") if item_key(item) not in keys) or "_") + end
    return "\t".join(fields)


# --- reading ---


def claims_in(document: Document, i: int) -> Claims:
    """Return the claims of sentence i: those under our names, else those under the bare names of older versions."""
    block = document.blocks[i]
    comments = [line.rstrip("\r\n") for line in block if line.startswith("#")]
    found: dict[str, list[str]] = {}
    for line in comments:
        key = comment_key(line)
        if key in _COMMENTS:
            found.setdefault(key.removeprefix(COMMENT), []).append(line.partition("=")[2].strip(" \t"))
    items = {item for row in document.rows[i] for item in _items(block[row], document.layout.misc)}
    keys = {item_key(item) for item in items}
    misc = frozenset(name for name in CONFIDENCE if f"{MISC}{name}" in keys)
    if found:
        return Claims(found, misc)
    if older := _older(comments):
        numbers = {key for key, _, value in (item.partition("=") for item in items) if _NUMBER.fullmatch(value)}
        return Claims(older, misc | (numbers & {*CONFIDENCE}), older=True)
    return Claims({}, misc)


def has_older_claims(document: Document) -> bool:
    """Return whether a sentence has claims under the bare names of older versions."""
    return any(_older([line.rstrip("\r\n") for line in block if line[0] == "#"]) for block in document.blocks)


def _older(comments: Sequence[str]) -> dict[str, list[str]]:
    """Return the claims under bare names, if the three are there once each, as older versions wrote them; else none."""
    found: dict[str, list[str]] = {}
    for line in comments:
        name, equals, value = line.removeprefix("# ").partition(" = ")
        if equals and name in _OLDER and line.startswith("# "):
            found.setdefault(name, []).append(value)
    exact = {name for name, values in found.items() if len(values) == 1 and _OLDER[name].fullmatch(values[0])}
    if not exact.issuperset(CLAIMS):
        return {}
    return {name: found[name] for name in (*CLAIMS, *(KBEST if exact.issuperset(KBEST) else ()))}


def _items(line: str, position: int | None) -> list[str]:
    """Return the items of MISC in a word's line."""
    return [] if position is None else line.split("\t")[position].rstrip("\r\n").split("|")


def number_in(text: str) -> Any:
    """Return an exact integer, a float, or None where the text is neither nor an infinity."""
    if not _NUMBER.fullmatch(text):
        return None
    value = int(text) if text.lstrip("-").isdecimal() else float(text)
    return None if math.isinf(value) and "inf" not in text else value
