"""Sinica Treebank: small trees in its notation, invalid lines, and facts about the whole file if a mirror has it."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from treebound.core.errors import InputError
from treebound.treebanks import sinica
from treebound.treebanks.catalogue import CORPORA
from treebound.treebanks.convert import convert
from treebound.treebanks.document import read
from treebound.treebanks.fetch import fetch
from treebound.treebanks.projectivise import crossing

MIRROR = Path(os.environ.get("TREEBANK_MIRROR", ""))
ARCHIVE = MIRROR / "zh_sinica" / "sinica_treebank.zip"
needs_mirror = pytest.mark.skipif(not ARCHIVE.is_file(), reason="no mirror of the treebank")


def line(tree: str, number: int = 1) -> str:
    """Return a tree as a line of the file."""
    return f"#{number}:{number}.[39030] {tree}#\u3002(PERIODCATEGORY)"


def words(tree: str) -> list[tuple[str, int, str]]:
    """Return the form, head and label of every word."""
    (converted,) = sinica.parse([line(tree)])
    assert not isinstance(converted, sinica.BadTree), converted
    return [(word.form, word.head, word.label) for word in converted]


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        pytest.param("NP(Head:Nad:a)", [("a", 0, "Head")], id="one word"),
        pytest.param(
            "S(agent:NP(property:Nab:a|Head:Nba:b)|Head:VC2:c|goal:NP(Head:Nab:d))",
            [("a", 2, "property"), ("b", 3, "agent"), ("c", 0, "Head"), ("d", 3, "goal")],
            id="clause",
        ),
        pytest.param(  # the particle is the head of its phrase
            "NP(property:V\u2027\u7684(head:VH11:a|Head:DE:b)|Head:Nad:c)",
            [("a", 2, "head"), ("b", 3, "property"), ("c", 0, "Head")],
            id="particle",
        ),
        pytest.param(
            "N(DUMMY1:Nba:a|Head:Caa:b|DUMMY2:Nhaa:c)",
            [("a", 2, "DUMMY1"), ("b", 0, "Head"), ("c", 2, "DUMMY2")],
            id="coordination",
        ),
        pytest.param(  # of several heads, a conjunction is preferred
            "N(Head:Nv1:a|Head:Caa:b|Head:Nv4:c)",
            [("a", 2, "Head"), ("b", 0, "Head"), ("c", 2, "Head")],
            id="conjunction among heads",
        ),
        pytest.param("Nac(Head:Nac:a|Head:Nac:b)", [("a", 0, "Head"), ("b", 1, "Head")], id="two heads"),
        pytest.param(
            "V(Head:Caa[P1]:a|DUMMY1:VH16:b|Head:Caa[P2]:c|DUMMY2:VH11:d)",
            [("a", 0, "Head"), ("b", 1, "DUMMY1"), ("c", 1, "Head"), ("d", 1, "DUMMY2")],
            id="paired conjunctions",
        ),
        pytest.param("VP(deontics:Dbab:a|DUMMY1:VE2:b)", [("a", 2, "deontics"), ("b", 0, "Head")], id="no head"),
        pytest.param("VP(time:Dd:a|manner:Dh:b)", [("a", 2, "time"), ("b", 0, "Head")], id="nothing but modifiers"),
    ],
)
def test_heads_and_labels(tree: str, expected: list[tuple[str, int, str]]) -> None:
    assert words(tree) == expected


def test_tags_lose_marks_and_coarse_tags_lose_digits() -> None:
    (sentence,) = sinica.parse([line("V(Head:Caa[P1]:a|DUMMY1:P21:b|DUMMY2:V_11:c)")])
    assert not isinstance(sentence, sinica.BadTree)
    assert [word.tag for word in sentence] == ["Caa", "P21", "V_11"]
    assert [sinica.coarse(word.tag) for word in sentence] == ["Ca", "P", "V_"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("NP(Head:Nad:a)", "does not have the form"),
        (line("NP(Head:Nad:a"), "not closed"),
        (line("NP(Head:Nad:a))"), "more than one tree"),
        (line("NP(Head:Nad:a)NP(Head:Nad:b)"), "more than one tree"),
        (line("Head:Nad:a"), "is not a daughter"),
        (line("NP(head:Head:Nac:a)"), "is not a daughter"),
        (line("NP(Head:Nad)"), "is not a daughter"),
        (line("NP()"), "an empty constituent"),
        (line(")"), "unmatched closing bracket"),
        (line("|NP(Head:Nad:a)"), "outside of all brackets"),
        (line("NP(Head::a)"), "that does not fit into a column"),
        (line("NP(Head:Nad:)"), "that does not fit into a column"),
    ],
)
def test_bad_lines_are_named_or_skipped(text: str, reason: str) -> None:
    file = "\n".join([line("NP(Head:Nad:a)"), "", text, line("NP(Head:Nad:b)")]).encode()
    with pytest.raises(InputError, match=reason) as caught:
        read(file, "sinica")
    assert caught.value.line == 3
    lenient = read(file, "sinica", strict=False)
    assert lenient.treebank.strings("form") == ["a", "b"]
    assert [skipped.line for skipped in lenient.skipped] == [3]


def test_the_format_is_recognised_by_the_first_line_and_depth_is_unlimited() -> None:
    depth = 5000
    deep = "".join("goal:" * bool(i) + "VP(Head:VC2:a|" for i in range(depth)) + "goal:Nab:b" + ")" * depth
    document = read(line(deep).encode())
    assert document.treebank.head.tolist() == list(range(depth + 1))
    assert document.treebank.strings("deprel") == ["Head"] + ["goal"] * depth


@needs_mirror
def test_the_whole_file() -> None:
    with zipfile.ZipFile(ARCHIVE) as archive:
        document = read(archive.read("sinica_treebank/parsed"), strict=False)
    treebank = document.treebank
    assert (len(treebank), treebank.words, len(document.skipped)) == (9998, 91611, 2)
    assert not document.several_roots()
    assert not any(crossing(treebank.heads(i)).any() for i in range(len(treebank)))
    assert len(set(treebank.strings("xpos"))) == 185


@needs_mirror
def test_splits_are_by_number(tmp_path: Path) -> None:
    folder = fetch(CORPORA["zh_sinica"], tmp_path, mirror=MIRROR)
    report = convert(CORPORA["zh_sinica"], folder, tmp_path / "converted")
    assert [report["splits"][name]["sentences"] for name in ("train", "dev", "test")] == [7998, 1000, 1000]
