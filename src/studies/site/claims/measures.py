"""What a claim is about: a quantity, read from the rows of a run, in every place that has them.

A measure takes the results of a run, the names of rows, and which of them are compared (`each`: the first with each of
the others; `next`: each with the one after it). It returns a `Measured` for every corpus, learner or set of folds that
has all these rows. Of several comparisons in one place the least stands for them, so that a bound that it passes is
passed by all.

A new measure is a function in `claims.py` of its paper and a line in that module's `MEASURES`.
"""

from __future__ import annotations

from importlib import import_module

from studies.common.paths import STUDIES
from studies.site.claims.measured import Measure

#: folders of papers that have claims, in alphabetical order
PAPERS = tuple(sorted(path.parent for path in STUDIES.glob("*/claims.toml")))
#: name in the files of claims -> measure
MEASURES: dict[str, Measure] = {
    name: measure
    for folder in PAPERS
    for name, measure in import_module(f"studies.{folder.name}.claims").MEASURES.items()
}
