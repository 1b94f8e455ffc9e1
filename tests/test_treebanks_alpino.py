"""Alpino XML: small trees, invalid files, and stored facts about the whole treebank if a mirror has it."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from treebound.core.errors import InputError
from treebound.treebanks import alpino
from treebound.treebanks.document import read
from treebound.treebanks.projectivise import crossing

ARCHIVE = Path(os.environ.get("TREEBANK_MIRROR", ""), "nl_alpino", "alpino.zip")
needs_mirror = pytest.mark.skipif(not ARCHIVE.is_file(), reason="no mirror of the treebank")

HEADER = '<?xml version="1.0" encoding="ISO-8859-1"?>\n<alpino version="1.2">\n'


def word(rel: str, position: int, form: str, pos: str = "noun") -> str:
    return f'<node rel="{rel}" begin="{position}" end="{position + 1}" pos="{pos}" root="{form}" word="{form}"/>'


def node(rel: str, *children: str, cat: str = "np") -> str:
    return f'<node rel="{rel}" cat="{cat}" begin="0" end="9">{"".join(children)}</node>'


def sentence(*children: str) -> str:
    top = f'<node rel="top" cat="top" begin="0" end="9">{"".join(children)}</node>'
    return f'<alpino_ds version="1.2">\n{top}\n</alpino_ds>\n'


def file(*sentences: str, end: str = "</alpino>\n") -> bytes:
    return (HEADER + "".join(sentences) + end).encode("iso-8859-1")


def trees(*children: str) -> list[tuple[str, int, str]]:
    (tree,) = alpino.parse([file(sentence(*children))])
    return [(w.form, w.head, w.label) for w in alpino.dependencies(tree)]


INDEX = '<node rel="{}" begin="0" end="1" index="1"/>'


@pytest.mark.parametrize(
    ("children", "expected"),
    [
        # hond, die ik zag: the antecedent is the head of the relative pronoun, which is the head of the clause
        pytest.param(
            [node("--", word("hd", 0, "hond"), node("mod", word("rhd", 1, "die"), node(
                "body", INDEX.format("obj1"), word("su", 2, "ik"), word("hd", 3, "zag")), cat="rel"))],
            [("hond", 0, "--"), ("die", 1, "mod"), ("ik", 4, "su"), ("zag", 2, "body")],
            id="relative clause",
        ),
        pytest.param(  # appels, peren en druiven
            [word("--", 1, ",", "punct"), node("--", word("cnj", 0, "appels"), word("cnj", 2, "peren"),
                                               word("crd", 3, "en", "vg"), word("cnj", 4, "druiven"), cat="conj")],
            [("appels", 4, "cnj"), (",", 4, "--"), ("peren", 4, "cnj"), ("en", 0, "--"), ("druiven", 4, "cnj")],
            id="coordination",
        ),
        pytest.param(  # of two conjunctions, the left one is the head
            [node("--", word("crd", 2, "als"), word("cnj", 3, "Jan"), word("crd", 0, "zowel"), word("cnj", 1, "Piet"))],
            [("zowel", 0, "--"), ("Piet", 1, "cnj"), ("als", 1, "crd"), ("Jan", 1, "cnj")],
            id="two-part conjunction",
        ),
        pytest.param(  # the verb is an index node: the object is the head
            [node("--", INDEX.format("hd"), word("mod", 0, "morgen"), word("obj1", 1, "vis"), word("su", 2, "ik"))],
            [("morgen", 2, "mod"), ("vis", 0, "--"), ("ik", 2, "su")],
            id="head elsewhere",
        ),
        pytest.param(  # constituents that contain only index nodes are dropped
            [node("--", word("hd", 0, "slaapt", "verb"), node("vc", INDEX.format("hd"), INDEX.format("su")))],
            [("slaapt", 0, "--")],
            id="empty constituent",
        ),
        # document order differs from sentence order; the words of a multi-word unit depend on its first word
        pytest.param(
            [node("--", node("su", word("mwp", 1, "Beek"), word("mwp", 0, "Van"), cat="mwu"), word("hd", 2, "zingt"))],
            [("Van", 3, "su"), ("Beek", 1, "mwp"), ("zingt", 0, "--")],
            id="multi-word unit",
        ),
        pytest.param(  # zie dat slaap: the complementiser is the head of its clause
            [node("--", word("hd", 0, "zie"), node("vc", word("body", 2, "slaap"), word("cmp", 1, "dat"), cat="cp"))],
            [("zie", 0, "--"), ("dat", 1, "vc"), ("slaap", 2, "body")],
            id="complementiser",
        ),
        pytest.param(  # wie zag jou
            [node("--", node("body", word("hd", 1, "zag"), word("obj1", 2, "jou")), word("whd", 0, "wie"), cat="whq")],
            [("wie", 0, "--"), ("zag", 1, "body"), ("jou", 2, "obj1")],
            id="question word",
        ),
        pytest.param(  # want zij zong: a link is preferred as head to a nucleus, and a nucleus to its satellite
            [node("--", node("nucl", word("hd", 2, "zong"), word("su", 1, "zij")), word("dlink", 0, "want"),
                  word("sat", 3, "luid"), cat="du")],
            [("want", 0, "--"), ("zij", 3, "su"), ("zong", 1, "nucl"), ("luid", 1, "sat")],
            id="discourse link",
        ),
        pytest.param(
            [node("--", word("tag", 0, "kortom"), word("nucl", 1, "zing"), word("sat", 2, "luid"), cat="du")],
            [("kortom", 2, "tag"), ("zing", 0, "--"), ("luid", 2, "sat")],
            id="nucleus",
        ),
        pytest.param(
            [node("--", word("tag", 0, "nou"), word("dp", 1, "ja"), word("dp", 2, "nee"), cat="du")],
            [("nou", 2, "tag"), ("ja", 0, "--"), ("nee", 2, "dp")],
            id="discourse parts",
        ),
        pytest.param(  # appels, peren: the first part is the head if there is no conjunction
            [node("--", word("mod", 0, "verse"), word("cnj", 1, "appels"), word("cnj", 2, "peren"), cat="conj")],
            [("verse", 2, "mod"), ("appels", 0, "--"), ("peren", 2, "cnj")],
            id="coordination without a conjunction",
        ),
        pytest.param(
            [word("--", 0, "(", "punct"), word("--", 1, "ja", "tag"), word("--", 2, ")", "punct")],
            [("(", 2, "--"), ("ja", 0, "--"), (")", 2, "--")],
            id="word at the top",
        ),
    ],
)  # fmt: skip
def test_head_rules(children, expected):
    assert trees(*children) == expected


def test_punctuation_avoids_crossings():
    """Punctuation of "Wie zag , zei hij , jij" crosses no arc. The arcs of words 1 to 7 enclose the tag clause."""
    rows = trees(
        node("--", node("nucl", word("obj1", 0, "wie"), word("hd", 1, "zag", "verb"), word("su", 6, "jij")),
             node("tag", word("hd", 3, "zei", "verb"), word("su", 4, "hij"))),
        word("--", 2, ",", "punct"), word("--", 5, ",", "punct"), word("--", 7, "?", "punct"),
    )  # fmt: skip
    assert rows[2] == (",", 2, "--")
    assert rows[5] == (",", 2, "--")
    assert rows[7] == ("?", 2, "--")
    assert not crossing(np.array([-1] + [head for _, head, _ in rows])).any()


def test_punctuation_is_attached_as_high_as_crosses_nothing_by_brute_force():
    """Brute force over random trees: each punctuation mark gets the highest head that causes no crossing.

    Marks are attached from left to right, and only to words.
    """
    rng = np.random.default_rng(5)

    def crossings(arcs, a, b):
        a, b = min(a, b), max(a, b)
        return sum((low < a < high < b) or (a < low < b < high) for low, high in arcs)

    blocked = 0
    for _ in range(300):
        n = int(rng.integers(2, 12))
        pos = ["punct" if rng.random() < 0.35 else "noun" for _ in range(n)]
        words = [i for i in range(1, n + 1) if pos[i - 1] == "noun"]
        if not words:
            continue
        order = rng.permutation(words).tolist()
        head = [0] * (n + 1)
        for place, w in enumerate(order[1:], 1):
            head[w] = order[int(rng.integers(place))]
        depth = {order[0]: 0}
        for w in order[1:]:
            depth[w] = depth[head[w]] + 1
        arcs = [(min(head[w], w), max(head[w], w)) for w in words]
        attached = list(head)
        alpino._attach_punctuation(pos, attached, order[0])
        for mark in (i for i in range(1, n + 1) if pos[i - 1] == "punct"):
            expected = min(words, key=lambda w, m=mark: (crossings(arcs, m, w), depth[w], abs(w - m)))
            assert attached[mark] == expected
            assert crossings(arcs, mark, expected) == 0
            blocked += crossings(arcs, mark, order[0]) > 0
            arcs.append((min(mark, expected), max(mark, expected)))
    assert blocked  # some marks could not be attached to the root without crossing


SYNTAX = [
    (file(sentence(word("--", 0, "ja")), end=""), r":6: not XML: no element found; check whether the file is complete"),
    (file(sentence(word("--", 0, "ja").replace("/>", ">"))), r":5: not XML: mismatched tag"),
    (b"<alpino>\n\xff\xfe</alpino>", r":2: not XML: not well-formed"),
    (b'<?xml version="1.0" encoding="klingon"?>\n<alpino/>', r":1: not XML: unknown encoding"),
    (b"", r":1: not XML: no element found"),
]
BAD = [
    (sentence(), r":3: sentence without words"),
    (sentence(word("--", 0, "ja").replace('rel="--"', "")), r":4: node without rel"),
    (sentence(word("--", 0, "ja").replace('begin="0"', 'begin="een"')), r":4: position 'een' is not a number"),
    (sentence(word("--", 1, "ja")), r":4: word 'ja' at position 1 where 0 was expected"),
    (sentence(word("--", 0, "ja"), word("--", 0, "nee")), r":4: word 'nee' at position 0 where 1 was expected"),
    (sentence(word("--", 0, "ja").replace('end="1"', 'end="2"')), r":4: word 'ja' from 0 to 2"),
    (sentence(word("--", 0, "ja").replace('"ja"', '"ja&#9;nee"')), r":4: root .* does not fit|word .* does not fit"),
    (sentence(word("--", 0, "ja").replace("/>", f">{word('hd', 0, 'nee')}</node>")), r":4: word 'ja' with nodes"),
    ("<alpino_ds>\n</alpino_ds>\n", r":3: 0 top nodes"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "message"), SYNTAX)
def test_what_is_not_xml_is_one_line(data, message):
    for strict in (True, False):
        with pytest.raises(InputError, match=message) as caught:
            read(io.BytesIO(data), "alpino", strict=strict)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("bad", "message"), BAD)
def test_bad_sentences(bad, message):
    good = sentence(word("--", 0, "ja"))
    with pytest.raises(InputError, match=message) as caught:
        read(io.BytesIO(file(bad, good)), "alpino")
    assert "\n" not in str(caught.value)
    document = read(io.BytesIO(file(good, bad, good)), "alpino", strict=False)
    assert len(document) == 2
    assert len(document.skipped) == 1


def test_format_is_recognised_by_content_and_depth_is_unlimited():
    deep = word("hd", 0, "ja")
    for _ in range(5000):
        deep = node("hd", deep)
    document = read(io.BytesIO(file(sentence(node("--", deep)))))
    assert document.treebank.strings("form") == ["ja"]
    assert document.treebank.strings("lemma") == ["ja"]


def facts() -> dict[int, list[tuple[int, str, str, int]]]:
    """Return the stored facts by number of sentence, as lists of (position, form, relation, head)."""
    facts_of: dict[int, list[tuple[int, str, str, int]]] = {}
    text = Path(__file__).with_name("golden").joinpath("alpino.txt").read_text(encoding="utf-8")
    for block in text.split("\n\n")[1:]:
        title, *rows = block.strip().split("\n")
        cells = [row.split(" ") for row in rows]
        facts_of[int(title.split(" ")[0])] = [(int(c[0]), c[1], c[2], int(c[3])) for c in cells]
    return facts_of


@pytest.fixture(scope="module")
def treebank():
    with zipfile.ZipFile(ARCHIVE) as archive:
        return read(io.BytesIO(archive.read("alpino/alpino.xml")), "alpino").treebank


@needs_mirror
def test_golden_facts(treebank):
    golden = facts()
    assert len(golden) >= 30
    for i, rows in golden.items():
        sentence = treebank[i]
        forms, labels, heads = sentence.strings("form"), sentence.strings("deprel"), sentence.heads.tolist()
        for position, form, label, head in rows:
            assert (forms[position - 1], labels[position - 1], heads[position]) == (form, label, head), f"{i}: {form}"


@needs_mirror
def test_every_sentence_is_accounted_for(treebank):
    """Check counts of the whole treebank: sentences, words, punctuation marks, roots and crossing arcs."""
    assert len(treebank) == 7136
    assert treebank.words == 140_780
    assert sum(pos == "punct" for pos in treebank.strings("xpos")) == 15_568
    heads = [treebank.heads(i) for i in range(len(treebank))]
    assert all((h[1:] == 0).sum() == 1 for h in heads)
    crossings = sum(int(np.count_nonzero(crossing(h))) for h in heads)
    assert 0.10 < crossings / treebank.words < 0.11
