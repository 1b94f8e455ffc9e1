"""Does it replicate? The claims of the papers as data, and the verdict of a run on each, computed from its rows.

A claim stands in `claims.toml` in the folder of its paper: what is claimed, in our words; where, and what was
published; the measure that it is about and the rows that this reads (`measures`); the test that it must pass. `load`
reads the files, `judge` applies them to runs, `show` makes the table of the pages and `claims.csv`.
"""

from studies.site.claims.show import NAME, replication, summary, verdicts, write

__all__ = ["NAME", "replication", "summary", "verdicts", "write"]
