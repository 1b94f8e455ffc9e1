"""Answer "does it replicate?": the claims of the papers as data, and the verdict of a run on each claim.

The file `claims.toml` in the folder of a paper lists its claims. An entry has the claim in our words, its section and
the published figures. It names the measure with the rows that it reads (`measures`), and the test. `load` reads the
files, `judge` applies them to runs, `show` makes the table of the pages and `claims.csv`.
"""

from studies.site.claims.show import NAME, frame, replication, summary, verdicts, write

__all__ = ["NAME", "frame", "replication", "summary", "verdicts", "write"]
