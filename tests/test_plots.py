"""Figures: their content, and that the same data give the same bytes."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.qian_liu_2013.confidence import figures as confidence_figures
from studies.qian_liu_2013.speed import figures as speed_figures
from studies.qian_liu_2013.steps import figures as steps_figures
from studies.qian_liu_2013.tuning import figures as tuning_figures
from studies.site import charts
from treebound.plots.labels import settle, spread
from treebound.plots.search_tree import search_tree_svg
from treebound.plots.style import (
    COLOURS,
    CYCLE,
    END_LABEL,
    describe,
    distinct,
    end_labels,
    label_lines,
    log_axis,
    note,
    panels,
    style,
    text_colour,
    thinned,
    wrapped,
)
from treebound.plots.svg import Svg, as_svg
from treebound.plots.tree import tree_svg

WORDS = ["The", "parser", "proves", "its", "trees"]
HEADS = [-1, 2, 3, 0, 5, 3]
GOLD = [-1, 2, 3, 0, 3, 3]
SPACE = "{http://www.w3.org/2000/svg}"

NODES = [
    {"id": 0, "parent": -1, "arc": None, "value": 0, "ub": 12.5, "status": "branched"},
    {"id": 1, "parent": 0, "arc": (3, 5), "value": 1, "ub": 11.0, "status": "closed"},
    {"id": 2, "parent": 0, "arc": (3, 5), "value": 0, "ub": -1e22, "status": "closed"},
]
TRACE = [
    {"call": 1, "node": 0, "ub": 14.0, "lb": 9.0},
    {"call": 2, "node": 0, "ub": 12.5, "lb": 11.0},
    {"call": 3, "node": 1, "ub": 11.0, "lb": 11.0},
]
POINTS = pd.DataFrame(
    {
        "corpus": ["a", "a", "a", "b"],
        "group": ["one", "one", "two", "two"],
        "system": ["s", "t", "s", "t"],
        "label": ["", "", "k = 3", ""],
        "uas": [88.0, 89.0, 87.0, 90.0],
        "words_per_cpu_s": [1e4, 1e3, 5e3, 2e3],
    }
)
LENGTHS = pd.DataFrame(
    [
        {"corpus": c, "k": k, "lo": lo, "hi": lo + 9, "sentences": 5, "calls": lo * (1 + i)}
        for c in ("a", "b")
        for i, k in enumerate(("3", "none"))
        for lo in (1, 11, 21)
    ]
)
CONFIGURATIONS = pd.DataFrame(
    {
        "corpus": ["a", "a", "a"],
        "decoder": ["published", "tuned-carreras", "tuned"],
        "dp_calls": [100.0, 25.0, 5.0],
        "nodes": [20.0, 4.0, 2.0],
    }
)
WORK = {"dp_calls": "calls", "nodes": "nodes"}
PAIRS = pd.DataFrame({"published": [10, 200, 3000], "tuned": [2, 30, 400]})

CURVES = pd.DataFrame(
    {
        "corpus": ["a", "a"],
        "configuration": ["default", "published"],
        "curve": [{1: 50.0, 2: 90.0, 4: 100.0, 8: 100.0}, {1: 20.0, 2: 20.0, 4: 60.0, 8: 60.0}],
    }
)

SIZES = pd.DataFrame(
    [
        {"task": task, "workers": kind, "sentences": size, "mebibytes": 250.0}
        | {"cpu_ms_per_sentence": cost, "wall_ms_per_sentence": cost / 2}
        for task, kind, cost in (("parse", "1 worker", 2.0), ("parse", "2 workers", 3.0), ("train", "1 worker", 9.0))
        for size in (1000, 10_000, 100_000)
    ]
)

CONFIDENCE = pd.DataFrame(
    {"confidence": [0.5, 20.0], "mean": [0.4, 0.9], "accuracy": [0.5, 0.9], "low": [0.4, 0.8], "high": [0.6, 1.0]}
)
DRAWINGS = {
    "reliability": lambda: as_svg(confidence_figures.reliability(CONFIDENCE, CONFIDENCE), "by confidence"),
    "tree": lambda: tree_svg(WORDS, HEADS, gold=GOLD, tags=["D", "N", "V", "D", "N"]),
    "search tree": lambda: search_tree_svg(NODES, WORDS),
    "bounds": lambda: as_svg(charts.bounds(TRACE), "bounds"),
    "accuracy and speed": lambda: as_svg(charts.accuracy_speed(POINTS), "accuracy"),
    "length": lambda: as_svg(speed_figures.against_length(LENGTHS, "calls", "DP calls"), "length"),
    "tuning": lambda: as_svg(tuning_figures.tuning(CONFIGURATIONS, WORK), "tuning"),
    "unproved": lambda: as_svg(tuning_figures.unproved(CURVES), "not yet proved"),
    "scale": lambda: as_svg(charts.scale(SIZES), "scale"),
    "sentences": lambda: as_svg(tuning_figures.sentence_by_sentence(PAIRS, "DP calls"), "sentences"),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_same_data_give_the_same_bytes_and_an_alt_text(name: str) -> None:
    first, second = DRAWINGS[name](), DRAWINGS[name]()
    assert first.markup == second.markup
    root = ElementTree.fromstring(first.markup)
    assert root.tag == f"{SPACE}svg"
    assert root.get("aria-label") == first.alt
    assert first.alt


def _strokes(svg: Svg, colour: str) -> int:
    return sum(
        path.get("stroke") == COLOURS[colour] for path in ElementTree.fromstring(svg.markup).iter(f"{SPACE}path")
    )


def test_tree_colours_differences_from_gold() -> None:
    svg = tree_svg(WORDS, HEADS, gold=GOLD)
    assert (_strokes(svg, "blue"), _strokes(svg, "vermilion"), _strokes(svg, "green")) == (4, 1, 1)
    plain = tree_svg(WORDS, HEADS)
    assert (_strokes(plain, "blue"), _strokes(plain, "vermilion"), _strokes(plain, "green")) == (5, 0, 0)


def test_tree_writes_every_word_and_names_its_arcs() -> None:
    svg = tree_svg(["a & b", "<c>"], [-1, 2, 0])
    texts = [element.text for element in ElementTree.fromstring(svg.markup).iter(f"{SPACE}text")]
    assert {"a & b", "<c>", "root"} <= set(texts)
    assert svg.alt == "Dependency tree: <c> → a & b, root → <c>"


def test_arcs_that_contain_others_are_higher() -> None:
    svg = tree_svg(["a", "b", "c", "d"], [-1, 0, 1, 2, 1])
    paths = [e.get("d", "") for e in ElementTree.fromstring(svg.markup).iter(f"{SPACE}path") if e.get("stroke")]
    near, inner, outer = (float(re.search(r"V([\d.]+)", path)[1]) for path in paths[1:])  # y coordinate below the bend
    assert outer < near == inner


def test_tree_refuses_lengths_that_disagree() -> None:
    with pytest.raises(ValueError, match="heads has 3 entries, 5 words need 6"):
        tree_svg(WORDS, [-1, 0, 1])


@pytest.mark.parametrize(("count", "text"), [(1, "1 node"), (2, "2 nodes")])
def test_a_search_tree_is_described_by_its_number_of_nodes(count: int, text: str) -> None:
    assert f"Branch-and-bound tree of {text}<" in search_tree_svg(NODES[:count], WORDS).markup


def test_search_tree_counts_omitted_nodes() -> None:
    chain = [{"id": 0, "parent": -1, "arc": None, "value": 0, "ub": 9.0, "status": "branched"}]
    chain += [{**chain[0], "id": i, "parent": i - 1, "arc": [1, 2], "value": 1} for i in range(1, 60)]
    svg = search_tree_svg(chain, WORDS, limit=10)
    root = ElementTree.fromstring(svg.markup)
    assert "the first 10 of 60 nodes" in [element.text for element in root.iter(f"{SPACE}text")]
    assert sum(1 for _ in root.iter(f"{SPACE}rect")) == 1 + 10  # the background and a box for each node


def test_bounds_draw_the_best_tree_so_far_and_omit_missing_values() -> None:
    calls = [
        {"call": 1, "node": 0, "ub": 4.0, "lb": -1e22},
        {"call": 2, "node": 0, "ub": 3.6, "lb": 3.0},
        {"call": 3, "node": 1, "ub": -1e22, "lb": 2.0},
    ]
    upper, lower = (line.get_ydata() for line in charts.bounds(calls).axes[0].lines[:2])
    np.testing.assert_array_equal(upper, [4.0, 3.6, np.nan])
    np.testing.assert_array_equal(lower, [np.nan, 3.0, 3.0])


def test_pareto_keeps_undominated_points() -> None:
    frontier = charts.pareto(POINTS[POINTS["corpus"] == "a"])
    assert list(frontier["uas"]) == [89.0, 88.0]


def test_one_panel_a_corpus_one_curve_a_setting() -> None:
    figure = speed_figures.against_length(LENGTHS, "calls", "DP calls")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["a", "b"]
    lines = {line.get_label(): line for line in figure.axes[0].lines if not line.get_label().startswith("_")}
    assert list(lines) == ["k = 3", "no pruning"]
    np.testing.assert_array_equal(lines["no pruning"].get_ydata(), [2, 22, 42])
    assert figure.get_supxlabel() == "Empty marks: fewer than 10 sentences."
    assert figure.get_label().startswith("In the longest sentences (DP calls), a k = 3: 21, no pruning: 42;")


def test_tuning_writes_the_ratio_to_published() -> None:
    figure = tuning_figures.tuning(CONFIGURATIONS, WORK)
    assert [text.get_text() for text in figure.axes[0].texts] == ["4.0 ×", "20.0 ×"]
    assert [text.get_text() for text in figure.axes[1].texts] == ["5.0 ×", "10.0 ×"]


def test_curves_end_where_nothing_more_is_proved() -> None:
    figure = tuning_figures.unproved(CURVES)
    default, published, cross = figure.axes[0].lines
    assert (cross.get_marker(), list(cross.get_xydata()[0])) == ("x", [4, 40]), "40 % are never proved"
    (fall,) = figure.axes[0].collections
    assert [list(place) for place in fall.get_segments()[0]] == [[2, 10], [4, 5]], "all are proved after 4 calls"
    assert figure.axes[0].get_ylim()[0] == 5
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["default", "published", "the last sentence is proved", "some are never proved"]
    assert figure.get_label().endswith("default 0.0 %, published 40.0 %.")
    assert (list(default.get_xdata()), list(default.get_ydata())) == ([1, 2], [50, 10])
    assert (list(published.get_xdata()), list(published.get_ydata())) == ([1, 2, 4], [80, 80, 40])


def test_a_panel_has_six_configurations_and_names_the_others() -> None:
    curves = [{1: 50.0 - 3 * i, 2: 100.0} for i in range(9)]
    data = pd.DataFrame({"corpus": "a", "configuration": [f"c{i}" for i in range(9)], "curve": curves})
    figure = tuning_figures.unproved(data)
    assert [line.get_label() for line in figure.axes[0].lines] == ["c0", "c4", "c5", "c6", "c7", "c8"]
    assert (
        figure.legends[0].get_title().get_text() == "Not drawn, at most 9.0 points from c0 in every panel: c1, c2, c3."
    )


def test_equal_sentences_share_a_dot() -> None:
    figure = tuning_figures.sentence_by_sentence(pd.concat([PAIRS] * 7), "DP calls")
    _diagonal, *dots = figure.axes[0].lines
    assert [len(line.get_xdata()) for line in dots] == [0, 0, 3, 0]
    assert figure.get_label().startswith("tuned needs less work than published in 100.0 % of 21 sentences")


def test_the_trainings_that_differ_most_are_drawn() -> None:
    rows = [("p", f"t{i}", "t4", epoch, 80.0 + i + epoch) for i in range(9) for epoch in (1, 2)]
    data = pd.DataFrame(rows, columns=["place", "training", "base", "epoch", "UAS"])
    figure = steps_figures.by_epoch(data, "UAS")
    assert [line.get_label() for line in figure.axes[0].lines] == ["t0", "t1", "t2", "t4", "t7", "t8"]
    assert "at most 2.00 points from the base" in figure.get_supxlabel()


def test_time_and_memory_have_a_curve_for_each_task_and_kind_of_workers() -> None:
    cpu, wall, memory = charts.scale(SIZES).axes
    assert [line.get_label() for line in cpu.lines] == ["parse, 1 worker", "parse, 2 workers", "train, 1 worker"]
    np.testing.assert_array_equal(cpu.lines[1].get_ydata(), [3.0] * 3)
    np.testing.assert_array_equal(wall.lines[2].get_ydata(), [4.5] * 3)
    assert memory.get_ylim()[0] == 0, "a flat curve looks flat only if the axis starts at zero"


def test_empty_traces_are_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        charts.bounds([])
    with pytest.raises(ValueError, match="empty"):
        search_tree_svg([], WORDS)


ODD = ["a\0b", "\x1b[31m", "\ud800", "\ufffe", "\uffff", "\x0b\x7f\x85", "<&>\"'", "--", "\U0001f600"]


def test_any_word_gives_well_formed_svg() -> None:
    """Figures replace characters that XML does not allow, because words come from files."""
    heads = [-1, 0, *[1] * (len(ODD) - 1)]
    tree = tree_svg(ODD, heads, gold=[-1, 0, *[2] * (len(ODD) - 1)], tags=ODD)
    texts = [element.text for element in ElementTree.fromstring(tree.markup).iter(f"{SPACE}text")]
    assert {"a␀b", "␛[31m", "\ufffd", "<&>\"'", "--", "\U0001f600"} <= set(texts)
    assert "a␀b" in ElementTree.fromstring(tree.markup).attrib["aria-label"]
    ElementTree.fromstring(search_tree_svg(NODES, ODD).markup)


@pytest.mark.filterwarnings("ignore:Glyph")
def test_any_name_gives_a_well_formed_figure(tmp_path) -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().set_title("a\x01b")
    svg = as_svg(figure, "a \x02 figure")
    assert ElementTree.fromstring(svg.markup).attrib["aria-label"] == "a ␂ figure"
    assert svg.save(tmp_path / "figure.svg").exists()


# --- figures for screens


def _luminance(colour: str) -> float:
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_colours_have_the_contrast_that_marks_and_text_need() -> None:
    for colour in CYCLE:
        assert 1.05 / (_luminance(colour) + 0.05) >= 3, colour
        assert 1.05 / (_luminance(text_colour(colour)) + 0.05) >= 4.5, colour


@given(st.lists(st.floats(-100, 100), max_size=8), st.lists(st.floats(0.5, 20), min_size=7, max_size=7))
def test_spread_labels_keep_their_distance_and_order(heights: list[float], gaps: list[float]) -> None:
    """Labels that are far enough apart stay in place. Limits hold if all labels fit between them."""
    heights, gaps = sorted(heights), gaps[: max(len(heights) - 1, 0)]
    moved = spread(heights, gaps)
    assert all(b - a >= gap - 1e-6 for (a, b), gap in zip(pairwise(moved), gaps, strict=True))
    if all(b - a >= gap for (a, b), gap in zip(pairwise(heights), gaps, strict=True)):
        assert moved == pytest.approx(heights)
    limited = spread(heights, gaps, 0.0, sum(gaps) + 1.0)
    assert all(b - a >= gap - 1e-6 for (a, b), gap in zip(pairwise(limited), gaps, strict=True))
    assert all(-1e-6 <= height <= sum(gaps) + 1.0 + 1e-6 for height in limited)


@pytest.mark.parametrize(
    ("low", "high"), [(1, 2e6), (120, 300_000), (0.05, 0.9), (40_000, 46_000), (2, 3), (1e-3, 1e5)]
)
@pytest.mark.parametrize("width", [2.2, 4.0, 9.0])
def test_logarithmic_axes_have_few_ticks_that_do_not_touch(low: float, high: float, width: float) -> None:
    with style():
        figure, (axes,) = panels(1, width=width)
        axes.plot([low, high], [low, high])
        log_axis(axes, "x")
        log_axis(axes, "y")
        figure.draw_without_rendering()
        for axis, side in ((axes.xaxis, "width"), (axes.yaxis, "height")):
            first, last = axis.get_view_interval()
            names = [tick.label1 for tick in axis.get_major_ticks() if first <= tick.get_loc() <= last]
            boxes = [name.get_window_extent() for name in names]
            assert 1 <= len(boxes) <= 5
            assert len(boxes) > 1 or side == "width"
            assert not any(a.overlaps(b) for a, b in pairwise(boxes))


@pytest.mark.parametrize(("width", "step"), [(8.0, 1), (3.6, 2), (2.9, 3)])
def test_names_of_places_do_not_touch_and_the_name_of_an_axis_stays_in_the_figure(width: float, step: int) -> None:
    names = ["1–10", "11–20", "21–30", "31–40", "41–50", "> 50"]
    with style():
        figure, (axes,) = panels(1, width=width)
        axes.plot(range(6), range(6))
        axes.set_xticks(range(6), names)
        axes.set_yticks([0], ["a long name of a row" if width < 8 else ""])
        axes.set_xlabel("thick and filled: excludes zero")
        settle(figure)
        figure.draw_without_rendering()
    labels = [label for label in axes.get_xticklabels() if label.get_text()]
    assert [label.get_text() for label in labels] == names[::step]
    boxes = [label.get_window_extent() for label in labels]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    assert axes.xaxis.label.get_window_extent().x1 <= figure.bbox.x1 + 1


def test_the_csv_names_places_that_the_figure_leaves_out() -> None:
    with style():
        figure, (axes,) = panels(1, width=2.5)
        axes.plot(range(4), range(4), label="curve")
        axes.set_xticks(range(4), [f"a long name {i}" for i in range(4)])
    drawn = as_svg(figure, "names")
    assert "a long name 1" not in drawn.markup.partition(">")[2]
    assert all(f"a long name {i}" in drawn.data for i in range(4))


def test_wrapped_text_is_wrapped_again_for_another_width() -> None:
    text = "carreras+grandchild+sibling is 99 % of (log scale)"
    once = wrapped(text, 20)
    assert once.split("\n") == ["carreras+grandchild+", "sibling is 99\u00a0% of ", "(log\u00a0scale)"]
    assert wrapped(once, 100).replace("\u00a0", " ") == text
    assert wrapped("first line\nsecond", 30) == "first line\nsecond"


def test_curves_that_differ_most_are_drawn() -> None:
    scores = {"a": 1.0, "b": float("nan"), "c": 3.0, "d": 2.0}
    assert distinct(scores, 2) == ["c", "d"]
    assert distinct(scores, 9) == list("abcd")
    assert thinned(5, 9) == [0, 1, 2, 3, 4]
    assert thinned(1000, 5) == [0, 250, 500, 749, 999]


def test_labels_at_the_ends_of_curves_do_not_overlap_and_stay_in_a_column() -> None:
    with style():
        figure, (axes,) = panels(1, width=6)
        for i in range(6):
            axes.plot([0, 4 + i], [9, 1 + i % 2], label=f"curve number {i}")
        axes.plot([0, 1], [float("nan")] * 2, label="without values")
        label_lines(axes)
        as_svg(figure, "ends")
        figure.draw_without_rendering()
        labels = [text for text in axes.texts if text.get_gid() == END_LABEL]
        boxes = [label.get_window_extent() for label in labels]
    assert [label.get_text() for label in labels] == [f"curve number {i}" for i in range(6)]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert max(box.x0 for box in boxes) - min(box.x0 for box in boxes) < 2
    assert all(box.x1 <= figure.bbox.x1 + 1 and box.y0 >= axes.bbox.y0 - 2 for box in boxes)


def test_the_narrow_form_repeats_and_breaks_the_names_of_rows() -> None:
    drawn = as_svg(tuning_figures.tuning(CONFIGURATIONS.assign(corpus="a corpus with a long name"), WORK), "tuning")
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", drawn.narrow)
    assert texts.count("a corpus with a ") == texts.count("long name") == 2
    assert re.findall(r"<text[^>]*>([^<]*)</text>", drawn.markup).count("a corpus with a long name") == 1


def test_long_traces_and_many_curves_are_small_files() -> None:
    trace = [{"call": i, "node": i // 3, "ub": 9 + 1e3 / i, "lb": 9 - 1e3 / i} for i in range(1, 5000)]
    figure = charts.bounds(trace)
    assert all(len(line.get_xdata()) <= 200 for line in figure.axes[0].lines)
    assert "the last upper bound is 9.20 and the best tree has the score 8.80" in figure.get_label()
    pairs = pd.DataFrame(np.random.default_rng(0).integers(1, 5000, (20_000, 2)), columns=["one", "other"])
    for drawing in (as_svg(figure, "b"), as_svg(tuning_figures.sentence_by_sentence(pairs, "DP calls"), "s")):
        assert len(drawing.markup) < 100_000


def test_a_figure_has_a_narrow_form_with_all_its_text() -> None:
    with style():
        figure, axes = panels(2, width=9)
        for i, panel in enumerate(axes):
            panel.plot([0, 1], [i, i + 1], label="curve")
            panel.set_title(f"panel {i}")
            end_labels(panel, [(1, i + 1, f"end {i}", CYCLE[i])])
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center")
        describe(figure, "The second curve is higher.")
        note(figure, "a note about both panels")
    drawn = as_svg(figure, "two panels")
    assert drawn.alt.startswith("two panels. The second curve is higher. ")
    for markup in (drawn.markup, drawn.narrow):
        assert {"panel 0", "panel 1", "end 0", "end 1", "curve", "a note about both panels"} <= set(
            re.findall(r"<text[^>]*>([^<]*)</text>", markup)
        )
    width, height = (float(re.search(rf'{name}="([\d.]+)pt"', drawn.narrow)[1]) for name in ("width", "height"))
    assert width < 300 < height
    with style():
        figure, _ = panels(1, width=4)
    assert as_svg(figure, "narrow already").narrow == ""
