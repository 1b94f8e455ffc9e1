"""The stage that times rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from studies.common import params
from studies.pipeline import benchmark
from treebound.core.errors import InputError

REPOSITORY = Path(__file__).parents[1]


def test_nothing_to_time_is_said() -> None:
    loaded = replace(params.load(REPOSITORY / "params.yaml"), decode={})
    with pytest.raises(InputError, match="no row is timed on tr_twt"):
        benchmark.run(loaded, "tr_twt")
