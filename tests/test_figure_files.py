"""Files of figures are smaller than the figures in a notebook, and show the same picture."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET

import numpy as np
from matplotlib import pyplot as plt

from studies.site.figure_files import small
from treebound.plots.compact import FONTS, compacted
from treebound.plots.style import style
from treebound.plots.svg import as_svg

HEAD = '<svg xmlns="http://www.w3.org/2000/svg">'
GREY = '<path d="M 0 0" style="fill: red"/><path d="M 0 1" style="fill: red"/>'  # a style that becomes a class


def written(body: str) -> str:
    """Return a picture as a file of the site has it."""
    return small(compacted(f"{HEAD}<defs></defs>{GREY}{body}</svg>"))


def test_level_and_upright_lines_have_one_coordinate() -> None:
    markup = written('<path id="p" d="M 1 2 L 1 3 L 4 3 L 5 6 C 1 1 2 2 7 6 L 8 6 z M 0 0 L 0 1"/>')
    assert 'd="M1 2V3H4L5 6C1 1 2 2 7 6H8zM0 0V1"' in markup


def test_a_class_that_all_markers_have_becomes_a_class_of_their_group() -> None:
    marker = '<use href="#m" x="{0}" y="1" style="fill: {1}"/>'
    group = '<g clip-path="url(#c)">{}{}</g>'.format

    def picture(*colours: str) -> str:
        pairs = zip(colours[::2], colours[1::2], strict=True)
        groups = "".join(group(marker.format(1, a), marker.format(2, b)) for a, b in pairs)
        return written(f'<defs><path id="m" d="M 0 0 L 1 1"/><clipPath id="c"><rect/></clipPath></defs>{groups}')

    same = picture("blue", "blue", "green", "green")
    assert same.count('<use href="#s-1" x="2" y="1"/></g>') == 2
    (classes,) = set(re.findall(r'<g class="(\w+ \w+)"><use href="#s-1" x="1" y="1"/><use', same)) & {"s1 s2"}
    clipped, coloured = classes.split()
    assert f".{clipped}{{clip-path:url(#s-0)}}.{coloured}{{fill:blue}}" in same
    assert picture("blue", "green", "blue", "green").count('y="1" class="s') == 4


def test_successive_lines_of_one_style_become_one_path_unless_they_are_transparent() -> None:
    def paths(line: str) -> int:
        lines = "".join(f'<path d="M {i} 1 L {i} 2" style="{line}"/>' for i in range(3))
        return written(lines).count("<path") - 2

    assert paths("fill: none; stroke: red") == 1
    assert paths("fill: none; stroke: red; stroke-opacity: 0.5") == 3
    assert paths("fill: blue") == 3


def test_round_markers_become_circles_and_ticks_beside_a_grid_are_left_out() -> None:
    with style():
        figure, axes = plt.subplots()
        axes.plot([1, 2], [1, 2], "o")
        axes.plot([1, 2], [2, 1], "s")
        whole = as_svg(figure, "x")._repr_svg_()
        plt.close(figure)
    markup = small(whole)
    assert re.findall('<circle id="[^"]*" r="2.5"', markup)
    assert "C" not in "".join(re.findall(r'<path id="[^"]*" d="([^"]*)"', markup)), "a square stays a path"
    assert "M0 0L0 3.5" in whole
    assert "3.5" not in "".join(re.findall(r' d="([^"]*)"', markup))
    assert markup.count("<text") == whole.count("<text")


def test_the_only_font_is_named_once() -> None:
    text = "<text style=\"font-size: 10px; font-family: 'DejaVu Sans'\">x</text>"
    assert written(text + text).count(FONTS) == 1
    other = "<text style=\"font-family: 'Another'\">x</text>"
    assert written(text + other).count("font-family") == 2


def test_a_figure_is_smaller_and_whole_and_other_pictures_stay() -> None:
    figure, axes = plt.subplots()
    for shift in range(3):
        axes.errorbar(np.arange(9), np.arange(9) + shift, 0.5, marker="o", label=f"curve {shift}")
    axes.legend()
    out = io.StringIO()
    figure.savefig(out, format="svg")
    plt.close(figure)
    whole = compacted(out.getvalue()[out.getvalue().index("<svg ") :])
    markup = small(whole)
    ET.fromstring(markup)
    assert len(markup) < 0.85 * len(whole)
    referred = set(re.findall(r'(?:href="|url\()#([^")]+)', markup))
    assert referred <= set(re.findall(r'id="([^"]+)"', markup))
    classes = {name for names in re.findall(r'class="([^"]+)"', markup) for name in names.split()}
    assert classes <= set(re.findall(r"\.(\w+)\{", markup))
    tree = f'{HEAD}<path d="M 1 1 L 1 2"/></svg>'
    assert small(tree) == tree
