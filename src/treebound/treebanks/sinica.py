"""Read the Sinica Treebank, constituent trees with thematic roles, and convert it to dependency trees.

A line contains a number, a tree and the punctuation that ends the clause:

    #4:4.[39030] S(theme:NP(Head:Nhaa:...)|Head:V_11:...|range:NP(Head:Nab:...))#...(COMMACATEGORY)

A daughter is `role:tag:word` or `role:category(daughters)`. The daughter with the role `Head` is the head of its
constituent. The head words of the other daughters become its dependents, labelled with their roles:

- In coordinations, several daughters have the role `Head`. The leftmost conjunction (`Caa`) among them is the head. If
  none of them is a conjunction, the leftmost of them is the head.
- Without a daughter `Head`, the head is the first daughter in the order of `HEADS`, else the last daughter.
- The role `head`, in small letters, marks the semantic head of a phrase with a particle, for instance a relative
  clause. The particle has the role `Head`.
- The part of a tag from a square bracket on is removed, as in `Caa[P1]` of paired conjunctions.
- The punctuation that ends a clause is outside of the trees and is left out.

The coarse tag consists of the first two characters of the fine tag without digits: Na for Nab, P for P21.

The annotation is described by Chen & Hsieh (2004), "Chinese Treebanks and Grammar Extraction". The Chinese data of
CoNLL-X (Buchholz & Marsi 2006) were converted from a larger part of this treebank. The rules of their conversion are
not available, so that heads may differ in the cases above.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from treebound.core.cells import HINT, is_cell
from treebound.treebanks.brackets import BadTree, Dependent

HEAD = "Head"
#: roles of daughters that head a constituent without a daughter `Head`, in order of preference
HEADS = ("head", "DUMMY", "DUMMY1")
CONJUNCTION = "Caa"

_LINE = re.compile(r"#\S*\.\[[^\]]*\] *(.+)#[^#]*")
_TOKEN = re.compile(r"[(|)]|[^(|)]+")
_MARK = re.compile(r"\[.*")


class _Daughter(NamedTuple):
    """A daughter of a constituent: its role, the number of its head word, and its tag if it is a single word."""

    role: str
    word: int
    tag: str = ""


class _BadLineError(ValueError):
    """Raised for a line that does not contain a well-formed tree."""


def parse(lines: Iterable[str]) -> Iterator[list[Dependent] | BadTree]:
    """Yield the words of every tree, with a `BadTree` for each malformed tree. Time O(characters).

    Empty lines are skipped.
    """
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text:
            continue
        try:
            match = _LINE.fullmatch(text)
            if match is None:
                raise _BadLineError("the line does not have the form #number.[id] tree#punctuation")
            yield _dependencies(_TOKEN.findall(match[1]))
        except _BadLineError as error:
            yield BadTree(number, str(error), HINT if "holds" in str(error) else "correct the line or leave it out")


def coarse(tag: str) -> str:
    """Return the coarse tag of a fine tag: its first two characters without digits."""
    return re.sub(r"\d", "", tag[:2]) or tag


def _dependencies(tokens: list[str]) -> list[Dependent]:
    """Parse the tokens of one tree; return its words with heads and labels. Raises _BadLineError.

    A constituent is reduced to its head word as soon as its bracket is closed.
    """
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
                raise _BadLineError("unmatched closing bracket" if not open_daughters else "an empty constituent")
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
                raise _BadLineError(f"{token!r} holds a role, tag or word that does not fit into a column")
            words.append((form, tag))
            head.append(0)
            label.append("")
            open_daughters[-1].append(_Daughter(role, len(words), tag))
    if not top:
        raise _BadLineError("a bracket is not closed")
    return [Dependent(form, tag, head[i], label[i]) for i, (form, tag) in enumerate(words, 1)]


def _head(daughters: list[_Daughter]) -> _Daughter:
    """Return the head daughter of a constituent."""
    marked = [daughter for daughter in daughters if daughter.role == HEAD]
    if marked:
        return next((daughter for daughter in marked if daughter.tag == CONJUNCTION), marked[0])
    for role in HEADS:
        for daughter in daughters:
            if daughter.role == role:
                return daughter
    return daughters[-1]
