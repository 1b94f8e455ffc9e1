"""Predicate-argument dependencies of a derivation, and CCGbank's `.parg` files.

A lexical category's arguments are slots, numbered from the innermost; the derivation says which words fill them, also
over a distance: every part of a category has a head (`heads.indices`), rules make heads one, and at the end a slot's
fillers are the words of its head (Hockenmaier & Steedman 2007, section 4.4).
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
    """A filled slot; words are numbered from 0.

    head      word whose category has the slot
    category  that category
    slot      number of the argument, 1 the innermost
    filler    word that fills it
    """

    head: int
    category: Category
    slot: int
    filler: int


class _Head:
    """The head of a part of a category: words, found through others that it is one with (`same`) or consists of."""

    __slots__ = ("parts", "same", "words")

    def __init__(self, *words: int, parts: tuple[_Head, ...] = ()) -> None:
        self.same: _Head | None = None
        self.words = words
        self.parts = parts

    def root(self) -> _Head:
        head = self
        while head.same is not None:
            head = head.same
        return head

    def fillers(self) -> set[int]:
        """All words of the head; those of a coordination are its conjuncts'."""
        found: set[int] = set()
        seen: set[int] = set()
        stack = [self.root()]
        while stack:
            head = stack.pop()
            if id(head) not in seen:
                seen.add(id(head))
                found.update(head.words)
                stack.extend(part.root() for part in head.parts)
        return found


def _unite(one: _Head, other: _Head) -> None:
    one, other = one.root(), other.root()
    if one is not other:
        other.words += one.words
        other.parts += one.parts
        one.same = other


class _Sign(NamedTuple):
    """A category whose parts have heads."""

    category: Category
    head: _Head
    result: _Sign | None = None
    argument: _Sign | None = None


def dependencies(derivation: Derivation) -> list[Dependency]:
    """The dependencies of a derivation, by head word, then slot, then filler. Time O(words x size of categories)."""
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
    found = {
        Dependency(head, category, slot, filler)
        for head, category, slot, filler_head in slots
        for filler in filler_head.fillers()
        if filler != head
    }
    return sorted(found, key=lambda d: (d.head, d.slot, d.filler))


def _lexical(category: Category, word: int, slots: list[tuple[int, Category, int, _Head]]) -> _Sign:
    heads: dict[int, _Head] = {OWN: _Head(word)}

    def sign(indexed: Indexed) -> _Sign:
        head = heads.setdefault(indexed.head, _Head())
        if indexed.result is None or indexed.argument is None:
            return _Sign(indexed.category, head)
        return _Sign(indexed.category, head, sign(indexed.result), sign(indexed.argument))

    whole = sign(indices(category))
    here: _Sign | None = whole
    slot = category.arity
    while here is not None and here.argument is not None:
        slots.append((word, category, slot, here.argument.head))
        slot -= 1
        if here.category.is_modifier or here.head.root() is not whole.head.root():
            break  # the arguments of what is modified are not the modifier's own
        here = here.result
    return whole


def _open(category: Category) -> _Sign:
    """A category that no word has made: its target has a head still to be found, and so has every argument."""
    if not category.slash:
        return _Sign(category, _Head())
    if category.is_modifier:
        inside = _open(category.result)
        return _Sign(category, inside.head, inside, inside)
    result = _open(category.result)
    return _Sign(category, result.head, result, _open(category.argument))


def _match(one: _Sign, other: _Sign) -> None:
    """The two become one, part by part."""
    _unite(one.head, other.head)
    if one.result is not None and other.result is not None:
        _match(one.result, other.result)
    if one.argument is not None and other.argument is not None:
        _match(one.argument, other.argument)


def _as(sign: _Sign, category: Category) -> _Sign:
    """The sign under a category of the same form, with its features filled in."""
    if sign.result is None or sign.argument is None or not category.slash:
        return _Sign(category, sign.head)
    return _Sign(category, sign.head, _as(sign.result, category.result), _as(sign.argument, category.argument))


def _combined(node: Derivation, signs: list[_Sign]) -> _Sign:
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
    made = _open(category)
    if rule == "ucp":
        _unite(made.head, signs[1].head)
    return made


def _applied(signs: list[_Sign], forward: bool, category: Category) -> _Sign:
    functor, argument = signs if forward else signs[::-1]
    assert functor.argument is not None
    assert functor.result is not None
    _match(functor.argument, argument)
    return _as(functor.result, category)


def _composed(signs: list[_Sign], forward: bool, category: Category) -> _Sign:
    primary, secondary = signs if forward else signs[::-1]
    assert primary.argument is not None
    assert primary.result is not None
    carried: list[_Sign] = []
    here: _Sign = secondary
    while here.category.arity > primary.argument.category.arity and here.result is not None:
        assert here.argument is not None
        carried.append(here.argument)
        here = here.result
    _match(primary.argument, here)
    chain = list(category.results())[: len(carried)]
    result = _as(primary.result, chain[-1].result if chain else category)
    for part, argument in zip(reversed(chain), reversed(carried), strict=True):
        result = _Sign(part, result.head, result, _as(argument, part.argument))
    return result


def _substituted(signs: list[_Sign], forward: bool, category: Category) -> _Sign:
    main, other = signs if forward else signs[::-1]
    assert main.result is not None
    assert main.argument is not None
    assert other.result is not None
    assert other.argument is not None
    assert main.result.argument is not None
    assert main.result.result is not None
    _match(main.argument, other.argument)
    _match(main.result.argument, other.result)
    return _Sign(category, main.result.result.head, _as(main.result.result, category.result), main.argument)


def _coordinated(signs: list[_Sign], category: Category) -> _Sign:
    """Both conjuncts want the same arguments; the whole is headed by both."""
    left, right = signs
    return _both(left, right, category)


def _both(left: _Sign, right: _Sign, category: Category) -> _Sign:
    if left.result is None or right.result is None or left.argument is None or right.argument is None:
        head = left.head if left.head.root() is right.head.root() else _Head(parts=(left.head, right.head))
        return _Sign(category, head)
    _match(left.argument, right.argument)
    result = _both(left.result, right.result, category.result)
    shared = left.head.root() is right.head.root()
    head = left.head if shared else _Head(parts=(left.head, right.head))
    return _Sign(category, head, result, _as(left.argument, category.argument))


def _raised(child: _Sign, category: Category) -> _Sign:
    target = _open(category.result)
    inner = _Sign(category.argument, target.head, target, _as(child, category.argument.argument))
    return _Sign(category, target.head, target, inner)


def _changed(child: _Sign, category: Category) -> _Sign:
    """N => NP keeps its head; what a reduced relative modifies is its subject, or what it lacks (section 4.6)."""
    if not category.slash:
        return _Sign(category, child.head)
    made = _open(category)
    missing = child.argument
    if category.is_modifier and missing is not None and made.result is not None:
        subject = made.result.argument if made.result.argument is not None else made.result
        if subject.category.name == missing.category.name == "NP":
            _unite(missing.head, subject.head)
    return made


def write_parg(path: str | Path, sentences: Iterable[tuple[str, Derivation]]) -> None:
    """Write the dependencies of named derivations as CCGbank's `.parg`, whole or not at all. Raises InputError."""
    with writing(path) as file:
        for name, derivation in sentences:
            words = [escaped(leaf.word) for leaf in derivation.leaves()]
            quoted = escaped(name).replace('"', "\\u0022")
            file.write(f'<s id="{quoted}"> {len(words) - 1}\n'.encode())
            for head, category, slot, filler in dependencies(derivation):
                line = f"{filler} \t {head} \t {category} \t {slot} \t {words[filler]} {words[head]}\n"
                file.write(line.encode())
            file.write(b"<\\s>\n")
