"""The stage that times rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from treebound.core.errors import InputError
from treebound.experiments import benchmark, params

REPOSITORY = Path(__file__).parents[1]


def test_nothing_to_time_is_said() -> None:
    with pytest.raises(InputError, match="no row of peers is timed on tr_twt"):
        benchmark.run(params.load(REPOSITORY / "params.yaml"), "tr_twt", "peers")
