"""Claims about parses in CoNLL-U: comments with score, bound and status, and MISC items with the confidence of arcs.

Every key begins with `treebound_` or `Treebound`, so that the user's own comments and MISC items are never changed.
Older versions wrote bare keys: `# status = optimal`, `Margin=7`. Bare keys are read if a sentence has no prefixed keys
and all its claims have exactly the form of the older versions. They are never deleted, because they may belong to the
user.
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
#: key of the comment that names the rules that the tree satisfies. The score claims compare it with valid trees only.
#: ALL_ARCS is appended to the name if all arcs were candidates, because no valid tree was found over the usual ones.
#: NONE replaces the name if it is proved that no tree is valid, and UNKNOWN if the search gave up without a valid tree
VALID, ALL_ARCS, NONE, UNKNOWN = "valid", ", all arcs", "none", "unknown"
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
    """The claims of one sentence as text.

    comments  key (of CLAIMS, KBEST or VALID) -> the values of its comments, in the order of the file
    misc      the keys of CONFIDENCE that some word of the sentence has
    older     whether the keys are the bare keys of older versions
    """

    comments: dict[str, list[str]]
    misc: frozenset[str]
    older: bool = False


# --- writing ---


def comments_of(parse: Parse, rules: str = "") -> list[str]:
    """Return the comments with the claims of a parse. Integer scores are written as integers, others with all digits.

    rules  name of the rules that trees must satisfy; "" for no rules
    """
    values = {"score": number(parse.value), "bound": number(parse.bound), "status": str(parse.status)}
    if math.isnan(parse.value):  # the parser computes no scores
        values = {"status": values["status"]}
    elif parse.confidence is not None and parse.confidence.trees:
        trees = (f"{number(t.value)}: {' '.join(map(str, t.heads[1:].tolist()))}" for t in parse.confidence.trees)
        values["kbest"] = " | ".join(trees)
        values["kbest_complete"] = "yes" if parse.confidence.complete else "no"
    if rules:
        without = UNKNOWN if parse.work.get("gave_up") else NONE
        values[VALID] = rules + ALL_ARCS * bool(parse.work.get("every")) if parse.work.get("valid") else without
    return [f"{COMMENT}{name} = {value}" for name, value in values.items()]


def can_be_claimed(rules: str) -> bool:
    """Return whether the comment with the name `rules` is read back as this name, and not as another claim."""
    meanings = ("", NONE, UNKNOWN)
    return rules.isprintable() and rules.strip() == rules and rules not in meanings and not rules.endswith(ALL_ARCS)


def number(x: float) -> str:
    """Return a score as text: an integer, or a float with all its digits."""
    return str(int(x)) if float(x).is_integer() else repr(float(x))


def misc_of(parse: Parse) -> list[dict[str, str]]:
    """Return for every word the MISC items with its margin and marginal, if they are known.

    Margins have the unit of the scores in the comments.
    """
    confidence, misc = parse.confidence, []
    for m in range(1, len(parse.heads)):
        items = {}
        if confidence is not None and confidence.margins is not None and not np.isnan(confidence.margins[m]):
            items[f"{MISC}Margin"] = number(confidence.margins[m])
        if confidence is not None and confidence.marginals is not None and not np.isnan(confidence.marginals[m]):
            items[f"{MISC}Marginal"] = f"{confidence.marginals[m]:.6g}"
        misc.append(items)
    return misc


# --- removing ---


def without_claims(document: Document) -> Document:
    """Return a CoNLL-U document without the claims of an earlier parse. Claims with bare keys are kept."""
    blocks: list[list[str]] = []
    all_rows: list[Sequence[int]] = []
    for block, rows in zip(document.blocks, document.rows, strict=True):
        lines = [line for line in block if not (line.startswith("#") and comment_key(line) in _COMMENTS)]
        removed = len(block) - len(lines)  # comments stand before words
        new_rows = [row - removed for row in rows]
        for row in new_rows:
            if MISC in lines[row]:
                lines[row] = without_items(lines[row], document.layout.misc, _ITEMS)
        blocks.append(lines)
        all_rows.append(new_rows)
    return replace(document, blocks=blocks, rows=all_rows)


def without_items(line: str, position: int | None, keys: Collection[str]) -> str:
    """Return the line of a word without the MISC items whose key is in `keys`.

    position  position of the column MISC, or None if the format has no such column
    """
    if position is None:
        return line
    fields = line.split("\t")
    text = fields[position].rstrip("\r\n")
    end = fields[position][len(text) :]
    fields[position] = ("|".join(item for item in text.split("|") if item_key(item) not in keys) or "_") + end
    return "\t".join(fields)


# --- reading ---


def claims_in(document: Document, i: int) -> Claims:
    """Return the claims of sentence i: claims with prefixed keys if there are any, else with bare keys."""
    block = document.blocks[i]
    comments = [line.rstrip("\r\n") for line in block if line.startswith("#")]
    values: dict[str, list[str]] = {}
    for line in comments:
        key = comment_key(line)
        if key in _COMMENTS:
            values.setdefault(key.removeprefix(COMMENT), []).append(line.partition("=")[2].strip(" \t"))
    items = {item for row in document.rows[i] for item in _items(block[row], document.layout.misc)}
    keys = {item_key(item) for item in items}
    misc = frozenset(name for name in CONFIDENCE if f"{MISC}{name}" in keys)
    if values:
        return Claims(values, misc)
    if older := _older(comments):
        numbers = {key for key, _, value in (item.partition("=") for item in items) if _NUMBER.fullmatch(value)}
        return Claims(older, misc | (numbers & {*CONFIDENCE}), older=True)
    return Claims({}, misc)


def has_older_claims(document: Document) -> bool:
    """Return whether some sentence has claims with the bare keys of older versions."""
    return any(_older([line.rstrip("\r\n") for line in block if line[0] == "#"]) for block in document.blocks)


def _older(comments: Sequence[str]) -> dict[str, list[str]]:
    """Return the claims with bare keys if score, bound and status occur once each in the older form, else {}."""
    claims: dict[str, list[str]] = {}
    for line in comments:
        name, equals, value = line.removeprefix("# ").partition(" = ")
        if equals and name in _OLDER and line.startswith("# "):
            claims.setdefault(name, []).append(value)
    exact = {name for name, values in claims.items() if len(values) == 1 and _OLDER[name].fullmatch(values[0])}
    if not exact.issuperset(CLAIMS):
        return {}
    return {name: claims[name] for name in (*CLAIMS, *(KBEST if exact.issuperset(KBEST) else ()))}


def _items(line: str, position: int | None) -> list[str]:
    """Return the items of MISC in the line of a word."""
    return [] if position is None else line.split("\t")[position].rstrip("\r\n").split("|")


def number_in(text: str) -> Any:
    """Return the number in a text, as an exact integer or a float, or None if the text is not a number."""
    if not _NUMBER.fullmatch(text):
        return None
    value = int(text) if text.lstrip("-").isdecimal() else float(text)
    return None if math.isinf(value) and "inf" not in text else value
