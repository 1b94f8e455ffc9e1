"""Show the factor families on one short sentence: their parts in a tree, and their bounds.

No model is needed: the tree is fixed, and the scores are chosen such that they show the bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from studies.site.sentences import Sentences, about, span
from studies.site.show import Table
from treebound.checker.scoring import tree_parts
from treebound.core.errors import InputError
from treebound.core.problem import NONE, NONE_OUTER, PRODUCTS
from treebound.core.treebank import STRING_COLUMNS, Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.factors import FAMILIES, pattern_language
from treebound.features.patterns import find
from treebound.kernels.arcs.numbering import index_arcs
from treebound.kernels.arcs.parts import count_parts, index_parts
from treebound.plots.svg import Svg
from treebound.plots.tree import tree_svg

#: example sentence: form, coarse tag, fine tag and head of each word
SENTENCE = """
She PRON PRP 2; gave VERB VBD 0; the DET DT 7; three NUM CD 7; big ADJ JJ 7; red ADJ JJ 7; balls NOUN NNS 2
to ADP IN 12; her PRON PRP$ 12; rather ADV RB 11; shy ADJ JJ 12; neighbour NOUN NN 2; yesterday NOUN NN 2
"""
#: example sentence for the family `pattern`, with the pattern *in spring rather than in autumn*
PATTERN_SENTENCE = """
They PRON PRP 2; travel VERB VBP 0; in ADP IN 4; spring NOUN NN 2; rather ADV RB 8; than ADP IN 5; in ADP IN 8
autumn NOUN NN 4
"""
PATTERNS = "en_ud"
#: text for an empty slot of a part
EMPTY = {NONE: "none", NONE_OUTER: "none outside"}


@dataclass(frozen=True)
class Example:
    """A factor family with its parts in the tree of an example sentence.

    words   the n forms of the sentence
    tags    coarse tags of the words
    heads   int[n + 1], the head of every word
    parts   the parts of the tree, each a tuple of arcs (head, modifier), NONE or NONE_OUTER; for `valency` a tuple of a
            word and its number of modifiers
    listed  number of parts if every arc is a candidate; None if the number depends on the words
    """

    family: str
    words: list[str]
    tags: list[str]
    heads: np.ndarray
    parts: list[tuple]
    listed: int | None

    @property
    def shown(self) -> tuple:
        """Return the part that figures and tables highlight.

        It is the part with the most arcs and, among equals, the largest sum of arc lengths; for `valency` it is the
        part with the most modifiers.
        """
        if self.family == "valency":
            return max(self.parts, key=lambda part: part[1])
        return max(self.parts, key=lambda part: (len(_arcs(part)), sum(abs(h - m) for h, m in _arcs(part))))

    def tree(self) -> Svg:
        """Draw the tree with the arcs of the part `shown` in colour."""
        part = self.shown
        arcs = _arcs(part) if self.family != "valency" else [(h, m) for m, h in enumerate(self.heads) if h == part[0]]
        drawn = tree_svg(self.words, [int(h) for h in self.heads], tags=self.tags, marked=arcs)
        sentence = " ".join(self.words)
        return replace(drawn, caption=f"Factor family {self.family}: a part, in blue, in the tree of “{sentence}”")

    def table(self) -> pd.DataFrame:
        """Return the parts of the tree, one row per part."""
        rows = [{"part": number, "arcs": ", ".join(self._names(part))} for number, part in enumerate(self.parts, 1)]
        return pd.DataFrame(rows).set_index("part")

    def bound(self, score: float) -> pd.DataFrame:
        """Return bounds on the score of the part `shown`, for each set of its arcs that a tree may contain.

        The part has the score `score` in one half of the columns and -`score` in the other half.

        Columns: the score that the part contributes, the bound at the start of the search, and the slack of
        this bound. The last column of each half is the best bound: its shares are chosen for the arcs of the row
        alone, so that it is tight. For `valency`, the result of `_lines` is returned instead.
        """
        if self.family == "valency":
            return _lines(self.shown[1], score)
        names = self._names(self.shown)
        if (
            self.family == "grand-sibling"
        ):  # the part is bounded as a pair, since the backbone has a variable for two neighbouring siblings
            names = [names[0], f"neighbours {names[1]}, {names[2]}"]
        rows = {}
        for selection in sorted(product((0, 1), repeat=len(names)), key=lambda z: (sum(z), z[::-1])):
            label = " and ".join(n for n, z in zip(names, selection, strict=True) if z) or "no arc"
            if len(names) > 3:
                label = f"{sum(selection)} of {len(names)} arcs"
            columns: dict[tuple[str, str], float] = {}
            for phi in (score, -score):
                part_score = phi if all(selection) else 0.0
                start, best = _bounds(phi, np.array(selection))
                figures = {
                    "score": part_score,
                    "bound at the start": start,
                    "slack": start - part_score,
                    "best bound": best,
                }
                columns |= {(f"score {phi:+g}", name): value for name, value in figures.items()}
            rows[label] = columns
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.columns = pd.MultiIndex.from_tuples(table.columns)
        return table

    def _names(self, part: tuple) -> list[str]:
        """Return a text for each arc and each empty slot of a part."""
        words = ["root", *self.words]
        if self.family == "valency":
            return [f"{words[part[0]]}: {part[1]}" + (" or more" if part[1] == 7 else "")]
        return [EMPTY[x] if isinstance(x, int) else f"{words[x[0]]} → {words[x[1]]}" for x in part]


def _arcs(part: tuple) -> list[tuple[int, int]]:
    """Return the arcs of a part without its empty slots."""
    return [x for x in part if not isinstance(x, int)]


def _bounds(phi: float, on: np.ndarray) -> tuple[float, float]:
    """Return two bounds on the score of a part: with the shares at the start of a search, and with the best shares.

    phi  score of the part, which counts only if all r arcs of the part are selected
    on   int[r], the variables z of the arcs: 1 for a selected arc, else 0

    phi >= 0: shares s >= 0 sum to phi, and the bound is sum s z; the shares start equal. phi < 0: there is one share 0
    <= s <= -phi, and the bound is s (r - 1) - s sum z; s starts at 0 (Qian & Liu 2013, section 3.2).
    """
    r, selected = len(on), int(on.sum())
    if phi >= 0:
        return phi * selected / r, phi if selected == r else 0.0
    return 0.0, min(0.0, -phi * (r - 1 - selected))


def _lines(count: int, score: float) -> pd.DataFrame:
    """Return a score f(c) of the number c of modifiers, and three lines that bound f from above.

    f is `score` at c = `count` and decreases by 2 for each modifier more or less. A line a + b c with a = max over c of
    f(c) - b c lies above all scores for every slope b, and is linear in arcs.
    """
    counts = np.arange(min(count + 3, 8))
    values = score - 2.0 * np.abs(counts - count)
    table = pd.DataFrame({"score": values}, index=pd.Index(counts, name="modifiers"))
    for slope in (0.0, 1.0, -2.0):
        line = float((values - slope * counts).max()) + slope * counts
        table[f"line of slope {slope:+g}"] = line
        table[f"its slack, {slope:+g}"] = line - values
    return table


def example(family: str) -> Example:
    """Return the factor family called `family` with its parts in an example sentence.

    Raises TreeboundError for an unregistered family.
    """
    code = FAMILIES[family].code
    treebank = treebank_of(PATTERN_SENTENCE if family == "pattern" else SENTENCE)
    words, tags, heads = treebank[0].strings("form"), treebank[0].strings("upos"), treebank[0].heads
    if family == "pattern":
        return Example(family, words, tags, heads, list(_matched(treebank)), None)
    n = len(words)
    allowed = np.ones((n + 1, n + 1), bool)
    index = index_arcs(n, allowed)
    listed = int(count_parts(code, index, index_parts(index, True, True)))
    if family == "arc":
        return Example(family, words, tags, heads, [((int(heads[m]), m),) for m in range(1, n + 1)], len(index.head))
    parts = tree_parts(family, heads)
    if family == "adjacent-sibling":  # drop the part of the root's only modifier, which the family does not have
        parts = [part for part in parts if part[1][0] > 0]
    return Example(family, words, tags, heads, parts, listed)


def _matched(treebank: Treebank) -> Iterator[tuple]:
    """Yield the parts (tuples of arcs) where patterns of PATTERNS match the tree of a one-sentence treebank."""
    patterns = pattern_language.load(PATTERNS)
    heads = treebank.heads(0)
    for p, places in zip(*find(patterns, treebank).sentence(0), strict=True):
        arcs = []
        for h, m in patterns.patterns[p].arcs:
            modifier = int(places[m])
            head = int(heads[modifier]) if h == pattern_language.OUTSIDE else 0 if h < 0 else int(places[h])
            arcs.append((head, modifier))
        if all(heads[m] == h for h, m in arcs):
            yield tuple(arcs)


def treebank_of(sentence: str) -> Treebank:
    """Return a treebank of one sentence.

    sentence  words as `form coarse-tag fine-tag head`, separated by semicolons or line ends
    """
    rows = [word.split() for line in sentence.strip().splitlines() for word in line.split(";")]
    vocab = {name: Vocabulary(["_"]) for name in STRING_COLUMNS}
    columns = {name: np.zeros(len(rows), np.int32) for name in STRING_COLUMNS}
    for name, column in (("form", 0), ("upos", 1), ("xpos", 2)):
        columns[name][:] = [vocab[name].add(row[column]) for row in rows]
    head = np.array([int(row[3]) for row in rows], np.int32)
    return Treebank("made up", np.array([0, len(rows)]), columns, vocab, head, {"tag": "xpos", "coarse": "upos"})


def show(family: str, score: float = 6.0) -> tuple[Svg | Table, ...]:
    """Return the displays of a factor family for a notebook: tree, parts, and the bounds if a search needs them."""
    example_ = example(family)
    total = "" if example_.listed is None else f", of {example_.listed:,} parts if every arc is a candidate"
    outputs: list[Svg | Table] = [
        example_.tree(),
        Table(example_.table(), f"Factor family {family}: its parts in the tree above{total}"),
    ]
    if family in PRODUCTS or family in ("grand-sibling", "valency"):
        caption = "score of the number of modifiers, and lines above it" if family == "valency" else "the bound"
        caption = f"Factor family {family}: {caption}, for the coloured part"
        outputs.append(Table(example_.bound(score), caption, digits=1))
    return tuple(outputs)


def overview() -> pd.DataFrame:
    """Return for each factor family its number of parts in the example tree and in a search over all arcs.

    The first column is the number of arcs of the part that the figure shows in colour.
    """
    rows = {}
    for name in FAMILIES:
        of_family = example(name)
        part_arcs = _arcs(of_family.shown) if name != "valency" else []
        listed = float("nan") if of_family.listed is None else of_family.listed
        rows[name] = [len(part_arcs) or float("nan"), len(of_family.parts), listed]
    columns = ["arcs of the part in colour", "parts in the tree", "parts with every arc a candidate"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("family").astype(float)


@about()
def counted(table: pd.DataFrame) -> Sentences:
    """Compare the number of parts in a tree with the number of parts that a search may meet.

    table  result of `overview`
    """
    has, meets = table["parts in the tree"], table["parts with every arc a candidate"]
    yield (
        f"A tree of {has['arc']:.0f} words has {span(has, '{:.0f}')} parts of a family. A search over all arcs of the "
        f"sentence may meet {span(meets, '{:,.0f}')} parts. It bounds the parts that it cannot score exactly by sums "
        "that are linear in arcs. These figures are for one sentence; the parts of patterns depend on the words."
    )


def analysed(root: Path) -> list[str]:
    """Return the corpora whose error analysis the reference run stores."""
    return [path.name.split(".")[0] for path in (root / "results" / "reference" / "patterns").glob("*.patterns.csv")]


def analysed_with(root: Path, corpus: str) -> list[str]:
    """Return the names of the shipped pattern files that the error analysis of a corpus covers completely."""
    counted = set(analysis(root, corpus, "patterns")["pattern"])
    return [
        name
        for name in (file.name.removesuffix(".toml") for file in pattern_language.SHIPPED.iterdir())
        if counted.issuperset(p.name for p in pattern_language.load(name).patterns)
    ]


def patterns(root: Path, corpus: str, name: str) -> pd.DataFrame:
    """Return the patterns of a pattern file, with their counts in the error analysis of the reference run.

    Raises InputError if the analysis lacks a pattern.
    """
    chosen = pattern_language.load(name)
    counts = analysis(root, corpus, "patterns").set_index("pattern")
    if missing := [p.name for p in chosen.patterns if p.name not in counts.index]:
        raise _stale(root, corpus, "patterns", f"no row for {missing[0]}")
    rows = [{"pattern": p.name, "arcs": _spelt(p), **counts.loc[p.name].to_dict()} for p in chosen.patterns]
    table = pd.DataFrame(rows).set_index("pattern")
    table["consistency"] *= 100
    integer_columns = ["matches", "mistaken", "words", "misled"]
    return table.astype(dict.fromkeys(integer_columns, int)).rename(columns={"consistency": "consistent, %"})


def _spelt(pattern: pattern_language.Pattern) -> str:
    """Return the arcs of a pattern as text, with the names that the pattern gives its words."""
    names = {**dict(enumerate(pattern.names)), pattern_language.ROOT: "root", pattern_language.OUTSIDE: "outside"}
    arcs = [f"{names[h]} → {names[m]}" for h, m in pattern.arcs]
    return " | ".join(", ".join(arcs[k] for k in alternative) for alternative in pattern.ways)


def candidates(root: Path, corpus: str, rows: int) -> pd.DataFrame:
    """Return the first `rows` rows of the table of candidate patterns of the error analysis."""
    table = analysis(root, corpus, "candidates").set_index("rank").head(rows)
    table["consistency"] *= 100
    return table.rename(columns={"consistency": "consistent, %"})


def analysis(root: Path, corpus: str, kind: str) -> pd.DataFrame:
    """Read the table `kind` that `studies.qian_liu_2013.patterns` wrote for a corpus in the reference run.

    Raises InputError if it is missing.
    """
    try:
        return pd.read_csv(root / "results" / "reference" / "patterns" / f"{corpus}.{kind}.csv")
    except (OSError, pd.errors.EmptyDataError):
        raise _stale(root, corpus, kind, "missing") from None


def _stale(root: Path, corpus: str, kind: str, reason: str) -> InputError:
    """Return the error for a table of the error analysis that is missing or out of date."""
    folder = Path("results/reference/patterns")
    hint = f"python -m studies.qian_liu_2013.patterns {corpus} --output {folder}"
    return InputError(reason, path=root / folder / f"{corpus}.{kind}.csv", hint=hint)
