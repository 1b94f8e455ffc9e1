"""Hand-crafted constructions that an error analysis suggested, written in `treebound.factors.pattern_language`.

Their parts and features are determined by the matches of patterns (`treebound.features.patterns`) instead of by arcs.
"""

from treebound.factors.family import Family
from treebound.factors.templates import TemplateSet

PATTERN = Family("pattern", 11, TemplateSet(words=()), "Qian & Liu (2013), section 4.3")
