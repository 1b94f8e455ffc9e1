"""Penn Treebank brackets: trees, and the dependencies that head rules make of them.

Traces (`-NONE-`) and constituents that they leave empty are deleted first. Labels are cut at `-` or `=` (NP-SBJ-1 is
NP) and at `|`; what is cut off is kept as function tags, which dependency labels need.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from treebound.treebanks.head_rules import PENN, HeadRules, dependency_label

#: within a word, only blanks of ASCII separate: a no-break space is one of its characters
_TOKEN = re.compile(r"[()]|[^ \t\r\f\v()]+")


@dataclass
class Node:
    """A constituent, or a word with its tag.

    label      category or tag, cut
    functions  function tags, SBJ or PRD for instance
    """

    label: str
    line: int
    functions: frozenset[str] = frozenset()
    children: list[Node] = field(default_factory=list)
    word: str | None = None
    tag: str = ""  # of a word, as it stands in the file


@dataclass(frozen=True)
class BadTree:
    """A malformed tree: where, why, what to do."""

    line: int
    reason: str
    hint: str


@dataclass(frozen=True)
class Dependent:
    """A word with its head (0 for the root) and its dependency label."""

    form: str
    tag: str
    head: int
    label: str


class _Bad(Exception):
    def __init__(self, line: int, reason: str, hint: str):
        super().__init__(reason)
        self.bad = BadTree(line, reason, hint)


def parse(text: str, traces: bool = False) -> Iterator[Node | BadTree]:
    """The trees of a file, without traces unless they are asked for, malformed ones as `BadTree`. Time O(len(text)).

    After a malformed tree reading goes on at the next line that begins with a bracket.
    """
    tokens: list[tuple[str, int, bool]] = []  # token, line, whether it begins its line
    for number, line in enumerate(text.split("\n"), 1):
        if "\0" in line:
            # not blank and not a bracket: it stops whatever tree it stands in
            tokens.append(("\0", number, True))
            continue
        matches = (match for match in _TOKEN.finditer(line) if not match.group().isspace())
        tokens.extend((match.group(), number, match.start() == 0) for match in matches)
    i = 0
    while i < len(tokens):
        try:
            node, i = _tree(tokens, i)
        except _Bad as error:
            yield error.bad
            i = next((j for j in range(i + 1, len(tokens)) if tokens[j][0] == "(" and tokens[j][2]), len(tokens))
        else:
            yield node if traces else _without_traces(node)


def _tree(tokens: list[tuple[str, int, bool]], i: int) -> tuple[Node, int]:
    """The tree that begins at token i, and the index after it. No recursion: depth is the file's to choose."""
    token, start, _ = tokens[i]
    if token == "\0":
        raise _Bad(start, "NUL byte", "the file is damaged or is not a text file")
    if token == ")":
        raise _Bad(start, "closing bracket without an opening one", "delete it or add the opening bracket")
    if token != "(":
        raise _Bad(start, f"text {token[:30]!r} outside a tree", "trees begin with (")
    stack: list[Node] = []
    while i < len(tokens):
        token, line, _ = tokens[i]
        i += 1
        if token == "\0":
            raise _Bad(line, "NUL byte", "the file is damaged or is not a text file")
        if token == "(":
            if stack and stack[-1].word is not None:
                raise _Bad(line, f"word {str(stack[-1].word)[:30]!r} beside a bracket", "write words as (TAG word)")
            label = ""
            if i < len(tokens) and tokens[i][0] not in "()":
                label = tokens[i][0]
                i += 1
            node = Node(_cut(label), line, frozenset(re.split(r"[-=|]", label.lstrip("-"))[1:]), tag=label)
            if stack:
                stack[-1].children.append(node)
            stack.append(node)
        elif token == ")":
            node = stack.pop()
            if node.word is None and not node.children:
                raise _Bad(line, f"bracket ({node.tag[:30]}) without a word", "write every word as (TAG word)")
            if not stack:
                return node, i
        else:
            node = stack[-1]
            if node.word is not None:
                raise _Bad(line, f"second word {token[:30]!r} under {node.tag[:30]}", "write every word as (TAG word)")
            if node.children:
                raise _Bad(line, f"word {token[:30]!r} without a tag", "write every word as (TAG word)")
            node.word = token
    raise _Bad(start, "bracket is never closed", "add the closing bracket")


def _cut(label: str) -> str:
    return label if label.startswith("-") else re.split(r"[-=|]", label, maxsplit=1)[0]


def _without_traces(tree: Node) -> Node | BadTree:
    """The tree, changed in place."""
    order = [tree]
    for node in order:
        order.extend(node.children)
    for node in reversed(order):  # children before their parents
        node.children = [c for c in node.children if c.label != "-NONE-" and (c.children or c.word is not None)]
    if tree.word is not None:
        return BadTree(tree.line, f"word {tree.word[:30]!r} without a tree", "write (S (TAG word))")
    if not tree.children:
        return BadTree(tree.line, "tree without words", "delete it")
    return tree


def dependencies(tree: Node, rules: HeadRules = PENN) -> list[Dependent]:
    """The words in order, each attached to the head word of the smallest constituent that it does not head.

    Time O(words x depth).
    """
    leaves: list[Node] = []
    order = [tree]
    stack = [tree]
    while stack:
        node = stack.pop()
        if node.word is not None:
            leaves.append(node)
        stack.extend(reversed(node.children))
    for node in order:
        order.extend(node.children)
    number = {id(leaf): i for i, leaf in enumerate(leaves, 1)}
    head_word: dict[int, int] = {}
    head = [0] * (len(leaves) + 1)
    label = ["ROOT"] * (len(leaves) + 1)
    for node in reversed(order):
        if node.word is not None:
            head_word[id(node)] = number[id(node)]
            continue
        best = node.children[rules.head_child(node.label, [c.label for c in node.children])]
        top = head_word[id(node)] = head_word[id(best)]
        for child in node.children:
            if child is not best:
                word = head_word[id(child)]
                head[word] = top
                label[word] = dependency_label(
                    node.label, best.label, child.label, child.functions, leaves[word - 1].label
                )
    return [Dependent(leaf.word or "", leaf.tag, head[i], label[i]) for i, leaf in enumerate(leaves, 1)]
