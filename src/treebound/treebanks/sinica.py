"""Sinica Treebank: trees of constituents with thematic roles, and the dependencies that their marked heads make.

A line is a tree, with its number before it and the punctuation that ends the clause behind it:

    #4:4.[39030] S(theme:NP(Head:Nhaa:...)|Head:V_11:...|range:NP(Head:Nab:...))#...(COMMACATEGORY)

A daughter is `role:tag:word` or `role:category(daughters)`. The daughter `Head` is the head of its constituent. The
words that head the other daughters become its dependents, with the role as their label:

- of several daughters `Head` the leftmost conjunction (`Caa`) is the head, as in coordinations that are marked as such;
  without a conjunction the leftmost one is.
- without a daughter `Head` the first kind of `HEADS` that is there is the head, else the last daughter.
- `head`, in small letters, is the semantic head of a phrase with a particle, such as a relative clause. The particle is
  its `Head`.
- what follows a square bracket in a tag, as in `Caa[P1]` of paired conjunctions, is left out.
- the punctuation that ends a clause stands outside the trees and is left out.

The coarse tag is made of the first two characters of the fine tag without digits (Na of Nab, P of P21).

The annotation is described by Chen & Hsieh (2004), "Chinese Treebanks and Grammar Extraction". The Chinese data of
CoNLL-X (Buchholz & Marsi 2006) were converted from a larger part of the same treebank. The rules of that conversion are
not at hand, so heads of the cases above may differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from treebound.core.cells import HINT, is_cell
from treebound.treebanks.brackets import BadTree, Dependent

HEAD = "Head"
#: daughters that head a constituent without a daughter `Head`, best first
HEADS = ("head", "DUMMY", "DUMMY1")
CONJUNCTION = "Caa"

_LINE = re.compile(r"#\S*\.\[[^\]]*\] *(.+)#[^#]*")
_TOKEN = re.compile(r"[(|)]|[^(|)]+")
_MARK = re.compile(r"\[.*")


class _Daughter(NamedTuple):
    """A daughter of a constituent: its role, the number of the word that heads it, and the tag of a word."""

    role: str
    word: int
    tag: str = ""


class _BadLineError(ValueError):
    """A line that is no tree."""


def parse(lines: Iterable[str]) -> Iterator[list[Dependent] | BadTree]:
    """Yield the words of every tree, malformed trees as `BadTree`; empty lines are skipped. Time O(characters)."""
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text:
            continue
        try:
            match = _LINE.fullmatch(text)
            if match is None:
                raise _BadLineError("no line of the form #number.[id] tree#punctuation")
            yield _dependencies(_TOKEN.findall(match[1]))
        except _BadLineError as error:
            yield BadTree(number, str(error), HINT if "holds" in str(error) else "correct the line or leave it out")


def coarse(tag: str) -> str:
    """Return the coarse tag of a fine tag."""
    return re.sub(r"\d", "", tag[:2]) or tag


def _dependencies(tokens: list[str]) -> list[Dependent]:
    """Read one tree. A constituent is reduced to the word that heads it as soon as it is closed."""
    words: list[tuple[str, str]] = []
    head, label = [0], [""]
    roles: list[str] = []
    open_daughters: list[list[_Daughter]] = []
    top = 0
    for token, following in zip(tokens, [*tokens[1:], ""], strict=True):
        if top:
            raise _BadLineError("more than one tree")
        if token == ")":
            if not open_daughters or not open_daughters[-1]:
                raise _BadLineError("a bracket closes nothing" if not open_daughters else "an empty constituent")
            role, daughters = roles.pop(), open_daughters.pop()
            best = _head(daughters)
            for daughter in daughters:
                if daughter is not best:
                    head[daughter.word], label[daughter.word] = best.word, daughter.role
            if open_daughters:
                open_daughters[-1].append(_Daughter(role, best.word))
            else:
                top, label[best.word] = best.word, HEAD
        elif token in "(|":
            if not open_daughters:
                raise _BadLineError("a daughter outside of all brackets")
        elif following == "(":
            roles.append(token.partition(":")[0])
            open_daughters.append([])
        else:
            fields = token.split(":")
            if len(fields) != 3 or not open_daughters:
                raise _BadLineError(f"{token!r} is not a daughter role:tag:word of a constituent")
            role, tag, form = fields[0], _MARK.sub("", fields[1]), fields[2]
            if not all(map(is_cell, (role, tag, form))):
                raise _BadLineError(f"{token!r} holds a role, tag or word that no column can hold")
            words.append((form, tag))
            head.append(0)
            label.append("")
            open_daughters[-1].append(_Daughter(role, len(words), tag))
    if not top:
        raise _BadLineError("a bracket that is not closed")
    return [Dependent(form, tag, head[i], label[i]) for i, (form, tag) in enumerate(words, 1)]


def _head(daughters: list[_Daughter]) -> _Daughter:
    """Return the daughter that heads a constituent."""
    marked = [daughter for daughter in daughters if daughter.role == HEAD]
    if marked:
        return next((daughter for daughter in marked if daughter.tag == CONJUNCTION), marked[0])
    for role in HEADS:
        for daughter in daughters:
            if daughter.role == role:
                return daughter
    return daughters[-1]
