"""Test the stage `benchmark`, which times the rows of the table of results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from studies.common import params
from studies.pipeline import benchmark
from treebound.core.errors import InputError

REPOSITORY = Path(__file__).parents[1]


def test_a_corpus_without_timed_rows_is_reported() -> None:
    loaded = replace(params.load(REPOSITORY / "params.yaml"), decode={})
    with pytest.raises(InputError, match="no row is timed on tr_twt"):
        benchmark.run(loaded, "tr_twt")
