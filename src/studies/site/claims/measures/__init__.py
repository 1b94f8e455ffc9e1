"""What a claim is about: a quantity, read from the rows of a run, in every place that has them.

A measure takes the results of a run, the names of rows, and which of them are compared (`each`: the first with each of
the others; `next`: each with the one after it). It returns a `Measured` for every corpus, learner or set of folds that
has all these rows. Of several comparisons in one place the least stands for them, so that a bound that it passes is
passed by all.

A new measure is a function in the module of its room and a line in that module's `MEASURES`.
"""

from __future__ import annotations

from studies.site.claims.measures import ccg, constrained, graph, sampling, transition
from studies.site.claims.measures.measured import Measure, Measured, exact, pairs

__all__ = ["MEASURES", "Measure", "Measured", "exact", "pairs"]

#: name in the files of claims -> measure
MEASURES: dict[str, Measure] = {
    name: measure for room in (graph, constrained, sampling, transition, ccg) for name, measure in room.MEASURES.items()
}
