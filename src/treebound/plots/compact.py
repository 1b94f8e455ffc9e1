"""Compress the SVG of matplotlib without changing the picture: less white space, fewer digits and shorter names."""

from __future__ import annotations

import hashlib
import re

#: fonts of the text of a figure, in order of preference
FONTS = "'DejaVu Sans',Verdana,sans-serif"
_DIGITS = 2  #: decimals of coordinates, which are in points; numbers below 1 keep six significant digits
_OFTEN = 3  #: a style that occurs at least this often becomes a class


def compacted(markup: str) -> str:
    """Return smaller SVG markup with the same picture.

    The names of its elements and classes contain a digest of the picture, so that one page can contain several
    pictures.
    """
    markup = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", markup, flags=re.S)
    markup = re.sub(r"> +<", "><", re.sub(r"\s*\n\s*", " ", markup))
    markup = re.sub(r"-?\d+\.\d{3,}", lambda number: _short(float(number[0])), markup)
    markup = re.sub(r' transform="rotate\(-0 [^)]*\)"', "", markup)
    markup = markup.replace("'DejaVu Sans'", FONTS)  # a machine without the font takes one of the same width
    salt = "s" + hashlib.sha256(markup.encode()).hexdigest()[:5]
    return _with_classes(_with_short_names(markup, salt), salt)


def _short(number: float) -> str:
    """Return a number as text with few digits: two decimals, or six significant digits if it is below 1."""
    text = f"{number:.{_DIGITS}f}".rstrip("0").rstrip(".") if abs(number) >= 1 else f"{number:.6g}"
    return "0" if text in ("-0", "") else text


def _with_short_names(markup: str, salt: str) -> str:
    """Shorten the names (ids) of elements that others refer to, and remove all other names.

    The short names begin with `salt`.

    The horizontal shift of a glyph becomes its attribute x, which is shorter than a transformation.
    """
    used = dict.fromkeys(re.findall(r'(?:url\(|href=")#([^)"]+)', markup))
    names = {name: f"{salt}-{i:x}" for i, name in enumerate(used)}
    markup = re.sub(r' id="([^"]+)"', lambda at: f' id="{names[at[1]]}"' if at[1] in names else "", markup)
    markup = re.sub(r'(?:xlink:)?href="#([^"]+)"', lambda at: f'href="#{names[at[1]]}"', markup)
    markup = re.sub(r"url\(#([^)]+)\)", lambda at: f"url(#{names[at[1]]})", markup)
    markup = re.sub(r'(<use href="[^"]+") transform="translate\((-?[\d.]+) 0\)"/>', r'\1 x="\2"/>', markup)
    return markup.replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "") if "xlink:" not in markup else markup


def _with_classes(markup: str, salt: str) -> str:
    """Replace inline styles that occur often by classes of a style sheet, whose names begin with `salt`."""
    styles = re.findall(r' style="([^"]*)"', markup)
    often = [style for style in dict.fromkeys(styles) if styles.count(style) >= _OFTEN]
    if not often or "</defs>" not in markup:
        return markup
    names = {style: f"{salt}{i:x}" for i, style in enumerate(often)}
    markup = re.sub(r' style="([^"]*)"', lambda at: f' class="{names[at[1]]}"' if at[1] in names else at[0], markup)
    rules = "".join(f".{name}{{{style.replace('; ', ';').replace(': ', ':')}}}" for style, name in names.items())
    return markup.replace("</defs>", f"<style>{rules}</style></defs>", 1)
