"""Does it replicate? The claims of the papers as data, and the verdict of a run on each, computed from its rows.

A claim stands in `<paper>.toml` beside this file: what is claimed, in our words; where, and what was published; the
measure that it is about and the rows that this reads (`measures`); the test that it must pass. `load` reads the files,
`judge` applies them to a run, `export` writes `claims.csv`; `show` makes the tables of the pages.
"""

from treebound.report.claims.judge import VERDICTS, Judged, differences_of, judge
from treebound.report.claims.load import Claim, Paper, load
from treebound.report.claims.show import NAME, frame, replication, summary, write

__all__ = [
    "NAME",
    "VERDICTS",
    "Claim",
    "Judged",
    "Paper",
    "differences_of",
    "frame",
    "judge",
    "load",
    "replication",
    "summary",
    "write",
]
