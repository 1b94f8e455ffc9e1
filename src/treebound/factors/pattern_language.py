"""Hand-crafted patterns as a small language: which words, in which order, and which arcs between them.

A file of patterns is TOML, one table a pattern, and `about`, a line on what the file is for:

    [rather-than]
    match = "a:upos=ADP  ..8?  rather  than  b:upos=ADP"
    arcs = "a -> than -> rather, than -> b"
    features = ["a.lower b.lower"]

`match` lists words in the order of the text, separated by spaces; a no-break space belongs to a value. Words that stand
side by side here do so in the text; a gap between two of them is written as a number of words.

- ``rather``: the word *rather* in any case; it is also the word's name.
- ``a:upos=ADP|SCONJ``: a word named *a* with one of these tags. Tests are ``attribute=value|value``, ``!=`` (none of
  the values), ``~`` (the regular expression matches the whole value) and ``attribute=$b`` (the same as that of *b*);
  ``&`` joins several. ``a:or|nor`` is short for ``a:lower=or|nor``, and ``a:*`` is any word. Attributes are form,
  lower, lemma, upos, xpos, feats, and what the corpus takes for its features: tag and coarse.
- ``..8``: at most eight words, ``2..8``: two to eight. With ``?`` (``..8?``) the gap is as short as can be: it holds no
  word that passes the tests of the word before it or of the word after it.

`arcs` lists what must hold, separated by commas: names joined by ``->`` from head to modifier. ``root`` is the
artificial root, ``outside`` any head that is not one of the pattern's words (one part for each such head). ``|`` stands
between alternatives, one of which must hold (or several): ``a -> b | a -> c, c -> d``.

A match whose arcs are all candidates is one part (factor); one with alternatives is several, as an OR is a polynomial
of products: z_a + z_b - z_a z_b (Qian & Liu 2013, section 5.1). Its features are the pattern itself and, for each
string of `features`, the pattern joined with attributes ``name.attribute`` of its words (``outside.tag`` too), as far
as the corpus has them.
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

#: what words are tested by: columns of a treebank; `tag` and `coarse` are the columns that its features use
ATTRIBUTES = ("form", "lower", "lemma", "upos", "xpos", "tag", "coarse", "feats")
ROOT, OUTSIDE = -1, -2  #: heads that are not words of the pattern
RESERVED = {"root": ROOT, "outside": OUTSIDE}
MAX_WORDS = 8
MAX_ARCS = 6
MAX_WAYS = 4
MAX_GAP = 30
SHIPPED = files("treebound.factors") / "patterns"

_BLANKS = re.compile("[ \t\r\n]+")  # no others: a no-break space is a character of a value
_NAME = r"[^\W\d][\w'’-]*"
_TEST = re.compile(r"(?:(?P<attribute>[a-z]+)(?P<kind>!=|=|~))?(?P<value>.+)", re.DOTALL)
_GAP = re.compile(r"(\d*)\.\.(\d*)(\??)")


@dataclass(frozen=True)
class Test:
    """One condition on a word.

    kind    "=" (one of `values`), "!=" (none of them), "~" (a regular expression), "$" (equal to that of word `other`)
    """

    attribute: str
    kind: str
    values: tuple[str, ...] = ()
    other: int = -1

    def holds(self, value: str) -> bool:
        """Whether a word with this value of the attribute passes; `$` tests are not about one word."""
        if self.kind == "~":
            return re.fullmatch(self.values[0], value) is not None
        return (value in self.values) == (self.kind == "=")


@dataclass(frozen=True)
class Gap:
    """Words between two words of a pattern: `least` to `most` of them; `shortest`: as `?` says above."""

    least: int = 0
    most: int = 0
    shortest: bool = False


@dataclass(frozen=True)
class Pattern:
    """One pattern.

    names, tests  of its words, in the order of the text
    gaps          gaps[i] lies between the words i and i + 1
    arcs          (head, modifier) as numbers of words, the head also ROOT or OUTSIDE
    ways          alternatives, each the numbers of the arcs that it asks for
    features      each the (word or OUTSIDE, attribute) that are joined with the name; the name alone always comes first
    """

    name: str
    names: tuple[str, ...]
    tests: tuple[tuple[Test, ...], ...]
    gaps: tuple[Gap, ...]
    arcs: tuple[tuple[int, int], ...]
    ways: tuple[tuple[int, ...], ...]
    features: tuple[tuple[tuple[int, str], ...], ...] = ((),)

    def products(self) -> list[tuple[int, tuple[int, ...]]]:
        """(coefficient, arcs) of the products whose sum is 1 where an alternative holds, else 0.

        By inclusion and exclusion: sum over sets S of alternatives of (-1)^(|S| + 1) times the product of all their
        arcs. Products that give a word two heads are 0 and left out. O(2^alternatives).
        """
        out: dict[tuple[int, ...], int] = {}
        for size in range(1, len(self.ways) + 1):
            for some in itertools.combinations(self.ways, size):
                arcs = tuple(sorted({k for way in some for k in way}))
                if len({self.arcs[k][1] for k in arcs}) == len(arcs):
                    out[arcs] = out.get(arcs, 0) + (-1) ** (size + 1)
        return [(coefficient, arcs) for arcs, coefficient in out.items() if coefficient]


@dataclass(frozen=True)
class PatternSet:
    """The patterns of one file, with its text: what a model file keeps."""

    name: str
    text: str
    about: str
    patterns: tuple[Pattern, ...]

    @property
    def digest(self) -> str:
        """Identifies the content."""
        return sha256(self.text.encode()).hexdigest()[:16]

    def __len__(self) -> int:
        return len(self.patterns)


def shipped() -> list[str]:
    """Names of the pattern files that come with the package."""
    return sorted(path.name.removesuffix(".toml") for path in SHIPPED.iterdir() if path.name.endswith(".toml"))


def named_patterns(families: tuple[str, ...], meta: dict) -> PatternSet | None:
    """The patterns that a treebank's meta names, for a model that has the family `pattern`; else None."""
    return load(meta["patterns"]) if "pattern" in families and meta.get("patterns") else None


def load(name: str | Path) -> PatternSet:
    """The patterns of a shipped file (its name without .toml) or of a file of one's own. Raises InputError."""
    if str(name) in shipped():
        return parse((SHIPPED / f"{name}.toml").read_text(encoding="utf-8"), str(name), f"{name}.toml")
    path = Path(name)
    try:
        text = tomlfile.text(path)
    except (OSError, ValueError) as error:  # the latter of a name that no file can have
        hint = "give a file, or one of " + ", ".join(shipped())
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"no patterns: {reason}", path=path, hint=hint) from None
    return parse(text, path.stem, path)


def parse(text: str, name: str, path: str | Path = "patterns") -> PatternSet:
    """The patterns of a text. Raises InputError with file, line, pattern, reason and what to do. O(text)."""
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
    """(reason, what to do) of something in a pattern."""


def _pattern(name: str, table: Any) -> Pattern:
    if not isinstance(table, dict):
        raise _Fault("not a table", f"write [{name}] with match and arcs below it")
    known = ("match", "arcs", "features")
    if unknown := [key for key in table if key not in known]:
        raise _Fault(f"unknown key {unknown[0]!r}", "keys of a pattern are " + ", ".join(known))
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
    """(names, tests, gaps) of a `match`."""
    names: list[str] = []
    written: list[str] = []
    gaps: list[Gap] = []
    gap: Gap | None = None
    for item in filter(None, _BLANKS.split(text)):
        if found := _GAP.fullmatch(item):
            if not names or gap is not None:
                raise _Fault(f"gap {item} does not stand between two words", "put a word on each side of a gap")
            gap = _gap(item, *found.groups())
            continue
        name, colon, rest = item.partition(":")
        if not re.fullmatch(_NAME, name):
            raise _Fault(f"word {item!r} has no name", "write name:tests, or a bare word of letters")
        if name in RESERVED or name in names:
            reason = "is reserved" if name in RESERVED else "is used twice"
            raise _Fault(f"name {name!r} {reason}", f"give the word another name, for instance x:{rest or name}")
        if names:
            gaps.append(gap or Gap())
        gap = None
        names.append(name)
        written.append(rest if colon else "lower=" + name.lower())
    if gap is not None or not names:
        raise _Fault("match does not end in a word", "put a word on each side of a gap")
    if len(names) > MAX_WORDS:
        raise _Fault(f"{len(names)} words", f"use at most {MAX_WORDS}")
    tests = tuple(_tests(rest, i, names) for i, rest in enumerate(written))
    return tuple(names), tests, tuple(gaps)


def _gap(item: str, least: str, most: str, shortest: str) -> Gap:
    if not most:
        raise _Fault(f"gap {item} has no end", f"say at most how many words, for instance {least}..8")
    gap = Gap(int(least or 0), int(most), bool(shortest))
    if not gap.least <= gap.most <= MAX_GAP:
        raise _Fault(f"gap {item} is empty or too long", f"write least..most with least <= most <= {MAX_GAP}")
    return gap


def _tests(text: str, word: int, names: list[str]) -> tuple[Test, ...]:
    """Conditions on word number `word`."""
    if text == "*":
        return ()
    tests = []
    for part in text.split("&"):
        found = _TEST.fullmatch(part)
        if found is None:
            raise _Fault(f"word {names[word]!r} has an empty test", "write attribute=value, or * for any word")
        attribute, kind, value = found["attribute"] or "lower", found["kind"] or "=", found["value"]
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
    """(all arcs, numbers of those that each alternative asks for) of an `arcs`, in the order of writing."""
    ways = [_arcs(way, names) for way in text.split("|")]
    arcs = tuple(dict.fromkeys(arc for way in ways for arc in way))
    if len(ways) > 1 and any(head == OUTSIDE for head, _ in arcs):
        raise _Fault("arcs: outside among alternatives", "write a pattern for each of them")
    if len(ways) > MAX_WAYS:
        raise _Fault(f"{len(ways)} alternatives", f"use at most {MAX_WAYS}")
    if len(arcs) > MAX_ARCS:
        raise _Fault(f"{len(arcs)} arcs", f"use at most {MAX_ARCS}")
    return arcs, tuple(tuple(arcs.index(arc) for arc in way) for way in ways)


def _arcs(text: str, names: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """(head, modifier) pairs of one alternative, in the order of writing."""
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
    """(word, attribute) of one atom of a feature."""
    name, _, attribute = atom.rpartition(".")
    known = (*names, "outside") if outside else names
    if name not in known:
        raise _Fault(f"feature {atom!r}: no word {name!r}", "choose from " + ", ".join(known))
    if attribute not in FEATURE_ATTRIBUTES:
        raise _Fault(f"feature {atom!r}: no attribute {attribute!r}", "choose from " + ", ".join(FEATURE_ATTRIBUTES))
    return (names.index(name) if name in names else OUTSIDE), attribute
