"""Lemmas as tags: the edit that makes the lemma of a form (Chrupała 2006).

An edit is a text, `front>new front|back>new back|case`: what is cut off the ends of the form and put there instead; for
"gelopen", lemma "lopen", `ge>||l`. Case `l` says that the form is taken in small letters, `f` as it is. A lemma that
shares nothing with its form is itself the edit, after `=`; no lemma is `_`.
"""

from __future__ import annotations


def edit(form: str, lemma: str) -> str:
    """The edit whose `apply` to the form gives the lemma."""
    if lemma == "_" and form != "_":
        return "_"
    case = "l" if lemma == lemma.lower() else "f"
    base = _cased(form, case)
    at, there, length = _common(base, lemma)
    front = _change(base[:at], lemma[:there])
    back = _change(base[at + length :], lemma[there + length :])
    script = f"{front}|{back}|{case}"
    plain = length and not {"|", ">"} & {*form, *lemma}
    return script if plain and apply(form, script) == lemma else f"={lemma}"


def apply(form: str, script: str) -> str:
    """The lemma of a form by an edit; the form, cased as the edit says, where the edit is not for such forms."""
    if script == "_" or script.startswith("="):
        return script[1:] or "_"
    cut, new, off, put, case = parts(script)
    base = _cased(form, case)
    if len(cut) + len(off) >= len(base) or not base.startswith(cut) or not base.endswith(off):
        return base
    return new + base[len(cut) : len(base) - len(off)] + put


def parts(script: str) -> tuple[str, str, str, str, str]:
    """What is cut off and put there in front, the same at the back, and the case. ValueError for what is no edit."""
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
    """(place in a, place in b, length) of the longest common substring, the first one. O(len(a) len(b))."""
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
