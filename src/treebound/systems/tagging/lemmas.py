"""Lemmas as tags: the tag is the edit that turns a form into its lemma (Chrupała 2006).

An edit is a text, `front>new front|back>new back|case`. It states what is removed from either end of the form, and what
is put there instead: `ge>||l` turns "gelopen" into "lopen". Case `l` first puts the form into lower case, and `f`
leaves it as it is. If a lemma shares nothing with its form, the edit is `=` followed by the lemma. The edit `_` means
that there is no lemma.
"""

from __future__ import annotations


def edit(form: str, lemma: str) -> str:
    """Return the edit that turns a form into its lemma (see `apply`)."""
    if lemma == "_" and form != "_":
        return "_"
    case = "l" if lemma == lemma.lower() else "f"
    base = _cased(form, case)
    place, lemma_place, length = _common(base, lemma)
    front = _change(base[:place], lemma[:lemma_place])
    back = _change(base[place + length :], lemma[lemma_place + length :])
    script = f"{front}|{back}|{case}"
    plain = length and not {"|", ">"} & {*form, *lemma}
    return script if plain and apply(form, script) == lemma else f"={lemma}"


def apply(form: str, script: str) -> str:
    """Return the lemma that an edit makes of a form.

    If the edit does not fit the form, return the form, put into lower case if the edit does so.
    """
    if script == "_" or script.startswith("="):
        return script[1:] or "_"
    cut, new, off, put, case = parts(script)
    base = _cased(form, case)
    if len(cut) + len(off) >= len(base) or not base.startswith(cut) or not base.endswith(off):
        return base
    return new + base[len(cut) : len(base) - len(off)] + put


def parts(script: str) -> tuple[str, str, str, str, str]:
    """Return the parts of an edit: (removed in front, added in front, removed at the back, added at the back, case).

    For the edit `_`, or `=` with a lemma, the four texts are empty and the case is `f`.
    ValueError if `script` is not an edit.
    """
    if script == "_" or script.startswith("="):
        return "", "", "", "", "f"
    front, back, case = script.split("|")
    cut, new = front.split(">") if front else ("", "")
    off, put = back.split(">") if back else ("", "")
    return cut, new, off, put, case


def _change(old: str, new: str) -> str:
    return f"{old}>{new}" if old or new else ""


def _cased(form: str, case: str) -> str:
    return form.lower() if case == "l" else form


def _common(a: str, b: str) -> tuple[int, int, int]:
    """Return (position in a, position in b, length) of the first longest common substring. O(len(a) len(b))."""
    best = (0, 0, 0)
    row = [0] * (len(b) + 1)
    for i, x in enumerate(a):
        above, row = row, [0] * (len(b) + 1)
        for j, y in enumerate(b):
            if x == y:
                row[j + 1] = above[j] + 1
                if row[j + 1] > best[2]:
                    best = (i - row[j + 1] + 1, j - row[j + 1] + 1, row[j + 1])
    return best
