"""Configure pytest; this file also puts its folder on the import path (`from oracles.trees import trees`)."""

from __future__ import annotations

import random
import time
from collections import Counter

import pytest

STARTED = time.monotonic()
#: Files that take minutes run first, in this order: a slow file at the end would keep one core busy while others are
#: idle. Files that compile the search precede files that use it. They alternate with files of report pages, which
#: compile nothing, because two workers that need the same function at once wait for each other's compilation.
FIRST = (
    "test_decoders.py",
    "test_report_site.py",
    "test_report_reference.py",
    "test_pipeline.py",
    "test_problems.py",
    "test_real_sentences.py",
    "test_broken_inputs.py",
    "test_stars.py",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--minutes",
        type=float,
        help="Run the tests in a fixed random order and skip those left after this time. Default: all tests.",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("minutes"):
        random.Random(1).shuffle(items)
        return
    tests = Counter(item.path for item in items)
    first = {name: position for position, name in enumerate(FIRST)}
    items.sort(key=lambda item: (first.get(item.path.name, len(FIRST)), -tests[item.path], item.path))


def pytest_runtest_setup(item: pytest.Item) -> None:
    minutes = item.config.getoption("minutes")
    if minutes and time.monotonic() - STARTED > 60 * minutes:
        pytest.skip("out of time")
