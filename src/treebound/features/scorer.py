"""Turn weights into scores: apply the compiled templates of a model's families to the arcs and parts of a sentence."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from treebound.core.errors import InputError
from treebound.core.problem import PRODUCTS, PartTable, Problem
from treebound.core.treebank import Treebank
from treebound.factors import FAMILIES, templates_of
from treebound.factors.pattern_language import MAX_ARCS, MAX_WORDS, PatternSet
from treebound.factors.templates import Lines
from treebound.features.compiling import compile_templates
from treebound.features.patterns import Matches, compile_patterns, find
from treebound.kernels.arcs.numbering import ArcIndex
from treebound.kernels.arcs.parts import USUAL, WIDTH, PartIndex, parts_of_tree
from treebound.kernels.arcs.problem_index import Index
from treebound.kernels.arcs.wide_parts import products_of_tree
from treebound.kernels.features.patterns import pattern_features, pattern_parts, pattern_scores
from treebound.kernels.features.scoring import (
    Output,
    Place,
    arc_features,
    part_features,
    score_sentence,
)
from treebound.kernels.features.templates import FamilyTemplates, Templates, packed, packed_families

NO_PATTERN_PARTS = np.empty((0, MAX_ARCS), np.int32), np.empty((0, MAX_WORDS + 3), np.int32), np.empty(0)
#: families of arc products for which the row of a part in its table cannot be computed from the arcs of the part; the
#: table is scanned for the parts of a tree
SCANNED = PRODUCTS - {"grandchild", "sibling"}
CACHE_LINE = 64  #: size of a cache line in bytes


def compile_arc(
    attributes: frozenset[str],
    pairs: tuple[str, ...],
    head: tuple[str, ...],
    mod: tuple[str, ...],
    between: tuple[str, ...],
) -> tuple[Templates, Templates, Templates, Templates]:
    """Return the (head, modifier, bigram, in-between) templates of arcs, compiled for the kernels."""
    return (
        compile_templates(head, ("h",), "arc-head", attributes),
        compile_templates(mod, ("m",), "arc-mod", attributes),
        compile_templates(pairs, ("h", "m"), "arc", attributes),
        compile_templates(between, ("h", "b", "m"), "between", attributes),
    )


def compile_families(names: tuple[str, ...], attributes: frozenset[str], lines: Lines) -> FamilyTemplates:
    """Return the templates of the named families, compiled for the kernels; `lines` is the result of `templates_of`."""
    code, slot, parts, pairs = [], [], [], []
    for name in names:
        family, pair = FAMILIES[name], name + "-pair"
        code.append(family.code)
        slot.append(family.templates.slots())
        parts.append(compile_templates(lines[name], family.templates.words, name, attributes))
        pairs.append(compile_templates(lines[pair], family.templates.words, pair, attributes))
    return FamilyTemplates(
        np.array(code, np.int64), np.array(slot, np.int64).reshape(-1, 4), *_joined(parts), *_joined(pairs)
    )


def _joined(templates: list[Templates]) -> tuple[Templates, np.ndarray]:
    """Return several sets of templates as one set, and the index at which each set begins."""
    first = np.cumsum([0] + [len(t.seed) for t in templates])
    empty = compile_templates((), (), "", frozenset())
    columns = [
        np.concatenate([getattr(t, name) for t in (empty, *templates)]) for name in ("seed", "slot", "offset", "attr")
    ]
    lengths = [np.diff(t.start) for t in templates]
    start = np.cumsum(np.concatenate([np.zeros(1, np.int64), *lengths]))
    return Templates(columns[0], start, *columns[1:]), first


def selected_parts(
    family: str, index: ArcIndex, parts: PartIndex, arcs: np.ndarray | None, arc_into: np.ndarray
) -> np.ndarray:
    """Return int32[*], the parts of a family that a tree selects. `arc` also counts as a family.

    arcs      int32[F, r] as in `PartTable`; needed for the families in SCANNED
    arc_into  int32[n], the arc into each word
    """
    if family in SCANNED and arcs is not None:
        return products_of_tree(arcs, arc_into, len(index.head))
    return parts_of_tree(FAMILIES[family].code, index, parts, arc_into)


def narrowed(weights: np.ndarray) -> np.ndarray:
    """Return integer weights as int16 if all of them fit, aligned to cache lines in any case.

    Scoring is limited by memory access, and with half the bytes, twice as many weights fit into a cache. Sums stay the
    same.
    """
    small = np.iinfo(np.int16)
    fits = weights.min(initial=0) >= small.min and weights.max(initial=0) <= small.max
    dtype = np.dtype(np.int16 if fits else weights.dtype)
    buffer = np.empty(len(weights) + CACHE_LINE // dtype.itemsize, dtype)
    first = -buffer.ctypes.data % CACHE_LINE // dtype.itemsize
    out = buffer[first : first + len(weights)]
    out[:] = weights
    return out


class Scores(NamedTuple):
    """Indexed arcs and parts of a sentence with their scores.

    - arc_index, part_index: numbering of the arcs and parts.
    - arc: float64[A], scores of arcs.
    - by_family: family -> float64[F], scores of parts.
    - arcs: family -> int32[F, r], arcs of parts as in `PartTable`.
    - words: family -> int32[F, 4], words of parts; for `pattern`, the words that `pattern_parts` returns.
    """

    arc_index: ArcIndex
    part_index: PartIndex
    arc: np.ndarray
    by_family: dict[str, np.ndarray]
    arcs: dict[str, np.ndarray]
    words: dict[str, np.ndarray]

    def problem(self, unit: float) -> Problem:
        """Return the problem with these scores, in canonical form and with its index; `unit` is above 0."""
        index, parts = self.arc_index, self.part_index
        tables = {f: PartTable.made(f, self.arcs[f], score) for f, score in self.by_family.items()}
        space = "projective" if parts.projective else "non-projective"
        n, root = len(index.right) - 1, parts.single_root
        problem = Problem.unchecked(n, index.head, index.mod, self.arc, tables, root, unit, space)
        return problem.with_facts(index=Index(index, parts), finite=True)

    def selected(self, family: str, arc_into: np.ndarray) -> np.ndarray:
        """Return int32[*], the parts of a family (including `arc`) that a tree selects; see `selected_parts`."""
        return selected_parts(family, self.arc_index, self.part_index, self.arcs.get(family), arc_into)


class Scorer:
    """Scores of arcs and parts as sums of hashed weights.

    Parameters
    ----------
    families : tuple of str
        The model's factor families other than `arc`.
    attributes : frozenset of str
        Token attributes that the corpus uses.
    bits : int
        log2 of the number of weights.
    patterns : PatternSet, optional
        Patterns of the family `pattern`; required if `families` contains it.
    templates : dict, optional
        Templates as in `treebound.factors.templates_of`; by default, the templates of the installed version.
    """

    def __init__(
        self,
        families: tuple[str, ...],
        attributes: frozenset[str],
        bits: int,
        patterns: PatternSet | None = None,
        templates: Lines | None = None,
    ):
        if "pattern" in families and patterns is None:
            raise InputError(
                "the family pattern needs a pattern file", hint="name a pattern file, or leave the family out"
            )
        self.patterns = patterns if "pattern" in families else None
        self.pattern_index = compile_patterns(self.patterns, attributes) if self.patterns else None
        self.families = families
        self.listed = tuple(f for f in families if f != "pattern")  #: families whose parts are determined by the arcs
        self.widths = [WIDTH[FAMILIES[f].code] for f in self.listed]
        #: learning rates of arcs, of the listed families, and of patterns if there are any
        self.rates = [FAMILIES[f].rate for f in ("arc", *self.listed, *(["pattern"] if self.patterns else []))]
        self.attributes = attributes
        self.mask = (1 << (bits - 4)) - 1  # hashes choose lines of 16 weights
        lines = templates_of(families) if templates is None else templates
        of_arcs = compile_arc(attributes, lines["arc"], lines["arc-head"], lines["arc-mod"], lines["between"])
        of_parts = compile_families(self.listed, attributes, lines)
        self.templates = of_arcs, of_parts
        array = np.concatenate([packed(of_arcs), packed_families(of_parts)])
        self.by_sentence = array, None if set(of_parts.code.tolist()) <= set(USUAL) else True
        each = np.diff(of_parts.part_first) + np.diff(of_parts.pair_first)
        #: maximum number of templates of a part by family, without the templates of an arc and a word in between
        self.most = dict(zip(self.listed, each.tolist(), strict=True))
        self.most["arc"] = sum(len(templates.seed) for templates in of_arcs[:-1])
        if self.pattern_index is not None:
            self.most["pattern"] = int(np.diff(self.pattern_index.first).max(initial=0))

    def matches(self, treebank: Treebank) -> Matches | None:
        """Return the matches of the patterns in a treebank, for its `TokenTable`, or None without patterns."""
        return find(self.patterns, treebank) if self.patterns else None

    def score(
        self,
        weights: np.ndarray,
        rows: np.ndarray,
        tag: np.ndarray,
        allowed: np.ndarray,
        single_root: bool,
        projective: bool = True,
        matches: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> Scores:
        """Score the candidate arcs and all parts of candidate arcs.

        allowed     bool[n + 1, n + 1], the candidate arcs, head first
        projective  whether to list only the parts of projective trees
        matches     `TokenTable.matches` of the sentence; required by a model with patterns
        """
        index, parts, arc, first, arcs, words, scores = score_sentence(
            self.by_sentence, rows, tag, allowed, single_root, projective, weights, self.mask
        )
        out = Scores(index, parts, arc, {}, {}, {})
        cell, ends = 0, first.tolist()
        for family, width, a, b in zip(self.listed, self.widths, ends, ends[1:], strict=False):
            out.by_family[family], out.words[family] = scores[a:b], words[a:b]
            out.arcs[family] = arcs[cell : cell + width * (b - a)].reshape(b - a, width)
            cell += width * (b - a)
        if self.pattern_index is not None:
            if matches is None:
                raise ValueError("a model with patterns needs a token table with matches")
            table, words, phi = NO_PATTERN_PARTS
            if len(matches[0]):  # most sentences have none
                table, words = pattern_parts(self.pattern_index, *matches, index)
                phi = pattern_scores(self.pattern_index, words, rows, weights, self.mask)
            out.arcs["pattern"], out.words["pattern"], out.by_family["pattern"] = table, words, phi
        return out

    def room(self, chosen: dict[str, np.ndarray], n: int) -> int:
        """Return the maximum number of features that `features` appends for these parts of a sentence of n words."""
        features = 2 * len(chosen["arc"]) * (self.most["arc"] + n * len(self.templates[0][-1].seed))
        features += sum(2 * len(chosen[family]) * self.most[family] for family in self.listed)
        if self.pattern_index is not None:
            features += len(chosen["pattern"]) * self.most["pattern"]
        return features

    def features(
        self,
        chosen: dict[str, np.ndarray],
        sign: float,
        scored: Scores,
        rows: np.ndarray,
        tag: np.ndarray,
        slots: np.ndarray,
        signs: np.ndarray,
        count: int,
        *,
        rates: np.ndarray | None = None,
    ) -> int:
        """Append the weight slots of the features of chosen arcs and parts to `slots`; return the new count.

        `signs` receives `sign` times the count of each feature.

        chosen        family (or `arc`) -> numbers of the chosen parts (or arcs)
        slots, signs  arrays with at least `room` free entries after `count`; kernels write without bounds checks
        rates         optional array as long as `slots`, to which the learning rate of each slot's family is written
        """
        n = len(tag) - 1
        ends = [count]
        head, mod = scored.arc_index.head, scored.arc_index.mod
        out = Output(slots, signs, sign, Place(0, self.mask))
        count = arc_features(self.templates[0], rows, tag, chosen["arc"], head, mod, out, count)
        ends.append(count)
        for f, family in enumerate(self.listed):
            count = part_features(self.templates[1], f, scored.words[family], chosen[family], rows, n, out, count)
            ends.append(count)
        if self.pattern_index is not None:
            words = scored.words["pattern"]
            count = pattern_features(self.pattern_index, words, chosen["pattern"], rows, out, count)
            ends.append(count)
        if rates is not None:
            for rate, (first, end) in zip(self.rates, pairwise(ends), strict=True):
                rates[first:end] = rate
        return count
