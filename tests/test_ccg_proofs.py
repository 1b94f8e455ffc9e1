"""Proofs of the joint model in files: what `parse` writes `check` verifies; no damaged file proves a false claim.

The claims that are attacked with are other derivations of the same charts, with their own scores, said to be the best.
"""

from __future__ import annotations

import gzip
import io
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from ccg_corpus import write_auto
from test_ccg_system import call

import treebound
from treebound.checker.joint_proofs import decoded, encoded
from treebound.cli.checking import Checked, Claimed
from treebound.cli.checking_derivations import Checking, checked, read_off
from treebound.core.errors import InputError
from treebound.systems.ccg.decoding import Supertagged
from treebound.systems.ccg.joint import Joint
from treebound.systems.ccg.joint_search import proof, search
from treebound.systems.ccg.words import words_of
from treebound.treebanks.ccg.columns import heads_of
from treebound.treebanks.claims import number
from treebound.treebanks.document import stream

BEAMS = "0:1000"
EXACT = ("--beams", BEAMS, "--integrate", "exact", "--iterations", "1")  # so few that nodes are split


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model, and what it says of some sentences with its proofs."""
    path = tmp_path_factory.mktemp("proofs")
    write_auto(path / "train.auto", 1, 60)
    write_auto(path / "dev.auto", 2, 40)
    sizes = {"chart_bits": 12, "tag_bits": 12, "tag_iterations": 5, "iterations": 5}
    options = [part for name, n in sizes.items() for part in (f"--{name.replace('_', '-')}", n)]
    call("train", path / "train.auto", path / "dev.auto", "-o", path / "m.npz", "--system", "ccg", *options)
    parse(path, "exact", *EXACT)
    return path


def parse(folder: Path, name: str, *options: str) -> None:
    files = ("-o", folder / f"{name}.conllu", "--certificates", folder / f"{name}.gz")
    call("parse", folder / "m.npz", folder / "dev.auto", *files, *options)


def check(folder: Path, name: str, *options: str, proofs: str = "") -> None:
    files = (folder / "m.npz", folder / f"{name}.conllu", "--certificates", folder / f"{proofs or name}.gz")
    call("check", *files, *(options or ("--beams", BEAMS)))


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("exact", EXACT, r"40 sentences: (3[0-9]|40) proved optimal(, \d with a proved bound)?"),
        ("dd", ("--beams", BEAMS, "--integrate", "dd", "--iterations", "3"), "with a proved bound"),
        ("bp", ("--beams", BEAMS, "--integrate", "bp"), "0 proved optimal, 40 claim a tree and its score alone"),
    ],
)
def test_what_parse_wrote_is_verified(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, options: tuple[str, ...], said: str
) -> None:
    if name != "exact":
        parse(folder, name, *options)
    check(folder, name)
    out, error = capsys.readouterr()
    assert (out, re.search(said, error) is not None) == ("", True), error
    check(folder, name, "--beams", BEAMS, "--fast")
    assert "0 proved optimal" in capsys.readouterr().err


def test_fragments_are_those_of_the_parser(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--beams", "0.5:1", "--limit", "12")
    parse(folder, "fragments", *options, "--integrate", "exact")
    with gzip.open(folder / "fragments.gz") as file:
        assert b"null\n" in file.readlines()
    check(folder, "fragments", *options)
    capsys.readouterr()
    text = (folder / "fragments.conllu").read_text()
    changed = re.sub(
        r"# treebound_score = (.*)\n# treebound_bound = inf", r"# treebound_score = 1\n# treebound_bound = inf", text
    )
    assert changed != text
    (folder / "fragments.conllu").write_text(changed)
    check(folder, "fragments", *options)
    assert "fragments differ from the parser's" in capsys.readouterr().out


def test_files_that_do_not_belong_together(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="the check of a CCG model needs its proofs"):
        call("check", folder / "m.npz", folder / "exact.conllu")
    with pytest.raises(InputError, match="only the joint model has proofs"):
        parse(folder, "none")
    check(folder, "exact", "--beams", "0.9:5")
    assert "words, variables and edges" in capsys.readouterr().out
    lines = gzip.decompress((folder / "exact.gz").read_bytes()).splitlines(keepends=True)
    for some, message in (
        (lines[:-1], "ends before"),
        ([*lines, b"null\n"], "goes on after"),
        ([lines[0].replace(b"derivations", b"projective"), *lines[1:]], "model needs proofs about derivations"),
    ):
        (folder / "other.gz").write_bytes(gzip.compress(b"".join(some)))
        with pytest.raises(InputError, match=message):
            check(folder, "exact", proofs="other")


class Sentence(NamedTuple):
    """A sentence as it was parsed, its proof as JSON data, and a derivation of its chart that scores less.

    text  CoNLL-U; false: the same with the claim that the other derivation is the best; other: its edges
    """

    text: str
    proof: dict[str, Any]
    false: str
    other: list[int]


@pytest.fixture(scope="module")
def how(folder: Path) -> Checking:
    return Checking(treebound.load(folder / "m.npz", beams=(BEAMS,)), "exact.conllu", folder / "exact.gz")


@pytest.fixture(scope="module")
def sentences(folder: Path, how: Checking) -> list[Sentence]:
    """Those that have another derivation."""
    texts = (folder / "exact.conllu").read_text().split("\n\n")
    with gzip.open(folder / "exact.gz") as file:
        proofs = [json.loads(line) for line in file.readlines()[1:]]
    found = []
    for text, data in zip(texts, proofs, strict=False):
        document = next(stream(io.BytesIO(f"{text}\n\n".encode()), 1, annotated=False))
        words = words_of(document.treebank, "xpos")
        joint = how.charts.joint(Supertagged(how.parser.model.tagger, words), 0)
        assert joint is not None
        if (other := worse(joint, data["derivation"])) is not None:
            value, edges = other
            derivation = read_off(joint, edges, words.strings)
            names = [str(leaf.category) for leaf in derivation.leaves()]
            false = replaced(f"{text}\n\n", heads_of(derivation), names)
            found.append(Sentence(f"{text}\n\n", data, claiming(false, value, value, "optimal"), edges))
    return found


def worse(joint: Joint, edges: list[int]) -> tuple[float, list[int]] | None:
    """(score, edges) of the best derivation without some category of the best one, if it scores less."""
    graph, possible = joint.packed.chart.graph, joint.possible
    best = search(joint, 50, 100)
    assert best is not None
    for v in [int(graph.var[e]) for e in edges if graph.var[e] < len(possible)]:
        joint.possible = possible & (np.arange(len(possible)) != v)
        found = search(joint, 50, 100)
        joint.possible = possible
        if found is not None and found[0].value < best[0].value:
            return found[0].value, proof(joint, *found).derivation
    return None


def replaced(text: str, heads: list[int], categories: list[str]) -> str:
    lines, at = text.split("\n"), 0
    for i, line in enumerate(lines):
        if "\t" in line:
            fields = line.split("\t")
            lines[i] = "\t".join([*fields[:6], str(heads[at]), categories[at], *fields[8:]])
            at += 1
    return "\n".join(lines)


def claiming(text: str, score: float, bound: float, status: str) -> str:
    for key, value in (("score", number(score)), ("bound", number(bound)), ("status", status)):
        text = re.sub(rf"(?m)^# treebound_{key} = .*$", f"# treebound_{key} = {value}", text)
    return text


def look(how: Checking, text: str, data: Any) -> Checked:
    document = next(stream(io.BytesIO(text.encode()), 1, annotated=False))
    return checked(how, Claimed(1, document, (2, json.dumps(data).encode())))


def test_claims_of_every_kind(how: Checking, sentences: list[Sentence]) -> None:
    assert len(sentences) > 8
    assert sum(len(one.proof["nodes"]) > 1 for one in sentences) > 3
    for one in sentences[:8]:
        assert look(how, one.text, one.proof) == Checked([], "optimal")
        assert look(how, one.text, encoded(decoded(one.proof))) == Checked([], "optimal")
        assert look(how, one.text, None).verdict == "faulty"
        (score,) = map(float, re.findall("# treebound_score = (.*)", one.text))
        for claim, verdict in (
            ((score, score + 1, "gap"), "bounded"),
            ((score, score + 1, "optimal"), "faulty"),
            ((score, score, "limit"), "bounded"),
            ((score, np.inf, "heuristic"), "scored"),
            ((score, score, "heuristic"), "faulty"),
            ((score, np.inf, "gap"), "scored"),
            ((score, score - 1, "gap"), "faulty"),
            ((score + 2**-20, score + 2**-20, "optimal"), "faulty"),
            ((score + 2**-24, score + 2**-24, "optimal"), "faulty"),
            ((score - 1, score, "gap"), "faulty"),
            ((-np.inf, -np.inf, "infeasible"), "faulty"),
        ):
            assert look(how, claiming(one.text, *claim), one.proof).verdict == verdict, claim


def test_heads_and_categories_are_those_of_the_derivation(how: Checking, sentences: list[Sentence]) -> None:
    for one in sentences[:8]:
        lines = one.text.split("\n")
        for i, line in enumerate(lines):
            for column, value in ((6, "1"), (7, "S/S")):
                fields = line.split("\t")
                if len(fields) > 7 and fields[column] != value and not (column == 6 and fields[0] == "1"):
                    fields[column] = value
                    text = "\n".join([*lines[:i], "\t".join(fields), *lines[i + 1 :]])
                    assert look(how, text, one.proof).verdict == "faulty"
        assert look(how, one.false, one.proof).verdict == "faulty"  # its derivation is another one


def damaged(rng: np.random.Generator, data: dict[str, Any]) -> dict[str, Any]:
    """A proof with one of its numbers, lists or entries changed."""
    data = json.loads(json.dumps(data))
    nodes = data.get("nodes")
    try:
        decoded(data)
    except (TypeError, ValueError, KeyError, AttributeError):
        return data
    if not nodes:
        return data
    node = nodes[int(rng.integers(len(nodes)))]
    odd = [-1, 0, 1, 2, 10**30, -(10**30), 0.5, True, None, "1", [1], {}]
    value = odd[int(rng.integers(len(odd)))] if rng.random() < 0.4 else int(rng.integers(-3, 60))
    kind = int(rng.integers(9))
    if kind == 0:
        data[str(rng.choice(["words", "variables", "edges", "derivation", "nodes", "more"]))] = value
    elif kind == 1:
        del data[str(rng.choice(list(data)))]
    elif kind == 2:
        data["derivation"][int(rng.integers(len(data["derivation"])))] = value
    elif kind == 3:
        node[int(rng.integers(3))] = value
    elif kind == 4:
        node[3], node[4] = [*node[3], data["variables"] - int(rng.integers(-2, 3))], [*node[4], 10**12]
    elif kind == 5 and node[3]:
        node[3 + int(rng.integers(2))][int(rng.integers(len(node[3])))] = value
    elif kind == 6 and node[3]:
        at = int(rng.integers(len(node[4])))
        node[4][at] = int(node[4][at] * rng.choice([-1, 0, 2, 100]))
    elif kind == 7:
        del nodes[int(rng.integers(len(nodes)))]
    else:
        nodes.append(node)
    return data


def test_whatever_is_done_to_a_file_no_other_derivation_passes_for_the_best(
    how: Checking, sentences: list[Sentence]
) -> None:
    """With the other derivation in the proof, which has the score that is claimed; the nodes are the best one's."""
    rng, counts = np.random.default_rng(1), Counter[str]()
    for one in sentences:
        lie = one.proof | {"derivation": one.other}
        honest = claiming(one.false, float(re.findall("# treebound_score = (.*)", one.false)[0]), np.inf, "heuristic")
        assert look(how, honest, lie).verdict == "scored"
        assert look(how, one.false, lie).verdict == "faulty"
        for _ in range(100):
            found = verdict(how, one.false, damaged(rng, damaged(rng, lie) if rng.random() < 0.5 else lie))
            assert found in ("faulty", "unreadable")
            counts[found] += 1
    assert min(counts.values()) > 100


def verdict(how: Checking, text: str, data: Any) -> str:
    try:
        return look(how, text, data).verdict
    except InputError as error:
        if "not a certificate of this sentence" not in str(error):
            raise
        return "unreadable"
