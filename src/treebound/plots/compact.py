"""Compress the SVG of matplotlib without changing the picture: less white space, fewer digits and shorter names."""

from __future__ import annotations

import hashlib
import re

#: fonts of the text of a figure, in order of preference
FONTS = "'DejaVu Sans',Verdana,sans-serif"
_DIGITS = 1  #: decimals of coordinates, which are in points; numbers below 1 keep three significant digits
_OFTEN = 2  #: a style that occurs at least this often becomes a class


def compacted(markup: str) -> str:
    """Return smaller markup with the same picture.

    The names in it are unique, so that one page can contain several pictures.
    """
    markup = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", markup, flags=re.S)
    markup = re.sub(r"> +<", "><", re.sub(r"\s*\n\s*", " ", markup))
    markup = re.sub("<[^>]*>", lambda tag: re.sub(r"-?\d+\.\d{3,}", _coordinate, tag[0]), markup)  # text stays as it is
    markup = re.sub(r' transform="rotate\(-0 [^)]*\)"', "", markup)
    markup = markup.replace("'DejaVu Sans'", FONTS)  # a machine without the font takes one of the same width
    markup = re.sub(r'<path d="M [-\d.]+ [-\d.]+ "[^>]*/>', "", markup)  # the line of a marker without a line
    markup = re.sub(r' d="([^"]*)"', lambda data: f' d="{_path(data[1])}"', markup)
    salt = "s" + hashlib.sha256(markup.encode()).hexdigest()[:5]
    return _without_plain_groups(_with_classes(_with_short_names(markup, salt), salt))


def _path(data: str) -> str:
    """Return the data of a path without the spaces around its commands."""
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", data).rstrip()


def _without_plain_groups(markup: str) -> str:
    """Remove groups that have no attributes, and so change nothing; their content remains."""
    plain: list[bool] = []

    def tag(match: re.Match[str]) -> str:
        if match[0] != "</g>":
            plain.append(match[0] == "<g>")
            return "" if plain[-1] else match[0]
        return "" if plain.pop() else match[0]

    return re.sub(r"<g(?: [^>]*[^/])?>|</g>", tag, markup)


def _coordinate(match: re.Match[str]) -> str:
    """Return a coordinate as short text."""
    number = float(match[0])
    text = f"{number:.{_DIGITS}f}".rstrip("0").rstrip(".") if abs(number) >= 1 else f"{number:.3g}"
    return "0" if text in ("-0", "") else text


def _with_short_names(markup: str, salt: str) -> str:
    """Shorten the names of elements that others refer to, and remove all other names.

    The horizontal shift of a glyph becomes its attribute x, which is shorter than a transformation.
    """
    used = dict.fromkeys(re.findall(r'(?:url\(|href=")#([^)"]+)', markup))
    names = {name: f"{salt}-{i:x}" for i, name in enumerate(used)}
    markup = re.sub(r' id="([^"]+)"', lambda at: f' id="{names[at[1]]}"' if at[1] in names else "", markup)
    markup = re.sub(r'(?:xlink:)?href="#([^"]+)"', lambda at: f'href="#{names[at[1]]}"', markup)
    markup = re.sub(r"url\(#([^)]+)\)", lambda at: f"url(#{names[at[1]]})", markup)
    markup = re.sub(r'(<use href="[^"]+") transform="translate\((-?[\d.]+) 0\)"/>', r'\1 x="\2"/>', markup)
    return markup.replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "") if "xlink:" not in markup else markup


def _with_clipping_as_style(tag: re.Match[str]) -> str:
    """Return a tag whose attribute `clip-path` is moved into its style."""
    clipped = re.search(r' clip-path="([^"]*)"', tag[0])
    assert clipped is not None
    markup, rule = tag[0].replace(clipped[0], ""), f"clip-path: {clipped[1]}"
    if ' style="' in markup:
        return re.sub(r' style="([^"]*)"', lambda at: f' style="{at[1]}; {rule}"', markup)
    return re.sub(r"\s*/?>$", lambda end: f' style="{rule}"{end[0]}', markup)


def _with_classes(markup: str, salt: str) -> str:
    """Replace inline styles that occur often by classes of a style sheet, whose names begin with `salt`.

    Clipping is a part of the style.
    """
    markup = re.sub(r'<[^>]*? clip-path="[^>]*>', _with_clipping_as_style, markup)
    styles = re.findall(r' style="([^"]*)"', markup)
    often = [style for style in dict.fromkeys(styles) if styles.count(style) >= _OFTEN]
    if not often or "</defs>" not in markup:
        return markup
    names = {style: f"{salt}{i:x}" for i, style in enumerate(often)}
    markup = re.sub(r' style="([^"]*)"', lambda at: f' class="{names[at[1]]}"' if at[1] in names else at[0], markup)
    rules = "".join(f".{name}{{{style.replace('; ', ';').replace(': ', ':')}}}" for style, name in names.items())
    return markup.replace("</defs>", f"<style>{rules}</style></defs>", 1)
