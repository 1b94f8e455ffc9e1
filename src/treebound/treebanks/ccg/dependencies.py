"""Predicate-argument dependencies of a derivation, and CCGbank's `.parg` files.

The arguments of a lexical category are slots, numbered from the innermost. The derivation determines the words that
fill them, also at a distance. Every part of a category has a head (`heads.indices`), and rules unify heads. At the end,
the fillers of a slot are the words of its head (Hockenmaier & Steedman 2007, section 4.4).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from treebound.support.compression import writing
from treebound.treebanks.ccg.categories import Category
from treebound.treebanks.ccg.derivation import Derivation, escaped
from treebound.treebanks.ccg.heads import OWN, Indexed, indices


class Dependency(NamedTuple):
    """A filled slot of a lexical category; words are numbered from 0.

    head      word whose category has the slot
    category  that category
    slot      number of the argument, 1 for the innermost
    filler    word that fills the slot
    """

    head: int
    category: Category
    slot: int
    filler: int


class _Head:
    """The head of a part of a category.

    words  word numbers
    same   another head with which this head is unified, or None
    parts  heads that make up this head: the conjuncts of a coordination
    """

    __slots__ = ("parts", "same", "words")

    def __init__(self, *words: int, parts: tuple[_Head, ...] = ()) -> None:
        self.same: _Head | None = None
        self.words = words
        self.parts = parts

    def root(self) -> _Head:
        """Return the head that represents all heads unified with this one."""
        head = self
        while head.same is not None:
            head = head.same
        return head

    def fillers(self) -> set[int]:
        """Return all words of the head; for a coordination, the words of its conjuncts."""
        words: set[int] = set()
        seen: set[int] = set()
        stack = [self.root()]
        while stack:
            head = stack.pop()
            if id(head) not in seen:
                seen.add(id(head))
                words.update(head.words)
                stack.extend(part.root() for part in head.parts)
        return words


def _unite(first: _Head, second: _Head) -> None:
    """Unify two heads: afterwards both have the same root and the same words."""
    first, second = first.root(), second.root()
    if first is not second:
        second.words += first.words
        second.parts += first.parts
        first.same = second


class _Sign(NamedTuple):
    """A category, with a head for the category itself and for each of its parts."""

    category: Category
    head: _Head
    result: _Sign | None = None
    argument: _Sign | None = None


def dependencies(derivation: Derivation) -> list[Dependency]:
    """Return the dependencies of a derivation, sorted by head word, slot and filler.

    Time O(words x size of categories).
    """
    slots: list[tuple[int, Category, int, _Head]] = []
    signs: dict[int, _Sign] = {}
    position = -1
    order = list(derivation.nodes())
    numbers = {}
    for node in order:
        if not node.children:
            position += 1
            numbers[id(node)] = position
    for node in reversed(order):
        if node.children:
            signs[id(node)] = _combined(node, [signs.pop(id(child)) for child in node.children])
        else:
            signs[id(node)] = _lexical(node.category, numbers[id(node)], slots)
    filled = {
        Dependency(head, category, slot, filler)
        for head, category, slot, filler_head in slots
        for filler in filler_head.fillers()
        if filler != head
    }
    return sorted(filled, key=lambda d: (d.head, d.slot, d.filler))


def _lexical(category: Category, word: int, slots: list[tuple[int, Category, int, _Head]]) -> _Sign:
    """Return the sign (`_Sign`) of a word, and append (word, category, slot number, head) of its slots to `slots`."""
    heads: dict[int, _Head] = {OWN: _Head(word)}

    def sign(indexed: Indexed) -> _Sign:
        head = heads.setdefault(indexed.head, _Head())
        if indexed.result is None or indexed.argument is None:
            return _Sign(indexed.category, head)
        return _Sign(indexed.category, head, sign(indexed.result), sign(indexed.argument))

    lexical_sign = sign(indices(category))
    sign_part: _Sign | None = lexical_sign
    slot = category.arity
    while sign_part is not None and sign_part.argument is not None:
        slots.append((word, category, slot, sign_part.argument.head))
        slot -= 1
        if sign_part.category.is_modifier or sign_part.head.root() is not lexical_sign.head.root():
            break  # a modifier does not own the arguments of the phrase that it modifies
        sign_part = sign_part.result
    return lexical_sign


def _open(category: Category) -> _Sign:
    """Return the sign of a category that belongs to no word.

    The heads of its target and of its arguments have no words yet.
    """
    if not category.slash:
        return _Sign(category, _Head())
    if category.is_modifier:
        inside = _open(category.result)
        return _Sign(category, inside.head, inside, inside)
    result = _open(category.result)
    return _Sign(category, result.head, result, _open(category.argument))


def _match(first: _Sign, second: _Sign) -> None:
    """Unify the heads of two signs, part by part."""
    _unite(first.head, second.head)
    if first.result is not None and second.result is not None:
        _match(first.result, second.result)
    if first.argument is not None and second.argument is not None:
        _match(first.argument, second.argument)


def _as(sign: _Sign, category: Category) -> _Sign:
    """Return the sign with another category of the same form, for instance with its features filled in."""
    if sign.result is None or sign.argument is None or not category.slash:
        return _Sign(category, sign.head)
    return _Sign(category, sign.head, _as(sign.result, category.result), _as(sign.argument, category.argument))


def _combined(node: Derivation, signs: list[_Sign]) -> _Sign:
    """Return the sign of a constituent from the signs of its children."""
    rule, category = node.rule, node.category
    if rule in ("fa", "ba"):
        return _applied(signs, rule == "fa", category)
    if rule in ("fc", "fx", "bc", "bx"):
        return _composed(signs, rule[0] == "f", category)
    if rule in ("fs", "bs"):
        return _substituted(signs, rule == "fs", category)
    if rule in ("conj", "lp", "funny"):
        return _as(signs[1], category)
    if rule == "rp":
        return _as(signs[0], category)
    if rule == "coord":
        return _coordinated(signs, category)
    if rule == "tr":
        return _raised(signs[0], category)
    if rule == "tc" and len(signs) == 1:
        return _changed(signs[0], category)
    open_sign = _open(category)
    if rule == "ucp":
        _unite(open_sign.head, signs[1].head)
    return open_sign


def _applied(signs: list[_Sign], forward: bool, category: Category) -> _Sign:
    """Return the sign of an application."""
    functor, argument = signs if forward else signs[::-1]
    assert functor.argument is not None
    assert functor.result is not None
    _match(functor.argument, argument)
    return _as(functor.result, category)


def _composed(signs: list[_Sign], forward: bool, category: Category) -> _Sign:
    """Return the sign of a composition of any degree."""
    primary, secondary = signs if forward else signs[::-1]
    assert primary.argument is not None
    assert primary.result is not None
    carried: list[_Sign] = []
    inner: _Sign = secondary
    while inner.category.arity > primary.argument.category.arity and inner.result is not None:
        assert inner.argument is not None
        carried.append(inner.argument)
        inner = inner.result
    _match(primary.argument, inner)
    chain = list(category.results())[: len(carried)]
    result = _as(primary.result, chain[-1].result if chain else category)
    for part, argument in zip(reversed(chain), reversed(carried), strict=True):
        result = _Sign(part, result.head, result, _as(argument, part.argument))
    return result


def _substituted(signs: list[_Sign], forward: bool, category: Category) -> _Sign:
    """Return the sign of a substitution."""
    primary, secondary = signs if forward else signs[::-1]
    assert primary.result is not None
    assert primary.argument is not None
    assert secondary.result is not None
    assert secondary.argument is not None
    assert primary.result.argument is not None
    assert primary.result.result is not None
    _match(primary.argument, secondary.argument)
    _match(primary.result.argument, secondary.result)
    return _Sign(category, primary.result.result.head, _as(primary.result.result, category.result), primary.argument)


def _coordinated(signs: list[_Sign], category: Category) -> _Sign:
    """Return the sign of a coordination: both conjuncts share their arguments, and both head the whole."""
    left, right = signs
    return _both(left, right, category)


def _both(left: _Sign, right: _Sign, category: Category) -> _Sign:
    """Return the sign of two conjuncts: the heads of their arguments are unified, their own heads are joined."""
    if left.result is None or right.result is None or left.argument is None or right.argument is None:
        head = left.head if left.head.root() is right.head.root() else _Head(parts=(left.head, right.head))
        return _Sign(category, head)
    _match(left.argument, right.argument)
    result = _both(left.result, right.result, category.result)
    shared = left.head.root() is right.head.root()
    head = left.head if shared else _Head(parts=(left.head, right.head))
    return _Sign(category, head, result, _as(left.argument, category.argument))


def _raised(child: _Sign, category: Category) -> _Sign:
    """Return the sign of a type-raised child."""
    target = _open(category.result)
    inner = _Sign(category.argument, target.head, target, _as(child, category.argument.argument))
    return _Sign(category, target.head, target, inner)


def _changed(child: _Sign, category: Category) -> _Sign:
    """Return the sign of a type-changed child.

    In N => NP, the head stays the same. A reduced relative clause modifies the noun that is its own subject, or the
    argument that it lacks (section 4.6).
    """
    if not category.slash:
        return _Sign(category, child.head)
    open_sign = _open(category)
    missing = child.argument
    if category.is_modifier and missing is not None and open_sign.result is not None:
        subject = open_sign.result.argument if open_sign.result.argument is not None else open_sign.result
        if subject.category.name == missing.category.name == "NP":
            _unite(missing.head, subject.head)
    return open_sign


def write_parg(path: str | Path, sentences: Iterable[tuple[str, Derivation]]) -> None:
    """Write the dependencies of named derivations as CCGbank's `.parg`, atomically. Raise InputError."""
    with writing(path) as file:
        for name, derivation in sentences:
            words = [escaped(leaf.word) for leaf in derivation.leaves()]
            quoted = escaped(name).replace('"', "\\u0022")
            file.write(f'<s id="{quoted}"> {len(words) - 1}\n'.encode())
            for head, category, slot, filler in dependencies(derivation):
                line = f"{filler} \t {head} \t {category} \t {slot} \t {words[filler]} {words[head]}\n"
                file.write(line.encode())
            file.write(b"<\\s>\n")
