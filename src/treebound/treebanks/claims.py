"""What a parse claims, as CoNLL-U says it: comments of its score, bound and status, MISC of how sure each arc is."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from treebound.core.parse import Parse
from treebound.treebanks.document import Document

#: comments and values in MISC that a parse claims; those of another parse say nothing about this one
_COMMENT = re.compile(r"#\s*(score|bound|status|kbest|kbest_complete)\s*=")
_MISC = ("Margin=", "Marginal=")


def comments_of(parse: Parse) -> list[str]:
    """What is proved about a sentence. Integer scores are written as integers, real ones with all their digits."""
    lines = [f"score = {number(parse.value)}", f"bound = {number(parse.bound)}", f"status = {parse.status}"]
    if math.isnan(parse.value):  # of a parser that gives none
        return lines[2:]
    if parse.confidence is not None and parse.confidence.trees:
        trees = (f"{number(t.value)}: {' '.join(map(str, t.heads[1:].tolist()))}" for t in parse.confidence.trees)
        complete = "yes" if parse.confidence.complete else "no"
        lines += [f"kbest = {' | '.join(trees)}", f"kbest_complete = {complete}"]
    return lines


def number(x: float) -> str:
    """A score."""
    return str(int(x)) if float(x).is_integer() else repr(float(x))


def misc_of(parse: Parse) -> list[dict[str, str]]:
    """Margin, in the unit of the scores in comments, and Marginal of every word, as far as they are known."""
    found, out = parse.confidence, []
    for m in range(1, len(parse.heads)):
        known = {}
        if found is not None and found.margins is not None and not np.isnan(found.margins[m]):
            known["Margin"] = number(found.margins[m])
        if found is not None and found.marginals is not None and not np.isnan(found.marginals[m]):
            known["Marginal"] = f"{found.marginals[m]:.6g}"
        out.append(known)
    return out


def without_claims(document: Document) -> Document:
    """A document of CoNLL-U without what an earlier parse claimed. Most have nothing of the kind, and cost a look."""
    blocks: list[list[str]] = []
    all_rows: list[Sequence[int]] = []
    for block, rows in zip(document.blocks, document.rows, strict=True):
        kept = [line for line in block if not _COMMENT.match(line)]
        gone = len(block) - len(kept)  # comments stand before words
        moved = [row - gone for row in rows]
        for row in moved:
            if any(name in kept[row] for name in _MISC):
                kept[row] = _unclaimed(kept[row])
        blocks.append(kept)
        all_rows.append(moved)
    return replace(document, blocks=blocks, rows=all_rows)


def _unclaimed(line: str) -> str:
    """A word's line without claims in MISC, its last column."""
    text = line.rstrip("\r\n")
    before, tab, misc = text.rpartition("\t")
    left = "|".join(item for item in misc.split("|") if not item.startswith(_MISC))
    return f"{before}{tab}{left or '_'}{line[len(text) :]}"
