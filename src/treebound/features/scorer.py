"""Weights to scores: the compiled templates of a model's families, applied to the arcs and parts of a sentence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treebound.core.problem import PRODUCTS
from treebound.factors import FAMILIES
from treebound.factors.arc import BETWEEN, HEAD, MODIFIER
from treebound.features.templates import compile_templates
from treebound.kernels.arcs import ArcIndex
from treebound.kernels.features import FamilyTemplates, Templates, arc_features, part_features, score_sentence
from treebound.kernels.parts import WIDTH, PartIndex, parts_of_tree
from treebound.kernels.wide_parts import products_of_tree

#: products whose place in the table is no arithmetic on their arcs
SCANNED = PRODUCTS - {"grandchild", "sibling"}


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


def compile_families(names: tuple[str, ...], attributes: frozenset[str]) -> FamilyTemplates:
    """Templates of the named families, as the kernels take them."""
    code, slot, parts, pairs = [], [], [], []
    for name in names:
        family = FAMILIES[name]
        templates = family.templates
        code.append(family.code)
        slot.append(templates.slots())
        parts.append(compile_templates(templates.parts, templates.words, name, attributes))
        pairs.append(compile_templates(templates.pairs, templates.words, name + "-pair", attributes))
    return FamilyTemplates(
        np.array(code, np.int32), np.array(slot, np.int32).reshape(-1, 4), *_joined(parts), *_joined(pairs)
    )


def _joined(templates: list[Templates]) -> tuple[Templates, np.ndarray]:
    """Templates one after another, and where each begins."""
    first = np.cumsum([0] + [len(t.seed) for t in templates]).astype(np.int32)
    empty = compile_templates((), (), "", frozenset())
    columns = [
        np.concatenate([getattr(t, name) for t in (empty, *templates)]) for name in ("seed", "slot", "offset", "attr")
    ]
    lengths = [np.diff(t.start) for t in templates]
    start = np.cumsum(np.concatenate([np.zeros(1, np.int32), *lengths])).astype(np.int32)
    return Templates(columns[0], start, *columns[1:]), first


class Scores(NamedTuple):
    """Indexed arcs and parts of a sentence with their scores.

    arc    float64[A]
    by_family, arcs, words  family -> float64[F] scores, int32[F, r] arcs as in `PartTable`, int32[F, 4] words
    """

    arc_index: ArcIndex
    part_index: PartIndex
    arc: np.ndarray
    by_family: dict[str, np.ndarray]
    arcs: dict[str, np.ndarray]
    words: dict[str, np.ndarray]

    def selected(self, family: str, arc_into: np.ndarray) -> np.ndarray:
        """int32[*]: the parts of a family (`arc` too) that a tree selects; arc_into as of `arcs_of_tree`."""
        if family in SCANNED:
            return products_of_tree(self.arcs[family], arc_into, len(self.arc))
        return parts_of_tree(FAMILIES[family].code, self.arc_index, self.part_index, arc_into)


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
        self.family_templates = compile_families(families, attributes)

    def score(
        self,
        weights: np.ndarray,
        rows: np.ndarray,
        tag: np.ndarray,
        allowed: np.ndarray,
        single_root: bool,
        projective: bool = True,
    ) -> Scores:
        """Scores of the candidate arcs (bool[n + 1, n + 1], head first) and of all parts made of them.

        projective  list the parts of projective trees only
        """
        index, parts, arc, first, arcs, words, scores = score_sentence(
            self.arc_templates, self.family_templates, rows, tag, allowed, single_root, projective, weights, self.mask
        )
        out = Scores(index, parts, arc, {}, {}, {})
        cell = 0
        for i, family in enumerate(self.families):
            a, b, width = first[i], first[i + 1], WIDTH[FAMILIES[family].code]
            out.by_family[family], out.words[family] = scores[a:b], words[a:b]
            out.arcs[family] = arcs[cell : cell + width * (b - a)].reshape(-1, width)
            cell += width * (b - a)
        return out

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
    ) -> int:
        """Append the weight slots of chosen[family] (part numbers, `arc` too) with `sign`; returns the new count."""
        n = len(tag) - 1
        head, mod = scored.arc_index.head, scored.arc_index.mod
        count = arc_features(
            self.arc_templates, rows, tag, chosen["arc"], sign, head, mod, self.mask, slots, signs, count
        )
        for f, family in enumerate(self.families):
            count = part_features(
                self.family_templates,
                f,
                scored.words[family],
                chosen[family],
                sign,
                rows,
                n,
                self.mask,
                slots,
                signs,
                count,
            )
        return count
