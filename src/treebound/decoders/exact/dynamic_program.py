"""Decoding by a backbone's dynamic program alone, for models of families that it scores exactly. One DP call."""

from __future__ import annotations

from treebound.decoders.exact.branch_and_bound.decoder import BACKBONES, BranchAndBound


class DynamicProgram(BranchAndBound):
    """A decoder of projective trees under the families of one backbone: branch and bound without bounded factors."""

    def __init__(self, backbone: str, cite: str):
        super().__init__(backbone=backbone)
        self.name, self.cite = backbone, cite
        self.supports = BACKBONES[backbone].families


def eisner() -> DynamicProgram:
    """Return the first-order decoder of projective trees."""
    return DynamicProgram("eisner", "Eisner (1996)")


def carreras() -> DynamicProgram:
    """Return the second-order decoder with adjacent siblings and outermost grandchildren."""
    return DynamicProgram("carreras", "Carreras (2007), section 3")


def grandparent_sibling() -> DynamicProgram:
    """Return the decoder with adjacent siblings, grand-siblings, and outermost and all grandchildren."""
    return DynamicProgram("grandparent-sibling", "Koo & Collins (2010), Model 1")
