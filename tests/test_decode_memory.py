"""Peak memory: it grows with what a row allocates, begins anew for each row, and is written by the stage `decode`."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import synthetic

from studies.common.params import Params, Row
from studies.pipeline import decode, memory
from studies.pipeline.trainers import Loaded, Trees
from treebound.core.treebank import Treebank

LARGE = 200  #: MB that a large row keeps
TOLERANCE = 40  #: MB by which other allocations may change a peak


def resettable() -> bool:
    """Return True if this system can reset the peak of a process."""
    try:
        memory.CLEAR.write_text("5", encoding="ascii")
        return "VmHWM:" in memory.STATUS.read_text(encoding="ascii", errors="replace")
    except OSError:
        return False


needs_reset = pytest.mark.skipif(not resettable(), reason="this system cannot reset the peak of a process")


def filled(megabytes: float) -> np.ndarray:
    """Return an array of a size in MB whose pages are resident."""
    return np.ones(int(megabytes * memory.MB), np.uint8)


@needs_reset
def test_the_peak_counts_released_memory_until_it_is_reset() -> None:
    memory.reset()
    before = memory.peak_mb()
    array = filled(LARGE)
    del array
    assert memory.peak_mb() == pytest.approx(before + LARGE, abs=TOLERANCE)
    memory.reset()
    assert memory.peak_mb() == pytest.approx(before, abs=TOLERANCE)


@needs_reset
def test_a_reset_releases_cycles_and_many_small_objects() -> None:
    memory.reset()
    before = memory.peak_mb()
    cycle: list[Any] = [filled(LARGE)]
    cycle.append(cycle)
    small = [filled(0.02) for _ in range(5000)]
    assert memory.peak_mb() > before + LARGE + 50
    last = small.pop()  # it lies at the end of the memory of the small objects, which therefore cannot simply shrink
    del cycle, small
    memory.reset()
    assert memory.peak_mb() == pytest.approx(before, abs=TOLERANCE)
    assert len(last)


def test_a_system_without_proc_has_the_peak_since_the_start_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "STATUS", tmp_path / "missing" / "status")
    monkeypatch.setattr(memory, "CLEAR", tmp_path / "missing" / "clear_refs")
    for platform, bytes_of_unit in (("linux", 1024), ("darwin", 1)):
        monkeypatch.setattr(memory.sys, "platform", platform)
        usage = SimpleNamespace(ru_maxrss=300_000_000 // bytes_of_unit)
        monkeypatch.setattr(memory.resource, "getrusage", lambda _, usage=usage: usage)
        memory.reset()
        assert memory.peak_mb() == pytest.approx(300, abs=0.01)


class Fake:
    """A trainer whose rows keep an array in memory. The name of a row is the size of its array in MB.

    The row `0` has no array, and reports that its package is not installed. Loading makes a reference cycle, which only
    the garbage collector releases.
    """

    def load(self, params: Params, corpus: str, row: Row, path: Path) -> Loaded:
        kept: list[Any] = [filled(int(row.name))]
        kept.append(kept)
        facts = {} if int(row.name) else {"missing": "scikit-learn"}

        def trees(gold: Treebank, kept: list[Any]) -> Trees:
            assert len(kept[0]) == int(row.name) * memory.MB
            return Trees([gold.heads(i) for i in range(len(gold))], None, {}, facts)

        return Loaded(lambda gold: kept, trees, lambda kept: {})


@pytest.fixture
def decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of metrics after the stage `decode` ran for two models, of which the second has no rows."""
    rows = [Row(name, "sizes") for name in ("1", str(LARGE), "2", "0")]
    params: Any = SimpleNamespace(rows_of=lambda corpus: rows, tags_and_seed=lambda corpus, row: ("gold", 0))
    gold = synthetic.synthetic_treebank(20, seed=1)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(decode, "sentences", lambda *arguments: gold)
    monkeypatch.setattr(decode, "checksum", lambda *arguments: "0" * 64)
    monkeypatch.setattr(decode, "trainer", lambda system: Fake())
    for model in ("sizes", "empty"):
        decode.run(params, "toy", model)
    return tmp_path / "results" / "metrics"


def test_decode_writes_the_peak_of_every_row_that_parses_apart_from_its_metrics(decoded: Path) -> None:
    peaks = json.loads((decoded / "timing" / "decode" / "toy" / "sizes.json").read_text())
    assert set(peaks) == {"1", str(LARGE), "2"}
    assert all(set(row) == {"peak_mb"} and row["peak_mb"] > 10 for row in peaks.values())
    metrics = json.loads((decoded / "decode" / "toy" / "sizes.json").read_text())
    assert set(metrics) == {*peaks, "0"}
    assert not any("peak_mb" in row for row in metrics.values())
    for parts in (("decode",), ("timing", "decode")):
        assert json.loads(decoded.joinpath(*parts, "toy", "empty.json").read_text()) == {}


@needs_reset
def test_a_row_does_not_pay_for_the_row_before_it(decoded: Path) -> None:
    peaks = json.loads((decoded / "timing" / "decode" / "toy" / "sizes.json").read_text())
    first, large, last = (peaks[name]["peak_mb"] for name in ("1", str(LARGE), "2"))
    assert large == pytest.approx(first + LARGE, abs=TOLERANCE)
    assert last == pytest.approx(first, abs=TOLERANCE)
