"""Collect the measures of all papers. A measure reads a quantity from the rows of a run.

A measure takes the results of a run, the names of rows, and which of them are compared (`each`: the first with each of
the others; `next`: each with the one after it). It returns a `Measured` for every corpus, learner or set of folds that
has all these rows. If one place has several comparisons, the measure returns the least of them, so that all of them
pass a bound which this one passes.

To add a measure, write a function in `claims.py` of its paper and add a line to `MEASURES` in the same module.
"""

from __future__ import annotations

from importlib import import_module

from studies.common.paths import STUDIES
from studies.site.claims.measured import Measure

#: folders of papers that have claims, in alphabetical order
PAPERS = tuple(sorted(path.parent for path in STUDIES.glob("*/claims.toml")))
#: measures by their names in the files of claims
MEASURES: dict[str, Measure] = {
    name: measure
    for folder in PAPERS
    for name, measure in import_module(f"studies.{folder.name}.claims").MEASURES.items()
}
