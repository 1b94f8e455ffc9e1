"""Register the factor families, one module each. To add a family, write a module and register it here."""

from collections.abc import Iterable

from treebound.core.registry import Registry
from treebound.factors.adjacent_sibling import ADJACENT_SIBLING
from treebound.factors.arc import ARC, BETWEEN, HEAD, MODIFIER
from treebound.factors.comb import COMB
from treebound.factors.family import Family
from treebound.factors.grand_sibling import GRAND_SIBLING
from treebound.factors.grandchild import GRANDCHILD
from treebound.factors.great_grandchild import GREAT_GRANDCHILD
from treebound.factors.head_bigram import HEAD_BIGRAM
from treebound.factors.outermost_grandchild import OUTERMOST_GRANDCHILD
from treebound.factors.pattern import PATTERN
from treebound.factors.sibling import SIBLING
from treebound.factors.templates import Lines
from treebound.factors.tri_sibling import TRI_SIBLING
from treebound.factors.valency import VALENCY

FAMILIES: Registry[Family] = Registry("factor family")
for _family in (
    ARC,
    ADJACENT_SIBLING,
    OUTERMOST_GRANDCHILD,
    GRANDCHILD,
    SIBLING,
    HEAD_BIGRAM,
    GREAT_GRANDCHILD,
    TRI_SIBLING,
    COMB,
    GRAND_SIBLING,
    VALENCY,
    PATTERN,
):
    FAMILIES.register(_family.name, _family)


def templates_of(families: Iterable[str]) -> Lines:
    """Return the templates of arcs and of the named families, in the form that a scorer expects."""
    templates = {"arc": ARC.templates.pairs, "arc-head": HEAD, "arc-mod": MODIFIER, "between": BETWEEN}
    for name in families:
        templates |= {name: FAMILIES[name].templates.parts, f"{name}-pair": FAMILIES[name].templates.pairs}
    return templates


__all__ = ["FAMILIES", "Family", "templates_of"]
