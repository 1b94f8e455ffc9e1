"""Table of the leaderboard that a run stores as a file."""

from __future__ import annotations

from studies.across.leaderboard.parsers import KEPT, intervals
from studies.site.export import Tables

TABLES: Tables = {
    KEPT: ("UAS of every row in % with its 95 % interval and the unit that the interval samples", intervals)
}
