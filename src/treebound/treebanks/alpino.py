"""Alpino XML: dependency structures of Dutch, and the trees over words that head rules make of them.

A sentence is a tree of constituents; every daughter carries its relation to the constituent (`su`, `obj1`, `cnj`, ...).
One daughter is the head, and the words that head the others become its modifiers under their own relation:

- the head is the daughter `hd`, else the first kind in `HEADS` that is there, the leftmost of several: complementiser,
  conjunction, relative or question word, discourse link, nucleus; the first part of a discourse unit, of a coordination
  without a conjunction and of a multi-word unit. So an argument of a coordination is a modifier of its (first)
  conjunction under `cnj`, and the words of a multi-word unit are modifiers of its first word under `mwp`.
- index nodes without a word stand for a constituent that is elsewhere (secondary edges); they are dropped with all
  constituents that they leave empty. A constituent that loses its head to this takes the first kind in `ORPHANED`,
  else its leftmost daughter.
- the top has the main constituent - the first that is not a single word, else the first word that is no punctuation,
  else the first word -, which is the root; the rest of the top is attached to it under `--`, as is punctuation.
- punctuation is attached to the highest word to which the arc crosses no other arc (there always is one, the nearest),
  the nearest of several. In the file it stands at the top, which says nothing about its place.

The relations are van der Beek, Bouma, Malouf & van Noord (2002), "The Alpino Dependency Treebank"; the choice of heads
follows the CoNLL-X data (Buchholz & Marsi 2006) as far as that is documented (those data
join multi-word units to one token).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from treebound.core.cells import HINT, is_cell
from treebound.treebanks.brackets import BadTree

#: daughters that head a constituent, best first
HEADS = ("hd", "cmp", "crd", "rhd", "whd", "dlink", "nucl", "dp", "cnj", "mwp")
#: daughters that take over where the head is an index node: verbal complements, then arguments, then modifiers
ORPHANED = ("vc", "body", "predc", "ld", "pc", "obj1", "obj2", "su", "mod", "det")
PUNCTUATION = "punct"
TOP = "--"


@dataclass
class Node:
    """A constituent, a word, or an index node (neither children nor word).

    begin  number of words before it
    """

    rel: str
    line: int
    begin: int
    end: int
    pos: str = ""
    root: str = ""
    word: str | None = None
    children: list[Node] = field(default_factory=list)


@dataclass(frozen=True)
class Dependent:
    """A word with its head (0 for the root) and the relation to it."""

    form: str
    root: str
    pos: str
    head: int
    label: str


class UnreadableXml(Exception):
    """Not XML: nothing after `line` can be read."""

    def __init__(self, line: int, reason: str):
        super().__init__(reason)
        self.line, self.reason = line, reason


class _Bad(Exception):
    def __init__(self, line: int, reason: str, hint: str):
        super().__init__(reason)
        self.bad = BadTree(line, reason, hint)


def parse(chunks: Iterable[bytes]) -> Iterator[Node | BadTree]:
    """The trees of a file, in order, malformed ones as `BadTree`. Raises UnreadableXml. Time O(bytes).

    A tree is an element `alpino_ds` with nested elements `node`; whatever stands around and beside them is skipped.
    """
    reader = _Reader()
    line = 1
    try:
        for chunk in chunks:
            reader.parser.Parse(chunk, False)
            yield from reader.take()
        reader.parser.Parse(b"", True)
    except expat.ExpatError as error:
        yield from reader.take()
        line = error.lineno
        raise UnreadableXml(line, f"not XML: {expat.errors.messages[error.code]}") from None
    except (ValueError, LookupError) as error:  # an encoding that the file names and nobody knows
        raise UnreadableXml(line, f"not XML: {error}") from None
    yield from reader.take()


class _Reader:
    """Builds nodes from the parser's events; no recursion, depth is the file's to choose."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.ready: list[Node | BadTree] = []
        self.stack: list[Node] = []
        self.tops: list[Node] = []
        self.bad: BadTree | None = None
        self.within = False
        self.line = 0

    def take(self) -> list[Node | BadTree]:
        ready, self.ready = self.ready, []
        return ready

    def start(self, name: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        if name == "alpino_ds":
            self.within, self.line, self.bad, self.tops, self.stack = True, line, None, [], []
        elif name == "node" and self.within:
            try:
                node = _node(attributes, line)
            except _Bad as error:
                self.bad = self.bad or error.bad
                node = Node("", line, 0, 0)
            (self.stack[-1].children if self.stack else self.tops).append(node)
            self.stack.append(node)

    def end(self, name: str) -> None:
        if name == "node" and self.within:
            self.stack.pop()
        elif name == "alpino_ds":
            self.within = False
            self.ready.append(self.bad or _checked(self.tops, self.line))


def _node(attributes: dict[str, str], line: int) -> Node:
    for key in ("rel", "begin", "end"):
        if not attributes.get(key):
            raise _Bad(line, f"node without {key}", "add the attribute")
        if not is_cell(attributes[key]):
            raise _Bad(line, f"{key} {attributes[key][:30]!r} does not fit into a column", HINT)
    begin, end = attributes["begin"], attributes["end"]
    for text in (begin, end):
        if not (text.isascii() and text.isdecimal() and len(text) < 10):
            raise _Bad(line, f"position {text[:30]!r} is not a number", "count words from 0")
    word = attributes.get("word")
    if word is not None:
        for key, value in (("word", word), ("pos", attributes.get("pos", "")), ("root", attributes.get("root", "_"))):
            if not is_cell(value):
                raise _Bad(line, f"{key} {value[:30]!r} does not fit into a column", HINT)
    return Node(
        attributes["rel"], line, int(begin), int(end), attributes.get("pos", ""), attributes.get("root", "_"), word
    )


def _checked(tops: list[Node], line: int) -> Node | BadTree:
    if len(tops) != 1:
        return BadTree(line, f"{len(tops)} top nodes in a sentence", "a sentence has one")
    words = []
    order = [tops[0]]
    for node in order:
        order.extend(node.children)
        if node.word is None:
            continue
        if node.children:
            return BadTree(node.line, f"word {str(node.word)[:30]!r} with nodes inside", "words are leaves")
        if node.end != node.begin + 1:
            return BadTree(
                node.line, f"word {str(node.word)[:30]!r} from {node.begin} to {node.end}", "a word takes one position"
            )
        words.append(node)
    words.sort(key=lambda node: node.begin)
    for i, node in enumerate(words):
        if node.begin != i:
            reason = f"word {str(node.word)[:30]!r} at position {node.begin} where {i} was expected"
            return BadTree(node.line, reason, "positions of words are 0, 1, 2, ... without gaps")
    if not words:
        return BadTree(line, "sentence without words", "delete it")
    return tops[0]


def dependencies(tree: Node) -> list[Dependent]:
    """The words in order with head and label. Time O(n^2) for n words, O(n^3) at worst over the punctuation."""
    order = [tree]
    for node in order:
        order.extend(node.children)
    words = sorted((node for node in order if node.word is not None), key=lambda node: node.begin)
    n = len(words)
    head, label = [0] * (n + 1), [TOP] * (n + 1)
    top_word: dict[int, int] = {}  # head word of every constituent that has words
    first: dict[int, int] = {}  # its first word
    for node in reversed(order):  # daughters before their constituents
        if node.word is not None:
            top_word[id(node)] = first[id(node)] = node.begin + 1
            continue
        filled = [child for child in node.children if id(child) in top_word]
        if not filled:
            continue
        filled.sort(key=lambda child: first[id(child)])
        best = _main(filled) if node is tree else _head(filled)
        top = top_word[id(node)] = top_word[id(best)]
        first[id(node)] = first[id(filled[0])]
        for child in filled:
            word = top_word[id(child)]
            label[word] = child.rel  # of the largest constituent that the word heads
            if child is not best:
                head[word] = top
    _attach_punctuation([node.pos for node in words], head, top_word[id(tree)])
    return [Dependent(node.word or "", node.root, node.pos, head[i], label[i]) for i, node in enumerate(words, 1)]


def _head(children: list[Node]) -> Node:
    """The head of a constituent, given its daughters that have words, in order."""
    for rel in (*HEADS, *ORPHANED):
        for child in children:
            if child.rel == rel:
                return child
    return children[0]


def _main(children: list[Node]) -> Node:
    """The main constituent of a sentence."""
    for child in children:
        if child.word is None:
            return child
    return next((child for child in children if child.pos != PUNCTUATION), children[0])


def _attach_punctuation(pos: list[str], head: list[int], root: int) -> None:
    """Give punctuation marks that are not the root their heads, from left to right; `head` (from 1) is changed.

    A mark is nobody's head unless it is the root, so each one can be placed in the tree of the others and the marks
    before it. Of an arc's crossings a difference array over the other arcs counts those of all candidate heads at once.
    """
    n = len(pos)
    marks = [i for i in range(1, n + 1) if pos[i - 1] == PUNCTUATION and i != root]
    placed = [i for i in range(1, n + 1) if i not in set(marks)]
    depth = {root: 0}
    for i in placed:
        path = []
        while i not in depth:
            path.append(i)
            i = head[i]
        for step, word in enumerate(reversed(path), 1):
            depth[word] = depth[i] + step
    arcs = [(min(head[i], i), max(head[i], i)) for i in placed]
    candidates = list(placed)
    for mark in marks:
        change = [0] * (n + 2)  # crossings of (mark, w): arcs with one end strictly between, the other outside
        for low, high in arcs:
            if low < mark < high:
                # every word outside low .. high is reached across the arc
                change[0] += 1
                change[low] -= 1
                change[high + 1] += 1
            elif high < mark:
                # words strictly below high and above low, from beyond high
                change[low + 1] += 1
                change[high] -= 1
            elif low > mark:
                change[low + 1] += 1
                change[high] -= 1
        crossings, total = [], 0
        for step in change[: n + 1]:
            total += step
            crossings.append(total)
        best = min(candidates, key=lambda w: (crossings[w], depth[w], abs(w - mark)))
        head[mark] = best
        arcs.append((min(best, mark), max(best, mark)))
