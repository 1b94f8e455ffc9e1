"""Make the SVG of a figure smaller for a file that holds this figure alone; the picture stays the same.

`treebound.plots.compact` has compacted the markup already, for a page that may contain several pictures.
"""

from __future__ import annotations

import re
from math import hypot

#: a tick of a horizontal and of a vertical axis; the lines of the grid show the same places
TICKS = ("M0 0V3.5", "M0 0H-3.5")


def small(markup: str) -> str:
    """Return smaller markup of a figure of matplotlib. Other pictures, such as trees, stay as they are."""
    salts = set(re.findall(r'[#.](s[0-9a-f]{5})(?=-?[0-9a-f]+[)"{])', markup))
    if len(salts) != 1:
        return markup
    (salt,) = salts
    markup = re.sub(rf'(?<=[#." ]){salt}(?=-?[0-9a-f]+[)"{{ ])', "s", markup)  # the file has no other picture
    markup = re.sub(r' d="([^"]*)"', lambda data: f' d="{_path(data[1])}"', _with_one_font(markup))
    markup = re.sub(r'<path( id="[^"]*")? d="(M0 [^"]*z)"', _as_circle, markup)
    return _with_joined_lines(_with_shared_classes(_without_ticks(markup)))


def _path(data: str) -> str:
    """Return the data of a path in which level and upright lines have one coordinate."""
    short, last = [], ("", "")
    for command, numbers in re.findall(r"([A-Za-z])([^A-Za-z]*)", data):
        end = tuple(numbers.split()[-2:])
        if command == "L" and len(numbers.split()) == 2 and (end[0] == last[0] or end[1] == last[1]):
            short.append(f"V{end[1]}" if end[0] == last[0] else f"H{end[0]}")
        else:
            short.append(command + numbers)
        last = end if len(end) == 2 else ("", "")  # all commands of matplotlib are absolute
    return "".join(short)


def _as_circle(path: re.Match[str]) -> str:
    """Return the start of the tag of a path around the origin as a circle, if its curves end at one distance."""
    start, *curves = re.findall(r"[MC]([^A-Za-z]*)", path[2])
    ends = [tuple(map(float, curve.split()[-2:])) for curve in (start, *curves)]
    radius = ends[0][1]
    round_ = all(abs(hypot(*end) - radius) <= 0.05 * radius for end in ends)
    if len(curves) != 8 or not round_ or re.search("[LHV]", path[2]):
        return path[0]
    return f'<circle{path[1] or ""} r="{radius:g}"'


def _with_one_font(markup: str) -> str:
    """Name the font once, for the picture as a whole, if all text has the same font."""
    fonts = re.findall(r"font-family: ?([^;}\"]*)", markup)
    if len(set(fonts)) != 1:
        return markup
    return re.sub(r"font-family:[^;}\"]*(; ?)?", "", markup).replace("<svg ", f'<svg font-family="{fonts[0]}" ', 1)


def _without_ticks(markup: str) -> str:
    """Remove the ticks of the axes of a figure with a grid."""
    if "#ececec" not in markup:  # the colour of the grid
        return markup
    for name, data in re.findall(r'<path id="([^"]*)" d="([^"]*)"', markup):
        if data in TICKS:
            markup = re.sub(rf'<defs><path id="{name}" [^>]*/></defs>|<use href="#{name}" [^>]*/>', "", markup)
    return markup


def _with_shared_classes(markup: str) -> str:
    """Move the class that all markers of a group have to the group.

    Markers inherit colours from their group. A style with clipping is not inherited, so that it stays.
    """
    clipped = set(re.findall(r"\.(\w+)\{[^}]*clip-path", markup))

    def shared(group: re.Match[str]) -> str:
        names = set(re.findall(r' class="([^"]*)"/>', group[2]))
        name = names.pop() if len(names) == 1 else ""
        markers = group[2].replace(f' class="{name}"/>', "/>")
        if not name or name in clipped or "class=" in markers or group[2].count("<use ") != group[2].count("class="):
            return group[0]
        return f'<g class="{group[1]} {name}">{markers}</g>'

    return re.sub(r'<g class="(\w+)">((?:<use [^>]*/>){2,})</g>', shared, markup)


def _with_joined_lines(markup: str) -> str:
    """Join successive lines of one style into one path.

    Areas and transparent lines are not joined: they would look different where they overlap.
    """
    rules = re.findall(r"\.(\w+)\{fill:none;([^}]*)\}", markup)
    lines = {name for name, rule in rules if "opacity" not in rule}

    def joined(run: re.Match[str]) -> str:
        data = "".join(re.findall(r' d="([^"]*)"', run[0]))
        return f'<path d="{data}" class="{run[1]}"/>' if run[1] in lines else run[0]

    return re.sub(r'<path d="[^"]*" class="(\w+)"/>(?:<path d="[^"]*" class="\1"/>)+', joined, markup)
