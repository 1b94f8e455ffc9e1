"""Factor families: one file each. A new family is a file and a line here."""

from treebound.core.registry import Registry
from treebound.factors.adjacent_sibling import ADJACENT_SIBLING
from treebound.factors.arc import ARC
from treebound.factors.family import Family
from treebound.factors.grandchild import GRANDCHILD
from treebound.factors.outermost_grandchild import OUTERMOST_GRANDCHILD
from treebound.factors.sibling import SIBLING

FAMILIES: Registry[Family] = Registry("factor family")
for _family in (ARC, ADJACENT_SIBLING, OUTERMOST_GRANDCHILD, GRANDCHILD, SIBLING):
    FAMILIES.register(_family.name, _family)

__all__ = ["FAMILIES", "Family"]
