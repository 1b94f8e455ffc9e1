"""Tables of CCG parsing, from invented figures. A run without CCG has no tables and says how to make them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import synthetic_results

from studies.auli_lopez_2011.ccg import figures
from studies.auli_lopez_2011.ccg import remarks as ccg_remarks
from studies.auli_lopez_2011.ccg import tables as ccg_tables
from studies.auli_lopez_2011.ccg.settings import CCG, CCGParser
from studies.auli_lopez_2011.derivations import remarks as derivations_remarks
from studies.auli_lopez_2011.derivations import tables as derivations_tables
from studies.common import params
from studies.site import published
from studies.site.claims.load import load
from studies.site.claims.measures import MEASURES
from studies.site.collect import Results

PROJECT = Path(__file__).parents[1]


@pytest.fixture
def results(tmp_path: Path) -> list[Results]:
    """Return a run with two parsers, of which the second has predicted tags."""
    parsers = {"xx": CCGParser("xx"), "xx-predicted": CCGParser("xx", tags="predicted")}
    run_params = replace(params.load(PROJECT / "params.yaml"), corpora=("xx",))
    run_params = run_params.changed(CCG(("xx",), parsers, ("0.1:20", "0.01:20")))
    synthetic_results.write(tmp_path, run_params)
    return [Results("this run", tmp_path, run_params)]


def test_tables_show_the_output_of_the_stages(results: list[Results]) -> None:
    assert derivations_tables.translated(results).loc[("this run", "xx"), "mostly fails for"] == "gap"
    learnt = ccg_tables.treebanks(results)
    assert learnt["tags"].tolist() == ["gold", "predicted, 95.0 % right"]
    assert learnt["left out"].tolist() == [3, 3]
    orders = ccg_tables.orders(results)
    assert orders.loc[(ccg_tables.PRINTED, ccg_tables.CORPUS, "reverse"), ("oracle worst", "LF")] == 18.09
    assert orders.loc[("this run", "xx", "AST"), ("oracle best", "LF")] == 90
    assert orders.loc[("this run", "xx-predicted", "reverse"), ("parser", "LR")] == 79
    scored = ccg_tables.accuracy(results)
    assert scored.loc[(ccg_tables.PRINTED, "CCGbank, gold tags", "dev", "AST"), "sentences / CPU s"] == 65.8
    assert scored.loc[("this run", "xx", "test", "reverse"), "sentences / CPU s"] == 12
    tried = ccg_tables.attempts(results).loc[("this run", "xx", "AST")]
    assert tried.sum() == pytest.approx(100)
    assert tried["1"] == pytest.approx(100 * 50 / 60)
    beams = ccg_tables.beams(results)
    assert beams.loc[("this run", "xx"), "oracle LF"].tolist() == [88, 89]
    figure = figures.beams(beams.reset_index())
    parsers = beams.index.get_level_values("parser").nunique()
    assert [len(axes.lines) for axes in figure.axes] == [parsers + 1] * 3, "curves and a line at zero"
    assert figure.axes[2].lines[0].get_ydata().tolist() == [0, 1]
    assert figure.axes[0].get_title(loc="left") == "score of the model"
    assert "xx " in figures.beams_in_words(beams.reset_index())
    assert "(oracle +1.0)" in figures.beams_in_words(beams.reset_index())
    assert ccg_tables.differences(results).loc[("this run", "xx", "widest", "narrowest"), "difference"] == -4
    gains = ccg_tables.differences(results)
    wide = ccg_tables.wide_charts(gains)
    assert wide.loc[("this run", "xx"), "best derivation"].tolist() == [7, 6, 8]
    assert wide.loc[("this run", "xx"), ("", "sentences of dev")] == 50
    text = str(ccg_remarks.orders(wide))
    assert "in the chart changes by +7.00" in text
    assert f"significantly higher for {len(wide)} of {len(wide)} parsers and lower for none" in text
    assert "50 sentences of dev" in text


def test_a_run_without_ccg(results: list[Results], tmp_path: Path) -> None:
    none = [replace(results[0], params=results[0].params.changed(CCG()))]
    for table in (
        derivations_tables.translated,
        ccg_tables.treebanks,
        ccg_tables.attempts,
        ccg_tables.beams,
        ccg_tables.differences,
    ):
        assert table(none).empty
    assert set(ccg_tables.orders(none).index.get_level_values("run")) == {ccg_tables.PRINTED}
    assert (
        str(derivations_remarks.translated(derivations_tables.translated(none))) == derivations_remarks.NO_DERIVATIONS
    )
    assert str(ccg_remarks.orders(ccg_tables.wide_charts(ccg_tables.differences(none)))) == ccg_remarks.HOW


def test_claims_are_measured(results: list[Results]) -> None:
    read = MEASURES["LF of CCG"].read
    (first, _) = read(results[0], ["reverse best", "AST best"], "each")
    assert first[:4] == ("xx", 7, 6, 8)
    (first, _) = read(results[0], ["narrowest", "widest"], "each")
    assert first[:4] == ("xx", 4, 3, 5)
    (first, _) = MEASURES["speed of CCG"].read(results[0], ["AST", "reverse"], "each")
    assert first.value == pytest.approx(220 / 12)
    # times differ between the parts of the treebank, and not by a constant factor
    assert first.low < first.value < first.high
    (first, _) = MEASURES["coverage of CCG"].read(results[0], ["AST"], "each")
    assert first.value == pytest.approx(100 * 59 / 60)
    (paper,) = (paper for paper in load() if paper.key == "auli-lopez-2011")
    for claim in paper.claims:
        if claim.measure.endswith("of CCG"):
            assert len(list(MEASURES[claim.measure].read(results[0], claim.rows, claim.compare))) == 2


def test_what_is_printed() -> None:
    table = published.table(ccg_tables.PAPER, "oracle").set_index("order")
    assert table.loc["reverse", "best LF"] == 97.65
    beams = published.table(ccg_tables.PAPER, "beams").set_index(["condition", "parameter"])
    assert beams.notna().sum(axis=1).tolist() == [5, 5, 5, 5, 7, 7]
