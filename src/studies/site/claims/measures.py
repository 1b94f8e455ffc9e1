"""Collect the measures of all papers. A measure reads a quantity from the rows of a run.

A measure takes the results of a run, the names of rows, and the way to compare the rows (`each`: the first row with
each other row; `next`: each row with the row after it). It returns a `Measured` for every corpus, learner or set of
folds that has all these rows. If several pairs of rows are compared on one corpus, the measure returns the smallest
difference: if the smallest exceeds a threshold, all differences do.

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
