"""Hand-crafted constructions, found by an error analysis and written in `treebound.factors.pattern_language`.

Parts and features do not follow from the arcs but from where the patterns match: `treebound.features.patterns`.
"""

from treebound.factors.family import Family
from treebound.factors.templates import TemplateSet

PATTERN = Family("pattern", 11, TemplateSet(words=()), "Qian & Liu (2013), section 4.3")
