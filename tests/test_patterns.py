"""Hand-crafted patterns: language, matcher against a plain Python twin, shipped files, parts, features and models."""

from __future__ import annotations

import dataclasses
import itertools
import re

import numpy as np
import pytest
from synthetic import synthetic_treebank

from studies.qian_liu_2013.patterns import evidence
from treebound.checker.certificates import check_parse
from treebound.checker.scoring import tree_score
from treebound.core.errors import InputError, ModelError
from treebound.core.problem import NONE, Problem
from treebound.core.treebank import STRING_COLUMNS, Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.factors.pattern_language import OUTSIDE, ROOT, Pattern, PatternSet, load, parse, shipped
from treebound.features.patterns import find
from treebound.features.scorer import Scorer
from treebound.features.tokens import TokenTable, hash_string
from treebound.learning.pruner import train_pruner
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train
from treebound.treebanks.catalogue import CORPORA

META = {"single_root": True, "tag": "xpos", "coarse": "upos", "attributes": ["lemma"], "punctuation": None}


def treebank(sentences: list[list[tuple[str, str, str, int]]], **meta) -> Treebank:
    """Return a treebank of sentences, given as lists of (form, upos, xpos, head)."""
    vocab = {name: Vocabulary(["_"]) for name in STRING_COLUMNS}
    rows: dict[str, list[int]] = {name: [] for name in STRING_COLUMNS}
    words = [word for sentence in sentences for word in sentence]
    for form, upos, xpos, _ in words:
        strings = {"form": form, "upos": upos, "xpos": xpos, "lemma": form.lower()}
        for name in STRING_COLUMNS:
            rows[name].append(vocab[name].add(strings.get(name, "_")))
    columns = {name: np.array(values, np.int32) for name, values in rows.items()}
    offsets = np.cumsum([0] + [len(s) for s in sentences])
    return Treebank("made-up", offsets, columns, vocab, np.array([w[3] for w in words], np.int32), META | meta)


def plain_matches(pattern: Pattern, words: list[tuple[str, str, str]]) -> list[tuple[int, ...]]:
    """Return all matches of a pattern by trying all choices of words, as a twin of the matcher."""

    def value(place: int, attribute: str) -> str:
        form, upos, xpos = words[place - 1]
        named = {"form": form, "lower": form.lower(), "lemma": form.lower(), "upos": upos, "coarse": upos}
        return named.get(attribute, "_" if attribute == "feats" else xpos)

    def passes(slot: int, place: int) -> bool:
        for test in pattern.tests[slot]:
            if test.kind == "$":
                continue
            text = value(place, test.attribute)
            if test.kind == "~" and not re.fullmatch(test.values[0], text):
                return False
            if test.kind == "=" and text not in test.values:
                return False
            if test.kind == "!=" and text in test.values:
                return False
        return True

    out = []
    for places in itertools.combinations(range(1, len(words) + 1), len(pattern.names)):
        good = all(passes(slot, place) for slot, place in enumerate(places))
        for slot, gap in enumerate(pattern.gaps):
            between = range(places[slot] + 1, places[slot + 1])
            good &= gap.least <= len(between) <= gap.most
            if gap.shortest:
                good &= not any(passes(slot, place) or passes(slot + 1, place) for place in between)
        for slot, tests in enumerate(pattern.tests):
            for test in tests:
                if test.kind == "$":
                    good &= value(places[slot], test.attribute) == value(places[test.other], test.attribute)
        if good:
            out.append(places)
    return out


TWIN = """
[words]
match = "a b"
arcs = "a -> b"
[tags]
match = "a:upos=N|V ..2 b:xpos!=N1"
arcs = "b -> a"
[lazy]
match = "a:upos=N ..4? b c:upos=V"
arcs = "a -> b -> c"
[lazy-both]
match = "a:upos=V 1..3? b:upos=V"
arcs = "a -> b"
[same]
match = "a:upos=N 1..1 b:lower=$a ..1 c:*"
arcs = "a -> b, outside -> a"
[regular]
match = "a:form~[A-C] ..2 b:lower~[ac]&upos~N|V d:tag=N1|V1"
arcs = "root -> a -> b -> d"
[any]
match = "x:* y:*"
arcs = "x -> y"
[absent]
match = "nowhere a"
arcs = "a -> nowhere"
"""


def test_the_matcher_agrees_with_brute_force() -> None:
    rng = np.random.default_rng(1)
    patterns = parse(TWIN, "twin")
    sentences = []
    for _ in range(150):
        n = int(rng.integers(1, 9))
        sentences.append(
            [
                (str(rng.choice(["a", "b", "c", "A", "B", "d"])), tag, tag + str(rng.integers(1, 3)), 0)
                for tag in rng.choice(["N", "V", "D"], n)
            ]
        )
    matches = find(patterns, treebank(sentences))
    total = 0
    for i, words in enumerate(sentences):
        which, places = matches.sentence(i)
        expected = [
            (p, *match)
            for p, pattern in enumerate(patterns.patterns)
            for match in plain_matches(pattern, [w[:3] for w in words])
        ]
        rows = [(int(p), *(int(w) for w in row if w)) for p, row in zip(which, places, strict=True)]
        assert rows == sorted(expected)
        total += len(rows)
    counts = np.bincount(matches.pattern, minlength=len(patterns))
    assert total == len(matches)
    assert (counts[:-1] >= 10).all(), "every kind of pattern is tried"
    assert counts[-1] == 0


def test_an_empty_treebank_has_no_matches() -> None:
    assert len(find(parse(TWIN, "twin"), treebank([]))) == 0
    assert len(find(parse(TWIN, "twin"), treebank([[("a", "D", "D1", 0)]]))) == 0


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "no patterns; write one"),
        ("about = 1\n[x]\nmatch='a b'\narcs='a -> b'", None, "about is not a text"),
        ("\n[x]\nmatch = 'a b\n", 3, "not TOML"),
        ("x = 1", None, "pattern x: not a table; write"),
        ("\n[x]\nmatch = 'a b'", 2, "pattern x: no arcs; write"),
        ("[x]\nmatch = ''\narcs = 'a -> b'", 1, "no match; write"),
        ("[x]\nmatch='a b'\narcs='a -> b'\nscore=2", 1, "unknown key 'score'; keys of a pattern are match"),
        ("[x]\nmatch='a ..3'\narcs='a -> a'", 1, "match does not end in a word; put"),
        ("[x]\nmatch='..3 a'\narcs='a -> a'", 1, "gap ..3 does not stand between two words; put"),
        ("[x]\nmatch='a 2.. b'\narcs='a -> b'", 1, "gap 2.. has no end; say at most"),
        ("[x]\nmatch='a 3..2 b'\narcs='a -> b'", 1, "gap 3..2 is empty or too long; write"),
        ("[x]\nmatch='a ..99 b'\narcs='a -> b'", 1, "gap ..99 is empty or too long; write"),
        ("[x]\nmatch='a a'\narcs='a -> a'", 1, "name 'a' is used twice; give"),
        ("[x]\nmatch='outside b'\narcs='b -> outside'", 1, "name 'outside' is reserved; give"),
        ("[x]\nmatch='a , b'\narcs='a -> b'", 1, "word ',' has no name; write"),
        ("[x]\nmatch='a b:'\narcs='a -> b'", 1, "word 'b' has an empty test; write"),
        ("[x]\nmatch='a b:tag=N|'\narcs='a -> b'", 1, "'tag=N|' has an empty value; write"),
        ("[x]\nmatch='a b:deprel=obj'\narcs='a -> b'", 1, "unknown attribute 'deprel'; choose from form"),
        ("[x]\nmatch='a b:tag~('\narcs='a -> b'", 1, "regular expression '(': missing ), unterminated subpattern"),
        ("[x]\nmatch='a b:lower=$c'\narcs='a -> b'", 1, "compares with no other word; write"),
        ("[x]\nmatch='a b c d e f g h i'\narcs='a -> b'", 1, "9 words; use at most 8"),
        ("[x]\nmatch='a b'\narcs='a'", 1, "'a' is no arc; write head -> modifier"),
        ("[x]\nmatch='a b'\narcs='a -> c'", 1, "no word 'c'; choose from a, b, root, outside"),
        ("[x]\nmatch='a b'\narcs='a -> root'", 1, "root as a modifier; it can only"),
        ("[x]\nmatch='a b c'\narcs='a -> c, b -> c'", 1, "c has two heads; keep one"),
        ("[x]\nmatch='a b c'\narcs='a -> b -> c -> a'", 1, "is above itself; break"),
        ("[x]\nmatch='a b'\narcs='outside -> a, outside -> b'", 1, "two heads outside; use"),
        ("[x]\nmatch='a b c d e f g h'\narcs='a->b->c->d->e->f->g->h'", 1, "7 arcs; use at most 6"),
        ("[x]\nmatch='a b'\narcs='a -> b | '", 1, "'' is no arc; write head -> modifier"),
        ("[x]\nmatch='a b'\narcs='a -> b | outside -> b'", 1, "outside among alternatives; write a pattern for each"),
        ("[x]\nmatch='a b c'\narcs='a->b|a->c|b->c|b->a|c->a'", 1, "5 alternatives; use at most 4"),
        ("[x]\nmatch='a b'\narcs='a->b'\nfeatures='a.form'", 1, "features is not a list"),
        ("[x]\nmatch='a b'\narcs='a->b'\nfeatures=['c.form']", 1, "feature 'c.form': no word 'c'; choose from a, b"),
        ("[x]\nmatch='a b'\narcs='a->b'\nfeatures=['outside.tag']", 1, "no word 'outside'"),
        ("[x]\nmatch='a b'\narcs='a->b'\nfeatures=['a.upos']", 1, "no attribute 'upos'; choose from form"),
    ],
)
def test_a_bad_file_is_explained_in_one_line(text: str, line: int | None, message: str, tmp_path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        load(path)
    refusal = str(error.value)
    assert refusal.startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert message in refusal
    assert "\n" not in refusal


def test_files_that_cannot_be_read(tmp_path) -> None:
    with pytest.raises(InputError, match="give a file, or one of en_penn, en_ud"):
        load(tmp_path / "none.toml")
    latin = tmp_path / "latin.toml"
    latin.write_bytes("about = 'ü'".encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8"):
        load(latin)


#: for each shipped pattern: a sentence as form/upos/xpos, and the heads that the pattern's arcs require
SENTENCES = {
    "en_ud": {
        "a-rather-than-a": "In/ADP/IN spring/NOUN/NN rather/ADV/RB than/ADP/IN in/ADP/IN autumn/NOUN/NN 3<6 4<3 5<6",
        "rather-than": "tea/NOUN/NN rather/ADV/RB than/ADP/IN milk/NOUN/NN 2<0 3<2 2<1 2<4",
        "according-to": "According/VERB/VBG to/ADP/IN him/PRON/PRP 2<1",
        "instead-of": "instead/ADV/RB of/ADP/IN tea/NOUN/NN 2<1",
        "due-to": "due/ADP/IN to/ADP/IN snow/NOUN/NN 2<1",
        "such-as": "birds/NOUN/NNS such/ADJ/JJ as/ADP/IN owls/NOUN/NNS 3<2",
        "as-well-as": "cats/NOUN/NNS as/ADV/RB well/ADV/RB as/ADP/IN dogs/NOUN/NNS 3<2 4<2",
        "of-course": "Of/ADP/IN course/NOUN/NN not/PART/RB 2<1",
        "in-case": "in/ADP/IN case/NOUN/NN it/PRON/PRP rains/VERB/VBZ 2<1",
        "by-far": "by/ADP/IN far/ADV/RB the/DET/DT best/ADJ/JJS 1<2",
        "at-least": "at/ADP/IN least/ADJ/JJS two/NUM/CD 1<2",
        "the-name-s": "the/DET/DT Alps/PROPN/NNP '/PART/POS lakes/NOUN/NNS 1<2 3<2",
        "on-a-basis": "on/ADP/IN a/DET/DT weekly/ADJ/JJ basis/NOUN/NN 1<4 2<4",
        "a-measure-more": "a/DET/DT mile/NOUN/NN farther/ADV/RBR 1<2 2<3",
        "noun-or-so": "a/DET/DT week/NOUN/NN or/CCONJ/CC so/ADV/RB 4<2 3<4",
        "even-though": "even/ADV/RB though/SCONJ/IN she/PRON/PRP slept/VERB/VBD 1<4 2<4",
        "he-and-his-n": "she/PRON/PRP and/CCONJ/CC her/PRON/PRP$ dog/NOUN/NN 4<1 2<4 3<4",
        "once-a-n": "once/ADV/RB a/DET/DT year/NOUN/NN 3<1 2<3",
        "where-else": "where/ADV/WRB else/ADJ/JJ 2<1",
        "state-of-the-art": "state/NOUN/NN of/ADP/IN the/DET/DT art/NOUN/NN 4<1 2<4 3<4",
    },
    "en_penn": {
        "a-rather-than-a": "in/IN/IN May/NN/NNP rather/RB/RB than/IN/IN in/IN/IN June/NN/NNP 4<1 3<4 5<4",
        "about-money": "about/IN/IN $/$/$ 9/CD/CD 1<2 3<2",
        "more-than-money": "more/JJ/JJR than/IN/IN $/$/$ 9/CD/CD 1<3 2<3 4<3",
        "per-cent-plural": "8/CD/CD %/NN/NN old/JJ/JJ notes/NN/NNS ;/:/: 2<4",
        "of-new-place": "Port/NN/NNP of/IN/IN New/NN/NNP Haven/NN/NNP 2<1 4<2 3<4",
        "money-fine": "a/DT/DT $/$/$ 9/CD/CD fine/NN/NN 2<4 3<2",
        "n-next-n": "rain/NN/NN next/JJ/JJ week/NN/NN 2<3",
        "verb-jj-and-jj": "is/VB/VBZ cold/JJ/JJ and/CC/CC wet/JJ/JJ 2<4 3<4",
        "priced-to-yield": "priced/VB/VBN at/IN/IN par/NN/NN to/TO/TO yield/VB/VB 2<1 5<1 4<5",
    },
    "pt_ud": {
        "visto-que": "visto/VERB/_ que/SCONJ/_ chove/VERB/_ 2<1",
        "ja-que": "Já/ADV/_ que/SCONJ/_ chove/VERB/_ 2<1",
        "resultante-de": "resultante/ADJ/_ de/ADP/_ a/DET/_ chuva/NOUN/_ 4<1 2<4",
        "com-base-em": "com/ADP/_ base/NOUN/_ em/ADP/_ cartas/NOUN/_ 1<2 4<2 3<4",
        "ser-de-n": "é/AUX/_ de/ADP/_ madeira/NOUN/_ 1<3 2<3",
        "quanto-a-det-n": "quanto/ADV/_ a/ADP/_ o/DET/_ gato/NOUN/_ 1<4 2<1 3<4",
        "entre-o-a-e-b": "entre/ADP/_ o/DET/_ gato/NOUN/_ e/CCONJ/_ cães/NOUN/_ 1<3 5<3 4<5",
        "entre-a-e-o-b": "entre/ADP/_ gatos/NOUN/_ e/CCONJ/_ os/DET/_ cães/NOUN/_ 1<2 5<2 3<5",
        "variacao-de-n": "a/DET/_ variação/NOUN/_ de/ADP/_ cores/NOUN/_ 1<2 4<2",
        "num-e-num": "dois/NUM/_ e/CCONJ/_ três/NUM/_ 2<3",
    },
}


def read(sentence: str) -> tuple[list[tuple[str, str, str, int]], list[tuple[int, int]]]:
    """Return the words and the (modifier, head) pairs of an item of SENTENCES."""
    items = sentence.split()
    words = [(*item.split("/"), 0) for item in items if "<" not in item]
    return words, [tuple(map(int, item.split("<"))) for item in items if "<" in item]  # type: ignore[misc, return-value]


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_pattern_matches_its_sentence(name: str) -> None:
    patterns = load(name)
    assert {p.name for p in patterns.patterns} == set(SENTENCES[name])
    for p, pattern in enumerate(patterns.patterns):
        words, arcs = read(SENTENCES[name][pattern.name])
        own = treebank([words], tag="upos" if name == "pt_ud" else "xpos")
        which, places = find(patterns, own).sentence(0)
        assert (which == p).sum() == 1, pattern.name
        (match,) = places[which == p]
        required = {(match[m], 0 if h < 0 else match[h]) for h, m in pattern.arcs if h != OUTSIDE}
        outside = {match[m] for h, m in pattern.arcs if h == OUTSIDE}
        assert required == {(m, h) for m, h in arcs if m not in outside}, pattern.name
        assert {m for m, _ in arcs if m in outside} == outside


def test_there_are_as_many_as_promised() -> None:
    assert len(load("en_ud")) >= 13
    assert len(load("pt_ud")) >= 5
    for name in ("en_ud", "en_penn"):
        (pattern,) = (p for p in load(name).patterns if p.name == "a-rather-than-a")
        assert tuple(pattern.names[i] for i in (1, 2)) == ("rather", "than")
    used = {corpus.patterns for corpus in map(CORPORA.__getitem__, CORPORA) if corpus.patterns}
    assert used == set(shipped())
    assert all(corpus.meta["patterns"] == corpus.patterns for corpus in map(CORPORA.__getitem__, CORPORA))


# --- parts, scores, updates ---

PARTS = parse(
    """
[one]
match = "a:upos=N b:upos=V"
arcs = "b -> a"
features = ["a.form b.form", "a.lemma", "b.prefix"]

[two]
match = "a:upos=N ..2 b:upos=V"
arcs = "outside -> b -> a"
features = ["outside.tag b.form"]

[root]
match = "b:upos=V ..3 c:upos=N"
arcs = "root -> b -> c"
""",
    "parts",
)
EITHER = parse(
    """
[either]
match = "a:upos=N b:upos=V ..2 c:*"
arcs = "b -> a | b -> c"
features = ["a.form c.form"]

[heads]
match = "a:* ..1 b:upos=V ..1 c:upos=N"
arcs = "a -> b | c -> b | root -> b"

[chains]
match = "a:* b:* c:*"
arcs = "a -> b -> c | c -> b, a -> c | a -> b"
features = ["b.tag"]
""",
    "either",
)
ATTRIBUTES = frozenset({"form", "lower", "tag", "coarse", "lemma"})


def problem(seed: int, patterns: PatternSet = PARTS):
    """Return a scorer and the scores, rows, tags, weights, words and matches of a random sentence."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    words = [(f"w{rng.integers(3)}", str(rng.choice(["N", "V"])), str(rng.choice(["X", "Y"])), 0) for _ in range(n)]
    own = treebank([words])
    scorer = Scorer(("sibling", "pattern"), ATTRIBUTES, 12, patterns)
    table = TokenTable(own, scorer.matches(own))
    rows, tag = table.sentence(0)
    weights = rng.integers(-1000, 1000, 1 << 12).astype(np.int32)
    allowed = rng.random((n + 1, n + 1)) < 0.7
    scored = scorer.score(weights, rows, tag, allowed, True, matches=table.matches(0))
    return scorer, scored, rows, tag, weights, words, table.matches(0)


@pytest.mark.parametrize("seed", range(25))
def test_parts_are_the_matches_whose_arcs_are_candidates(seed: int) -> None:
    _, scored, _, _, _, words, _ = problem(seed)
    index = scored.arc_index
    number = {(int(h), int(m)): a for a, (h, m) in enumerate(zip(index.head, index.mod, strict=True))}
    expected = []
    for pattern in PARTS.patterns:
        for places in plain_matches(pattern, [w[:3] for w in words]):
            heads: list[int | None] = [None]
            if any(h == OUTSIDE for h, _ in pattern.arcs):
                heads = [h for h in range(len(words) + 1) if h not in places]
            for outside in heads:
                arcs = []
                for h, m in pattern.arcs:
                    head = {ROOT: 0, OUTSIDE: outside}.get(h, places[h] if h >= 0 else None)
                    arcs.append(number.get((head, places[m])))
                if None not in arcs:
                    expected.append(tuple(arcs + [NONE] * (6 - len(arcs))))
    assert [tuple(row) for row in scored.arcs["pattern"].tolist()] == expected
    assert scored.arcs["pattern"].dtype == np.int32


def feature_slots(text: str, values: list[int], mask: int) -> int:
    """Return the slot of a pattern feature in plain Python: the hash of its name and of the words' attributes."""

    def wrap(x: int) -> int:
        return (x + 2**63) % 2**64 - 2**63

    x = hash_string(text)
    for value in values:
        x = wrap((x ^ value) * -7046029254386353131)
    x = wrap((x ^ (x >> 31)) * -4658895280553007687)
    x ^= x >> 29
    return ((x >> 4) & mask) * 16 + (x & 15)


@pytest.mark.parametrize("seed", range(25))
def test_scores_are_sums_of_the_weights_of_the_named_features(seed: int) -> None:
    scorer, scored, rows, _, weights, words, _ = problem(seed)
    slots, signs = np.empty(1 << 14, np.int64), np.empty(1 << 14, np.float32)
    table = scored.words["pattern"]
    for part, score in enumerate(scored.by_family["pattern"]):
        pattern = PARTS.patterns[table[part, -1]]
        expected = []
        for atoms in pattern.features:
            if all(attribute in ATTRIBUTES for _, attribute in atoms):
                spelt = " ".join(f"{'outside' if w == OUTSIDE else pattern.names[w]}.{a}" for w, a in atoms)
                at = [(table[part, 8 if w == OUTSIDE else w], a) for w, a in atoms]
                values = []
                for word, attribute in at:
                    form, upos, xpos = words[word - 1][:3] if word else ("<root>",) * 3
                    string = {"tag": xpos, "coarse": upos}.get(attribute, form)
                    values.append(hash_string(f"{attribute}={string}"))
                expected.append(feature_slots(f"pattern|{pattern.name}|{spelt}", values, scorer.mask))
        assert score == weights[expected].sum()
        none = {family: np.empty(0, np.int64) for family in ("arc", "sibling")}
        chosen = none | {"pattern": np.array([part])}
        count = scorer.features(chosen, -1.0, scored, rows, np.zeros(len(words) + 1, np.int32), slots, signs, 0)
        assert sorted(slots[:count]) == sorted(expected)
        assert (signs[:count] == -1.0).all()


def test_a_tree_selects_the_parts_all_of_whose_arcs_it_has() -> None:
    for seed in range(25):
        scored = problem(seed)[1]
        index = scored.arc_index
        rng = np.random.default_rng(seed)
        into = [index.into[a:b] for a, b in itertools.pairwise(index.into_start[1:])]
        tree = np.array([rng.choice(arcs) if len(arcs) else -1 for arcs in into], np.int32)
        if (tree < 0).any():
            continue
        chosen = scored.selected("pattern", tree).tolist()
        on = {*tree.tolist(), NONE}
        assert chosen == [p for p, row in enumerate(scored.arcs["pattern"].tolist()) if set(row) <= on]


@pytest.mark.parametrize("seed", range(25))
def test_alternatives_score_once_whether_one_or_several_hold(seed: int) -> None:
    """Alternatives add their weights once if one or several of them hold, and otherwise not at all.

    An OR is written as a polynomial of products. The test enumerates all choices of heads.
    """
    scorer, scored, rows, _, weights, words, (which, places) = problem(seed, EITHER)
    index = scored.arc_index
    n = len(words)
    phi = {}  # scores of matches that hold, computed from the pattern without alternatives
    for p, pattern in enumerate(EITHER.patterns):
        alone = PatternSet("alone", "", "", (dataclasses.replace(pattern, ways=((0,),)),))
        single = Scorer(("pattern",), ATTRIBUTES, 12, alone)
        some = np.zeros((which == p).sum(), np.int32), places[which == p]
        every = single.score(
            weights, rows, np.zeros(n + 1, np.int32), np.ones((n + 1, n + 1), bool), True, matches=some
        )
        for row, score in zip(every.words["pattern"], every.by_family["pattern"], strict=True):
            phi[p, tuple(row[: len(pattern.names)])] = score
    assert len(phi) == len(which)
    into = [index.into[a:b] for a, b in itertools.pairwise(index.into_start[1:])]
    slots, signs = np.empty(1 << 14, np.int64), np.empty(1 << 14, np.float32)
    for arcs in itertools.islice(itertools.product(*into), 300):
        heads = [0, *(int(index.head[a]) for a in arcs)]
        expected = 0.0
        for (p, match), score in phi.items():
            pattern = EITHER.patterns[p]
            held = [heads[match[m]] == (0 if h == ROOT else match[h]) for h, m in pattern.arcs]
            expected += score * any(all(held[k] for k in way) for way in pattern.ways)
        chosen = scored.selected("pattern", np.array(arcs, np.int32))
        assert scored.by_family["pattern"][chosen].sum() == expected
        none = {family: np.empty(0, np.int64) for family in ("arc", "sibling")}
        tag = np.zeros(n + 1, np.int32)
        count = scorer.features(none | {"pattern": chosen}, 1.0, scored, rows, tag, slots, signs, 0)
        assert (weights[slots[:count]] * signs[:count]).sum() == expected


def test_alternatives_as_products() -> None:
    either, heads, chains = EITHER.patterns
    assert either.products() == [(1, (0,)), (1, (1,)), (-1, (0, 1))]
    # a word has a single head, so no two alternatives hold together
    assert heads.products() == [(1, (0,)), (1, (1,)), (1, (2,))]
    assert chains.products() == [(1, (2, 3)), (1, (0,))]  # the first alternative has more arcs than the last
    assert PARTS.patterns[1].products() == [(1, (0, 1))]


def test_a_pattern_scores_the_same_beside_any_other_patterns() -> None:
    alone = PatternSet("alone", "", "", PARTS.patterns[1:2])
    words = [("w0", "N", "X", 0), ("w1", "N", "Y", 0), ("w2", "V", "X", 0)]
    own = treebank([words])
    weights = np.random.default_rng(0).integers(-1000, 1000, 1 << 12).astype(np.int32)
    parses = []
    for patterns in (PARTS, alone):
        scorer = Scorer(("pattern",), ATTRIBUTES, 12, patterns)
        table = TokenTable(own, scorer.matches(own))
        rows, tag = table.sentence(0)
        scored = scorer.score(weights, rows, tag, np.ones((4, 4), bool), True, matches=table.matches(0))
        names = [patterns.patterns[p].name for p in scored.words["pattern"][:, -1]]
        scores = scored.by_family["pattern"]
        parses.append([float(s) for s, name in zip(scores, names, strict=True) if name == "two"])
    assert parses[0] == parses[1]
    assert len(parses[0]) == 4


# --- models ---


def test_a_model_keeps_the_patterns_it_was_trained_with(tmp_path) -> None:
    pruner = train_pruner(synthetic_treebank(20, seed=1), epochs=1, bits=12)
    spec = Settings(families=("pattern",), bits=12, labels="none")
    model = Model(
        spec, np.arange(1 << 12, dtype=np.int32), 1.0, pruner, META | {"patterns": "parts"}, [], patterns=PARTS
    )
    model.save(tmp_path / "model.npz")
    loaded = Model.load(tmp_path / "model.npz")
    assert loaded.patterns == PatternSet("parts", PARTS.text, PARTS.about, PARTS.patterns)
    changed = PatternSet("parts", PARTS.text + "# changed\n", PARTS.about, PARTS.patterns)
    assert changed.digest != PARTS.digest

    class Damaged(PatternSet):
        digest = "0" * 16  # type: ignore[assignment]

    damaged = Damaged("parts", PARTS.text, PARTS.about, PARTS.patterns)
    Model(spec, model.weights, 1.0, pruner, META, [], patterns=damaged).save(tmp_path / "damaged.npz")
    with pytest.raises(ModelError, match="its patterns do not match their digest"):
        Model.load(tmp_path / "damaged.npz")


def test_a_parser_needs_no_pattern_file(tmp_path) -> None:
    """A parser trained with a user's pattern file works after the file was deleted, and proves every tree."""
    own = tmp_path / "own.toml"
    own.write_text(
        """
        [noun-phrase]
        match = "d:tag=D ..2? n:tag=N"
        arcs = "outside -> n -> d"
        features = ["n.form", "outside.tag"]
        [last]
        match = "v:tag=V p:tag=."
        arcs = "v -> p"
        """
    )
    learn, dev = (synthetic_treebank(size, seed=seed) for size, seed in ((80, 1), (30, 2)))
    learn.meta["patterns"] = str(own)
    pruner = train_pruner(learn, epochs=1, bits=12)
    spec = Settings(
        families=("adjacent-sibling", "outermost-grandchild", "pattern"),
        epochs=2,
        k=5,
        bits=14,
        labels="none",
        max_dp_calls=0,
    )
    model = train(spec, learn, dev, pruner)
    model.save(tmp_path / "model.npz")
    own.unlink()
    parser = Parser(Model.load(tmp_path / "model.npz"))
    parses = parser.parse(dev)
    used = 0
    for i, (first, second) in enumerate(zip(parses, Parser(model).parse(dev), strict=True)):
        problem = parser.problem(dev, i)
        assert first.certified
        assert first.heads.tolist() == second.heads.tolist()
        assert first.value == tree_score(problem, first.heads)
        assert check_parse(problem, first) == []
        selected = np.isin(np.arange(problem.arcs), _arcs_of(problem, first.heads))
        table = problem.parts["pattern"]
        fires = np.where(table.arcs >= 0, selected[table.arcs], True).all(axis=1)
        used += int((fires & (table.score != 0)).sum())
    assert used > 20


def _arcs_of(problem: Problem, heads: np.ndarray) -> np.ndarray:
    return np.flatnonzero(heads[problem.mod] == problem.head)


def test_a_treebank_without_patterns_is_refused() -> None:
    with pytest.raises(InputError, match="needs a pattern file"):
        Scorer(("pattern",), ATTRIBUTES, 12, None)


# --- evidence ---


def test_evidence_counts_matches_and_errors() -> None:
    patterns = parse("[p]\nmatch = 'a b:upos=N|PUNCT'\narcs = 'b -> a'", "p")
    right = [("a", "D", "D", 2), ("dog", "N", "N", 0)]
    elsewhere = [("a", "D", "D", 0), ("dog", "N", "N", 1)]
    rule = {"column": "upos", "tags": ["D"]}
    own = treebank([right, right, elsewhere, [("b", "N", "N", 0)]])
    heads = np.array([2, 0, 0, 1, 2, 0, 0], np.int32)  # right, mistaken, misled
    row = evidence(patterns, own, heads).loc["p"]
    assert row.to_dict() == {"matches": 3, "consistency": pytest.approx(2 / 3), "mistaken": 1, "words": 1, "misled": 1}
    unscored = evidence(patterns, treebank([right, right], punctuation=rule), heads[:4]).loc["p"]
    assert unscored["mistaken"] == unscored["words"] == 0
