"""Hand-crafted constructions that an error analysis suggested, written in `treebound.factors.pattern_language`.

The parts and features of this family come from the matches of patterns in the text (`treebound.features.patterns`).
For all other families, the candidate arcs alone determine the parts.
"""

from treebound.factors.family import Family
from treebound.factors.templates import TemplateSet

PATTERN = Family("pattern", 11, TemplateSet(words=()), "Qian & Liu (2013), section 4.3")
