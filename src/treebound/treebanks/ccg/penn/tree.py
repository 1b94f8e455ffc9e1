"""The trees that are translated: Penn trees with their traces, which preprocessing changes in place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from treebound.treebanks.brackets import Node

_INDEX = re.compile(r"([-=])(\d+)")
#: wrappers that give the position of a sentence in a document, not its kind (CRAFT)
_WRAPPERS = frozenset(("", "TOP", "ROOT", "CAPTION", "HEADING", "TITLE", "S1"))
_QUOTES = frozenset(("``", "''"))


@dataclass(eq=False, slots=True)
class Tree:
    """A constituent, a word, or a trace (label -NONE-).

    functions  function tags: SBJ, PRD ...;
    index      number by which traces refer to this constituent; for a trace, the number of its antecedent;
    copy       number of the constituent to which this one is parallel (gapping, `NP=1`);
    kind       kind of a trace: *T*, *RNR*, *ICH*, *EXP*, * ...;
    mark       result of preprocessing: `group` for conjuncts with their conjunctions, `quoting` for a clause around a
               fronted quotation, `complement`, `adjunct` ...
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
        """Return whether the node is a word or a trace."""
        return not self.children

    @property
    def is_trace(self) -> bool:
        """Return whether the node is a trace, or a constituent that contains only a trace."""
        node = self
        while len(node.children) == 1:
            node = node.children[0]
        return bool(node.kind)

    def trace(self) -> Tree:
        """Return the trace of a constituent that contains only a trace."""
        node = self
        while node.children:
            node = node.children[0]
        return node

    def nodes(self) -> Iterator[Tree]:
        """Yield all nodes, parents first, left before right."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def words(self) -> list[Tree]:
        """Return the words from left to right, without traces."""
        return [node for node in self.nodes() if node.is_leaf and not node.kind]

    def has(self, *functions: str) -> bool:
        """Return whether the constituent carries at least one of the function tags."""
        return not self.functions.isdisjoint(functions)

    def __str__(self) -> str:
        if self.is_leaf:
            return f"({self.tag or self.label} {self.word or self.kind})"
        return f"({'-'.join([self.label, *sorted(self.functions)])} {' '.join(map(str, self.children))})"


def labels(text: str) -> frozenset[str]:
    """Return the set of labels, or words, in a text that blanks separate."""
    return frozenset(text.split())


def from_node(node: Node) -> Tree:
    """Return the tree of a bracketing, without wrappers and quotation marks (section 5.1)."""
    tree = _convert(node)
    while tree.label in _WRAPPERS and len(tree.children) == 1:
        tree = tree.children[0]
    if tree.label in _WRAPPERS:
        tree.label = "FRAG"
    _adopt_indices(tree)
    return tree


def _convert(node: Node) -> Tree:
    """Return the tree of a bracketing, without quotation marks."""
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
    """Return kind and index of a trace; kinds of other treebanks are renamed to kinds of the Penn Treebank."""
    kind, _, index = text.partition("-")
    kind = {"*PRO*": "*", "*0*": "0", "*?": "*?*"}.get(kind, kind)
    return kind or "0", int(index) if index.isdigit() else 0


def _adopt_indices(tree: Tree) -> None:
    """Move the index of a phrase to the trace inside it, where the Penn Treebank has it.

    CRAFT writes (NP-SBJ-1 (-NONE- *T*)) for (NP-SBJ (-NONE- *T*-1)).
    """
    for node in tree.nodes():
        if len(node.children) == 1 and node.children[0].kind and not node.children[0].index and node.index:
            node.children[0].index, node.index = node.index, 0


def clean(tree: Tree) -> Tree:
    """Remove constituents that contain neither words nor traces, in place, and return the tree."""
    for node in reversed(list(tree.nodes())):
        node.children = [c for c in node.children if c.children or c.word or c.kind]
    return tree
