"""Parse hand-crafted patterns, a small language for words, their order, and the arcs between them.

A file of patterns is TOML, with one table for each pattern, and a line `about` that describes the file:

    [rather-than]
    match = "a:upos=ADP  ..8?  rather  than  b:upos=ADP"
    arcs = "a -> than -> rather, than -> b"
    features = ["a.lower b.lower"]

`match` lists words in text order, separated by spaces; a no-break space is part of a value. Words without a gap between
them are adjacent in the text. A gap between two words is written as a number of words:

- ``rather``: the word *rather* in any case; *rather* is also the word's name in the pattern.
- ``a:upos=ADP|SCONJ``: a word named *a* that has one of the two tags. A test is an attribute, an operator and a value.
  The operators are ``=`` (one of the values, which ``|`` separates), ``!=`` (none of the values) and ``~`` (the regular
  expression matches the whole value). The test ``attribute=$b`` requires the same attribute as word *b*. Several tests
  are joined by ``&``. The form ``a:or|nor`` is short for ``a:lower=or|nor``, and ``a:*`` is any word. Attributes are
  form, lower, lemma, upos, xpos and feats. Further attributes are tag and coarse, the columns that the corpus uses for
  features.
- ``..8``: at most eight words; ``2..8``: two to eight words. With ``?`` (``..8?``) the gap is as short as possible: no
  word in it passes the tests of the word before the gap or of the word after it.

`arcs` lists the arcs that must be in the tree, separated by commas. An arc is written with ``->`` from head to
modifier. The name ``root`` is the artificial root. The name ``outside`` is any head that is not a word of the pattern,
with one part for each head. The sign ``|`` separates alternatives, at least one of which must hold:
``a -> b | a -> c, c -> d``.

A match is one part (factor) if its arcs are all candidates. A match with alternatives is several parts, because an OR
is a polynomial of products: z_a + z_b - z_a z_b (Qian & Liu 2013, section 5.1). The features of a part are the pattern
itself and, for each string of `features`, the pattern joined with attributes ``name.attribute`` of its words
(``outside.tag`` too). Features with attributes that the corpus lacks are left out.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from treebound.core.errors import InputError
from treebound.factors.templates import ATTRIBUTES as FEATURE_ATTRIBUTES
from treebound.support import tomlfile

#: attributes in tests: columns of a treebank, and `tag` and `coarse`, the columns that its features use
ATTRIBUTES = ("form", "lower", "lemma", "upos", "xpos", "tag", "coarse", "feats")
ROOT, OUTSIDE = -1, -2  #: heads that are not words of the pattern
RESERVED = {"root": ROOT, "outside": OUTSIDE}
MAX_WORDS = 8
MAX_ARCS = 6
MAX_WAYS = 4
MAX_GAP = 30
SHIPPED = files("treebound.factors") / "patterns"

_BLANKS = re.compile("[ \t\r\n]+")  # a no-break space is missing here because it is a character of a value
_NAME = r"[^\W\d][\w'’-]*"
_TEST = re.compile(r"(?:(?P<attribute>[a-z]+)(?P<kind>!=|=|~))?(?P<value>.+)", re.DOTALL)
_GAP = re.compile(r"(\d*)\.\.(\d*)(\??)")


@dataclass(frozen=True)
class Test:
    """A condition on one word of a pattern.

    - attribute: name of the tested attribute.
    - kind: "=" (one of `values`), "!=" (none of `values`), "~" (a regular expression), "$" (equal to word `other`).
    - values: the values after the operator, or the regular expression; empty for a "$" test.
    - other: number of the word in the pattern with which a "$" test compares; -1 for other tests.
    """

    attribute: str
    kind: str
    values: tuple[str, ...] = ()
    other: int = -1

    def holds(self, value: str) -> bool:
        """Return whether a word with this value of the attribute passes; not defined for `$` tests of two words."""
        if self.kind == "~":
            return re.fullmatch(self.values[0], value) is not None
        return (value in self.values) == (self.kind == "=")


@dataclass(frozen=True)
class Gap:
    """A gap of `least` to `most` words between two words of a pattern; `shortest` is True for a gap with `?`."""

    least: int = 0
    most: int = 0
    shortest: bool = False


@dataclass(frozen=True)
class Pattern:
    """A pattern of words, with the arcs and features of its parts.

    - names, tests: name and tests of each word, in text order.
    - gaps: gaps[i] lies between words i and i + 1.
    - arcs: pairs (head, modifier) of word numbers, from 0; the head may also be ROOT or OUTSIDE.
    - ways: the alternatives, each as a tuple of indices into `arcs`.
    - features: for each feature, a tuple of pairs (word or OUTSIDE, attribute) that are joined with the pattern's name.
      The first tuple is empty: its feature is the name alone.
    """

    name: str
    names: tuple[str, ...]
    tests: tuple[tuple[Test, ...], ...]
    gaps: tuple[Gap, ...]
    arcs: tuple[tuple[int, int], ...]
    ways: tuple[tuple[int, ...], ...]
    features: tuple[tuple[tuple[int, str], ...], ...] = ((),)

    def products(self) -> list[tuple[int, tuple[int, ...]]]:
        """Return (coefficient, indices into `arcs`) of products whose sum is 1 if an alternative holds, else 0.

        By inclusion and exclusion, the products are a sum over sets S of alternatives of (-1)^(|S| + 1) times the
        product of all their arcs. Products that give a word two heads are always 0 and are left out. O(2^alternatives).
        """
        out: dict[tuple[int, ...], int] = {}
        for size in range(1, len(self.ways) + 1):
            for alternatives in itertools.combinations(self.ways, size):
                arcs = tuple(sorted({k for way in alternatives for k in way}))
                if len({self.arcs[k][1] for k in arcs}) == len(arcs):
                    out[arcs] = out.get(arcs, 0) + (-1) ** (size + 1)
        return [(coefficient, arcs) for arcs, coefficient in out.items() if coefficient]


@dataclass(frozen=True)
class PatternSet:
    """The patterns of one file with the file's text, in the form that a model file stores."""

    name: str
    text: str
    about: str
    patterns: tuple[Pattern, ...]

    @property
    def digest(self) -> str:
        """Return a hash of the text, which identifies the patterns."""
        return sha256(self.text.encode()).hexdigest()[:16]

    def __len__(self) -> int:
        return len(self.patterns)


def shipped() -> list[str]:
    """Return the names of the pattern files that come with the package."""
    return sorted(path.name.removesuffix(".toml") for path in SHIPPED.iterdir() if path.name.endswith(".toml"))


def named_patterns(families: tuple[str, ...], meta: dict) -> PatternSet | None:
    """Return the patterns that a treebank's meta names if a model has the family `pattern`, else None."""
    return load(meta["patterns"]) if "pattern" in families and meta.get("patterns") else None


def load(name: str | Path) -> PatternSet:
    """Return the patterns of a shipped file (its name without .toml) or of a file path. Raises InputError."""
    if str(name) in shipped():
        return parse((SHIPPED / f"{name}.toml").read_text(encoding="utf-8"), str(name), f"{name}.toml")
    path = Path(name)
    try:
        text = tomlfile.text(path)
    except (OSError, ValueError) as error:  # ValueError: no file can have this name
        hint = "give a file, or one of " + ", ".join(shipped())
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"no patterns: {reason}", path=path, hint=hint) from None
    return parse(text, path.stem, path)


def parse(text: str, name: str, path: str | Path = "patterns") -> PatternSet:
    """Parse the patterns of a text. Raises InputError with file, line, pattern, reason and hint. O(text)."""
    tables = tomlfile.parse(text, path)
    about = tables.pop("about", "")
    if not isinstance(about, str):
        raise InputError("about is not a text", path=path, hint='write about = "what these patterns are for"')
    patterns = []
    for key, table in tables.items():
        try:
            patterns.append(_pattern(key, table))
        except _Fault as fault:
            header = re.search(rf"""^\s*\[\s*["']?{re.escape(key)}["']?\s*\]""", text, re.MULTILINE)
            line = text.count("\n", 0, header.end()) + 1 if header else None
            raise InputError(f"pattern {key}: {fault.args[0]}", path=path, line=line, hint=fault.args[1]) from None
    if not patterns:
        raise InputError("no patterns", path=path, hint="write one as a table [name] with match and arcs")
    return PatternSet(name, text, about, tuple(patterns))


class _Fault(Exception):
    """An error in a pattern, with the arguments (reason, hint)."""


def _pattern(name: str, table: Any) -> Pattern:
    """Return the pattern of a TOML table."""
    if not isinstance(table, dict):
        raise _Fault("not a table", f"write [{name}] with match and arcs below it")
    known_keys = ("match", "arcs", "features")
    if unknown := [key for key in table if key not in known_keys]:
        raise _Fault(f"unknown key {unknown[0]!r}", "keys of a pattern are " + ", ".join(known_keys))
    for key in ("match", "arcs"):
        if not isinstance(table.get(key), str) or not table[key].strip():
            raise _Fault(f"no {key}", f'write {key} = "..."')
    names, tests, gaps = _match(table["match"])
    arcs, ways = _ways(table["arcs"], names)
    features = table.get("features", [])
    if not isinstance(features, list) or not all(isinstance(f, str) and f.strip() for f in features):
        raise _Fault("features is not a list of texts", 'write features = ["name.attribute name.attribute"]')
    outside = any(head == OUTSIDE for head, _ in arcs)
    atoms = [tuple(_atom(atom, names, outside) for atom in feature.split()) for feature in features]
    return Pattern(name, names, tests, gaps, arcs, ways, ((), *atoms))


def _match(text: str) -> tuple[tuple[str, ...], tuple[tuple[Test, ...], ...], tuple[Gap, ...]]:
    """Return (names, tests, gaps) of the text of `match`."""
    names: list[str] = []
    written: list[str] = []
    gaps: list[Gap] = []
    gap: Gap | None = None
    for item in filter(None, _BLANKS.split(text)):
        if gap_match := _GAP.fullmatch(item):
            if not names or gap is not None:
                raise _Fault(f"gap {item} does not stand between two words", "put a word on each side of a gap")
            gap = _gap(item, *gap_match.groups())
            continue
        name, colon, tests_text = item.partition(":")
        if not re.fullmatch(_NAME, name):
            raise _Fault(f"word {item!r} has no name", "write name:tests, or a bare word of letters")
        if name in RESERVED or name in names:
            reason = "is reserved" if name in RESERVED else "is used twice"
            raise _Fault(f"name {name!r} {reason}", f"give the word another name, for instance x:{tests_text or name}")
        if names:
            gaps.append(gap or Gap())
        gap = None
        names.append(name)
        written.append(tests_text if colon else "lower=" + name.lower())
    if gap is not None or not names:
        raise _Fault("match does not end in a word", "put a word on each side of a gap")
    if len(names) > MAX_WORDS:
        raise _Fault(f"match has {len(names)} words", f"use at most {MAX_WORDS}")
    tests = tuple(_tests(tests_text, i, names) for i, tests_text in enumerate(written))
    return tuple(names), tests, tuple(gaps)


def _gap(item: str, least: str, most: str, shortest: str) -> Gap:
    """Return the gap with the given bounds; `shortest` is "?" or empty."""
    if not most:
        raise _Fault(f"gap {item} has no end", f"say at most how many words, for instance {least}..8")
    gap = Gap(int(least or 0), int(most), bool(shortest))
    if not gap.least <= gap.most <= MAX_GAP:
        raise _Fault(f"gap {item} is empty or too long", f"write least..most with least <= most <= {MAX_GAP}")
    return gap


def _tests(text: str, word: int, names: list[str]) -> tuple[Test, ...]:
    """Return the tests in `text` of the word with the number `word`; `names` are the names of the pattern's words."""
    if text == "*":
        return ()
    tests = []
    for part in text.split("&"):
        test_match = _TEST.fullmatch(part)
        if test_match is None:
            raise _Fault(f"word {names[word]!r} has an empty test", "write attribute=value, or * for any word")
        attribute, kind, value = test_match["attribute"] or "lower", test_match["kind"] or "=", test_match["value"]
        if attribute not in ATTRIBUTES:
            raise _Fault(
                f"word {names[word]!r}: unknown attribute {attribute!r}", "choose from " + ", ".join(ATTRIBUTES)
            )
        if kind == "~":
            try:
                re.compile(value)
            except re.error as error:
                raise _Fault(
                    f"word {names[word]!r}: regular expression {value!r}: {error}",
                    "correct it; a space is \\s, and & is \\x26",
                ) from None
            tests.append(Test(attribute, kind, (value,)))
        elif value.startswith("$") and len(value) > 1:
            if value[1:] not in names or value[1:] == names[word] or kind != "=":
                raise _Fault(f"word {names[word]!r}: {part!r} compares with no other word", "write attribute=$name")
            tests.append(Test(attribute, "$", (), names.index(value[1:])))
        else:
            values = tuple(value.split("|"))
            if not all(values):
                raise _Fault(f"word {names[word]!r}: {part!r} has an empty value", "write value|value")
            if attribute == "lower":
                values = tuple(v.lower() for v in values)
            tests.append(Test(attribute, kind, values))
    return tuple(tests)


def _ways(text: str, names: tuple[str, ...]) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, ...], ...]]:
    """Return the arcs that the text of `arcs` names, in order, and each alternative as indices into these arcs."""
    ways = [_arcs(way, names) for way in text.split("|")]
    arcs = tuple(dict.fromkeys(arc for way in ways for arc in way))
    if len(ways) > 1 and any(head == OUTSIDE for head, _ in arcs):
        raise _Fault("arcs: outside among alternatives", "write a pattern for each of them")
    if len(ways) > MAX_WAYS:
        raise _Fault(f"arcs has {len(ways)} alternatives", f"use at most {MAX_WAYS}")
    if len(arcs) > MAX_ARCS:
        raise _Fault(f"arcs has {len(arcs)} arcs", f"use at most {MAX_ARCS}")
    return arcs, tuple(tuple(arcs.index(arc) for arc in way) for way in ways)


def _arcs(text: str, names: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """Return the (head, modifier) pairs of one alternative, in the order of the text."""
    number = {name: i for i, name in enumerate(names)} | RESERVED
    arcs: list[tuple[int, int]] = []
    for chain in text.split(","):
        links = [link.strip() for link in chain.split("->")]
        if len(links) < 2:
            raise _Fault(f"arcs: {chain.strip()!r} is no arc", "write head -> modifier")
        for link in links:
            if link not in number:
                raise _Fault(f"arcs: no word {link!r}", "choose from " + ", ".join((*names, *RESERVED)))
        arcs += [(number[h], number[m]) for h, m in itertools.pairwise(links)]
    head: dict[int, int] = {}
    for h, m in arcs:
        if m < 0:
            raise _Fault(f"arcs: {'root' if m == ROOT else 'outside'} as a modifier", "it can only be a head")
        if m in head:
            raise _Fault(f"arcs: {names[m]} has two heads", "keep one of them")
        head[m] = h
    for m in head:
        above = m
        for _ in names:
            above = head.get(above, ROOT) if above >= 0 else ROOT
        if above >= 0:
            raise _Fault(f"arcs: {names[m]} is above itself", "break the cycle")
    if sum(h == OUTSIDE for h, _ in arcs) > 1:
        raise _Fault("arcs: two heads outside", "use outside once")
    return tuple(arcs)


def _atom(atom: str, names: tuple[str, ...], outside: bool) -> tuple[int, str]:
    """Return (number of the word or OUTSIDE, attribute) of the atom ``name.attribute`` of a feature."""
    name, _, attribute = atom.rpartition(".")
    known_names = (*names, "outside") if outside else names
    if name not in known_names:
        raise _Fault(f"feature {atom!r}: no word {name!r}", "choose from " + ", ".join(known_names))
    if attribute not in FEATURE_ATTRIBUTES:
        raise _Fault(f"feature {atom!r}: no attribute {attribute!r}", "choose from " + ", ".join(FEATURE_ATTRIBUTES))
    return (names.index(name) if name in names else OUTSIDE), attribute
