"""Test the compaction of matplotlib's SVG: the file is smaller and the picture unchanged."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
from matplotlib import pyplot as plt

from treebound.plots.compact import compacted

SVG = """<svg xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg">
 <metadata>who</metadata>
 <defs>
  <path id="g1" d="M 0.123456 -0.000001
L 12.345678 3.000000"/>
 </defs>
 <g id="unused" style="fill: none; stroke: #ececec">
  <g transform="scale(0.015625)"><use xlink:href="#g1" transform="translate(61.5 0)"/></g>
  <path style="fill: none; stroke: #ececec" d="M 1 1"/>
  <path style="fill: none; stroke: #ececec" d="M 2 2"/>
 </g>
</svg>"""


def test_groups_without_attributes_and_paths_of_one_point_are_removed() -> None:
    markup = '<svg><g id="a"><g clip-path="url(#c)"><g><text>x</text></g></g><path d="M 1 2 " class="y"/></g></svg>'
    assert compacted(markup) == '<svg><g style="clip-path: url(#sX-0)"><text>x</text></g></svg>'.replace(
        "sX", re.findall(r"url\(#(\w+)-0\)", compacted(markup))[0]
    )


def test_clipping_is_a_part_of_the_style() -> None:
    line = '<path d="M 1 1 L {} 2 " clip-path="url(#c)" style="fill: none"/>'
    markup = (
        "<svg><defs></defs>"
        + "".join(line.format(i) for i in range(3))
        + '<g clip-path="url(#c)"><text>x</text></g></svg>'
    )
    small = compacted(markup)
    ((name, salt),) = re.findall(r"<style>\.(\w+)\{fill:none;clip-path:url\(#(\w+)-0\)\}</style>", small)
    assert re.findall(r"<path [^>]*>", small) == [f'<path d="M1 1L{i} 2" class="{name}"/>' for i in range(3)]
    assert f'<g style="clip-path: url(#{salt}-0)"><text>x</text></g>' in small


def test_numbers_in_text_keep_their_digits() -> None:
    small = compacted('<svg><text x="1.0001" y="2.123456">p = 0.740, not 1.000</text></svg>')
    assert small == '<svg><text x="1" y="2.1">p = 0.740, not 1.000</text></svg>'


def test_unused_elements_are_removed_and_others_kept() -> None:
    small = compacted(SVG)
    ET.fromstring(small)
    assert "metadata" not in small
    assert "unused" not in small
    assert "xlink" not in small
    assert 'd="M0.123 -1e-06L12.3 3"' in small
    assert "scale(0.0156)" in small
    (name,) = re.findall(r'<path id="([^"]+)"', small)
    assert f'<use href="#{name}" x="61.5"/>' in small
    (rule,) = re.findall(r"<style>\.(\w+)\{fill:none;stroke:#ececec\}</style>", small)
    assert small.count(f'class="{rule}"') == 3


def test_names_of_two_figures_differ() -> None:
    """Check that ids and classes of two figures differ, since one page may contain both."""
    names = [
        set(re.findall(r'id="([^"]+)"|class="([^"]+)"', compacted(SVG.replace("M 1 1", d)))) for d in ("M 3 3", "M 4 4")
    ]
    assert names[0].isdisjoint(names[1])


def test_a_figure_is_smaller_and_whole() -> None:
    import io

    figure, axes = plt.subplots()
    axes.plot(np.linspace(0, 1, 50), np.linspace(0, 1, 50) ** 2, label="a curve")
    axes.legend()
    out = io.StringIO()
    figure.savefig(out, format="svg")
    plt.close(figure)
    whole = out.getvalue()
    small = compacted(whole[whole.index("<svg ") :])
    ET.fromstring(small)
    assert len(small) < 0.7 * len(whole)
    referred = set(re.findall(r'(?:href="|url\()#([^")]+)', small))
    assert referred <= set(re.findall(r'id="([^"]+)"', small))
