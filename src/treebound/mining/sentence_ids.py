"""Sentence ids that suspects carry: the comment `sent_id` of CoNLL-U, or the number of the sentence."""

from __future__ import annotations

from collections.abc import Sequence

from treebound.treebanks.document import Document, comment_key


def sentence_ids(document: Document) -> list[str]:
    """Return the id of every sentence: its first comment `sent_id`, or its number from 1. O(lines).

    A tab in an id becomes a space, because a tab separates the columns of the table of suspects.
    """
    return [_sentence_id(block) or str(i) for i, block in enumerate(document.blocks, 1)]


def _sentence_id(block: Sequence[str]) -> str:
    """Return the value of the first comment `sent_id` of a sentence, or "" if there is none."""
    for line in block:
        if line.startswith("#") and comment_key(line) == "sent_id":
            return line.partition("=")[2].strip().replace("\t", " ")
    return ""
