"""Being here puts this folder on the import path: `from oracles.trees import trees`, `from strategies import ...`."""

from __future__ import annotations

import random
import time
from collections import Counter

import pytest

STARTED = time.monotonic()
#: Begun first, in this order: files that take minutes; one of them at the end would keep one core busy while the others
#: have nothing to do. Those that compile the search stand before those that use it, and beside pages, which compile
#: nothing: of two workers that want a function at once, one waits until the other has compiled it.
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
        "--minutes", type=float, help="take tests in a mixed order, always the same, and begin none after so long"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("minutes"):
        random.Random(1).shuffle(items)
        return
    tests = Counter(item.path for item in items)
    first = {name: place for place, name in enumerate(FIRST)}
    items.sort(key=lambda item: (first.get(item.path.name, len(FIRST)), -tests[item.path], item.path))


def pytest_runtest_setup(item: pytest.Item) -> None:
    minutes = item.config.getoption("minutes")
    if minutes and time.monotonic() - STARTED > 60 * minutes:
        pytest.skip("out of time")
