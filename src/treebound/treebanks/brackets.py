"""Read trees in Penn Treebank brackets and convert them to dependency trees by head rules.

Traces (`-NONE-`) and constituents that become empty without them are deleted first. Labels are cut at `-`, `=` and `|`,
so that NP-SBJ-1 becomes NP. The parts that are cut off are stored as function tags, which dependency labels depend on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from treebound.treebanks.head_rules import PENN, HeadRules, dependency_label

#: only ASCII blanks separate tokens, so that a no-break space can be part of a word
_TOKEN = re.compile(r"[()]|[^ \t\r\f\v()]+")


@dataclass
class Node:
    """A constituent, or a word with its tag.

    label      category or tag without function tags
    line       number of its line in the file
    functions  function tags, for instance SBJ or PRD
    """

    label: str
    line: int
    functions: frozenset[str] = frozenset()
    children: list[Node] = field(default_factory=list)
    word: str | None = None
    tag: str = ""  # the label as written in the file, with function tags


@dataclass(frozen=True)
class BadTree:
    """A malformed tree: its line, the reason and a hint."""

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
    """Raised for a malformed tree."""

    def __init__(self, line: int, reason: str, hint: str):
        super().__init__(reason)
        self.bad = BadTree(line, reason, hint)


def parse(text: str, traces: bool = False) -> Iterator[Node | BadTree]:
    """Yield the trees of a text, with a `BadTree` for each malformed tree. Time O(len(text)).

    traces  keep traces, and the constituents that consist of traces only

    After a malformed tree, parsing continues at the next line that begins with a bracket.
    """
    tokens: list[tuple[str, int, bool]] = []  # token, line, whether it begins its line
    for number, line in enumerate(text.split("\n"), 1):
        if "\0" in line:
            # a line with a NUL is one token, which is invalid inside and outside of trees
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
    """Return the tree that begins at token i, and the index of the token after it. Raises _Bad.

    There is no recursion, because the depth of a tree is not limited.
    """
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
    """Return a label without its function tags; a label like -LRB- stays as it is."""
    return label if label.startswith("-") else re.split(r"[-=|]", label, maxsplit=1)[0]


def _without_traces(tree: Node) -> Node | BadTree:
    """Delete traces and empty constituents from a tree in place; return it, or a `BadTree` if no words are left."""
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
    """Return the words of a tree in order, with heads and labels. Time O(words x depth).

    Each word is attached to the head word of the smallest constituent that contains it and has another head word.
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
        head_child = node.children[rules.head_child(node.label, [c.label for c in node.children])]
        head_position = head_word[id(node)] = head_word[id(head_child)]
        for child in node.children:
            if child is not head_child:
                word = head_word[id(child)]
                head[word] = head_position
                label[word] = dependency_label(
                    node.label, head_child.label, child.label, child.functions, leaves[word - 1].label
                )
    return [Dependent(leaf.word or "", leaf.tag, head[i], label[i]) for i, leaf in enumerate(leaves, 1)]
