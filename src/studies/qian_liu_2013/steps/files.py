"""Tables of the steps of learning that a run stores as files."""

from __future__ import annotations

import pandas as pd

from studies.qian_liu_2013.steps import tables
from studies.site.collect import Results
from studies.site.export import Tables


def _steps(results: Results) -> pd.DataFrame:
    """Return the table of all trainings of a run with their tests."""
    data = tables.steps([results])
    return tables.step_table(data, tables.step_tests(data))


TABLES: Tables = {
    "steps": ("What each step of learning brings on dev, %", _steps),
    "steps-significance": ("Trainings against the base on dev", lambda r: tables.step_tests(tables.steps([r]))),
}
