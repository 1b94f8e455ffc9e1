"""The address, CSV and source of each table and figure, and the points of a figure read back from matplotlib."""

from __future__ import annotations

import contextlib
import csv
import io
import re
import shutil
from html import unescape
from pathlib import Path

import nbformat
import pandas as pd
import pytest
import synthetic_results
from matplotlib.figure import Figure
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from test_plots import CONFIDENCE, CURVES, LENGTHS, PAIRS

from studies.qian_liu_2013.confidence import figures as confidence_figures
from studies.qian_liu_2013.speed import figures as speed_figures
from studies.qian_liu_2013.tuning import figures as tuning_figures
from studies.site import charts, sources
from studies.site.execute import execute
from studies.site.render import render
from studies.site.show import Table
from treebound.plots import drawn
from treebound.plots.style import CYCLE, end_labels, panels, style
from treebound.plots.svg import as_svg

REPOSITORY = Path(__file__).parents[1]


def _rows(figure: Figure) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(drawn.as_csv(figure))))


# --- the points of figures


def test_intervals_and_names_of_ticks_are_read_back() -> None:
    data = pd.DataFrame(
        {
            "corpus": ["a", "b", "a"],
            "system": ["one", "one", "two"],
            "difference": [0.5, -0.25, 2.0],
            "low": [0.1, -0.5, float("nan")],
            "high": [0.9, 0.125, float("nan")],
        }
    )
    rows = _rows(charts.gains(data))
    assert [list(row.values())[-5:] for row in rows] == [
        ["one", "0.5", "a", "0.1", "0.9"],
        ["one", "-0.25", "b", "-0.5", "0.125"],
        ["two", "2", "a", "", ""],
    ]


def test_curves_of_several_panels_are_read_back() -> None:
    rows = _rows(speed_figures.against_length(LENGTHS, "calls", "DP calls"))
    assert len(rows) == len(LENGTHS)
    assert {row["panel"] for row in rows} == {"a", "b"}
    assert len({row["series"] for row in rows} - {""}) == 2
    vertical = [float(list(row.values())[-1]) for row in rows]
    assert sorted(vertical) == sorted(LENGTHS["calls"])


def test_error_bars_are_read_back() -> None:
    rows = _rows(confidence_figures.reliability(CONFIDENCE, CONFIDENCE))
    intervals = {(row["low"], row["high"]) for row in rows if row["low"]}
    assert intervals == {("40", "60"), ("80", "100")}


def test_scatter_plots_and_bars_are_read_back() -> None:
    rows = _rows(tuning_figures.sentence_by_sentence(PAIRS, "DP calls"))
    dots = [[float(value) for value in list(row.values())[-2:]] for row in rows][-3:]
    assert dots == [pytest.approx(pair, rel=0.06) for pair in ([10, 2], [200, 30], [3000, 400])]  # dots share a grid
    figure = Figure()
    axes = figure.subplots()
    axes.bar(["x", "y"], [1.5, 2.5], label="upright")
    assert [(row["series"], row["name"], row["y"]) for row in _rows(figure)] == [
        ("upright", "x", "1.5"),
        ("upright", "y", "2.5"),
    ]
    assert drawn.described(figure) == "Horizontal axis: x; y. Vertical axis: from 0 to 2.62."
    figure.set_label("The second bar is higher.")
    assert as_svg(figure, "Bars").alt == f"Bars. The second bar is higher. {drawn.described(figure)}"


def test_labels_at_the_ends_of_curves_name_them() -> None:
    """A line across the whole panel is not data. A gap in a curve is not a point."""
    with style():
        figure, (axes,) = panels(1)
        for i, name in enumerate(("rising", "level")):
            xs, ys = [1, 2, 3, 4], [10, 10 + (1 - i), float("nan"), 10 + 5 * (1 - i)]
            axes.plot(xs, ys, color=CYCLE[i])
            end_labels(axes, [(4, ys[-1], name, CYCLE[i])])
        axes.axhline(100)
        axes.set_xlabel("words (log scale)")
        axes.set_ylabel("UAS")
    assert drawn.as_csv(figure).splitlines() == [
        "series,words,UAS",
        *("rising,1,10", "rising,2,11", "rising,4,15"),
        *("level,1,10", "level,2,10", "level,4,10"),
    ]
    text = drawn.described(figure)
    assert "Series: rising; level." in text
    assert "rising goes from 10 to 15. level stays at 10." in text


def test_a_figure_with_too_many_numbers_has_no_csv() -> None:
    figure = Figure()
    figure.subplots().plot(range(drawn.LARGEST), range(drawn.LARGEST))
    assert drawn.as_csv(figure) == ""
    assert "text/csv" not in as_svg(figure, "many points")._repr_mimebundle_()


def test_a_figure_with_many_points_has_one_column_per_series() -> None:
    figure = Figure()
    axes = figure.subplots()
    for name in ("one", "two"):
        axes.plot(range(4000), [value / 7 for value in range(4000)], label=name * 10)
    lines = drawn.as_csv(figure).splitlines()
    assert lines[0] == f"x,{'one' * 10},{'two' * 10}"
    assert lines[-1] == "3999,571.286,571.286"
    assert len(lines) == 4001


def test_alternative_texts_describe_what_is_drawn() -> None:
    picture = as_svg(tuning_figures.unproved(CURVES), "Sentences that are not yet proved")
    assert picture.caption == "Sentences that are not yet proved"
    assert picture.alt.startswith("Sentences that are not yet proved. ")
    assert "axis" in picture.alt
    assert picture._repr_mimebundle_()["text/csv"] == picture.data != ""


# --- pages


FIRST = [
    "from studies.site import collect, frames",
    "from studies.site.show import Table",
    "from treebound.plots.svg import as_svg",
    "from matplotlib.figure import Figure",
    "import pandas as pd",
    "figure = Figure()",
    'figure.subplots().plot([1, 2], [3, 4], label="a")',
    "results = collect.this_run(collect.find_root())",
    'Table(pd.DataFrame({"n": [1]}), "Nothing was read")',
]
MORE = [
    'Table(frames.pruner(results), "Recall of the pruner, <b> & %")',
    'frames.convert(results)\nTable(frames.pruner(results), "Recall of the pruner, <b> & %")',
    'as_svg(figure, "A line that rises")',
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of a notebook with three tables and a figure, in a project of invented results."""
    root = synthetic_results.project(tmp_path_factory.mktemp("project"), REPOSITORY)
    cells = [new_markdown_cell("# T"), new_code_cell("a = 1", metadata={"tags": ["parameters"]})]
    cells += [new_code_cell(source) for source in ("\n".join(FIRST), *MORE)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    source = root / "index.ipynb"
    source.write_text(nbformat.writes(new_notebook(cells=cells, metadata=kernel)))
    with contextlib.chdir(root):
        executed = execute(source, root / "results" / "notebooks" / "index.ipynb")
        return render([executed], root / "results" / "report")


def test_each_table_and_figure_has_an_address_of_its_own(page: Path) -> None:
    html = page.read_text()
    anchors = re.findall(r'<(?:figure|div class="scroll[^"]*")[^>]* id="([^"]+)"', html)
    assert anchors == [
        "table-nothing-was-read",
        "table-recall-of-the-pruner-b",
        "table-recall-of-the-pruner-b-2",
        "figure-a-line-that-rises",
    ]
    assert re.findall(r'<a href="#([^"]+)" aria-label="Link to this', html) == anchors


def test_each_table_and_figure_names_its_source(page: Path, tmp_path: Path) -> None:
    html = page.read_text()
    texts = [unescape(text) for text in re.findall("<p>(Source: .*?)</p>", html)]
    assert texts[0] == "Source: computed by this notebook; notebook index, cell 3; 1 row."
    assert re.fullmatch(r"Source: metrics of the stage pruner; this run; notebook index, cell 4; \d+ rows\.", texts[1])
    assert "metrics of the stages convert, pruner; this run; notebook index, cell 5" in texts[2]
    assert "metrics of the stages convert, pruner; this run; notebook index, cell 6; 2 points" in texts[3]
    assert str(page.parents[2]) not in html
    root = page.parents[2]
    shutil.copytree(page.parent, tmp_path / "before")
    render([root / "results" / "notebooks" / "index.ipynb"], tmp_path / "after")
    assert (tmp_path / "after" / "index.html").read_bytes() == (tmp_path / "before" / "index.html").read_bytes()


def test_each_table_and_figure_has_a_csv_and_a_visible_caption(page: Path) -> None:
    html = page.read_text()
    files = re.findall(r'href="(tables/[^"]+)" download>CSV</a>', html)
    assert len(files) == len(set(files)) == 4
    assert (page.parent / files[0]).read_text() == ",n\n0,1\n"
    assert (page.parent / files[-1]).read_text() == "series,x,y\na,1,3\na,2,4\n"
    assert "<figcaption>A line that rises</figcaption>" in html
    assert 'alt="A line that rises. ' in html
    assert "Recall of the pruner, &lt;b&gt; &amp; %" in html


def test_two_runs_are_named_with_their_stages() -> None:
    from studies.site.sources import described

    reference = {"run": "reference run", "date": "2026-01-02", "commit": "0123456789ab", "stages": ["decode", "train"]}
    here = {"run": "this run", "date": "", "commit": "", "stages": ["decode"]}
    assert described([reference]) == (
        "metrics of the stages decode, train; reference run of 2026-01-02, commit 0123456789ab"
    )
    assert described([reference, here]) == (
        "reference run of 2026-01-02, commit 0123456789ab, metrics of the stages decode, train; "
        "this run, metrics of the stage decode"
    )


def test_the_csv_of_a_table_has_all_its_numbers() -> None:
    data = pd.DataFrame({"a": [1 / 3, 1234567.0], "b": [2**40, 3]})
    read = pd.read_csv(io.StringIO(Table(data, "c")._repr_mimebundle_()["text/csv"]), index_col=0)
    assert read["a"].tolist() == pytest.approx(data["a"].tolist(), rel=1e-5)
    assert read["b"].tolist() == data["b"].tolist()


def test_reading_without_a_record_leaves_the_record_as_it_was() -> None:
    before = sources.bundle()
    with sources.unrecorded():
        sources.record("some run", {}, "no such stage")
        assert "no such stage" in str(sources.bundle())
    assert sources.bundle() == before
