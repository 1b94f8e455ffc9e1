"""Weights to scores: the compiled templates of a model's families, applied to the arcs and parts of a sentence."""

from __future__ import annotations

import numpy as np

from treebound.factors import FAMILIES
from treebound.factors.arc import BETWEEN, HEAD, MODIFIER
from treebound.features.templates import Templates, TemplateSet, compile_templates
from treebound.kernels.arcs import ArcIndex
from treebound.kernels.features import arc_features, part_features, score_arcs, score_parts
from treebound.kernels.parts import PartIndex, list_parts

Slots = tuple[int, int, int]


def compile_arc(
    attributes: frozenset[str],
    pairs: tuple[str, ...],
    head: tuple[str, ...],
    mod: tuple[str, ...],
    between: tuple[str, ...],
) -> tuple[Templates, Templates, Templates, Templates]:
    """(head, modifier, bigram, in-between) templates of arcs, as the kernels take them."""
    return (
        compile_templates(head, ("h",), "arc-head", attributes),
        compile_templates(mod, ("m",), "arc-mod", attributes),
        compile_templates(pairs, ("h", "m"), "arc", attributes),
        compile_templates(between, ("h", "b", "m"), "between", attributes),
    )


def compile_family(
    name: str, templates: TemplateSet, attributes: frozenset[str]
) -> tuple[tuple[Templates, Templates], Slots]:
    """((all words, pair) templates, (slot of the pair's first word, of its second, of the third word))."""
    x, y = (templates.words.index(p) for p in templates.pair)
    compiled = (
        compile_templates(templates.parts, templates.words, name, attributes),
        compile_templates(templates.pairs, templates.words, name + "-pair", attributes),
    )
    return compiled, (x, y, 3 - x - y)


class Scorer:
    """Scores of arcs and parts as sums of hashed weights.

    families    the model's families beside `arc`
    attributes  token attributes that the corpus asks for
    bits        log2 of the number of weights
    """

    def __init__(self, families: tuple[str, ...], attributes: frozenset[str], bits: int):
        self.families = families
        self.attributes = attributes
        self.mask = (1 << (bits - 4)) - 1  # over lines of 16 weights
        self.arc_templates = compile_arc(attributes, FAMILIES["arc"].templates.pairs, HEAD, MODIFIER, BETWEEN)
        self.compiled = {f: compile_family(f, FAMILIES[f].templates, attributes) for f in families}

    def score(
        self, weights: np.ndarray, rows: np.ndarray, tag: np.ndarray, index: ArcIndex, parts: PartIndex
    ) -> tuple[np.ndarray, dict[str, np.ndarray], dict[str, np.ndarray]]:
        """(arc scores float64[A], family -> float64[F], family -> words int32[F, 3])."""
        n = len(tag) - 1
        arc = score_arcs(self.arc_templates, rows, tag, index.head, index.mod, weights, self.mask)
        scores, words = {}, {}
        for family, (templates, slots) in self.compiled.items():
            _, words[family] = list_parts(FAMILIES[family].code, index, parts)
            scores[family] = score_parts(templates, slots, words[family], rows, n, weights, self.mask)
        return arc, scores, words

    def features(
        self,
        chosen: dict[str, np.ndarray],
        sign: float,
        words: dict[str, np.ndarray],
        rows: np.ndarray,
        tag: np.ndarray,
        index: ArcIndex,
        slots: np.ndarray,
        signs: np.ndarray,
        count: int,
    ) -> int:
        """Append the weight slots of chosen[family] (part numbers, `arc` too) with `sign`; returns the new count."""
        n = len(tag) - 1
        count = arc_features(
            self.arc_templates, rows, tag, chosen["arc"], sign, index.head, index.mod, self.mask, slots, signs, count
        )
        for family, (templates, slot_of) in self.compiled.items():
            count = part_features(
                templates, slot_of, words[family], chosen[family], sign, rows, n, self.mask, slots, signs, count
            )
        return count
