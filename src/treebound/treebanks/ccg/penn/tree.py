"""The trees that are translated: Penn trees with their traces, which preprocessing changes in place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from treebound.treebanks.brackets import Node

_INDEX = re.compile(r"([-=])(\d+)")
#: wrappers that say where a sentence stands, not what it is (CRAFT)
_WRAPPERS = frozenset(("", "TOP", "ROOT", "CAPTION", "HEADING", "TITLE", "S1"))
_QUOTES = frozenset(("``", "''"))


@dataclass(eq=False, slots=True)
class Tree:
    """A constituent, a word, or a trace (label -NONE-).

    functions  SBJ, PRD ...; index: number that a trace refers to; copy: number of the constituent that this one is
               parallel to (gapping, `NP=1`)
    kind       of a trace: *T*, *RNR*, *ICH*, *EXP*, * ...; its `index` is that of its antecedent
    mark       what preprocessing found out: `group` conjuncts with their conjunctions, `noun` the noun level,
               `quoting` a clause around a fronted quotation ...
    """

    label: str
    functions: frozenset[str] = frozenset()
    children: list[Tree] = field(default_factory=list)
    word: str = ""
    tag: str = ""
    index: int = 0
    copy: int = 0
    kind: str = ""
    mark: str = ""

    @property
    def is_leaf(self) -> bool:
        """A word or a trace."""
        return not self.children

    @property
    def is_trace(self) -> bool:
        """A trace, or a constituent that holds nothing else."""
        node = self
        while len(node.children) == 1:
            node = node.children[0]
        return bool(node.kind)

    def trace(self) -> Tree:
        """The trace of a constituent that holds nothing else."""
        node = self
        while node.children:
            node = node.children[0]
        return node

    def nodes(self) -> Iterator[Tree]:
        """All nodes, parents first, left before right."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def words(self) -> list[Tree]:
        """The words from left to right, without traces."""
        return [node for node in self.nodes() if node.is_leaf and not node.kind]

    def has(self, *functions: str) -> bool:
        """Whether it carries one of the function tags."""
        return not self.functions.isdisjoint(functions)

    def __str__(self) -> str:
        if self.is_leaf:
            return f"({self.tag or self.label} {self.word or self.kind})"
        return f"({'-'.join([self.label, *sorted(self.functions)])} {' '.join(map(str, self.children))})"


def labels(text: str) -> frozenset[str]:
    """A set of labels, or words, written as one text."""
    return frozenset(text.split())


def from_node(node: Node) -> Tree:
    """The tree of a bracketing, without wrappers and quotation marks (section 5.1)."""
    tree = _convert(node)
    while tree.label in _WRAPPERS and len(tree.children) == 1:
        tree = tree.children[0]
    if tree.label in _WRAPPERS:
        tree.label = "FRAG"
    _adopt_indices(tree)
    return tree


def _convert(node: Node) -> Tree:
    if node.word is not None:
        if node.label == "-NONE-":
            kind, index = _trace(node.word)
            return Tree("-NONE-", kind=kind, index=index)
        return Tree(node.label, word=node.word, tag=node.tag)
    numbers = dict(_INDEX.findall(node.tag))
    functions = frozenset(tag for tag in node.functions if not tag.isdigit())
    children = [_convert(c) for c in node.children if c.label not in _QUOTES]
    children = [c for c in children if c.children or c.word or c.kind]
    return Tree(node.label, functions, children, index=int(numbers.get("-", 0)), copy=int(numbers.get("=", 0)))


def _trace(text: str) -> tuple[str, int]:
    kind, _, index = text.partition("-")
    kind = {"*PRO*": "*", "*0*": "0", "*?": "*?*"}.get(kind, kind)
    return kind or "0", int(index) if index.isdigit() else 0


def _adopt_indices(tree: Tree) -> None:
    """CRAFT writes a trace's index on its phrase: (NP-SBJ-1 (-NONE- *T*)) is (NP-SBJ (-NONE- *T*-1))."""
    for node in tree.nodes():
        if len(node.children) == 1 and node.children[0].kind and not node.children[0].index and node.index:
            node.children[0].index, node.index = node.index, 0


def clean(tree: Tree) -> Tree:
    """The tree without constituents that nothing is left of; changed in place."""
    for node in reversed(list(tree.nodes())):
        node.children = [c for c in node.children if c.children or c.word or c.kind]
    return tree
