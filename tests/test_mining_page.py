"""The page of suspects, parsed as HTML.

Every suspect is on the page, all text is escaped, and no resource comes from a network.
"""

from __future__ import annotations

import io
import json
import random
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from treebound.mining.output import write_tsv
from treebound.mining.page import write_page
from treebound.mining.suspects import Suspect
from treebound.plots.style import COLOURS
from treebound.plots.tree_pair import tree_pair_svg
from treebound.treebanks.document import Document, read

FORMS = ["<b>&", "</script>", '"x"', "'", "<!--", "语言", "שלום", "مرحبا", "\x07", "$title", "{x}", "a b", "]]>", "-->"]
LABELS = ["nsubj", "obj", "<i>", "&amp;", "obl:tmod"]
VOID = {"meta", "input", "br"}
OPTIONAL = {"td", "tr", "option", "tbody"}  # elements whose end tags HTML allows to omit


class Page(HTMLParser):
    """The elements of a page with their attributes, and the texts of some elements. Tags must be nested correctly."""

    def __init__(self, text: str):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open[-1] != tag:
            assert self.open.pop() in OPTIONAL
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.texts[tag][-1] += data

    def ids(self) -> list[str]:
        return [str(attributes["id"]) for _, attributes in self.elements if "id" in attributes]


def case(seed: int, sentences: int = 12) -> tuple[Document, list[Suspect], dict[int, tuple[np.ndarray, list[str]]]]:
    """Return (document, suspects, trees): a document with unusual forms and labels, in which every word is a suspect.

    trees: by sentence, the heads and labels of the proposed tree.
    """
    rng = random.Random(seed)
    lines, suspects, trees = [], [], {}
    for i in range(sentences):
        n = rng.randint(2, 7)
        both = []
        for _ in range(2):
            order = rng.sample(range(1, n + 1), n)
            heads = {word: rng.choice(order[:k]) if k else 0 for k, word in enumerate(order)}
            both.append((heads, [rng.choice(LABELS) for _ in range(n)]))
        (heads, labels), (other, other_labels) = both
        forms = [rng.choice(FORMS) for _ in range(n)]
        lines.append(f"# sent_id = <id>&{i}\n")
        for m in range(1, n + 1):
            misc = rng.choice(["_", "SpaceAfter=No"])
            lines.append(f"{m}\t{forms[m - 1]}\t_\tN<\t_\t_\t{heads[m]}\t{labels[m - 1]}\t_\t{misc}\n")
            kind = rng.choice(["head", "label", "tag"])
            suspects.append(
                Suspect(
                    *(
                        i,
                        f"<id>&{i}",
                        m,
                        forms[m - 1],
                        kind,
                        heads[m],
                        labels[m - 1],
                        "N<",
                        other[m],
                        other_labels[m - 1],
                    ),
                    *(
                        "V&",
                        rng.choice([0.0, 0.001, 5.5, 1e4]),
                        rng.random() < 0.5,
                        rng.choice([float("nan"), 0.0, 0.7]),
                    ),
                    *rng.choice([(), ((3, 10),), ((0, 2), 3)]),
                )
            )
        lines.append("\n")
        trees[i] = (np.array([-1, *(other[m] for m in range(1, n + 1))], np.int32), ["", *other_labels])
    rng.shuffle(suspects)
    return read("".join(lines).encode()), suspects, trees


def written(*args: object, **options: int) -> str:
    file = io.BytesIO()
    write_page(file, *args, **options)  # type: ignore[arg-type]
    return file.getvalue().decode()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("drawn", [0, 5, 200])
def test_every_suspect_is_on_the_page(seed: int, drawn: int) -> None:
    document, suspects, trees = case(seed)
    text = written(document, suspects, trees, "A <title> & more", drawn=drawn)
    page = Page(text)
    ids = page.ids()
    assert len(ids) == len(set(ids))
    assert [i for i in ids if i[0] == "s" and i[1:].isdecimal()] == [f"s{k}" for k in range(1, len(suspects) + 1)]
    links = [attributes["href"] for tag, attributes in page.elements if tag == "a"]
    assert links
    assert all(link and link[0] == "#" and link[1:] in ids for link in links)
    assert page.texts["title"][0] == "A <title> & more"
    assert sum(tag == "article" for tag, _ in page.elements) == min(drawn, len(suspects))
    shown = {suspect.sentence for suspect in suspects[:drawn]}
    assert sum(tag == "svg" for tag, _ in page.elements) == len(shown)
    boxes = [a for tag, a in page.elements if tag == "input" and a.get("name") == "accept"]
    assert len(boxes) == len(suspects)
    for article, suspect in zip(page.texts.get("article", []), suspects, strict=False):
        words = article.replace("\u2407", "\x07")
        assert suspect.form in words
        assert suspect.group in words
        assert suspect.sent_id in words


@pytest.mark.parametrize("seed", range(6))
def test_nothing_of_the_treebank_becomes_markup(seed: int) -> None:
    page = Page(written(*case(seed), "t"))
    tags = {tag for tag, _ in page.elements}
    assert tags.isdisjoint({"i", "link", "img", "iframe", "base", "object"})
    assert sum(tag == "script" for tag, _ in page.elements) == 2
    assert not any(name.startswith("on") for tag, a in page.elements for name in a if tag != "form")


@pytest.mark.parametrize("seed", range(3))
def test_no_network(seed: int) -> None:
    text = written(*case(seed), "t")
    for tag, attributes in Page(text).elements:
        assert not {"src", "srcset", "action", "data", "poster"} & set(attributes), tag
        assert (attributes.get("href") or "#").startswith("#"), tag
    assert text.replace("http://www.w3.org/2000/svg", "").count("http") == text.count("http-equiv")
    assert "url(" not in text
    assert "@import" not in text
    assert "default-src 'none'" in text


@pytest.mark.parametrize("seed", range(3))
def test_the_page_holds_the_table_that_it_saves(seed: int) -> None:
    document, suspects, trees = case(seed)
    page = Page(written(document, suspects, trees, "t"))
    file = io.BytesIO()
    write_tsv(file, suspects)
    assert json.loads(page.texts["script"][0]) == file.getvalue().decode()


def test_systematic_groups_are_named() -> None:
    document, suspects, trees = case(1, 40)
    same = [s for s in suspects if s.kind == "tag"][:31]
    page = Page(written(document, same, trees, "t"))
    assert "N< -> V& systematic" in page.texts["td"][0]
    assert "1 groups, 1 of them systematic" in page.texts["section"][0]
    fewer = Page(written(document, same[:30], trees, "t"))
    assert "systematic" not in fewer.texts["td"][0]


def test_no_suspects_and_missing_trees() -> None:
    document, suspects, _ = case(2)
    assert "No annotation is suspect." in Page(written(document, [], {}, "t")).texts["p"][0]
    page = Page(written(document, suspects, {}, "t"))
    assert not any(tag == "svg" for tag, _ in page.elements)
    assert sum(tag == "article" for tag, _ in page.elements) == len(suspects)


def test_drawings_stay_within_their_budget() -> None:
    n = 150
    words = "".join(f"{m}\tw{m}\t_\tN\t_\t_\t{m - 1}\tx\t_\t_\n" for m in range(1, n + 1)) + "\n"
    document = read((words * 120).encode())
    tree = (np.array([-1, *(m - 1 for m in range(1, n + 1))], np.int32), ["", *["y"] * n])
    suspects = [Suspect(i, str(i + 1), 5, "w5", "label", 4, "x", "N", 4, "y", "N", 1.0, True, 0.5) for i in range(120)]
    text = written(document, suspects, dict.fromkeys(range(120), tree), "t")
    assert 3_000_000 < len(text.encode()) < 5_200_000
    assert text.count("<article") < 120
    assert text.count('name="accept"') == 120


# --- two trees in one drawing ---


@pytest.mark.parametrize("seed", range(8))
def test_drawn_arcs_are_those_that_differ(seed: int) -> None:
    document, _, trees = case(seed, 4)
    for i, sentence in enumerate(document.treebank):
        heads, labels, forms = sentence.heads, sentence.strings("deprel"), sentence.strings("form")
        other_heads, (_, *other_labels) = trees[i]
        svg = tree_pair_svg(forms, heads, labels, other_heads=other_heads, other_labels=other_labels, emphasised=[2])
        differing = [
            m for m in range(1, sentence.n + 1) if (heads[m], labels[m - 1]) != (other_heads[m], other_labels[m - 1])
        ]
        root = ElementTree.fromstring(svg.markup)
        paths = [path for path in root.iter() if path.tag.endswith("path")]
        strokes = [path.get("stroke") for path in paths if path.get("stroke")]
        assert strokes.count(COLOURS["green"]) == strokes.count(COLOURS["vermilion"]) == len(differing)
        assert len(strokes) == sentence.n + len(differing)
        texts = sorted(str(t.text) for t in root.iter() if t.tag.endswith("text"))
        legend = [t for t in texts if "arcs" in t]
        assert sorted(texts) == sorted(
            [*(f.replace("\x07", "\u2407") for f in forms), *labels, *(other_labels[m - 1] for m in differing), *legend]
        )
        assert sum(line.tag.endswith("line") for line in root.iter()) == 1


def test_equal_trees_have_no_arc_below() -> None:
    svg = tree_pair_svg(["a", "b"], [-1, 2, 0], ["x", "root"], other_heads=[-1, 2, 0], other_labels=["x", "root"])
    assert COLOURS["green"] not in svg.markup
    assert "as annotated" in svg.alt
    with pytest.raises(ValueError, match="2 words need 3 and 2"):
        tree_pair_svg(["a", "b"], [-1, 2, 0], ["x", "root"], other_heads=[2, 0], other_labels=["x", "root"])
