"""Plain dynamic programs: a backbone alone, for models whose families it scores exactly. One DP call, no search."""

from __future__ import annotations

from treebound.decoders.exact.branch_and_bound.decoder import BACKBONES, BranchAndBound


class DynamicProgram(BranchAndBound):
    """Best projective tree under the families of one backbone: branch and bound with nothing left to bound."""

    def __init__(self, backbone: str, cite: str):
        super().__init__(backbone=backbone)
        self.name, self.cite = backbone, cite
        self.supports = BACKBONES[backbone].families


def eisner() -> DynamicProgram:
    """First order."""
    return DynamicProgram("eisner", "Eisner (1996)")


def carreras() -> DynamicProgram:
    """Second order with adjacent siblings and outermost grandchildren."""
    return DynamicProgram("carreras", "Carreras (2007), section 3")


def grandparent_sibling() -> DynamicProgram:
    """Adjacent siblings, outermost and all grandchildren."""
    return DynamicProgram("grandparent-sibling", "Koo & Collins (2010), Model 1")
