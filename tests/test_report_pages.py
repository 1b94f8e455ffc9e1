"""Pages: functions that make sentences, sections to unfold, search steps, older pages, words that resemble HTML."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from studies.across.leaderboard.tables import Leaderboard
from studies.site import charts, sentences, statements
from studies.site.render import LONG, render
from studies.site.show import MOST, NOTE, STATEMENTS, Remarks, Table
from studies.site.speed_chart import chosen
from studies.site.stepping import Steps, drawn
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound
from treebound.plots.labels import point_labels
from treebound.plots.svg import as_svg
from treebound.plots.tree import tree_svg

# --- makers of sentences


def rows_of(*rows: tuple[str, float, float, float, float]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["of", "difference", "low", "high", "p"]).set_index("of")


def test_a_comparison_cannot_forget_interval_p_sample_and_chance() -> None:
    rows = rows_of(("a", 0.5, 0.1, 0.9, 0.01), ("b", -0.7, -1.0, -0.4, 0.0), ("c", 2.0, -1.0, 5.0, 0.2))
    assert sentences.significance_text(rows) == (
        "significantly better at the 5 % level: a (+0.50 [+0.10, +0.90], p = 0.010); significantly worse: b (-0.70 "
        "[-1.00, -0.40], p < 0.001); not significant: 1 of 3 (c (+2.00 [-1.00, +5.00], p = 0.200)); by chance alone, "
        "fewer than one of 3 tests would be significant"
    )
    many = rows_of(*((str(i), 0.1, 0.0, 0.2, 0.5) for i in range(20)))
    assert "not significant: 20 of 20; by chance alone, about 1 of 20 tests would" in sentences.significance_text(many)
    assert sentences.significance_text(rows, short=True).endswith("p < 0.001); not significant: 1 of 3")
    assert sentences.difference({"difference": 0.3}) == "+0.30, not tested"


def test_a_share_has_its_interval_and_its_whole() -> None:
    assert sentences.share(90, 1_000) == "9.0 % [7.4, 10.9] of 1,000"
    assert sentences.share(0, 0) == "nan % [0.0, 100.0] of 0"


def test_a_range_names_its_ends_and_drops_what_all_rows_share() -> None:
    index = pd.MultiIndex.from_tuples([("reference", "a"), ("reference", "b"), ("reference", "c")])
    assert sentences.span(pd.Series([2.0, 1.0, np.nan], index=index), "{:.1f}") == "1.0 (b) to 2.0 (a)"
    assert sentences.span(pd.Series([2.0], index=["x"])) == "2.00 (x)"


def test_sentences_store_the_cells_that_support_them() -> None:
    @sentences.about("nothing")
    def remark(data: pd.DataFrame) -> sentences.Sentences:
        yield "All of it."
        yield "The first row.", data.iloc[0]

    data = pd.DataFrame({"x": [17, 23]})
    text = remark(data)
    assert str(remark(data.iloc[:0])) == "nothing"
    stated = text._repr_mimebundle_()[STATEMENTS]
    assert [sentence["says"] for sentence in stated] == ["All of it.", "The first row."]
    assert "17" in stated[0]["cells"]
    assert "23" in stated[0]["cells"]
    assert "23" not in stated[1]["cells"]
    assert (str(text.short), str(text.rest)) == ("All of it.", "The first row.")


# --- pages


def notebook(path: Path, *cells: nbformat.NotebookNode) -> Path:
    for cell in cells:
        if cell.cell_type == "code":
            cell.execution_count = 1
    path.write_text(nbformat.writes(new_notebook(cells=list(cells))), encoding="utf-8")
    return path


def shown(value: object, *tags: str) -> nbformat.NotebookNode:
    """Return a notebook cell with the output of a value."""
    data = value._repr_mimebundle_() if hasattr(value, "_repr_mimebundle_") else {}
    for kind, name in (("text/html", "_repr_html_"), ("image/svg+xml", "_repr_svg_")):
        if hasattr(value, name):
            data[kind] = getattr(value, name)()
    output = new_output("execute_result", data={"text/plain": repr(value), **data}, execution_count=1)
    return new_code_cell("x", outputs=[output], metadata={"tags": list(tags)})


def folded(source: str) -> nbformat.NotebookNode:
    return new_markdown_cell(source, metadata={"tags": ["fold"]})


def test_an_answer_is_marked_and_a_section_folded(tmp_path: Path) -> None:
    cells = [
        new_markdown_cell("# T\n\nWhy?"),
        shown(Remarks(("Because.",)), "answer"),
        folded("## Detail\n\nMore."),
        shown(Remarks(("Inside.",))),
        new_markdown_cell("## Then"),
        folded("## Last"),
        new_markdown_cell("## For users\n\nOpen it.", metadata={"tags": ["notebook"]}),
    ]
    page = render([notebook(tmp_path / "index.ipynb", *cells)], tmp_path / "site").read_text()
    assert re.search(r'<div class="answer"><p>Because.</p>\s*</div>', page)
    inside = re.search(
        r'<details class="fold" name="fold"><summary><h2 id="detail">Detail</h2></summary>(.*?)</details>\s*<h2',
        page,
        re.S,
    )
    assert inside is not None
    assert "More." in inside[1]
    assert "Inside." in inside[1]
    assert "Open it." not in page
    # one more for the list of pages, and one for `Then`
    assert page.count('<details class="fold" name="fold">') == page.count("<h2") - 2 == 2
    assert len(re.findall("<details", page)) == len(re.findall("</details>", page))


def test_the_answer_is_below_the_question_and_later_remarks_are_folded(tmp_path: Path) -> None:
    remarks = Remarks(tuple(f"Sentence {i}." for i in range(1, 6)))
    cells = [
        new_markdown_cell("# T\n\nA question?"),
        new_markdown_cell("## Part"),
        shown(remarks),
        shown(Table(pd.DataFrame({"a": []}), "Figures of nothing")),
        shown(remarks.short, "answer"),
    ]
    page = render([notebook(tmp_path / "index.ipynb", *cells)], tmp_path / "site").read_text()
    assert page.index("A question?") < page.index('<div class="answer"><p>Sentence 1.') < page.index('<h2 id="part">')
    shown_at_once, _, folded_away = page[page.index('<h2 id="part">') :].partition('<details class="more">')
    assert "Sentence 3." in shown_at_once
    assert "Sentence 4." not in shown_at_once
    assert "<summary>2 more remarks</summary>" in folded_away
    assert "Figures of nothing: no run has results for this table." in page
    assert "<caption>" not in page


def test_the_page_has_the_first_rows_of_a_very_long_table_and_the_csv_has_all(tmp_path: Path) -> None:
    index = pd.MultiIndex.from_product([["first", "second"], range(MOST)], names=["part", "row"])
    data = pd.DataFrame({"a": range(2 * MOST), NOTE: ["odd", *[""] * (2 * MOST - 1)]}, index=index)
    cells = [new_markdown_cell("# T\n\nWhy?"), shown(Table(data, "Long")), shown(Table(data.iloc[:MOST], "Just short"))]
    page = render([notebook(tmp_path / "index.ipynb", *cells)], tmp_path / "site").read_text()
    long, _, short = page.partition("Just short")
    assert f"<summary>Long ({2 * MOST} rows)</summary>" in long
    assert f"cell 2; {2 * MOST} rows." in long
    assert f"<li>The first {MOST} of {2 * MOST} rows; the CSV has all.</li>" in long
    assert "<li>first, 0: odd</li>" in long
    assert f"<th scope=rowgroup rowspan={MOST}>first" in long
    assert ">second" not in long
    assert "rows; the CSV has all" not in short
    (csv, _) = sorted((tmp_path / "site" / "tables").iterdir())
    assert len(pd.read_csv(csv)) == 2 * MOST
    assert Leaderboard(data, "All")._repr_html_().count("<tr>") == 1 + 2 * MOST, "readers filter its rows"


def test_only_a_long_leaderboard_scrolls_in_its_frame(tmp_path: Path) -> None:
    ranking = Leaderboard(pd.DataFrame({"a": range(LONG + 1)}), "Ranking")
    cells = [new_markdown_cell("# T\n\nWhy?"), shown(ranking), shown(Leaderboard(ranking.data.head(LONG), "Short"))]
    page = render([notebook(tmp_path / "index.ipynb", *cells)], tmp_path / "site").read_text()
    frames = re.findall('<div class="(scroll[a-z ]*)" role="region" aria-label="([A-Z][a-z]+)"', page)
    assert frames == [("scroll", "Ranking"), ("scroll few", "Short")]
    assert '<details class="long"' not in page


def test_titles_of_groups_are_no_rows_of_a_table_of_claims(tmp_path: Path) -> None:
    groups = '<tbody><tr><th scope="rowgroup" colspan="2">Ours</th></tr><tr><th>a</th><td>b</td></tr></tbody>'
    data = {"text/html": f'<table class="claims"><caption>C</caption>{groups}</table>', "text/plain": "C"}
    cell = new_code_cell("x", outputs=[new_output("execute_result", data=data, execution_count=1)])
    page = render([notebook(tmp_path / "index.ipynb", new_markdown_cell("# T"), cell)], tmp_path / "site").read_text()
    assert "cell 2; 1 row." in page


def test_sections_without_results_are_left_out_and_named_at_the_end(tmp_path: Path) -> None:
    none, some = Table(pd.DataFrame({"a": []}), "Empty"), Table(pd.DataFrame({"a": range(16)}), "Full")
    long = Table(pd.DataFrame({"a": range(17)}), "Long")
    cells = [
        new_markdown_cell("# T\n\nWhy?\n\n## One\n\nText of one.\n\n## Two\n\nText of two."),
        shown(none),
        shown(Remarks(("No run has this.",), absent=True)),
        folded("## Three\n\nText of three."),
        shown(none),
        folded("## Four\n\nText of four."),
        shown(none),
        shown(some),
        shown(long),
        new_markdown_cell("## Five\n\nText of five."),
        shown(Remarks(("This needs a model.",), absent=True, listed=False)),
        shown(Remarks(("So.",)), "answer"),
    ]
    page = render([notebook(tmp_path / "index.ipynb", *cells)], tmp_path / "site").read_text()
    left_out = 'because no run has results: <span id="two">Two</span>; <span id="three">Three</span>.'
    assert left_out in page, "links to these sections lead to the note"
    assert all(text not in page for text in ("Text of two", "Text of three", "No run has this", 'h2 id="two"'))
    assert all(text not in page for text in ("Text of five", "This needs", 'id="five"')), "not listed, so no note"
    assert all(
        text in page for text in ("Text of one", "Text of four", "Empty: no run", "So.", 'id="one"', 'id="four"')
    )
    assert len(re.findall("<details", page)) == len(re.findall("</details>", page))
    assert page.count('class="scroll few"') == page.count('class="scroll"') == 1, "the table of 17 rows may scroll"


NASTY = ["<script>alert(1)</script>", "<b>", "&amp;", "]]>", '"', "$x$"]


def test_words_that_look_like_html_are_text_everywhere(tmp_path: Path) -> None:
    heads = [-1, 0, 1, 1, 1, 1, 1]
    search = BranchAndBound(record=True, backbone="eisner", root_steps=2, node_steps=1, stars=0)
    record = search.decode(drawn(len(NASTY), 3)).record
    cells = [
        new_markdown_cell("# T"),
        shown(tree_svg(NASTY, heads, tags=NASTY, gloss=NASTY)),
        shown(tree_svg(NASTY, heads, about=NASTY)),
        shown(Table(pd.DataFrame({"<i>": NASTY}, index=NASTY), "<u>caption</u>")),
        shown(Remarks(tuple(word for word in NASTY if "$" not in word))),
        shown(Steps(record, NASTY)),
    ]
    page = render([notebook(tmp_path / "index.ipynb", *cells)], tmp_path / "site").read_text()
    assert page.count("<script") == 1  # the script of the page itself
    for tag in ("<b>", "<i>", "<u>"):
        assert tag not in page
    assert html.unescape(page).count(NASTY[0]) >= 6
    for figure in (tmp_path / "site" / "figures").glob("*.svg"):
        assert "<script" not in figure.read_text()


# --- trees and figures


def test_words_have_tooltips_and_glosses(tmp_path: Path) -> None:
    tree = tree_svg(["ev", "x"], [-1, 0, 1], tags=["N", "X"], gloss=["house", "y"], about=["ev\nCase=Nom", ""])
    assert "<title>ev\nCase=Nom</title>" in tree.markup
    assert ">house</text>" in tree.markup
    page = render([notebook(tmp_path / "index.ipynb", new_markdown_cell("# T"), shown(tree))], tmp_path / "site")
    # tooltips need inline SVG, because an image does not show titles of its parts
    assert "<title>ev\nCase=Nom</title>" in page.read_text()
    assert 'href="figures/index-2-1.svg" download' in page.read_text()
    with pytest.raises(ValueError, match="gloss has 1 entries"):
        tree_svg(["a", "b"], [-1, 0, 1], gloss=["x"])


@pytest.mark.parametrize("columns", [1, 2])
def test_labels_of_points_overprint_neither_each_other_nor_points(columns: int) -> None:
    rows = [(c, "one", "s", f"k = {k}", 88 + 0.01 * k, 1e4 + k) for c in ("c", "d") for k in range(5)]
    names = ["corpus", "group", "system", "label", "uas", "words_per_cpu_s"]
    slow = [(c, "two", "s", "", 87.3, 1e3) for c in ("c", "d")]
    figure = charts.accuracy_speed(pd.DataFrame([*rows, *slow], columns=names), columns)
    before = [label.get_window_extent() for label in point_labels(figure)]
    assert any(a.overlaps(b) for i, a in enumerate(before) for b in before[:i])
    as_svg(figure, "x")
    free = point_labels(figure)
    assert len(free) == len(before) == 12
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in free]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.x1 for box in boxes)
    points = [axes.transData.transform(p) for axes in figure.axes for line in axes.lines for p in line.get_xydata()]
    assert not any(box.contains(*point) for box in boxes for point in points)


def test_one_bad_system_is_listed_below_its_panel_and_does_not_press_the_others_together() -> None:
    rows = [("c", "one", "s", "", 88.0 + i / 10, 10.0**i) for i in range(2, 5)]
    columns = ["corpus", "group", "system", "label", "uas", "words_per_cpu_s"]
    data = pd.DataFrame(
        [*rows, ("c", "one", "s", "crossing", 60.0, 3e4), ("d", "one", "s", "", 88.0, 1e3)], columns=columns
    )
    figure = charts.accuracy_speed(data)
    figure.draw_without_rendering()
    axes, other = figure.axes
    assert axes.get_ylim()[0] > 85
    below = "Below the axis (* on the line): s, crossing*: 60.0 UAS, 30,000 words/s"
    assert " ".join(axes.get_xlabel().split()).endswith(below)
    assert "Below" not in other.get_xlabel()
    front = axes.lines[0]
    assert (list(front.get_xdata()), list(front.get_ydata())) == ([10_000], [88.4])
    assert max(x for line in axes.lines for x in line.get_xdata()) == 10_000
    leaving = axes.lines[-1]
    assert (list(leaving.get_xdata()), list(leaving.get_ydata())) == ([10_000] * 2, [88.4, axes.get_ylim()[0]])
    slow, _ = charts.accuracy_speed(data.replace(3e4, 10.0)).axes
    assert " ".join(slow.get_xlabel().split()).endswith("Below the axis: s, crossing: 60.0 UAS, 10 words/s")
    assert len(slow.lines) == len(axes.lines) - 1
    best = "c: s (88.40 %, 10,000 words/s); d: s (88.00 %, 1,000 words/s)"
    assert figure.get_label() == f"The most accurate systems are {best}."


def test_a_panel_names_its_front_its_pruning_and_the_best_of_each_family() -> None:
    columns = ["corpus", "group", "system", "label", "uas", "words_per_cpu_s", "proved"]
    front = [("c", "graph", f"front-{i}", "", 90 - i / 10, 1e3 * (i + 1), 100.0) for i in range(3)]
    swept = [("c", "pruned", "all", f"k = {k}", 89.0, 10.0 * k, 50.0) for k in (3, 5)]
    others = [("c", f"family {i % 9}", f"other-{i}", "", 89 + i / 100, 20.0 + i, 0.0) for i in range(30)]
    data = pd.DataFrame([*others, *swept, *front], columns=columns)
    names = [data.loc[i, "label"] or data.loc[i, "system"] for i in chosen(data)]
    assert names[:4] == ["front-0", "front-2", "k = 3", "k = 5"]
    assert names[4:-1] == [f"other-{i}" for i in range(29, 20, -1)], "the best of each family"
    assert names[-1] == "front-1"
    close = pd.concat([data, data.iloc[[-2]].assign(uas=89.91, system="close")], ignore_index=True)
    assert len(chosen(close)) == len(names), "one of two close systems of the front has a name"
    spacy = pd.DataFrame([("c", "others", "spacy", "spacy", 80.0, 5.0, float("nan"))], columns=columns)
    assert len(data) in chosen(pd.concat([data, spacy], ignore_index=True)), "parsers of others are always named"
    (axes,) = charts.accuracy_speed(data).axes
    marks = axes.lines[1:]
    assert len(marks) == len(data)
    assert [line.get_fillstyle() for line in marks[:5]] == ["full"] * 2 + ["left"] * 2 + ["none"]
    assert sum(line.get_markersize() > 5 for line in marks) == 14
    assert {text.get_text() for text in axes.texts} >= {"front-0", "k = 3"}
    ends = np.array(axes.lines[0].get_xydata())
    assert axes.lines[0].get_drawstyle() == "steps-pre"
    np.testing.assert_allclose(ends, [(1e3, 90), (2e3, 89.9), (3e3, 89.8)])


def test_many_corpora_and_systems_do_not_exhaust_the_colours() -> None:
    data = pd.DataFrame([("c", f"s{i}", 0.1, -0.1, 0.3) for i in range(9)], columns=GAINS)
    figure = charts.gains(data)
    figure.draw_without_rendering()
    low, high = figure.axes[0].get_ylim()
    heights = [line.get_ydata()[0] for line in figure.axes[0].lines if line.get_label().startswith("_")][1:]
    assert all(low < height < high for height in heights if height)
    assert figure.get_label().startswith("s0: 0 of 1 intervals are above zero and 0 below;")


def test_times_of_several_corpora_are_one_curve_with_a_band() -> None:
    index = pd.MultiIndex.from_product(
        [["r"], ["a", "b"], ["m"], ["projective"], [0, 10]], names=["run", "corpus", "model", "space", "longer_than"]
    )
    data = pd.DataFrame({f"solver {i}": [1.0, 10.0, 4.0, 1000.0] for i in range(8)}, index=index)
    figure = charts.times(data)
    (axes,) = figure.axes
    assert [line.get_label() for line in axes.lines] == [f"solver {i}" for i in range(6)]
    np.testing.assert_allclose(axes.lines[0].get_ydata(), [2.0, 100.0])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1\u201310", "> 10"]
    assert len(axes.collections) == 6
    assert "see the table: solver 6; solver 7" in " ".join(figure.get_supxlabel().split())
    alone = charts.times(data.xs("a", level="corpus", drop_level=False))
    assert not alone.axes[0].collections
    assert "Corpus: a" in alone.get_supxlabel()


GAINS = ["corpus", "system", "difference", "low", "high"]


def test_an_interval_without_zero_is_drawn_filled() -> None:
    rows = [
        ("a", "s", 0.5, 0.1, 0.9),
        ("b", "s", 0.5, -0.1, 1.1),
        ("b", "t", -0.5, -0.9, -0.1),
        ("c", "s", 1, np.nan, np.nan),
    ]
    (axes,) = charts.gains(pd.DataFrame(rows, columns=GAINS)).axes
    ends = [line for line in axes.lines if len(line.get_xdata()) == 2 and line.get_xdata()[0] != line.get_xdata()[1]]
    drawn_wide = {tuple(line.get_xdata()): line.get_linewidth() > 2 for line in ends if line.get_xdata()[0] != 0}
    assert drawn_wide[0.1, 0.9]
    assert drawn_wide[-0.9, -0.1]
    assert not drawn_wide[-0.1, 1.1]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b", "c"]


def test_curves_use_the_printed_axes() -> None:
    printed = pd.DataFrame({"corpus": ["P", "C"], "words": [60, 140], "seconds": [10, 80], "DP calls": [200, 1000]})
    data = pd.DataFrame({"corpus": "a", "lo": [1, 11], "hi": [10, 20], "mean_s": [0.1, 0.2], "mean_dp_calls": [3, 9]})
    ends = [(axes.get_xlim()[1], axes.get_ylim()[1]) for axes in charts.on_printed_axes(data, printed).axes]
    assert ends == [(60, 10), (140, 80), (60, 200), (140, 1000)]


# --- steps of a search


def test_every_node_is_described_with_its_bounds() -> None:
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
    search = BranchAndBound(record=True, backbone="eisner", root_steps=3, node_steps=2, stars=0)
    parse = search.decode(drawn(8, 2))
    assert parse.status == "optimal"
    steps = Steps(parse.record, words)
    nodes, calls = parse.record.nodes, parse.record.bounds
    assert len(nodes) > 4
    markup = steps._repr_html_()
    assert markup.count("<li>") == markup.count("<svg") == len(nodes)
    assert steps.describe(nodes[0]).startswith("All trees of the sentence. Upper bound, calls 1 to ")
    assert f"from {calls[0]['ub']:.3f}" in steps.describe(nodes[0])
    for node in nodes[1:]:
        h, m = node["arc"]
        arc = f"{words[h - 1] if h else 'root'} → {words[m - 1]}"
        description = steps.describe(node)
        assert description.startswith(
            f"The trees of node {node['parent']} {'with' if node['value'] else 'without'} {arc}."
        )
        assert ("closed." in description) == (node["status"] == "closed")
        assert ("split on" in description) == (node["status"] == "branched")


# --- statements


def test_statements_are_sampled_with_their_cells(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    remarks = Remarks(
        tuple(sentences.Sentence.on(f"Sentence {i}.", pd.DataFrame({"v": [i * 111]})) for i in range(1, 6))
    )
    notebook(tmp_path / "10-x.ipynb", new_markdown_cell("# X\n\n## Part"), shown(remarks))
    assert statements.main(["--notebooks", str(tmp_path), "--sample", "3", "--seed", "1"]) == 0
    first = capsys.readouterr().out
    assert first.count("10-x, Part") == 3
    numbers = re.findall(r"Sentence (\d)\.", first)
    assert len(set(numbers)) == 3
    assert all(str(int(number) * 111) in first for number in numbers)
    assert statements.main(["--notebooks", str(tmp_path), "--sample", "3", "--seed", "1"]) == 0
    assert capsys.readouterr().out == first
    assert statements.main(["--notebooks", str(tmp_path / "none")]) == 1
    assert "no executed notebooks" in capsys.readouterr().err


def test_all_outputs_survive_json() -> None:
    remarks = Remarks((sentences.Sentence.on("x", pd.Series([np.float64(1.5)])),))
    assert json.loads(json.dumps(remarks._repr_mimebundle_()))[STATEMENTS][0]["says"] == "x"
