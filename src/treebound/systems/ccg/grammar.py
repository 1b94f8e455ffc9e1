"""Categories and rules as integers: what the charts look up.

Which two categories combine is asked of `treebound.treebanks.ccg.rules` or of the derivations that a grammar was read
off, once for each pair; the charts see tables alone. With the rules `seen`, nothing combines that did not in training
(Clark & Curran 2007, section 7.2); with `all`, what the combinatory rules license besides is looked up when a chart
first meets it. Type changing and type raising are those seen in training.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from treebound.core.hashing import hash_string
from treebound.kernels.features.hashing import M1
from treebound.treebanks.ccg.categories import parse
from treebound.treebanks.ccg.derivation import Derivation
from treebound.treebanks.ccg.rules import combine

#: kinds of combinations, of which the normal form and the features of dependencies speak
OTHER, FORWARD, BACKWARD, FORWARD_COMPOSITION, BACKWARD_COMPOSITION = range(5)
_KINDS = {
    "fa": FORWARD,
    "ba": BACKWARD,
    "fc": FORWARD_COMPOSITION,
    "fx": FORWARD_COMPOSITION,
    "bc": BACKWARD_COMPOSITION,
    "bx": BACKWARD_COMPOSITION,
}


class Binary(NamedTuple):
    """left right -> result, categories by number; rule: its name, head: 0 left, 1 right."""

    left: int
    right: int
    result: int
    rule: str
    head: int


class Stated(NamedTuple):
    """What a grammar is made of: categories, rules by their numbers, numbers of the roots."""

    categories: list[str]
    binary: list[Binary]
    unary: list[tuple[int, int]]
    roots: list[int]


class Tables(NamedTuple):
    """Rules as the kernels look them up.

    key     int64[H] left << 32 | right of the pairs that are known, -1 elsewhere: a table with open addressing, H a
            power of 2; the pair in place p has the rules pair[p, 0] .. pair[p, 1] - 1
    pair    int32[H, 2]
    result, kind, head, slot  int32[R] of rules; slot: which argument of its functor is filled, 0 if none is
    rule_hash int64[R]
    unary_first int32[C + 1], unary_result int32[U], unary_hash int64[U] what a category becomes alone
    category_hash int64[C], root bool[C]
    """

    key: np.ndarray
    pair: np.ndarray
    result: np.ndarray
    kind: np.ndarray
    head: np.ndarray
    slot: np.ndarray
    rule_hash: np.ndarray
    unary_first: np.ndarray
    unary_result: np.ndarray
    unary_hash: np.ndarray
    category_hash: np.ndarray
    root: np.ndarray


class Grammar:
    """Categories by number (the lexical ones first), the binary and unary rules among them, and the roots.

    productive  pairs that are not among the rules are asked of the combinatory rules when `fill` is called with them
    """

    def __init__(
        self,
        categories: Sequence[str],
        binary: Iterable[Binary],
        unary: Iterable[tuple[int, int]],
        roots: Iterable[int],
        productive: bool = False,
    ):
        self.categories, self.productive = list(categories), productive
        self.number = {category: i for i, category in enumerate(self.categories)}
        self.binary, self.unary, self.roots = list(binary), sorted(set(unary)), sorted(set(roots))
        self.known = {(rule.left, rule.right) for rule in self.binary} if not productive else set()
        self._tables: Tables | None = None
        self._order: list[Binary] = []
        self._numbers: dict[tuple[int, int, int], int] = {}

    @classmethod
    def read_off(cls, derivations: Iterable[Derivation], lexical: Sequence[str], productive: bool = False) -> Grammar:
        """The rules of some derivations, whose lexical categories come first. A rule's head is what it mostly was."""
        grammar = cls(lexical, (), (), ())
        heads: dict[tuple[int, int, int], list[int]] = {}
        names: dict[tuple[int, int, int], str] = {}
        unary, roots = set(), set()
        for derivation in derivations:
            roots.add(grammar.intern(str(derivation.category)))
            for node in derivation.nodes():
                numbers = [grammar.intern(str(part.category)) for part in (*node.children, node)]
                if len(numbers) == 2:
                    unary.add((numbers[0], numbers[1]))
                elif len(numbers) == 3:
                    key = numbers[0], numbers[1], numbers[2]
                    heads.setdefault(key, [0, 0])[node.head] += 1
                    names.setdefault(key, node.rule)
        binary = [Binary(*key, names[key], int(counts[1] > counts[0])) for key, counts in sorted(heads.items())]
        return cls(grammar.categories, binary, unary, roots, productive)

    def stated(self) -> Stated:
        """A copy of what it is made of."""
        return Stated(list(self.categories), list(self.binary), list(self.unary), list(self.roots))

    def intern(self, category: str) -> int:
        """The number of a category, a new one for one that is new."""
        if category not in self.number:
            self.number[category] = len(self.categories)
            self.categories.append(category)
        return self.number[category]

    def fill(self, pairs: Iterable[int]) -> None:
        """Learn what pairs (left << 32 | right) become by the combinatory rules, besides what was seen."""
        seen = {(rule.left, rule.right, rule.result) for rule in self.binary}
        for pair in pairs:
            left, right = pair >> 32, pair & 0xFFFFFFFF
            self.known.add((left, right))
            for found in combine(parse(self.categories[left]), parse(self.categories[right])):
                result = self.intern(str(found.result))
                if (left, right, result) not in seen:
                    seen.add((left, right, result))
                    self.binary.append(Binary(left, right, result, found.rule, found.head))
        self._tables = None

    def know(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Fill the tables with those of the pairs (left, right) that are not known yet."""
        if missing := sorted({left << 32 | right for left, right in pairs if (left, right) not in self.known}):
            self.fill(missing)

    def tables(self) -> Tables:
        """The rules as arrays; of a productive grammar those that are known so far. O(R)."""
        if self._tables is None:
            self._tables = self._made()
        return self._tables

    def rule(self, number: int) -> Binary:
        """A binary rule by its number in the tables."""
        self.tables()
        return self._order[number]

    def number_of(self, left: int, right: int, result: int) -> int:
        """The number of a binary rule in the tables, of a pair that is known. KeyError where there is none."""
        self.tables()
        return self._numbers[left, right, result]

    def _made(self) -> Tables:
        names, arity = self.categories, [parse(category).arity for category in self.categories]
        order = self._order = sorted(self.binary, key=lambda rule: rule[:2])
        self._numbers = {rule[:3]: i for i, rule in enumerate(order)}
        kind = [_KINDS.get(rule.rule, OTHER) for rule in order]
        functors = [(rule.left if k % 2 else rule.right) if k else -1 for rule, k in zip(order, kind, strict=True)]
        unary_first = np.searchsorted([left for left, _ in self.unary], np.arange(len(names) + 1))
        root = np.zeros(len(names), bool)
        root[self.roots] = True
        key, pair = self._pairs([(rule.left, rule.right) for rule in order])
        return Tables(
            key,
            pair,
            np.array([rule.result for rule in order], np.int32),
            np.array(kind, np.int32),
            np.array([rule.head for rule in order], np.int32),
            np.array([arity[f] if f >= 0 else 0 for f in functors], np.int32),
            _hashes(f"{names[r.left]} {names[r.right]} > {names[r.result]}" for r in order),
            unary_first.astype(np.int32),
            np.array([result for _, result in self.unary], np.int32),
            _hashes(f"{names[child]} > {names[result]}" for child, result in self.unary),
            _hashes(names),
            root,
        )

    def _pairs(self, listed: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
        """The hash table of pairs, at most a quarter full: most pairs that are looked up are not there."""
        spans: dict[tuple[int, int], tuple[int, int]] = dict.fromkeys(self.known, (0, 0))
        for i, at in enumerate(listed):
            if at in self.known:
                spans[at] = (spans[at][0] if spans[at][1] else i, i + 1)
        size = 1 << max(4, (4 * len(spans)).bit_length())
        key, pair = np.full(size, -1, np.int64), np.zeros((size, 2), np.int32)
        for (left, right), span in sorted(spans.items()):
            wanted = left << 32 | right
            place = (wanted * (M1 & _ALL) & _ALL) >> 40 & (size - 1)
            while key[place] >= 0:
                place = (place + 1) & (size - 1)
            key[place], pair[place] = wanted, span
        return key, pair


_ALL = (1 << 64) - 1


def _hashes(strings: Iterable[str]) -> np.ndarray:
    return np.array([hash_string(string) for string in strings], np.int64)
