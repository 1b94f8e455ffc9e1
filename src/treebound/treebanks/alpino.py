"""Read Alpino XML, the dependency structures of Dutch, and convert them to dependency trees by head rules.

A sentence is a tree of constituents. Every daughter has a relation to its constituent (`su`, `obj1`, `cnj`, ...). One
daughter is the head; the head words of the other daughters become its dependents, labelled with their relations:

- The head is the first daughter in the order of `HEADS`: the daughter `hd`, else a complementiser, conjunction,
  relative or question word, discourse link or nucleus. Else it is the first part of a discourse unit, of a coordination
  without a conjunction or of a multi-word unit. Among daughters of the same kind, the leftmost is the head. Conjuncts
  therefore depend on the (first) conjunction with the relation `cnj`, and the words of a multi-word unit depend on its
  first word with the relation `mwp`.
- Index nodes without a word refer to a constituent at another place (secondary edges). They are dropped, with all
  constituents that become empty. If a constituent loses its head in this way, its head is the first daughter in the
  order of `ORPHANED`, else its leftmost daughter.
- The root of a sentence is the head word of its main constituent. This is the first daughter of the top node that is
  not a single word, else the first word that is not punctuation, else the first word. The other daughters of the top
  node depend on the root with the relation `--`.
- In the file, punctuation is always attached at the top. It is re-attached to the highest word that it can reach
  without crossing an arc. Of several such words, the nearest is chosen. The word nearest to the mark can always be
  reached.

The relations are described by van der Beek, Bouma, Malouf & van Noord (2002), "The Alpino Dependency Treebank". The
choice of heads follows the CoNLL-X data (Buchholz & Marsi 2006) where it is documented, except that those data join
multi-word units into one token.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from treebound.core.cells import HINT, is_cell
from treebound.treebanks.brackets import BadTree

#: relations of daughters that head a constituent, in order of preference
HEADS = ("hd", "cmp", "crd", "rhd", "whd", "dlink", "nucl", "dp", "cnj", "mwp")
#: relations of daughters that replace a dropped head, in order of preference: verbal complements, arguments, modifiers
ORPHANED = ("vc", "body", "predc", "ld", "pc", "obj1", "obj2", "su", "mod", "det")
PUNCTUATION = "punct"
TOP = "--"


@dataclass
class Node:
    """A constituent, a word, or an index node, which has neither children nor a word.

    rel         relation to the parent
    line        number of its line in the file
    begin, end  the words of the node are at the positions begin .. end - 1, counted from 0
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
    """A word with its head (0 for the root) and its relation to the head."""

    form: str
    root: str
    pos: str
    head: int
    label: str


class UnreadableXml(Exception):
    """Raised for a file that is not XML, with the line at which reading stopped."""

    def __init__(self, line: int, reason: str):
        super().__init__(reason)
        self.line, self.reason = line, reason


class _Bad(Exception):
    """Raised for a malformed tree."""

    def __init__(self, line: int, reason: str, hint: str):
        super().__init__(reason)
        self.bad = BadTree(line, reason, hint)


def parse(chunks: Iterable[bytes]) -> Iterator[Node | BadTree]:
    """Yield the trees of a file in order, with a `BadTree` for each malformed tree. Time O(bytes).

    A tree is an element `alpino_ds` with nested elements `node`. All other elements are skipped. Raises UnreadableXml.
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
    except (ValueError, LookupError) as error:  # the file names an unknown encoding
        raise UnreadableXml(line, f"not XML: {error}") from None
    yield from reader.take()


class _Reader:
    """A handler of the XML parser's events that builds nodes, without recursion because trees may be deep."""

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
        """Return the trees that were completed since the last call."""
        ready, self.ready = self.ready, []
        return ready

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""
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
        """Handle the end of an element."""
        if name == "node" and self.within:
            self.stack.pop()
        elif name == "alpino_ds":
            self.within = False
            self.ready.append(self.bad or _checked(self.tops, self.line))


def _node(attributes: dict[str, str], line: int) -> Node:
    """Return the node of an element's attributes. Raises _Bad."""
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
    """Return the tree of a sentence, or a `BadTree` if its words do not have the positions 0, 1, 2, ..."""
    if len(tops) != 1:
        return BadTree(line, f"{len(tops)} top nodes in a sentence", "a sentence must have one")
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
            return BadTree(node.line, reason, "positions of words must be 0, 1, 2, ... without gaps")
    if not words:
        return BadTree(line, "sentence without words", "delete it")
    return tops[0]


def dependencies(tree: Node) -> list[Dependent]:
    """Return the words of a tree in order, with heads and labels. Time O(n^2), or O(n^3) with much punctuation."""
    order = [tree]
    for node in order:
        order.extend(node.children)
    words = sorted((node for node in order if node.word is not None), key=lambda node: node.begin)
    n = len(words)
    head, label = [0] * (n + 1), [TOP] * (n + 1)
    top_word: dict[int, int] = {}  # head word of every constituent that has words
    first: dict[int, int] = {}  # first word of every constituent that has words
    for node in reversed(order):  # daughters before their constituents
        if node.word is not None:
            top_word[id(node)] = first[id(node)] = node.begin + 1
            continue
        filled = [child for child in node.children if id(child) in top_word]
        if not filled:
            continue
        filled.sort(key=lambda child: first[id(child)])
        head_daughter = _main(filled) if node is tree else _head(filled)
        head_position = top_word[id(node)] = top_word[id(head_daughter)]
        first[id(node)] = first[id(filled[0])]
        for child in filled:
            word = top_word[id(child)]
            label[word] = child.rel  # the relation of the largest constituent that the word heads
            if child is not head_daughter:
                head[word] = head_position
    _attach_punctuation([node.pos for node in words], head, top_word[id(tree)])
    return [Dependent(node.word or "", node.root, node.pos, head[i], label[i]) for i, node in enumerate(words, 1)]


def _head(children: list[Node]) -> Node:
    """Return the head daughter of a constituent, from its daughters that have words, in order."""
    for rel in (*HEADS, *ORPHANED):
        for child in children:
            if child.rel == rel:
                return child
    return children[0]


def _main(children: list[Node]) -> Node:
    """Return the main constituent of a sentence, from the daughters of its top node."""
    for child in children:
        if child.word is None:
            return child
    return next((child for child in children if child.pos != PUNCTUATION), children[0])


def _attach_punctuation(pos: list[str], head: list[int], root: int) -> None:
    """Attach the punctuation marks that are not the root, from left to right.

    The heads are written to `head`, where the first word has index 1. A punctuation mark that is not the root has no
    dependents. So each mark can be attached to the tree of all words and earlier marks. The crossings of all arcs into
    a mark are counted together, by a difference array over the candidate heads.
    """
    n = len(pos)
    marks = [i for i in range(1, n + 1) if pos[i - 1] == PUNCTUATION and i != root]
    attached = [i for i in range(1, n + 1) if i not in set(marks)]
    depth = {root: 0}
    for i in attached:
        path = []
        while i not in depth:
            path.append(i)
            i = head[i]
        for distance, word in enumerate(reversed(path), 1):
            depth[word] = depth[i] + distance
    arcs = [(min(head[i], i), max(head[i], i)) for i in attached]
    candidates = list(attached)
    for mark in marks:
        differences = [0] * (n + 2)  # differences over w of the number of crossings of (w, mark)
        for low, high in arcs:
            if low < mark < high:
                # the arc (low, high) is crossed by the arcs from all words outside low .. high
                differences[0] += 1
                differences[low] -= 1
                differences[high + 1] += 1
            elif high < mark:
                # the arc is crossed by the arcs from all words strictly between low and high
                differences[low + 1] += 1
                differences[high] -= 1
            elif low > mark:
                differences[low + 1] += 1
                differences[high] -= 1
        crossings, total = [], 0
        for distance in differences[: n + 1]:
            total += distance
            crossings.append(total)
        best = min(candidates, key=lambda w: (crossings[w], depth[w], abs(w - mark)))
        head[mark] = best
        arcs.append((min(best, mark), max(best, mark)))
