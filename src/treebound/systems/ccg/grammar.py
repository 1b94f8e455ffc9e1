"""Categories and rules as integers, in tables that the charts look up.

A pair of categories is looked up once, in `treebound.treebanks.ccg.rules` or in the derivations from which a grammar
was read; charts use tables only. With the rules `seen`, categories combine only as they do in training (Clark & Curran
2007, section 7.2). With `all`, the combinatory rules also apply. A pair then enters the tables when a chart first
meets it.
Type changing and type raising are always limited to the steps seen in training.
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

#: kinds of combinations that the normal form and the dependency features distinguish
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
    """A binary rule that combines the categories `left` and `right` into `result`, all by number.

    rule  name of the rule
    head  0 if the left category has the head, 1 if the right category has it
    """

    left: int
    right: int
    result: int
    rule: str
    head: int


class Stated(NamedTuple):
    """The definition of a grammar: categories, binary and unary rules, and root categories, all by number."""

    categories: list[str]
    binary: list[Binary]
    unary: list[tuple[int, int]]
    roots: list[int]


class Tables(NamedTuple):
    """The rules of a grammar in arrays, from which kernels read them.

    There are C categories, R binary rules and U unary rules.

    key   int64[H], an open-addressing hash table, where H is a power of 2. An entry is (left category << 32) | right
          category of a known pair, or -1 if the slot is empty
    pair  int32[H, 2]: the pair of slot p has the binary rules pair[p, 0] .. pair[p, 1] - 1
    result, kind, head, slot  int32[R]: result category, kind, and head child of each binary rule; slot is the argument
                              of the functor that the rule fills, or 0
    rule_hash      int64[R], the hash of each binary rule, for features
    unary_first    int32[C + 1]: category c has the unary rules unary_first[c] .. unary_first[c + 1] - 1
    unary_result, unary_hash  int32[U], int64[U]: result category and hash of each unary rule
    category_hash  int64[C], the hash of each category, for features
    root           bool[C], whether a category may be the root of a derivation
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
    """Categories by number (the lexical ones first), their binary and unary rules, and the root categories.

    productive  whether `fill` looks up pairs in the combinatory rules; otherwise only the given rules apply
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
        """Return the grammar of some derivations, lexical categories first; a rule has its most frequent head."""
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
        """Return a copy of the definition of the grammar."""
        return Stated(list(self.categories), list(self.binary), list(self.unary), list(self.roots))

    def intern(self, category: str) -> int:
        """Return the number of a category; a new category gets the next number."""
        if category not in self.number:
            self.number[category] = len(self.categories)
            self.categories.append(category)
        return self.number[category]

    def fill(self, pairs: Iterable[int]) -> None:
        """Add the results that the combinatory rules give for pairs (left << 32 | right)."""
        seen = {(rule.left, rule.right, rule.result) for rule in self.binary}
        for pair in pairs:
            left, right = pair >> 32, pair & 0xFFFFFFFF
            self.known.add((left, right))
            for licence in combine(parse(self.categories[left]), parse(self.categories[right])):
                result = self.intern(str(licence.result))
                if (left, right, result) not in seen:
                    seen.add((left, right, result))
                    self.binary.append(Binary(left, right, result, licence.rule, licence.head))
        self._tables = None

    def know(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Apply the combinatory rules to the pairs (left, right) that are not known yet, and add the results."""
        if missing := sorted({left << 32 | right for left, right in pairs if (left, right) not in self.known}):
            self.fill(missing)

    def tables(self) -> Tables:
        """Return the rules as arrays; a productive grammar contributes the rules known so far. O(R)."""
        if self._tables is None:
            self._tables = self._made()
        return self._tables

    def rule(self, number: int) -> Binary:
        """Return a binary rule by its number in the tables."""
        self.tables()
        return self._order[number]

    def number_of(self, left: int, right: int, result: int) -> int:
        """Return the number of a binary rule in the tables. KeyError if there is no such rule.

        The pair of categories must have been looked up before.
        """
        self.tables()
        return self._numbers[left, right, result]

    def _made(self) -> Tables:
        """Build the tables and the numbering of binary rules."""
        names, arity = self.categories, [parse(category).arity for category in self.categories]
        order = self._order = sorted(self.binary, key=lambda rule: rule[:2])
        self._numbers = {rule[:3]: i for i, rule in enumerate(order)}
        kind = [_KINDS.get(rule.rule, OTHER) for rule in order]
        functors = [(rule.left if k % 2 else rule.right) if k else -1 for rule, k in zip(order, kind, strict=True)]
        unary_first = np.searchsorted([source for source, _ in self.unary], np.arange(len(names) + 1))
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
        """Return the hash table of pairs of categories, as the arrays `key` and `pair` of `Tables`.

        The table is at most a quarter full, because most lookups are for pairs without a rule.

        listed  the pair (left, right) of each binary rule
        """
        spans: dict[tuple[int, int], tuple[int, int]] = dict.fromkeys(self.known, (0, 0))
        for i, pair_of_rule in enumerate(listed):
            if pair_of_rule in self.known:
                spans[pair_of_rule] = (spans[pair_of_rule][0] if spans[pair_of_rule][1] else i, i + 1)
        size = 1 << max(4, (4 * len(spans)).bit_length())
        key, pair = np.full(size, -1, np.int64), np.zeros((size, 2), np.int32)
        for (left, right), span in sorted(spans.items()):
            packed = left << 32 | right
            place = (packed * (M1 & _ALL) & _ALL) >> 40 & (size - 1)
            while key[place] >= 0:
                place = (place + 1) & (size - 1)
            key[place], pair[place] = packed, span
        return key, pair


_ALL = (1 << 64) - 1


def _hashes(strings: Iterable[str]) -> np.ndarray:
    """Return the hashes of some strings, int64[n]."""
    return np.array([hash_string(string) for string in strings], np.int64)
