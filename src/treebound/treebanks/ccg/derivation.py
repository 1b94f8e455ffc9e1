r"""Derivations: trees of categories over words, in CCGbank's machine-readable format `.auto`.

A derivation is two lines: `ID=wsj_0001.1 PARSER=GOLD NUMPARSE=1`, and one bracketing in which a constituent is `(<T
CATEGORY HEAD CHILDREN> child child )` and a word `(<L CATEGORY TAG TAG WORD INDEXED-CATEGORY>)`.

Blanks separate the fields. CCGbank has no words with blanks and no way to write them. Here, a blank within a word, a
tag or a name is written as the four hexadecimal digits of its code: `10\u00a0000`. A backslash is written as its code
if it would otherwise be read as the beginning of a code. All other words stay unchanged, including `1\/2` of CCGbank.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from treebound.core.errors import InputError
from treebound.support import compression
from treebound.treebanks.ccg.categories import Category, parse
from treebound.treebanks.ccg.rules import combine, is_raised, unary

_NODE = re.compile(r"\(<T (\S+) ([01]) ([12])>|\(<L (\S+) (\S+) (\S+) (\S+) (\S+)>\)|\)(?!\S)|(\S+)")


#: a blank by the definition of `str.split`, or a backslash that would be read as the beginning of a code
_ESCAPED = re.compile(r"\s|\\(?=u[0-9a-f]{4})")
#: the characters that codes may stand for; the quotation mark is coded only in the quoted names of .parg files
_UNESCAPED = re.compile(r'[\s\\"]')
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")


def escaped(field: str) -> str:
    """Return a word, tag or name as one field of an `.auto` file, without blanks. Inverse: `unescaped`. O(length)."""
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", field)


def unescaped(field: str) -> str:
    """Return the word, tag or name that a field of an `.auto` file stands for. O(length)."""
    return _ESCAPE.sub(_character, field) if "\\u" in field else field


def _character(match: re.Match[str]) -> str:
    """Return the character of a code that `escaped` writes; any other code is returned unchanged."""
    character = chr(int(match[1], 16))
    return character if _UNESCAPED.fullmatch(character) else match[0]


@dataclass(eq=False, slots=True)
class Derivation:
    """A constituent: a word without children, a unary step with one child, or a combination with two.

    rule  name in `rules.combine` or `rules.unary`; `lex` for a word; "" if no rule licenses the step
    head  index of the child whose lexical head is the head of this constituent
    """

    category: Category
    rule: str = "lex"
    head: int = 0
    children: tuple[Derivation, ...] = ()
    word: str = ""
    tag: str = ""

    def nodes(self) -> Iterator[Derivation]:
        """Yield all constituents, parents before children, left before right."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def leaves(self) -> list[Derivation]:
        """Return the words from left to right."""
        return [node for node in self.nodes() if not node.children]


@dataclass(frozen=True)
class Entry:
    """A derivation in a file, with its name (`wsj_0001.1`) and its line number."""

    name: str
    derivation: Derivation
    line: int = 0


def licence(children: tuple[Category, ...], category: Category) -> str:
    """Return the first rule that makes the category from the children, or "". Time O(rules)."""
    if len(children) == 1:
        if any(licensed.result is category for licensed in unary(children[0])):
            return "tc"
        return "tr" if is_raised(category, children[0]) else ""
    return next((licensed.rule for licensed in combine(*children) if licensed.result is category), "")


def read(path: str | Path) -> Iterator[Entry]:
    """Yield the derivations of an `.auto` file, in order. Raise InputError with file, line and reason."""
    try:
        with compression.opened(path) as file:
            name = ""
            for number, raw in enumerate(file, 1):
                line = raw.decode()
                if line.startswith("ID="):
                    name = unescaped(line.split()[0][3:])
                elif line.strip():
                    try:
                        yield Entry(name or str(number), from_text(line), number)
                    except ValueError as error:
                        raise InputError(
                            str(error), path=path, line=number, hint="correct or delete this derivation"
                        ) from None
                    name = ""
    except (*compression.READ_ERRORS, ValueError) as error:
        raise InputError(f"cannot be read: {error}", path=path, hint="give an .auto file in UTF-8") from None


def from_text(line: str) -> Derivation:
    """Return the derivation of a line. ValueError with column and reason. Time O(len(line)), without recursion."""
    stack: list[tuple[Derivation, int, list[Derivation]]] = []
    done: Derivation | None = None
    for part in _NODE.finditer(line):
        text, column = part.group(), part.start() + 1
        if part.group(9) is not None or done is not None:
            raise ValueError(f"column {column}: unexpected {text[:30]!r}")
        if part.group(1) is not None:
            node = Derivation(parse(part.group(1)), "", int(part.group(2)))
            stack.append((node, int(part.group(3)), []))
            continue
        if part.group(4) is not None:
            node = Derivation(parse(part.group(4)), word=unescaped(part.group(7)), tag=unescaped(part.group(5)))
        else:
            if not stack:
                raise ValueError(f"column {column}: closing bracket without an opening one")
            node, expected, children = stack.pop()
            if len(children) != expected:
                raise ValueError(f"column {column}: {node.category} has {len(children)} children, not {expected}")
            if node.head >= expected:
                raise ValueError(f"column {column}: head {node.head} of {expected} children")
            node.children = tuple(children)
            node.rule = licence(tuple(child.category for child in children), node.category)
        if stack:
            stack[-1][2].append(node)
        else:
            done = node
    if stack or done is None:
        raise ValueError("a bracket is never closed" if stack else "no derivation")
    return done


def to_text(derivation: Derivation, indexed: Callable[[Category], str] = str) -> str:
    """Return the line of a derivation; `indexed` writes a lexical category with head indices (`heads.indexed`)."""
    out: list[str] = []
    stack: list[Derivation | None] = [derivation]
    while stack:
        node = stack.pop()
        if node is None:
            out.append(")")
        elif node.children:
            out.append(f"(<T {node.category} {node.head} {len(node.children)}>")
            stack.append(None)
            stack.extend(reversed(node.children))
        else:
            tag, word = escaped(node.tag), escaped(node.word)
            out.append(f"(<L {node.category} {tag} {tag} {word} {indexed(node.category)}>)")
    return " ".join(out)


def write(path: str | Path, entries: Iterable[Entry], indexed: Callable[[Category], str] = str) -> None:
    """Write an `.auto` file atomically, compressed if the suffix of its name says so. Raise InputError."""
    with compression.writing(path) as file:
        for entry in entries:
            text = f"ID={escaped(entry.name)} PARSER=GOLD NUMPARSE=1\n{to_text(entry.derivation, indexed)}\n"
            file.write(text.encode("utf-8"))
